from __future__ import annotations

import hashlib
import io
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
import streamlit
from PIL import Image

from dashboard.charts import export as pictures
from dashboard.charts.run_charts import run_charts
from dashboard.features.runs import card, task
from dashboard.features.runs.page import add_run, store_upload
from dashboard.features.runs.view import LEFT_OUT
from dashboard.jobs.backend import Event
from dashboard.records.request import Request, Result
from dashboard.storage.blobs import Blobs
from dashboard.storage.bundle import LARGEST_ARCHIVE, Bundle, write
from dashboard.storage.files import BundleError
from dashboard.storage.page_run import PageRun
from dashboard.storage.page_run import read as read_page
from dashboard.storage.runs import Limits
from dashboard.storage.seen import Chart, Group
from dashboard.ui.owner import run_store
from dashboard.ui.session import Jobs
from dashboard.visitors import Visitor

HOSTILE = "![x](http://evil.example/x.png) <img src=y> :material/home: [a](http://b)"


def png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (5, 7), "red").save(file, "PNG")
    return file.getvalue()


PNG = png()


def run(**changes) -> Bundle:
    x = np.arange(5.0)
    tables = {
        "curve": pa.table({"x0": x, "prediction": x / 2, "truth": x}),
        "points": pa.table({"x0": x, "y": x}),
    }
    facts = {"x_names": ["x"], "y_name": "y", "torch": "2.13.0", "seconds": 0.25,
             "plugins": {"some-plugin": "1.2"}, "metrics": {"truth_mse": 0.125}}  # fmt: skip
    result = Result(tables=tables, facts=facts)
    made = Bundle(
        request=Request.make("regression", scoring="gaussian", parameters={"width": 0.5}, seed=7),
        result=result,
        title="Kernel regression, Gaussian",
        link="/?a=gaussian&a.width=0.5",
        charts={"curve-and-weights": {"mark": "point", "data": {"values": [{"seen": 41}]}}},
        versions={"altair": "6.3.0"},
    )
    return replace(made, **changes)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return run_store()


def page(*panels: Bundle, name="", **changes) -> PageRun:
    panels = panels or (run(),)
    return PageRun(panels=panels, name=name or panels[0].title, link=panels[0].link, **changes)


def shown(*panels: Bundle, **changes) -> PageRun:
    """A page that shows the charts of its panels beside each other, as a page is kept."""
    made = page(*panels, **changes)
    charts = {f"{name}-{n}": spec for n, panel in enumerate(made.panels)
              for name, spec in panel.charts.items()}  # fmt: skip
    grid = Group(layout="grid", blocks=tuple(Chart(name=name, alt=name) for name in charts))
    panels = tuple(replace(panel, charts={}) for panel in made.panels)
    return replace(made, panels=panels, seen=Group(blocks=(grid,)), charts=charts)


class Context:
    """Takes reports, and is never cancelled."""

    def report(self, fraction, note="", facts=None):
        assert 0 <= fraction <= 1


def imported(data, source):
    """Import a bundle as the page does, without a worker."""
    request = store_upload(data)
    result = task.perform(request, Context())
    return add_run(run_store(), request, Event(number=1, stage="done", result=result), source)


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.title, app.header, app.code)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def specs(app):
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def facts(app):
    return {row[0]: row[1] for table in app.dataframe for row in table.value.values}


def test_an_empty_page_says_how_a_run_comes_here(runs, opened, backend):
    app = opened("runs")
    assert not app.exception
    assert "Press “Keep”" in words(app)
    ways = [one.proto for one in app.get("page_link")]
    assert [(one.page, one.label) for one in ways] == [
        ("regression", "Curves and weights to keep"), ("translation", "A translation to keep"),
    ]  # fmt: skip
    assert backend.submitted == {}


def test_the_page_has_a_link_to_copy_and_no_plugins_to_look_for(runs, opened, backend):
    backend.facts = {**backend.facts, "failures": [{"plugin": "broken", "message": "no"}]}
    app = opened("runs")
    labels = [popover.proto.popover.label for popover in app.get("popover")]
    assert labels == ["Import a run", "Glossary", "QR code"]
    assert "Reload plugins" not in [button.label for button in app.button]


def test_runs_are_listed_with_when_and_from_where(runs, opened):
    runs.keep(page(run(title="older")), source="regression")
    imported(write(run(title="newer")), "friend.zip")
    app = opened("runs")
    said = words(app)
    assert said.index("newer") < said.index("older")
    assert "imported from friend\\.zip" in said
    assert "kept from Kernel regression" in said


