"""What contestants are called."""

from dataclasses import replace

from dashboard.features.race.view import contestant_titles, model_titles, race_titles
from dashboard.records.catalogue import Catalogue, Entry
from dashboard.storage.races import Entrant, RaceRecord

ONE = Entry(name="one", title="One kernel (Smith)")
INSTALLED = Catalogue(
    scorings={"one": ONE, "two": replace(ONE, name="two", title="Two")},
    normalisers={"hard": replace(ONE, name="hard", title="Hard")},
    models={"m": replace(ONE, name="m", title="Model (2017)")},
)


def test_titles_are_without_brackets_and_name_the_normaliser():
    raced = [Entrant("m", "one"), Entrant("m", "one", "hard"), Entrant("m", "=-|q - k|")]
    assert contestant_titles(raced, INSTALLED) == {
        "one": "One kernel", "one + hard": "One kernel + Hard", "=-|q - k|": "-|q - k|",
    }  # fmt: skip
    assert model_titles(raced, INSTALLED) == {"m": "Model"}


def test_what_is_not_installed_keeps_its_name():
    raced = [Entrant("gone", "mine", "own"), Entrant("m", "one", "own")]
    assert contestant_titles(raced, INSTALLED) == {
        "mine + own": "mine + own", "one + own": "One kernel + own",
    }  # fmt: skip
    assert model_titles(raced, INSTALLED) == {"gone": "gone", "m": "Model"}


def test_of_equal_titles_each_has_its_name():
    twins = replace(INSTALLED, scorings={"one": ONE, "two": replace(ONE, name="two")})
    raced = [Entrant("m", "one"), Entrant("m", "two"), Entrant("n", "one")]
    assert contestant_titles(raced, twins) == {
        "one": "One kernel (one)", "two": "One kernel (two)",
    }  # fmt: skip


NAMED = {"my-q-k": "=-|q - k|\none", "mine": "", "a": "one", "b": "one"}


def test_a_race_is_called_by_whom_a_page_entered(tmp_path):
    found = [
        RaceRecord(name=name, folder=tmp_path, version="1", tasks=("copy",), seeds=1,
                   entrants=(Entrant("m", "one"),), facts={"entered": entered} if entered else {})
        for name, entered in NAMED.items()
    ]  # fmt: skip
    assert race_titles(found, INSTALLED) == {
        "my-q-k": "-|q - k| · One kernel", "mine": "mine", "a": "One kernel (a)",
        "b": "One kernel (b)",
    }  # fmt: skip
