"""A server that is asked to end: soon, without a process left behind, and nothing forgotten."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest
from support.processes import alive, descendants
from support.server import Visit, serving

from dashboard.records.request import Request
from dashboard.storage.blobs import Blobs
from dashboard.storage.training_folder import TrainingFolder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SECONDS = 8.0
LONG = "a=bahdanau.additive&corpus=phrasebook&count=1500"  # two jobs


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"still not after {seconds} s"
        time.sleep(0.1)


@pytest.fixture
def trainings(tmp_path):
    """The folders of two long trainings that wait in the data folder."""
    rows = [(f"I see {number} cats .", f"Je vois {number} chats .") for number in range(40)]
    corpus = Blobs(tmp_path).put("\n".join("\t".join(row) for row in rows).encode())
    options = {"recipe.epochs": 900, "held_out": 5, "model.embed": 64, "model.hidden": 128}
    made = []
    for seed in (1, 2):
        request = Request.make(
            "training", model="bahdanau", scoring="additive", data=f"upload:{corpus}",
            options=options, seed=seed,
        )  # fmt: skip
        folder = TrainingFolder.create(request, tmp_path)
        folder.note_state("queued")
        made.append(folder)
    return made


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_soon_with_a_queue_and_leaves_nothing_behind(tmp_path, trainings, signal_number):
    command = [
        sys.executable, "-m", "streamlit", "run", ROOT / "streamlit_app.py",
        "--server.port", "{port}", "--server.address", "127.0.0.1",
    ]  # fmt: skip
    own = {
        "ATTENTION_WORKBENCH_HOME": str(tmp_path), "ATTENTION_METRICS": "true",
        "ATTENTION_LOG_LEVEL": "info",
        "ATTENTION_WORKERS": "1", "ATTENTION_TRAINERS": "1", "ATTENTION_FREE_WORK": "100000",
    }  # fmt: skip
    with serving(command, tmp_path, {**os.environ, **own}) as server:
        with Visit(server, "alignment", LONG) as visit:

            def busy():
                visit.run()
                figures = server.text("/metrics")
                return all(
                    re.search(rf'^attention_{name}{{pool="{pool}"}} [1-9]', figures, re.MULTILINE)
                    for name in ("running", "queued")
                    for pool in ("jobs", "trainings")
                )

            until(busy)
            until(lambda: trainings[0].history().state == "running")
            started = descendants(server.process.pid)
            assert len(started) >= 2
            began = time.monotonic()
            server.process.send_signal(signal_number)
            server.process.wait(timeout=60)
            taken = time.monotonic() - began
        log = server.log.read_text()
    assert "Traceback" not in log
    assert "job cancelled: alignment" in log
    assert taken < SECONDS, f"it took {taken:.1f} s"
    until(lambda: not any(map(alive, started)), seconds=2)
    # The next server queues the second again; the first waits for whoever started it.
    assert [folder.history().state for folder in trainings] == ["running", "queued"]