def test_a_kept_run_is_drawn_as_it_was_seen_without_a_worker(runs, opened, backend):
    kept = runs.keep(shown(), source="regression")
    app = opened("runs", id=kept.id)
    assert not app.exception
    assert backend.submitted == {}
    (spec,) = specs(app)
    assert spec["mark"] == "point"
    assert facts(app)["plugin: some-plugin"] == "1.2"
    assert facts(app)["torch"] == "2.13.0"
    assert facts(app)["seconds"] == "0.25"
    assert facts(app)["seed"] == "7"
    assert facts(app)["width"] == "0.5"
    assert facts(app)["altair"] == "6.3.0"
    seen, asked = [code.value for code in app.code]
    assert seen.endswith(f"id={kept.id}")
    assert asked.endswith("/?a=gaussian&a.width=0.5")


def test_the_file_of_a_kept_run_is_the_page_as_it_was_kept(runs, opened, monkeypatch):
    offered = {}
    draw = streamlit.download_button

    def keep(label, data, file_name, **more):
        offered[file_name] = data
        return draw(label, data, file_name, **more)

    monkeypatch.setattr(streamlit, "download_button", keep)
    kept = runs.keep(shown(), source="regression")
    app = opened("runs", id=kept.id)
    app.session_state["run-1-export"] = True
    assert not app.run().exception
    assert "kernel-regression-gaussian-curve.csv" in offered
    (file,) = [name for name in offered if name.endswith(".zip")]
    monkeypatch.setattr(pictures, "pictures", lambda charts: {})
    assert read_page(offered[file]()) == shown()


def test_an_imported_run_is_drawn_from_its_tables_never_from_its_specification(runs, opened):
    evil = {"mark": "image", "encoding": {"url": {"value": "http://evil.example/x.png"}}}
    taken = imported(write(run(charts={"curve-and-weights": evil})), "friend.zip")
    app = opened("runs", id=taken.id)
    assert not app.exception
    (spec,) = specs(app)
    (made,) = run_charts(run().result).values()
    expected = made().to_dict(validate=False)
    assert spec["layer"] == expected["layer"]
    assert "evil" not in json.dumps(spec)


def test_tables_that_cannot_be_drawn_cost_no_more_than_their_chart(runs, opened):
    odd = Result(tables={"curve": pa.table({"a": ["b"]}), "points": pa.table({})}, facts={})
    taken = imported(write(run(result=odd)), "friend.zip")
    app = opened("runs", id=taken.id)
    assert not app.exception
    assert specs(app) == []
    assert "nothing to be drawn" in words(app)


@pytest.mark.parametrize("id", ["0" * 32, "x", "../../etc/passwd"])
def test_a_link_to_no_run_is_named(runs, opened, id):
    app = opened("runs", id=id)
    assert not app.exception
    assert "no run" in words(app) or "32 hexadecimal digits" in words(app)


@pytest.fixture
def seen_by(monkeypatch):
    """``seen_by(name, **more)``: from now on the page is that visitor's."""

    def become(name, role="author", **more):
        monkeypatch.setattr(
            "dashboard.ui.owner.visitor", lambda: Visitor(owner=name, role=role, **more)
        )

    return become


def keys(app):
    return {button.key for button in app.button}


def test_each_owner_lists_and_deletes_their_own_runs_alone(runs, opened, seen_by):
    mine = runs.keep(shown(name="mine"), owner="ada")
    other = runs.keep(shown(name="other"), owner="bob")
    seen_by("ada")
    app = opened("runs")
    assert f"run-{mine.id}-gone" in keys(app)
    assert f"run-{other.id}-open" not in keys(app)
    linked = opened("runs", id=other.id)  # whoever has a link sees the run
    assert not linked.exception
    assert len(specs(linked)) == 1
    assert f"run-{other.id}-gone" not in keys(linked)
    app.button(f"run-{mine.id}-gone").click().run()
    assert [one.id for one in runs.all()] == [other.id]
    seen_by("", role="administrator")
    app = opened("runs")
    app.button(f"run-{other.id}-gone").click().run()
    assert runs.all() == []


def test_a_button_that_was_drawn_for_its_owner_deletes_nothing_of_another(runs, opened, seen_by):
    kept = runs.keep(page(), owner="ada")
    seen_by("ada")
    app = opened("runs")
    seen_by("bob")
    app.button(f"run-{kept.id}-gone").click().run()
    assert runs.all() == [kept]
    assert "Not deleted: This run belongs to somebody else" in words(app)


def test_a_copy_belongs_to_whoever_makes_it(runs, opened, seen_by):
    kept = runs.keep(page(), owner="ada")
    seen_by("bob")
    opened("runs", id=kept.id).button(f"run-{kept.id}-copy-now").click().run()
    assert [one.owner for one in runs.all()] == ["bob", "ada"]


