"""After *Reload plugins* every page shows what a server shows that never knew what was before.

Real workers, a plugin and a checkpoint that change under their old names while pages are open.
Compared is all that a page has: its charts with their data, its tables, its words.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time

import pyarrow as pa
import pytest
import streamlit
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

from attention_plugins.home import SHIPPED
from dashboard.charts import template
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.ui import workbench
from tests.support.installing import install

pytestmark = pytest.mark.slow

PATIENCE = 120  # seconds; a busy machine may start a process slowly
SCORINGS = """
    from attention_plugins import Parameter, ScoringSpec, hookimpl, scoring
    from attention_plugins.scorings.kernels import DistanceKernel

    WIDTH = Parameter(
        name="width", title="Width", default=1.0, low=0.02, high=10.0, learnable=True
    )

    class Kernel(DistanceKernel):
        def profile(self, distances):
            return -{sharpness} * self.scaled(distances)

    @scoring("edited_dot", formula="q k", reference="none", same_size=True)
    def edited(queries, keys):
        return queries @ keys.mT * {sharpness} / 5.0

    @scoring("steady_dot", formula="q k", reference="none", same_size=True)
    def steady(queries, keys):
        return queries @ keys.mT / 5.0

    @hookimpl
    def attention_scorings():
        yield ScoringSpec(name="edited", title="Edited", formula="|q - k|", reference="none",
                          build=Kernel, parameters=(WIDTH,), same_size=True)
        yield edited
        yield steady
"""
MODEL = "transformer-scaled-dot-phrasebook"
EDITED, REPLACED = "transformer.edited_dot", "transformer.steady_dot"


def of_model(first):
    """Links of the pages that show a checkpoint, beside one that stays as it is."""
    both = {"a": first, "b": "transformer.scaled_dot", "corpus": "phrasebook"}
    return {
        "translation": {**both, "text": "we have a book ."},
        "differences": {**both, "text": "we have a book ."},
        "alignment": {**both, "gold": "own"},
        "heads": {
            "a": first,
            "corpus": "phrasebook",
            "text": "i lost .",
            "sort": "place",
        },
    }


# Every page that can draw a scoring of a plugin, with what is seen of it there.
OF_SCORING = {
    "regression": {
        "a": "edited", "b": "edited", "b.learn": "1", "c": "edited_dot", "d": "gaussian",
    },
    "experiment": {"scorings": "edited,edited_dot,uniform", "seeds": "2"},
    "anatomy": {"scoring": "edited"},
}  # fmt: skip
PAGES = {
    **{(page, "plugin edited"): link for page, link in OF_SCORING.items()},
    **{(page, "plugin edited"): link for page, link in of_model(EDITED).items()},
    **{(page, "checkpoint replaced"): link for page, link in of_model(REPLACED).items()},
}
# What a computation took is another number each time: it is in a column "Time", and in words.
_SECONDS = re.compile(r"\d[\d.,]*\s(?:ms|s)\b")


def write_plugin(folder, sharpness):
    install(folder, "edited-scorings", SCORINGS.format(sharpness=sharpness))


def write_checkpoint(folder, scoring, scale=1.0):
    """One that ships, with that scoring, and its embeddings so many times as large."""
    shutil.copytree(SHIPPED / MODEL, folder, dirs_exist_ok=True)
    card = json.loads((folder / "card.json").read_text("utf-8"))
    (folder / "card.json").write_text(json.dumps({**card, "scoring": scoring}), "utf-8")
    weights = load_file(folder / "model.safetensors")
    name = "source_embedding.weight"
    save_file({**weights, name: weights[name] * scale}, folder / "model.safetensors")


def page(name):
    import importlib

    importlib.import_module(f"dashboard.features.{name}.page").PAGE.show()


def shown(app):
    """Every number and every text that a page shows, by its place."""
    assert not app.exception
    charts = [
        [
            json.loads(chart.proto.spec),
            *(pa.ipc.open_stream(each.data.data).read_all().to_pydict()
              for each in chart.proto.datasets),
        ]
        for chart in app.get("vega_lite_chart")
    ]  # fmt: skip
    tables = [
        {
            title: column
            for title, column in table.value.to_dict("list").items()
            if "Time" not in title
        }
        for table in app.dataframe
    ]
    kinds = (app.text, app.caption, app.markdown, app.code, app.metric)
    words = [_SECONDS.sub("…", str(one.value)) for kind in kinds for one in kind]
    assert charts or tables, words
    assert ":material/error:" not in "".join(words), words
    return dict(leaves({"charts": charts, "tables": tables, "words": words}))


def leaves(found, place=""):
    inside = found.items() if isinstance(found, dict) else enumerate(found)
    for name, one in inside:
        if isinstance(one, dict | list):
            yield from leaves(one, f"{place}/{name}")
        else:
            yield f"{place}/{name}", repr(one)  # nan is not equal to itself


class Server:
    """What a new process of the app has: workers, and no memory of another one."""

    def __init__(self, patch, environment):
        self.pool = LocalPool(PoolOptions(workers=1, environment=environment))
        self.bench = workbench.Workbench(self.pool)
        patch.setattr(workbench, "_shared", lambda: self.bench)
        streamlit.cache_resource.clear()
        template._template.cache_clear()
        assert self.bench.catalogue(PATIENCE)
        self.sessions = {key: self._session(*key) for key in PAGES}

    @staticmethod
    def _session(name, what):
        app = AppTest.from_function(page, args=(name,), default_timeout=PATIENCE)
        app.query_params.update(PAGES[name, what])
        return app

    def look(self):
        """Every page as its session sees it now."""
        return {key: shown(app.run()) for key, app in self.sessions.items()}

    def reload(self):
        app = self.sessions["regression", "plugin edited"]
        (button,) = [one for one in app.button if one.label == "Reload plugins"]
        button.click().run()
        end = time.monotonic() + PATIENCE
        while self.bench.reloading() is not None:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert self.bench.generation == 1


@pytest.fixture
def seen(tmp_path):
    """What every page shows before, after a reload, and on a fresh server."""
    site, root = tmp_path / "site", tmp_path / "checkpoints"
    site.mkdir()
    environment = {"PYTHONPATH": str(site), "ATTENTION_CHECKPOINTS": str(root)}
    write_plugin(site, sharpness=0.5)
    for scoring in ("edited_dot", "steady_dot"):
        write_checkpoint(root / scoring, scoring)
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as open_pools:
        patch.setattr("dashboard.ui.results.PATIENCE", float(PATIENCE))
        server = Server(patch, environment)
        open_pools.callback(server.pool.close)
        before = server.look()
        write_plugin(site, sharpness=1.25)
        write_checkpoint(root / "steady_dot", "steady_dot", scale=1.5)
        server.reload()
        reloaded = server.look()
        fresh = Server(patch, environment)
        open_pools.callback(fresh.pool.close)
        yield before, reloaded, fresh.look()


# One test of all pages, since each process that runs it would start servers of its own.
def test_a_reload_leaves_nothing_of_what_was_before(seen):
    before, reloaded, fresh = seen
    stale = {
        (*key, place): (reloaded[key].get(place), fresh[key].get(place))
        for key in PAGES
        for place in reloaded[key].keys() | fresh[key].keys()
        if reloaded[key].get(place) != fresh[key].get(place)
    }
    assert stale == {}
    assert [key for key in PAGES if reloaded[key] == before[key]] == []
