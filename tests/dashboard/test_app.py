import asyncio
import gc
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

import streamlit_app
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.serving import lifespan
from dashboard.storage.files import StorageError
from dashboard.ui import navigation, workbench
from tests.support.catalogue import FACTS
from tests.support.pages import Backend, live_words

ROOT = Path(__file__).parents[2]


def test_the_page_process_loads_neither_torch_nor_a_plugin():
    code = (
        "import sys, streamlit_app, dashboard.app, dashboard.ui.navigation\n"
        "dashboard.ui.navigation.import_first()\n"
        "heavy = {'torch', 'attention_plugins', 'pluggy', 'sacrebleu', 'safetensors'}\n"
        "light = {'attention_plugins', 'attention_plugins.marking', 'attention_plugins.home'}\n"
        "print(*sorted(m for m in {*sys.modules} - light if m.partition('.')[0] in heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.fixture(scope="module")
def pool():
    """Real workers, with the plugins that are installed."""
    made = LocalPool(PoolOptions(workers=1))
    bench = workbench.Workbench(made)
    assert bench.catalogue(patience=120)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workbench, "_shared", lambda: bench)
        patch.setattr("dashboard.ui.results.PATIENCE", 60.0)
        streamlit.cache_resource.clear()
        yield bench
    made.close()


def test_the_app_starts_with_a_finished_comparison_by_real_workers(pool):
    app = AppTest.from_file(str(ROOT / streamlit_app.app.script_path), default_timeout=120).run()
    assert not app.exception
    assert [title.value for title in app.title] == ["Start"]
    said = live_words(app)
    weight = "16 of 50 points carry 90% of the Gaussian kernel's weight."
    assert f"Averaged over x, {weight}" in said
    nearer = "Its curve is nearer the truth than average pooling"
    assert f"{nearer}: its error is 0.27 against 1.04." in said
    assert len(app.get("vega_lite_chart")) == 1


def _regression():
    from dashboard.features.regression.page import PAGE

    PAGE.show()


def test_kernel_regression_compares_four_panels_by_real_workers(pool):
    app = AppTest.from_function(_regression, default_timeout=120).run()
    assert not app.exception
    (table,) = app.dataframe
    errors = list(table.value["Error against the truth"])
    assert len(errors) == 4
    assert errors[2] < errors[1] < errors[0]  # learned, fixed width, average pooling


def test_a_table_that_is_not_kept_here_is_named_in_every_panel(pool):
    app = AppTest.from_function(_regression, default_timeout=120)
    app.query_params["data"] = "upload:" + "0" * 64
    app.query_params["a"] = "gaussian"
    app.run()
    assert not app.exception
    assert "upload it again" in "\n".join(text.value for text in app.text)


def test_the_workers_start_before_the_first_visitor_and_end_with_the_server(monkeypatch):
    asked, imported, frozen = [], threading.Event(), threading.Event()
    backend = Backend(FACTS)
    bench = workbench.Workbench(backend)
    monkeypatch.setattr(workbench, "_shared", lambda: bench)
    monkeypatch.setattr(navigation, "import_first", imported.set)
    monkeypatch.setattr(gc, "freeze", lambda: imported.is_set() and frozen.set())
    monkeypatch.setattr(gc, "set_threshold", lambda _: None)

    async def start():
        async with lifespan(streamlit_app.app):
            asked.extend(request.task for request in backend.submitted.values())
            assert not backend.closed

    asyncio.run(start())
    assert asked == ["catalogue"]
    assert imported.wait(10)
    assert frozen.wait(10), "what is imported is looked through for garbage again and again"
    assert backend.closed


def test_a_database_that_the_settings_name_is_opened_with_the_server(monkeypatch, tmp_path):
    backends, benches = [], []
    monkeypatch.setattr(workbench, "_shared", lambda: benches[-1])
    monkeypatch.setattr(navigation, "import_first", lambda: None)
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))

    async def start():
        backends.append(Backend(FACTS))
        benches.append(workbench.Workbench(backends[-1]))
        async with lifespan(streamlit_app.app):
            pass

    asyncio.run(start())
    assert not (tmp_path / "runs").exists()
    monkeypatch.setenv("ATTENTION_DATABASE", f"sqlite:///{tmp_path / 'chosen.db'}")
    asyncio.run(start())
    assert (tmp_path / "chosen.db").is_file()
    monkeypatch.setenv("ATTENTION_DATABASE", "nowhere")
    with pytest.raises(StorageError, match="ATTENTION_DATABASE"):
        asyncio.run(start())
    assert backends[-1].closed