def test_what_is_imported_belongs_to_whoever_imports_it(runs, opened, seen_by):
    seen_by("bob")
    upload(opened("runs"), write(run()))
    assert [one.owner for one in runs.all()] == ["bob"]


def test_in_a_classroom_runs_are_seen_and_not_changed(runs, opened, seen_by):
    kept = runs.keep(page(), owner="ada")
    seen_by("ada", classroom=True)
    app = opened("runs")
    assert f"run-{kept.id}-open" in keys(app)
    assert not {f"run-{kept.id}-gone", f"run-{kept.id}-copy-now"} & keys(app)


def test_in_a_classroom_nothing_asks_for_a_run(runs, opened, seen_by):
    seen_by("ada", classroom=True)
    app = opened("runs")
    said = " ".join(one.value for one in app.text)
    assert "Keeping is switched off on this server." in said
    assert "Press" not in said
    assert not [one for one in app.get("popover") if "Import" in one.proto.popover.label]


def test_a_run_is_opened_and_left_again(runs, opened):
    kept = runs.keep(shown(), source="regression")
    app = opened("runs")
    app.button(f"run-{kept.id}-open").click().run()
    assert app.query_params["id"] == [kept.id] or app.query_params["id"] == kept.id
    assert len(specs(app)) == 1
    next(button for button in app.button if button.label == "All runs").click().run()
    assert "id" not in app.query_params
    assert specs(app) == []


def test_a_run_is_deleted_after_one_question(runs, opened):
    kept, other = (
        runs.keep(page(), source="regression"),
        runs.keep(page(run(title="other")), source="regression"),
    )
    app = opened("runs")
    app.button(f"run-{kept.id}-gone").click().run()
    assert not app.exception
    assert [one.id for one in runs.all()] == [other.id]
    assert "Gaussian" not in words(app)


def upload(app, data, name="friend.zip"):
    app.file_uploader[0].set_value((name, data, "application/zip")).run()
    return app


def test_a_bundle_is_imported_and_opened(runs, opened):
    app = upload(opened("runs"), write(run()))
    assert not app.exception
    (taken,) = runs.all()
    assert taken.source == "friend.zip"
    assert app.query_params["id"] in (taken.id, [taken.id])
    assert runs.open(taken.id) == page()


def test_a_tampered_bundle_is_refused_with_the_reason(runs, opened):
    data = bytearray(write(run()))
    data[len(data) // 2] ^= 1
    app = upload(opened("runs"), bytes(data))
    assert not app.exception
    assert "Refused: " in words(app)
    assert runs.all() == []


def test_a_bundle_that_its_worker_does_not_survive_costs_only_the_import(runs, opened, backend):
    note = "bundle: its process was killed by SIGSEGV"
    backend.failing["runs"] = Event(number=1, stage="failed", note=note)
    app = upload(opened("runs"), write(run()))
    assert not app.exception
    assert f"Refused: a worker failed to read it ({note})." in words(app)
    assert runs.all() == []
    backend.failing.clear()
    upload(app, write(run()), "again.zip")
    assert not app.exception
    assert [one.source for one in runs.all()] == ["again.zip"]


def test_while_a_worker_reads_the_bundle_the_page_waits(runs, opened, backend, monkeypatch):
    answers = iter([False, False, True])
    waiting = Jobs.wait
    monkeypatch.setattr(Jobs, "wait", lambda jobs, _: next(answers) and waiting(jobs, 0))
    app = upload(opened("runs"), write(run()))
    assert not app.exception
    assert next(answers, "all asked") == "all asked"
    assert len(runs.all()) == 1


def test_a_file_larger_than_a_bundle_reaches_neither_the_disk_nor_a_worker(
    runs, opened, backend, tmp_path
):
    with pytest.raises(BundleError, match="20 MB"):
        store_upload(bytes(LARGEST_ARCHIVE + 1))
    assert not (tmp_path / "blobs").exists()


def test_a_picture_is_left_to_the_browser(runs, opened, monkeypatch):
    nothing = Result(tables={}, facts={})
    taken = imported(write(run(result=nothing, charts={}, pictures={"a.png": PNG})), "friend.zip")
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("decoded in the page"))
    app = opened("runs", id=taken.id)
    assert not app.exception
    (image,) = app.get("image")
    assert image.proto.imgs[0].url.startswith("data:image/png;base64,")


