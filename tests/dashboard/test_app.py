import subprocess
import sys
from pathlib import Path

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from dashboard.jobs.pool import LocalPool
from dashboard.ui import workbench

ROOT = Path(__file__).parents[2]


def test_the_page_process_loads_neither_torch_nor_a_plugin():
    code = (
        "import sys, dashboard.app\n"
        "heavy = {'torch', 'attention_plugins', 'pluggy', 'sacrebleu', 'safetensors'}\n"
        "print(*sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.fixture(scope="module")
def pool():
    """Real workers, with the plugins that are installed."""
    made = LocalPool(1)
    bench = workbench.Workbench(made)
    assert bench.catalogue(patience=120)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workbench, "_shared", lambda: bench)
        patch.setattr("dashboard.ui.results.PATIENCE", 60.0)
        streamlit.cache_resource.clear()
        yield bench
    made.close()


def test_the_app_starts_with_a_finished_comparison_by_real_workers(pool):
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=120).run()
    assert not app.exception
    assert [title.value for title in app.title] == ["Kernel regression"]
    (table,) = app.dataframe
    errors = list(table.value["Error to truth"])
    assert len(errors) == 4
    assert errors[2] < errors[1] < errors[0]  # learned, fixed width, average pooling


def test_a_table_that_is_not_kept_here_is_named_in_every_panel(pool):
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=120)
    app.query_params["data"] = "upload:" + "0" * 64
    app.query_params["a"] = "gaussian"
    app.run()
    assert not app.exception
    assert "upload it again" in "\n".join(text.value for text in app.text)
