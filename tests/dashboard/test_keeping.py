"""Every page that shows results of its own can be kept, and is seen again as it was."""

from __future__ import annotations

import io
import json
import math
from collections import Counter

import pyarrow as pa
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest
from support.alignments import with_gold
from support.pages import chart_words, live_words
from support.races import laid_down

from dashboard.charts import export as files
from dashboard.charts.live import AT, EXACT, OF, ROW
from dashboard.features.runs import task
from dashboard.features.runs.page import add_run, store_upload
from dashboard.jobs.backend import Event
from dashboard.storage.bundle import MB
from dashboard.storage.page_run import read
from dashboard.ui import page_menu
from dashboard.ui.owner import run_store

# A link to each page, and a sentence, as a reader sees it, that says what came of it.
PAGES = {
    "start": ({}, "points carry 90% of the"),
    "regression": (
        {"a": "gaussian", "a__width": "0.5", "a__learn": "1", "b": "=-w |q - k|", "b__w": "2"},
        "Width: 0.5",
    ),
    "translation": ({"a": "bahdanau.additive", "b": "bahdanau.bilinear"}, "je suis *chez* moi."),
    "differences": ({}, "Panels a and b differ most at “je”: 0.00 bit"),
    "alignment": ({}, "layer 1 · head 2: 2 found · 1 missed (chez → *home*) · 1 wrong"),
    "heads": ({"off": "c1.1"}, "Rows sum to 1 within"),
    "anatomy": ({}, "Each row sums to 1; a masked key gets exactly 0."),
    "positions": ({}, "the rotated point misses the encoding"),
    "complexity": ({}, "Each point is the shortest of 3 timings"),
    "norms": ({}, "Valid outputs: nothing changes."),
    "experiment": ({}, "28 runs: 28 done."),
    "race": ({"race": "mine"}, "corrected by Holm over the 3 comparisons with it"),
}
_NO_RESULTS = ("catalogue", "formula")  # tasks that tell a page what it may ask for


def png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (7, 5)).save(file, "PNG")
    return file.getvalue()


PNG = png()


@pytest.fixture
def facts(facts):
    return with_gold(facts)


OWN = {OF, AT, ROW}  # columns of a chart that follows a slider


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    laid_down(tmp_path / "races" / "mine")
    monkeypatch.setattr(page_menu, "preview", lambda charts, heading: PNG)
    monkeypatch.setattr(files, "pictures", lambda charts: {f"{name}.png": PNG for name in charts})


@pytest.fixture(params=PAGES)
def page(request, opened):
    """A page with the menu open, and its sentence."""
    link, sentence = PAGES[request.param]
    app = opened(request.param, **link)
    app.session_state["page-keep"] = True
    app.run()
    assert not app.exception
    return app, sentence


def keep(app: AppTest):
    app.button("page-keep-now").click().run()
    assert not app.exception
    (kept,) = run_store().all()
    return kept


def charts(app: AppTest):
    """By what each chart is said to show: its specification, and the rows of its tables."""
    found = {}
    for chart, said in zip(app.get("vega_lite_chart"), chart_words(app), strict=True):
        held = {each.name: rows(each.data.data) for each in chart.proto.datasets}
        if held.get("parameters") == [{}]:
            del held["parameters"]
        found[said] = json.loads(chart.proto.spec), held
    return found


def rows(data: bytes):
    table = pa.ipc.open_stream(data).read_all()
    return [
        {name.removeprefix(EXACT): none(value) for name, value in row.items() if name not in OWN}
        for row in table.to_pylist()
    ]


def none(value):
    return None if isinstance(value, float) and math.isnan(value) else value


def tables(app: AppTest):
    """Cells and names of every table that is seen, but not those of where a run is from."""
    found = []
    for table in app.dataframe:
        frame = table.value
        # An experiment's and a race's are numbers that are written as texts, with their spread.
        texts = {"What was asked", "What came of it", "Runs", "Verdict"}
        if not texts & {*map(str, frame.columns)}:
            hidden = frame.index.equals(type(frame)(index=range(len(frame))).index)
            frame = frame if hidden else frame.reset_index()
            cells = [[none(cell) for cell in column] for column in frame.to_numpy().T]
            found.append(cells)
    return found


def words(app: AppTest) -> str:
    kinds = (app.text, app.caption, app.markdown, app.header, app.latex)
    text = "\n".join([*(str(one.value) for kind in kinds for one in kind), *live_words(app)])
    return text.replace("\\", "").replace("**", "")


def test_a_kept_page_is_seen_again_without_a_worker_as_it_was(page, opened, backend):
    app, sentence = page
    kept, asked = keep(app), len(backend.submitted)
    backend.facts = {}  # the plugins are gone
    run = opened("runs", id=kept.id)
    assert not run.exception
    assert len(backend.submitted) == asked
    seen, again = charts(app), charts(run)
    assert [*again] == [*seen]
    for name, (spec, held) in seen.items():
        # What is kept follows no slider.
        assert again[name] == (again[name][0] if "live_moving" in json.dumps(spec) else spec, held)
    shown = Counter(map(str, tables(run)))
    assert not Counter(map(str, tables(app))) - shown
    assert [(one.label, one.value) for one in run.metric] == [
        (one.label, one.value) for one in app.metric
    ]
    assert sentence in words(run)
    assert any(kept.link in code.value for code in run.code)


def test_what_a_kept_page_was_drawn_from_is_kept_with_it(page, backend):
    app, _ = page
    panels = run_store().open(keep(app).id).panels
    asked = {r.key for r in backend.submitted.values() if r.task not in _NO_RESULTS}
    assert {panel.request.key for panel in panels} == asked
    assert all(panel.result.tables or panel.result.facts for panel in panels)


@pytest.mark.slow
def test_a_page_goes_to_another_dashboard_with_its_pictures_and_sentences(page, opened, backend):
    app, sentence = page
    kept = keep(app)
    packed = page_menu.packed(run_store().open(kept.id))
    run_store().delete(kept.id)
    request = store_upload(packed)
    done = Event(number=1, stage="done", result=task.perform(request, backend))
    taken = add_run(run_store(), request, done, "friend.zip")
    run = opened("runs", id=taken.id)
    assert not run.exception
    assert sentence in words(run)
    assert len(run.get("image")) == len(charts(app))
    assert not Counter(map(str, tables(app))) - Counter(map(str, tables(run)))
    own = run_store().open(taken.id)
    assert own.seen == read(packed).seen
    assert own.link == kept.link


def test_a_page_that_is_too_large_is_refused_with_the_limit(opened, monkeypatch):
    monkeypatch.setattr("dashboard.storage.bundle.LARGEST_ARCHIVE", MB // 1024)
    app = opened("alignment")
    app.session_state["page-keep"] = True
    app.run().button("page-keep-now").click().run()
    assert run_store().all() == []
    assert any("Not kept: need a bundle of at most" in text.value for text in app.text)


def test_an_experiment_is_kept_with_its_spreads(opened):
    app = opened("experiment", a="gaussian", b="uniform")
    app.session_state["page-keep"] = True
    page = run_store().open(keep(app.run()).id)
    spreads, differences = page.tables.values()
    assert "0.123 ± 0" in str(spreads.to_pylist())
    assert "too few seeds" in str(differences.to_pylist())
