"""Races that are taken in: named freely, within limits, each its owner's."""

from __future__ import annotations

import pytest
from support.disks import NEEDS_PROC, Disk
from support.races import laid_down

from dashboard.storage import races
from dashboard.storage.races import SHIPPED


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def files(tmp_path):
    folder = laid_down(tmp_path / "elsewhere").folder
    return [(folder / name).read_bytes() for name in ("race.json", "outcomes.jsonl")]


def taken_in(owner=None):
    return [one.name for one in races.races(owner)[0] if one.name not in races.shipped()]


def add(files, name="theirs", owner="ann", megabytes=1, total=1):
    held = dict(zip((races.PLAN, races.OUTCOMES), files, strict=True))
    return races.add(name, held, owner, megabytes=megabytes, total=total)


def test_a_race_that_was_taken_in_is_its_owners(files, home):
    assert add(files) == "theirs"
    found = races.read("theirs")
    assert found.owner == "ann"
    assert (found.folder / "outcomes.jsonl").read_bytes() == files[1]
    assert taken_in("ann") == ["theirs"]
    assert taken_in("bob") == []
    assert taken_in() == ["theirs"]
    assert not [path for path in (home / "races").iterdir() if path.name.startswith(".")]


@NEEDS_PROC
def test_power_may_be_lost_at_any_moment(files, home, monkeypatch):
    disk = Disk(home, monkeypatch)
    name = add(files)
    disk.cut()
    for step in disk.steps:
        monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(step))
        assert races.races()[1] == [], "a race is there as a whole, or not at all"
        assert taken_in() in ([], [name])
    assert taken_in() == [name], "it was said to be there when the power was lost"
    found = races.read(name)
    assert found.owner == "ann"
    assert (found.folder / "race.json").read_bytes() == files[0]
    assert (found.folder / "outcomes.jsonl").read_bytes() == files[1]


def test_another_one_of_that_name_is_called_otherwise(files):
    assert [add(files) for _ in range(3)] == ["theirs", "theirs-2", "theirs-3"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("../../etc/passwd", "etc-passwd"), ("my race (2)", "my-race-2"), ("日本", "race"),
        ("shipped", "race"), ("a" * 99, "a" * 48), ("", "race"), (".x", "x"),
    ],
)  # fmt: skip
def test_a_files_name_becomes_a_races(given, name):
    assert races.slug(given) == name
    assert races.NAME.match(races.slug(given))


def test_no_more_than_the_limits(files, monkeypatch):
    monkeypatch.setattr(races, "_MB", sum(map(len, files)))  # one of them is the unit
    assert add(files, owner="ann", megabytes=1, total=2) == "theirs"
    assert add(files, owner="bob", megabytes=1, total=2) == "theirs-2"
    with pytest.raises(ValueError, match="at most 1 MB of your imported races together"):
        add(files, owner="ann", megabytes=1, total=3)
    with pytest.raises(ValueError, match="at most 2 MB of all imported races together"):
        add(files, owner="eve", megabytes=1, total=2)


def test_no_more_races_than_an_owner_may_have(files, monkeypatch):
    monkeypatch.setattr(races, "MOST_OF_ONE_OWNER", 2)
    add(files), add(files)
    with pytest.raises(ValueError, match="need at most 2 imported races"):
        add(files)
    assert add(files, owner="bob")


def test_what_was_made_here_takes_no_room_of_those_taken_in(files, home, monkeypatch):
    monkeypatch.setattr(races, "_MB", sum(map(len, files)))
    laid_down(home / "races" / "made")
    assert add(files, megabytes=1, total=1) == "theirs"


def test_a_race_that_cannot_be_laid_down_leaves_nothing(files, home, monkeypatch):
    monkeypatch.setattr(races, "_MOST_OF_ONE_NAME", 2)
    add(files)
    with pytest.raises(ValueError, match="give the file another name"):
        add(files)
    assert [path.name for path in (home / "races").iterdir()] == ["theirs"]


def test_an_owner_has_a_hundred_and_a_damaged_note_is_nobodys(files, home):
    for number in range(2):
        add(files, name=f"race-{number}", owner="")
    (home / "races" / "race-0" / "imported.json").write_text('{"owner": 5}')
    assert races.MOST_OF_ONE_OWNER == 100
    assert [races.read(f"race-{number}").owner for number in range(2)] == ["", ""]


def test_only_what_was_taken_in_is_deleted(files, home):
    made = laid_down(home / "races" / "made").folder
    add(files)
    races.remove("theirs")
    assert not (home / "races" / "theirs").exists()
    for name in ("made", SHIPPED, "nothing"):
        with pytest.raises(ValueError, match="was not imported"):
            races.remove(name)
    assert made.is_dir()