def test_a_picture_that_was_left_out_is_named_and_the_rest_is_shown(runs, opened):
    junk = PNG[: PNG.index(b"IDAT") - 4] + b"junk"
    app = upload(opened("runs"), write(run(pictures={"a_b.png": junk})))
    assert not app.exception
    assert r"The picture a\_b\.png was no PNG and was left out." in words(app)
    assert len(specs(app)) == 1


@pytest.mark.parametrize("fact", ["a.png", ["a.png"], 5, {"<b>": 7}])
def test_a_fact_of_that_name_from_elsewhere_breaks_no_page(runs, opened, fact):
    hostile = Result(tables=run().result.tables, facts=run().result.facts | {LEFT_OUT: fact})
    kept = runs.keep(page(run(result=hostile)))
    assert not opened("runs", id=kept.id).exception


def change(tmp_path, statement, *values):
    """Change the database behind the store's back."""
    with closing(sqlite3.connect(tmp_path / "runs" / "runs.db")) as database, database:
        database.execute(statement, values)


def test_a_damaged_record_is_named_and_the_others_are_shown(runs, opened, tmp_path):
    runs.keep(page(), source="regression")
    bad, lost = runs.keep(page(name="bad")), runs.keep(page(run(title="lost")))
    change(tmp_path, "UPDATE runs SET created = -5 WHERE id = ?", bad.id)
    (tmp_path / "runs" / "blobs" / lost.digest).unlink()
    app = opened("runs")
    assert not app.exception
    assert f"{bad.id} is not shown: its record is damaged: at created: need at least 0" in words(
        app
    )
    assert f"{lost.id} is not shown: its file is missing" in words(app)
    assert "Gaussian" in words(app)
    for id in (bad.id, lost.id):
        app = opened("runs", id=id)
        assert not app.exception
        assert "This run cannot be shown" in words(app)


def test_a_database_that_cannot_be_read_is_said(runs, opened, tmp_path):
    runs.keep(page(), source="regression")
    runs.close()
    for file in (tmp_path / "runs").glob("runs.db*"):
        file.write_bytes(b"no database" * 1000)
    app = opened("runs")
    assert not app.exception
    assert "The stored runs cannot be read" in words(app)
    assert "runs.db cannot be used: file is not a database" in words(app)


def test_every_panel_of_a_page_is_drawn_with_its_note(runs, opened):
    second = run(title="Kernel regression, Uniform", charts={"learning": {"mark": "line"}})
    kept = runs.keep(shown(run(), second, name="both", note="see *this*\nand that"))
    app = opened("runs", id=kept.id)
    assert not app.exception
    assert [spec["mark"] for spec in specs(app)] == ["point", "line"]
    assert "see *this*\nand that" in [text.value for text in app.text]
    assert "Kernel regression, Uniform" in [one.label for one in app.expander]
    assert len(app.dataframe) == 4
    assert "see *this*" in words(opened("runs"))


def test_the_picture_of_a_run_is_left_to_the_browser(runs, opened, monkeypatch):
    kept = runs.keep(page(picture=PNG))
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("decoded in the page"))
    app = opened("runs")
    assert not app.exception
    assert f"(preview/{kept.id}.png)" in words(app)


def test_a_run_without_a_picture_says_so(runs, opened):
    runs.keep(page())
    assert "No picture" in words(opened("runs"))


def test_a_copy_with_another_name_is_opened_and_the_run_stays(runs, opened):
    kept = runs.keep(page(name="first"))
    app = opened("runs", id=kept.id)
    app.text_input(f"run-{kept.id}-copy-name").set_value("second")
    app.text_area(f"run-{kept.id}-copy-note").set_value("why")
    app.button(f"run-{kept.id}-copy-now").click().run()
    assert not app.exception
    newest, oldest = runs.all()
    assert (newest.name, newest.note, newest.parent) == ("second", "why", kept.id)
    assert oldest == kept
    assert app.query_params["id"] in (newest.id, [newest.id])
    assert "second" in words(app)


def test_a_run_gets_another_name_from_its_owner_alone(runs, opened, seen_by):
    kept = runs.keep(page(name="first"), owner="ada")
    seen_by("ada")
    app = opened("runs", id=kept.id)
    app.text_input(f"run-{kept.id}-copy-name").set_value("second")
    app.text_area(f"run-{kept.id}-copy-note").set_value("why")
    app.button(f"run-{kept.id}-copy-save").click().run()
    assert not app.exception
    assert [(one.id, one.name, one.note) for one in runs.all()] == [(kept.id, "second", "why")]
    assert "**second**" in words(app)
    assert "why" in words(app)
    app.text_input(f"run-{kept.id}-copy-name").set_value("third")
    seen_by("bob")
    app.button(f"run-{kept.id}-copy-save").click().run()
    assert "Not renamed: This run belongs to somebody else" in words(app)
    assert runs.find(kept.id).name == "second"
    assert f"run-{kept.id}-copy-save" not in keys(app)


