"""Pages, in several states and both languages, show what they showed when last looked at."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
from support.alignments import with_gold
from support.races import laid_down
from support.readings import language_models
from support.snapshots import compare, page_lines

from attention_plugins import log_attention
from attention_plugins.attention_log import INDEX
from dashboard import language
from dashboard.ui.widgets import plain

HERE = Path(__file__).parent / "snapshots"
# A race's version says when its files were written.
_VERSION = re.compile(r'"version","[^"]*"')
STATES = json.loads((HERE / "states.json").read_text("utf-8"))


@pytest.fixture
def facts(facts):
    return with_gold(facts)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    laid_down(tmp_path / "races" / "mine")
    yield
    language.follow(lambda: language.ENGLISH)


def logged(folder):
    """Three steps of a log, written at one and the same time."""
    for step in (0, 10, 20):
        made = torch.Generator().manual_seed(step)
        log_attention(folder, step, torch.randn(2, 2, 3, 4, generator=made).softmax(-1))
    text = (folder / INDEX).read_text("utf-8")
    (folder / INDEX).write_text(re.sub(r'"time": [\d.]+', '"time": 1.0', text), "utf-8")


@pytest.mark.parametrize("name", STATES)
def test_a_page_shows_what_it_showed(name, opened, backend, tmp_path):
    state = STATES[name]
    language.follow(lambda: state.get("language", language.ENGLISH))
    if name.split()[0] == "language_models":
        backend.facts["checkpoints"] += language_models()
    if name.startswith("attention_maps"):
        logged(tmp_path / "logs" / "first")
    app = opened(name.split()[0], **state.get("link", {}))
    for key in state.get("open", ()):
        app.session_state[key] = True
    if "open" in state:
        app.run()
    assert not app.exception
    own = {json.dumps(path)[1:-1]: "HOME" for path in (str(tmp_path), plain(str(tmp_path)))}
    lines = [
        *page_lines(app, own),
        *(f"request {request.to_json()}" for request in backend.submitted.values()),
    ]
    without_times = [_VERSION.sub('"version",""', line) for line in lines]
    compare(HERE / f"{name.replace(' ', '-')}.xz", without_times)
