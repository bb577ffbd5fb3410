"""A training that is not ours writes its log while the page is open, and new steps appear."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

LOOP = """
import sys, torch
from torch.nn import functional
from attention_plugins import watch

layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
optimiser = torch.optim.SGD(model.parameters(), 0.1)
with watch(model, log=sys.argv[1], every=10):
    for line in sys.stdin:
        for _ in range(int(line)):
            model(torch.randn(3, 6, 16)).square().mean().backward()
            optimiser.step()
            optimiser.zero_grad()
        print("done", flush=True)
"""


# The server sends late what a run has made, as on a busy machine: a timer then fires in between.
LATE = """
import sys
if "streamlit" in sys.orig_argv:
    import random, time
    from streamlit.runtime.app_session import AppSession
    handle = AppSession._handle_scriptrunner_event_on_event_loop
    def late(*args, **more):
        time.sleep(0.03 * random.random())
        return handle(*args, **more)
    AppSession._handle_scriptrunner_event_on_event_loop = late
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def app(tmp_path_factory, server, logs):
    late = tmp_path_factory.mktemp("late")
    (late / "sitecustomize.py").write_text(LATE)
    variables = {"ATTENTION_LOGS": str(logs), "PYTHONPATH": str(late)}
    with server(tmp_path_factory.mktemp("maps"), **variables) as url:
        yield url


@pytest.fixture
def training(logs):
    """``training(steps)``: lets the loop go on for so many, and returns when they are done."""
    command = [sys.executable, "-c", LOOP, str(logs / "live")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:

        def go(steps):
            process.stdin.write(f"{steps}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"

        yield go
        process.stdin.close()


def step(seen):
    found = re.search(r"Step ([\d,]+) of live", seen.text())
    return int(found[1].replace(",", "")) if found else None


def test_steps_of_a_running_training_appear_without_a_click(window, training):
    seen = window("maps")
    seen.until(lambda: "Nothing to show yet" in seen.text(), "an empty page")
    training(1)
    seen.until(lambda: step(seen) == 0, "the first step")
    for last in (10, 20):
        training(10)
        began = time.monotonic()
        seen.until(lambda wanted=last: step(seen) == wanted, f"step {last}")
        # Within about 5 s where the machine is not busy with something else.
        assert time.monotonic() - began < 30
    seen.until(lambda: "Entropy of the heads" in seen.text(), "the curves").settle()
    assert "source=log" in seen.page.url
    (rows,) = seen.rows("x", "y", "series")
    assert {row["x"] for row in rows} == {0, 10, 20}
    assert {row["series"] for row in rows} == {
        "layer 2 · mean", "layer 2 · head 1", "layer 2 · head 2",
    }  # fmt: skip
    seen.screenshot("maps-1280-light")


def test_the_steps_play_to_the_last(window, training):
    training(31)
    seen = window("maps?source=log:live&step=0")
    seen.until(lambda: step(seen) == 0, "the first step").settle()
    for _ in range(3):
        passed = set()

        def ended(passed=passed):
            passed.add(step(seen))
            return step(seen) == 30 and "Pause" not in seen.text()

        seen.page.locator(".st-key-maps-play button").click()
        seen.until(lambda: "Pause" in seen.text(), "the play")
        seen.until(ended, "the end of the play").settle()
        assert passed - {0, 30, None}, "no step between was seen"
