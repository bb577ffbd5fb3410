"""German: a folder of fifty texts makes it a language of the workbench, without any code."""

import io
from dataclasses import replace

import polib
import pytest
from support.pages import live_words

from attention_plugins.contract import Parameter
from attention_plugins.marking import Message
from dashboard import language
from dashboard.jobs import errors, process
from dashboard.language import (
    catalogues,
    gettext,
    gettext_noop,
    languages,
    ngettext,
    tag,
    translated,
)
from dashboard.language.message import changed, unpacked
from dashboard.records.request import Request, Result
from dashboard.ui import speaking

HEAD = {
    "Language": "de", "Language-Name": "Deutsch", "Plural-Forms": "nplurals=2; plural=(n != 1);",
    "Content-Type": "text/plain; charset=UTF-8",
}  # fmt: skip
START = {
    "Which words a trained translator looks at while it writes each word.":
        "Welche Wörter ein trainierter Übersetzer ansieht, während er jedes Wort schreibt.",
    "Other scorings, other data, and the weights of every prediction.":
        "Andere Bewertungen, andere Daten und die Gewichte jeder Vorhersage.",
    "A scoring of your own, as a formula or as ten lines of Python.":
        "Eine eigene Bewertung, als Formel oder in zehn Zeilen Python.",
    "**New to attention?**": "**Neu bei Attention?**",
    "Take ten short lessons": "Zehn kurze Lektionen",
    "See": "Sehen", "Translate a sentence": "Einen Satz übersetzen", "Play": "Spielen",
    "Continue with these curves": "Mit diesen Kurven weitermachen", "Build": "Bauen",
    "Write a plugin": "Ein Plugin schreiben", "Type a formula": "Eine Formel eingeben",
    "weight of each training point at the line": "Gewicht jedes Trainingspunkts an der Linie",
    "See attention at work: each prediction is a mean of known values, weighted by attention.":
        "Jede Vorhersage ist ein Mittel bekannter Werte, durch Attention gewichtet.",
    "Averaged over x, {count} of {points} points carry 90% of the {title}'s weight.":
        "Im Mittel tragen {count} von {points} Punkten 90 % des Gewichts von {title}.",
    "Its curve is too flat: its error is {error:.2f}, that of average pooling {baseline:.2f}.":
        "Ihre Kurve ist zu flach: Fehler {error:.2f}, beim Mittelwert {baseline:.2f}.",
    "Its curve is nearer the truth than average pooling: its error is {error:.2f} "
    "against {baseline:.2f}.": "Näher: Fehler {error:.2f}, Mittelwert {baseline:.2f}.",
    "Width of both kernels": "Breite beider Kerne",
}  # fmt: skip
JOBS = {
    "{task} with {name}": "{task} mit {name}",
    "{task} with {model} and {scoring}": "{task} mit {model} und {scoring}",
    "{job}: its process {ending}": "{job}: Der Prozess {ending}",
    "{job} took longer than {limit:g} s and was stopped; fewer points, a shorter text or fewer "
    "epochs would be right": "{job} brauchte mehr als {limit:g} s und wurde beendet; richtig "
    "wären weniger Punkte, ein kürzerer Text oder weniger Epochen",
    "was killed by {signal}": "wurde durch {signal} beendet",
    "was killed by {signal}: {detail}": "wurde durch {signal} beendet: {detail}",
    "ended with exit code {code}": "endete mit dem Code {code}",
    "ended with exit code {code}: {detail}": "endete mit dem Code {code}: {detail}",
    "{path}, line {line}, in {function}": "{path}, Zeile {line}, in {function}",
    "no worker starts: {reason}; repair that, then ask again":
        "es startet kein Prozess: {reason}; das beheben, dann noch einmal fragen",
    "the dashboard was closed": "das Dashboard wurde geschlossen", "it": "er",
}  # fmt: skip
CONTRACT = {
    "need {low} <= {name} <= {high}, got {value} (field {title})":
        "{name} braucht {low} bis {high}, war aber {value} (Feld {title})",
    "need {name} to be a number, got {value}": "{name} muss eine Zahl sein, war aber {value}",
}  # fmt: skip
GENERAL = {
    "Start": "Anfang", "Translation": "Übersetzung", "Lessons": "Lektionen", "Runs": "Läufe",
    "Plugins": "Plugins", "Training": "Training", "Copy link": "Link kopieren",
    "Link copied": "Link kopiert", "QR code": "QR-Code", "Export": "Exportieren",
    "weights": "Gewichte", "curve": "Kurve", "points": "Punkte", "errors": "Fehler",
    "Examples": "Beispiele",
}  # fmt: skip
PLURALS = {
    ("{count} problem", "{count} problems"): ("{count} Problem", "{count} Probleme"),
    ("{count:,} learned weight", "{count:,} learned weights"):
        ("{count:,} gelerntes Gewicht", "{count:,} gelernte Gewichte"),
    ("Compute {count} result", "Compute {count} results"):
        ("{count} Ergebnis berechnen", "{count} Ergebnisse berechnen"),
}  # fmt: skip
REQUEST = Request.make("translation", model="bahdanau", scoring="additive")
WIDTH = Parameter(name="width", title="Width h", default=1.0, low=0.01, high=3.0)


