from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pyarrow.compute as pc
import pytest
import streamlit
from support.runs import panel

from dashboard import language
from dashboard.charts import export as files
from dashboard.charts.legend import weights_legend
from dashboard.records.request import Request
from dashboard.storage.page_run import PageRun, read
from dashboard.storage.seen import Chart, Group
from dashboard.ui import navigation, page_menu, speaking
from dashboard.ui.navigation import installed
from dashboard.ui.owner import run_store
from dashboard.visitors import Visitor

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05"
LINK = {"a": "gaussian", "a__width": "0.5", "b": "uniform"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr(page_menu, "preview", lambda charts, heading: PNG * len(charts))
    return tmp_path


@pytest.fixture
def menu(opened, monkeypatch):
    """``menu(**link)``: the page *Kernel regression* with its menu open."""
    (own,) = (entry for entry in installed() if entry.name == "regression")
    monkeypatch.setattr(navigation, "current", lambda: own)

    def new(**link):
        app = opened("regression", **(link or LINK))
        app.session_state["page-keep"] = True
        return app.run()

    return new


def keep(app):
    app.button("page-keep-now").click().run()
    assert not app.exception
    return app


def test_a_page_is_kept_with_all_its_panels_and_its_link(menu):
    app = menu()
    app.text_input("page-keep-name").set_value("Wide, narrow")
    app.text_area("page-keep-note").set_value("two\nlines")
    keep(app)
    (kept,) = run_store().all()
    page = run_store().open(kept.id)
    assert [panel.request.scoring for panel in page.panels] == ["gaussian", "uniform"]
    assert [*page.charts] == [
        "curve-and-weights-of-panel-a", "curve-and-weights-of-panel-b",
        "colours-from-weight",
        "the-curves-of-all-panels-over-the-training-points",
    ]  # fmt: skip
    assert (
        page.tables["figures-of-every-panel"]["Error against the truth"].to_pylist()
        == [0.1234] * 2
    )
    assert page.panels[0].result.facts["metrics"]["truth_mse"] == 0.1234
    assert page.link == "/regression?a=gaussian&a.width=0.5&b=uniform"
    assert (kept.name, kept.note, kept.source) == ("Wide, narrow", "two\nlines", "regression")
    assert run_store().picture(kept) == PNG * 2
    assert f"runs?id={kept.id}" in str(app.get("link_button")[0].proto)
    assert not [b for b in app.button if b.key == "page-keep-now"]
    app.toggle("regression-one_scale").set_value(True).run()
    assert app.button("page-keep-now"), "another page, though its results are the same"


def test_the_usual_name_tells_the_panels_apart(menu):
    keep(menu())
    (kept,) = run_store().all()
    assert kept.name == "Kernel regression: Gaussian, Uniform"


def test_a_panel_is_named_by_all_that_was_asked_for():
    asked = Request.make("regression", scoring="gaussian", data="sine", seed=3)
    assert page_menu._title(asked) == "regression, gaussian, sine, seed 3"


def test_a_run_names_the_page_on_which_it_was_kept(menu, monkeypatch):
    (train,) = (entry for entry in installed() if entry.path == "train")
    app = menu(a="gaussian")
    monkeypatch.setattr(navigation, "current", lambda: train)
    keep(app.run())
    (kept,) = run_store().all()
    assert (kept.source, kept.link) == ("train", "/train?a=gaussian")


def test_a_page_is_taken_out_as_a_file_with_its_pictures(menu, monkeypatch):
    offered = {}
    draw = streamlit.download_button

    def download(label, data, file_name, **more):
        offered[file_name] = data
        return draw(label, data, file_name, **more)

    monkeypatch.setattr(streamlit, "download_button", download)
    monkeypatch.setattr(files, "pictures", lambda charts: {f"{name}.png": PNG for name in charts})
    menu()
    page = read(offered["kernel-regression-gaussian-uniform.zip"]())
    assert page.name == "Kernel regression: Gaussian, Uniform"
    assert page.pictures == {f"{name}.png": PNG for name in page.charts}
    curve, *_ = page.charts["curve-and-weights-of-panel-b"]["datasets"].values()
    assert json.dumps(curve)
    # In another language the usual name is another one; nobody elsewhere opens a local address.
    monkeypatch.setattr(page_menu, "editions", lambda page, name, note, link: (name, note, link))
    monkeypatch.setattr(files, "page", lambda editions: editions)
    assert offered["kernel-regression-gaussian-uniform.html"]() == ("", "", "")


def test_a_chart_that_cannot_be_painted_costs_its_picture_alone(menu, monkeypatch):
    def fail(charts, heading):
        raise files.ExportError("the painter failed")

    monkeypatch.setattr(page_menu, "preview", fail)
    keep(menu())
    (kept,) = run_store().all()
    assert kept.picture == ""


def test_the_picture_shows_the_panels_under_their_titles(menu, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        page_menu, "preview", lambda charts, heading: drawn.append((charts, heading)) or PNG
    )
    keep(menu())
    ((charts, heading),) = drawn
    assert heading == "Kernel regression"
    assert [title for title, _ in charts] == ["Gaussian", "Uniform"]
    (kept,) = run_store().all()
    page = run_store().open(kept.id)
    assert [spec for _, spec in charts] == [
        page.charts["curve-and-weights-of-panel-a"], page.charts["curve-and-weights-of-panel-b"],
    ]  # fmt: skip


def test_a_picture_that_is_too_large_is_left_out(menu, monkeypatch):
    monkeypatch.setattr(page_menu, "LARGEST_PICTURE", len(PNG))
    monkeypatch.setattr(page_menu, "LONGEST_NAME", 27)
    keep(menu())
    (kept,) = run_store().all()
    assert (kept.picture, kept.name) == ("", "Kernel regression: Gaussian")


def test_what_a_reader_is_told_of_a_page_that_cannot_be_kept(menu, home):
    (home / "runs").write_text("a file where the folder should be")
    app = keep(menu())
    assert "Not kept: cannot write" in "\n".join(text.value for text in app.text)


def test_while_a_panel_is_computed_the_page_waits(opened, backend):
    backend.unfinished.add("gaussian")
    app = opened("regression", **LINK)
    assert app.button("page-keep-waiting").disabled
    assert app.button("page-figure-waiting").disabled
    assert app.session_state[page_menu.one_file.SEEN] is None, "no file of half a page"
    backend.unfinished.clear()
    assert not [b for b in app.run().button if b.key == "page-keep-waiting"]


def test_a_page_without_results_of_its_own_has_no_such_menu(opened):
    app = opened("plugins")
    labels = [popover.proto.popover.label for popover in app.get("popover")]
    assert "QR code" in labels
    assert "Keep" not in labels


def test_a_panel_that_was_removed_is_not_kept(menu):
    app = menu()
    app.button("panel-b-remove").click().run()
    keep(app)
    (kept,) = run_store().all()
    assert len(run_store().panels(kept.id)) == 1


def test_another_result_of_the_same_request_may_be_kept_too(menu, backend):
    app = keep(menu(a="gaussian"))
    answer = backend.wait

    def edited(job, timeout):
        event = answer(job, timeout)
        if backend.submitted[job].scoring != "gaussian":
            return event
        curve = event.result.tables["curve"]
        curve = curve.set_column(1, "prediction", pc.multiply(curve["prediction"], 2.0))
        return replace(
            event, result=replace(event.result, tables=event.result.tables | {"curve": curve})
        )

    backend.wait = edited
    next(one for one in app.button if one.label == "Reload plugins").click().run()
    keep(app)
    opened = [run_store().open(kept.id).panels[0] for kept in run_store().all()]
    newer, older = (panel.result.tables["curve"]["prediction"].to_pylist() for panel in opened)
    assert newer == [2 * y for y in older]


def test_a_page_belongs_to_whoever_keeps_it_and_a_classroom_keeps_none(menu, monkeypatch):
    visitor = Visitor(owner="ada", role="author")
    monkeypatch.setattr("dashboard.ui.owner.visitor", lambda: visitor)
    keep(menu())
    assert [kept.owner for kept in run_store().all()] == ["ada"]
    asking = menu()
    visitor = Visitor(owner="ada", role="author", classroom=True)
    keep(asking)
    assert len(run_store().all()) == 1


def test_who_may_not_keep_a_page_can_still_take_it_out_as_a_file(menu, monkeypatch):
    visitor = Visitor(owner="ada", role="author", classroom=True)
    monkeypatch.setattr("dashboard.ui.owner.visitor", lambda: visitor)
    app = menu()
    (popover,) = [one for one in app.get("popover") if "as a file" in one.proto.popover.label]
    assert popover.proto.popover.help.startswith("Keeping is switched off on this server")
    assert "page-keep-now" not in {one.key for one in app.button}
    assert "page-keep-file" in {one.key for one in app.get("download_button")}


def test_pictures_are_as_wide_as_their_places(monkeypatch):
    asked = {}
    monkeypatch.setattr(files, "pictures", lambda charts: asked.update(charts) or {})
    follows = {"autosize": {"type": "fit-x"}, "width": 320}
    charts = dict.fromkeys("abcd", follows) | {"e": {"width": 320, "autosize": "pad"}}
    a, b, c, d, e = (Chart(name=name) for name in charts)
    row = Group(layout="row", weights=(3, 1), blocks=(Group(blocks=(a,)), b))
    grid = Group(layout="grid", blocks=(c, e))
    seen = Group(blocks=(row, Group(blocks=(grid, d))))
    page_menu.packed(PageRun(panels=(panel(),), name="one", seen=seen, charts=charts))
    assert {name: spec["width"] for name, spec in asked.items()} == {
        "a": round(3 * 1130 / 4 - 32), "b": round(1130 / 4 - 32), "c": 1130 // 2 - 32,
        "d": 1130 - 32, "e": 320,
    }  # fmt: skip


def test_without_panels_the_first_charts_are_pictured_but_no_colour_scale(monkeypatch):
    drawn = []
    monkeypatch.setattr(page_menu, "preview", lambda charts, heading: drawn.append(charts) or PNG)
    scale = weights_legend(0.5).to_dict(validate=False)
    specs = {"one": {"mark": "point"}, "scale": scale, "two": {"mark": "bar"}}
    page = PageRun(panels=(panel(),), name="n", charts=specs)
    assert page_menu._picture(page) == PNG
    assert drawn == [[("", {"mark": "point"}), ("", {"mark": "bar"})]]
    assert page_menu._picture(replace(page, charts={"scale": scale})) == b""


def test_a_file_that_has_one_language_says_so(opened, monkeypatch):
    app = opened("regression", a="gaussian")
    seen = app.session_state[page_menu.one_file.SEEN]
    spoken, edition = [], page_menu.one_file.edition

    def noted(page, link):
        spoken.append((language.current(), page.name))
        return edition(page, link)

    other = replace(seen, usual="核回归")
    monkeypatch.setattr(language, "_spoken", lambda: getattr(speaking._run, "lent", "en"))
    monkeypatch.setattr(page_menu.one_file, "edition", noted)
    monkeypatch.setattr(page_menu.one_file, "drawn", lambda link, language, patience: other)
    found = page_menu.editions(seen, "", "", "")
    assert spoken == [("en", "Kernel regression: Gaussian"), ("zh", "核回归")]
    assert all(one.sliders for one in found.values())
    monkeypatch.setattr(page_menu.one_file, "drawn", lambda link, language, patience: None)
    found = page_menu.editions(seen, "A name", "my note", "")
    assert [*found] == ["en"]
    assert found["en"].title == "A name"
    assert found["en"].note.splitlines()[0] == "my note"
    assert "one language" in found["en"].note


def test_of_an_imported_run_the_file_is_what_was_kept(monkeypatch):
    page = PageRun(panels=(panel(),), name="n", link="/regression?a=gaussian")
    (own,) = page.panels
    origin, seen = "", SimpleNamespace(results=[(own.request, own.result)])
    runs = SimpleNamespace(open=lambda _: page, find=lambda _: SimpleNamespace(origin=origin))
    monkeypatch.setattr(page_menu, "run_store", lambda: runs)
    monkeypatch.setattr(page_menu.one_file, "drawn", lambda *_: seen)
    monkeypatch.setattr(page_menu, "editions", lambda *given: given)
    assert page_menu.kept_editions("1", "https://x", 3.0) == (seen, "n", "", "https://x", 3.0)
    origin = "imported"
    assert [*page_menu.kept_editions("1", "https://x", 3.0)] == ["en"]