def test_a_copy_that_cannot_be_made_is_said(runs, opened, monkeypatch):
    kept = runs.keep(page())
    app = opened("runs", id=kept.id)
    monkeypatch.setattr(runs, "_limits", Limits(runs=1))
    app.button(f"run-{kept.id}-copy-now").click().run()
    assert not app.exception
    assert "Not copied: need fewer than 1 stored runs" in words(app)


def test_texts_of_strangers_are_shown_as_they_stand(runs, opened):
    hostile = Result(tables=run().result.tables, facts={HOSTILE: HOSTILE, "x_names": [HOSTILE],
                                                        "y_name": HOSTILE})  # fmt: skip
    taken = imported(write(run(title=HOSTILE, result=hostile)), HOSTILE)
    for app in (opened("runs"), opened("runs", id=taken.id)):
        assert not app.exception
        for text in [one.value for one in (*app.markdown, *app.caption, *app.header)]:
            assert not re.search(r"(?<!\\)[<!\[`$]", text)
    assert facts(app)[HOSTILE] == HOSTILE


def test_many_runs_are_shown_by_and_by(runs, opened):
    for number in range(23):
        runs.keep(page(run(title=f"run {number}")), source="regression")
    app = opened("runs")
    assert len([b for b in app.button if b.label == "Open"]) == 20
    next(button for button in app.button if button.label == "Show 3 more").click().run()
    assert len([b for b in app.button if b.label == "Open"]) == 23


def test_many_runs_are_searched_by_words_of_names_notes_and_pages(runs, opened):
    for number in range(6):
        runs.keep(page(name=f"Wide kernel {number}"), source="regression")
    runs.keep(page(name="Narrow", note="for the *kernel* course"), source="translation")
    app = opened("runs")

    def shown():
        return [text for text in words(app).split("\n") if "Wide" in text or "Narrow" in text]

    assert len(shown()) == 7
    app.text_input("runs-search").set_value("KERNEL translation").run()
    assert shown() == ["**Narrow**"]
    app.text_input("runs-search").set_value("kernel 3").run()
    assert shown() == ["**Wide kernel 3**"]
    app.text_input("runs-search").set_value("entmax").run()
    assert shown() == []
    assert "No run has all these words." in words(app)


def test_few_runs_need_no_search(runs, opened):
    runs.keep(page())
    assert not [one for one in opened("runs").text_input if one.key == "runs-search"]


def test_what_was_imported_is_kept_once_under_a_name_of_one_line(runs):
    data = write(run())
    taken = imported(data, "a\u202eb\n.zip")
    assert taken.source == "a b .zip"
    with pytest.raises(ValueError, match="upload"):
        Blobs().path(hashlib.sha256(data).hexdigest())


def test_of_a_long_note_the_beginning_of_its_first_line_stands_in_the_list(runs, opened):
    runs.keep(page(note="n" * 130 + "\nsecond"), source="regression")
    assert "n" * 120 in [text.value for text in opened("runs").text]


def test_of_many_damaged_records_eight_are_named_and_the_others_counted(runs, opened, monkeypatch):
    damaged = [(f"{n:032x}", "odd") for n in range(10)]
    monkeypatch.setattr(type(runs), "scan", lambda *_: ([], damaged))
    said = words(opened("runs"))
    assert said.count("is not shown: odd.") == 8
    assert "and 2 more." in said


def test_a_run_says_where_it_is_from_and_until_when_it_is_kept(monkeypatch):
    said = []
    monkeypatch.setattr(card.st, "markdown", said.append)
    monkeypatch.setattr(card.st, "caption", said.append)
    card.title(SimpleNamespace(name="N", created=0.0, origin="kept", source="", expires=86400.0))
    assert said == [
        "**N**", "1970-01-01 00:00 UTC · kept from a page · expires 1970-01-02 00:00 UTC"
    ]  # fmt: skip


def test_a_run_without_another_name_keeps_its_own_and_who_makes_nothing_copies_nothing(
    runs, seen_by, monkeypatch
):
    kept = runs.keep(page(name="Own"), source="regression")
    state = {"k-name": " ", "k-note": "new"}
    monkeypatch.setattr(card.st, "session_state", state)
    assert card._words(kept, "k") == ("Own", "new")
    seen_by("somebody", role="visitor")
    card._copy(None, kept, "k")
    assert state[card.PROBLEM].startswith("Not copied: ")
    assert len(runs.all()) == 1