def write(path, said, plurals=()):
    made = polib.POFile()
    made.metadata = HEAD
    made.extend(polib.POEntry(msgid=one, msgstr=other) for one, other in said.items())
    for (one, many), (single, several) in dict(plurals).items():
        made.append(
            polib.POEntry(msgid=one, msgid_plural=many, msgstr_plural={0: single, 1: several})
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save(str(path))


@pytest.fixture
def german(tmp_path, monkeypatch):
    """A folder of German texts beside those of the workbench, and somebody who reads them."""
    write(tmp_path / "language/de.po", GENERAL, PLURALS)
    write(tmp_path / "features/start/de.po", START)
    write(tmp_path / "jobs/de.po", JOBS | CONTRACT)
    before = catalogues._roots()
    monkeypatch.setattr(catalogues, "_roots", lambda: (*before, ("dashboard", tmp_path)))
    for kept in (catalogues.catalogue, catalogues.headers, languages):
        kept.cache_clear()
    monkeypatch.setattr(language, "_spoken", lambda: "de")
    yield
    for kept in (catalogues.catalogue, catalogues.headers, languages):
        kept.cache_clear()


@pytest.mark.usefixtures("german")
def test_fifty_texts_in_a_folder_make_a_language():
    assert len({**START, **JOBS, **CONTRACT, **GENERAL, **PLURALS}) == 50
    assert dict(languages()) == {"en": "English", "zh": "简体中文", "de": "Deutsch"}
    assert [tag(one) for one in languages()] == ["en", "zh-Hans", "de"]
    assert speaking.preferred("de-AT") == "de"
    assert speaking.remembered({speaking.COOKIE: "de"}) == "de"


@pytest.mark.usefixtures("german")
def test_a_page_is_in_german_as_far_as_the_folder_has_its_texts(opened):
    app = opened("start")
    assert not app.exception
    said = (str(one.value) for one in (*app.markdown, *app.text, *app.caption))
    words = "\n".join([*said, *live_words(app)])
    assert "Im Mittel tragen 5 von 5 Punkten 90 %" in words
    assert "**Neu bei Attention?**" in words
    assert "Dashed: the truth." in words  # what the folder does not have stays English
    doors = [one.proto.label for one in app.get("page_link")]
    assert doors == [START[text] for text in (
        "Take ten short lessons", "Translate a sentence", "Continue with these curves",
        "Type a formula", "Write a plugin",
    )]  # fmt: skip


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 Probleme"), (1, "1 Problem"), (3, "3 Probleme")]
)
def test_every_language_counts_by_its_own_rule(count, said, monkeypatch):
    assert ngettext("{count} problem", "{count} problems", count) == said
    assert ngettext("{count} row", "{count} rows", 1) == "1 row"
    assert ngettext("{count} row", "{count} rows", 3) == "3 rows"
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    assert ngettext("{count} problem", "{count} problems", count).startswith(f"{count} ")
    assert "problem" not in ngettext("{count} problem", "{count} problems", count)


