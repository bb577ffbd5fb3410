from __future__ import annotations

import json
import re

import pytest
import streamlit

from dashboard.charts import export as files
from dashboard.storage.bundle import read

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def downloads(monkeypatch):
    """What is offered, by the file's name: a function that makes the file."""
    offered = {}
    draw = streamlit.download_button

    def keep(label, data, file_name, **more):
        offered[re.sub(r"^kernel-regression-gaussian-[0-9a-f]{8}", "", file_name)] = data
        return draw(label, data, file_name, **more)

    monkeypatch.setattr(streamlit, "download_button", keep)
    return offered


def opened_menu(app, panel="a"):
    app.session_state[f"panel-{panel}-export"] = True
    return app.run()


def test_nothing_is_made_before_the_menu_is_opened(opened, downloads, monkeypatch):
    monkeypatch.setattr(files, "painted", None)
    app = opened("regression", a="gaussian", b="uniform")
    assert not app.exception
    assert downloads == {}
    assert len(app.get("popover")) >= 2


def test_a_panel_offers_its_chart_and_its_tables(opened, downloads, monkeypatch):
    painted = {"svg": b"svg", "png": PNG}
    monkeypatch.setattr(files, "painted", lambda orders: [painted[o["kind"]] for o in orders])
    monkeypatch.setattr(files, "_javascript", lambda: "")
    app = opened_menu(opened("regression", a="gaussian", a__width="0.5", b="uniform"))
    assert not app.exception
    made = {name: make() for name, make in downloads.items()}
    chart = "-curve-and-weights"
    assert made.keys() == {
        f"{chart}.png", f"{chart}-300dpi.png", f"{chart}.svg", f"{chart}.html", f"{chart}.vl.json",
        "-curve.csv", "-points.csv", "-weights.csv", ".zip",
    }  # fmt: skip
    assert made[f"{chart}.svg"] == b"svg"
    assert json.loads(made[f"{chart}.vl.json"])["config"]["background"] == "#ffffff"
    assert len(made["-weights.csv"].splitlines()) == 1 + 5 * 5
    run = read(made[".zip"])
    assert run.pictures == {"curve-and-weights.png": PNG, "curve-and-weights.svg": b"svg"}
    assert run.request.scoring == "gaussian"
    assert run.result.facts["metrics"]["truth_mse"] == 0.1234


def test_a_format_of_files_is_one_record(opened, downloads, monkeypatch):
    own = files.Format(
        label="Words", suffix="-words.txt", mime="text/plain",
        make=lambda chart, title: f"{title} {chart.to_dict()['$schema'][:4]}".encode(),
    )  # fmt: skip
    monkeypatch.setattr(files, "FORMATS", (*files.FORMATS, own))
    opened_menu(opened("regression", a="gaussian", b="uniform"))
    made = downloads["-curve-and-weights-words.txt"]()
    assert made == b"Kernel regression, Gaussian: curve and weights http"


def test_while_a_panel_is_computed_its_menu_waits(opened, backend):
    backend.unfinished.add("gaussian")
    app = opened("regression", a="gaussian", b="uniform")
    assert app.button("panel-a-export-waiting").disabled
    assert not [b for b in app.button if b.key == "panel-b-export-waiting"]