def through_a_pipe(note):
    """What the server reads of a failure that a worker writes."""
    pipe = io.BytesIO()
    process.write(pipe, {"type": "failed", "note": note, "facts": {"more": [note]}})
    pipe.seek(0)
    header, _ = process.read(pipe)
    assert header["facts"] == {"more": [note]}
    return header["note"]


@pytest.mark.usefixtures("german")
def test_a_refusal_is_known_by_its_form_on_the_other_side_of_a_pipe():
    with pytest.raises(ValueError, match="need") as caught:
        WIDTH.check(7.0)
    note, _ = errors.refused(REQUEST, caught.value)
    read = through_a_pipe(note)
    assert read == "need 0.01 <= width <= 3, got 7 (field 'Width h')"
    assert isinstance(read, Message)
    assert translated(read) == "width braucht 0.01 bis 3, war aber 7 (Feld 'Width h')"
    # Its sentence does not matter: nobody reads English again.
    assert translated(Message("no sentence", read.form, read.values)) == translated(read)
    assert translated(f"{read}") == translated(read)  # a finished one of a run of before


@pytest.mark.usefixtures("german")
def test_messages_within_messages_are_translated():
    stack = 'Fatal (most recent call first):\n  File "/p/kernel.py", line 7 in forward'
    note, _ = errors.died(REQUEST, -11, stack, {"my-plugin": ["/p"]})
    assert translated(through_a_pipe(note)) == (
        "translation mit bahdanau und additive: Der Prozess wurde durch SIGSEGV beendet: "
        "kernel.py, Zeile 7, in forward"
    )


def test_a_message_is_changed_with_its_values():
    inner = gettext_noop("{task} with {name}", task="a", name="b")
    said = changed(gettext_noop("{job}: its process {ending}", job=inner, ending="c"), str.upper)
    assert (said, said.form) == ("A WITH B: ITS PROCESS C", "{job}: its process {ending}")
    assert (said.values["ending"], said.values["job"].values["name"]) == ("C", "B")


@pytest.mark.usefixtures("german")
def test_a_message_stays_one_in_a_result():
    said = gettext_noop("need {name} to be a number, got {value}", name="h", value="'x'")
    result = Result(facts={"problem": said, "count": 1})
    read = Result.from_bytes(result.to_bytes()).facts["problem"]
    assert translated(read) == "h muss eine Zahl sein, war aber 'x'"
    assert gettext("Copy link") == "Link kopieren"
    assert replace(result, facts={"problem": f"{said}"}).digest != result.digest


@pytest.mark.parametrize(
    "held",
    [
        {"$form": 1, "text": "a", "values": {}}, {"$form": "a", "text": "a", "values": {"b": 1}},
        {"$form": "a", "text": "a", "values": []}, {"$form": "a", "text": "a"},
    ],
)  # fmt: skip
def test_what_only_looks_like_a_message_stays_what_it_is(held):
    assert unpacked(held) is held


@pytest.mark.usefixtures("german")
def test_a_strangers_message_fills_no_form_of_its_own():
    evil = unpacked({"$form": "{a.__class__}{b:9999999}", "text": "a text", "values": {"a": "x"}})
    assert translated(evil) == "a text"
    known = "need {name} to be a number, got {value}"
    assert translated(unpacked({"$form": known, "text": "a text", "values": {}})) == "a text"
    deep = "x"
    for _ in range(9):
        deep = unpacked({"$form": "{task} with {name}", "text": "t", "values": {"name": deep}})
    depth = 0
    while isinstance(deep, Message):
        deep, depth = deep.values["name"], depth + 1
    assert 1 <= depth <= 3
