"""Twelve packages that do everything wrong, installed at once: the app goes on without them.

Real distributions beside real workers. Every test asks the same pool, after all that happened.
"""

from __future__ import annotations

import textwrap
import time

import pytest

from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.records.request import Request
from tests.support.installing import install

pytestmark = pytest.mark.slow
PATIENCE = 120  # seconds; a busy machine may start a process slowly
SILENCE, LOADING, MEMORY = 3.0, 2.0, 6000  # seconds, seconds, megabytes

SCORING = """
    import ctypes, os, sys, torch
    from attention_plugins import hookimpl, scoring

    @scoring("{name}", formula="q k", same_size=True)
    def function(queries, keys):
        {forward}

    @hookimpl
    def attention_scorings():
        yield function
"""


def plugin(name, forward="return queries @ keys.mT"):
    return SCORING.format(name=name, forward=forward)


# Distribution: the source of its module
PACKAGES = {
    "bad-import": "import surely_not_installed",
    "bad-exit": "import sys; sys.exit('I am leaving')",
    "bad-hook": plugin("misspelt").replace("def attention_scorings", "def atention_scorings"),
    "bad-generator": plugin("early").replace("yield function", "yield function; 1 / 0"),
    "bad-record": plugin("wrong").replace("yield function", "yield 'function'"),
    "bad-name": plugin("Two Words"),
    "bad-greed": plugin("dot"),
    "bad-twin-one": plugin("twin"),
    "bad-twin-two": plugin("twin"),
    "bad-loop": plugin("loop", "while True: torch.ones(1)"),
    "bad-start": "while True: pass",
    "bad-pointer": plugin("pointer", "return ctypes.string_at(0)"),
    "bad-hunger": plugin("hunger", "return torch.ones(20 * 2**28)"),  # 20 GiB of float32
    "good-kernel": plugin("good"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    for distribution, source in PACKAGES.items():
        install(folder, distribution, source)
    return folder


@pytest.fixture(scope="module")
def pool(site):
    """One worker, so that whatever a package left behind is met by the next job."""
    made = LocalPool(
        PoolOptions(
            workers=1,
            silence=SILENCE,
            plugin_limit=LOADING,
            grace=0.2,
            memory=MEMORY,
            environment={"PYTHONPATH": str(site)},
        )
    )
    yield made
    made.close()


@pytest.fixture(scope="module")
def catalogue(pool):
    event = pool.wait(pool.submit(Request.make("catalogue")), PATIENCE)
    assert event.stage == "done", event.note
    return event.result.facts


@pytest.fixture
def submit(pool, catalogue):
    """The job of the same small problem with a scoring."""

    def ask(scoring):
        request = Request.make(
            "regression", scoring=scoring, data="sine", options={"data.points": 11}
        )
        return pool.submit(request)

    return ask


@pytest.fixture
def outcome(pool, submit):
    """How it ends."""
    return lambda scoring: pool.wait(submit(scoring), PATIENCE)


@pytest.fixture
def failure(catalogue):
    """The one failure of a distribution."""

    def of(distribution):
        (found,) = [f for f in catalogue["failures"] if f["distribution"] == distribution]
        assert (found["version"], found["advice"] != "") == ("1.2.3", True)
        return found

    return of


LISTED = {
    "bad-import": ("import", "No module named 'surely_not_installed' (bad_import.py, line 1)"),
    "bad-exit": ("import", "SystemExit: I am leaving (bad_exit.py, line 1)"),
    "bad-hook": ("hooks", "no hook atention_scorings; did you mean attention_scorings?"),
    "bad-generator": ("call", "raised after 1 records: ZeroDivisionError"),
    "bad-record": ("record", "attention_scorings yielded str, need ScoringSpec records"),
    "bad-name": ("import", "got 'Two Words' (bad_name.py, line 5)"),
    "bad-greed": ("clash", 'scoring "dot", which is the name of a built-in'),
    "bad-twin-one": ("clash", "and by bad-twin-two (bad_twin_two)"),
    "bad-twin-two": ("clash", "and by bad-twin-one (bad_twin_one)"),
    "bad-start": (
        "quarantine",
        "it was not loaded after 2 s (bad_start.py, line 1, in <module>); "
        "ATTENTION_PLUGIN_LIMIT sets how long that may take",
    ),
}


@pytest.mark.parametrize("distribution", LISTED)
def test_what_cannot_be_taken_in_is_listed_with_its_reason(failure, distribution):
    stage, message = LISTED[distribution]
    assert failure(distribution)["stage"] == stage
    assert message in failure(distribution)["message"]


def test_nothing_else_is_listed_and_the_rest_is_offered(catalogue):
    assert {f["distribution"] for f in catalogue["failures"]} == set(LISTED)
    offered = {entry["name"]: entry["plugin"] for entry in catalogue["scorings"]}
    assert {"good", "early", "loop", "pointer", "hunger", "dot"} <= set(offered)
    assert {"twin", "misspelt"}.isdisjoint(offered)
    assert offered["dot"]["built_in"]
    assert not offered["early"]["built_in"]


def blamed(event, distribution):
    assert event.stage == "failed"
    assert event.facts["culprit"] == distribution
    return event.note


def test_an_endless_loop_costs_one_panel_and_what_was_repaired_meanwhile_is_tried_again(
    pool, submit, outcome, site
):
    job = submit("loop")
    while "started" not in [event.stage for event in pool.events(job)]:
        time.sleep(0.01)
    (site / "bad_start.py").write_text(textwrap.dedent(plugin("started")), "utf-8")
    pool.reload(retry_quarantined=True)
    note = blamed(pool.wait(job, PATIENCE), "bad-loop")
    assert "it computed for 3 s without a sign of life in bad-loop and was stopped" in note
    assert "(bad_loop.py, line 7, in function)" in note
    assert outcome("dot").stage == "done"
    facts = pool.wait(pool.submit(Request.make("catalogue")), PATIENCE).result.facts
    assert "started" in [entry["name"] for entry in facts["scorings"]]
    assert "quarantine" not in [f["stage"] for f in facts["failures"]]


def test_a_segfault_in_forward_costs_one_panel(outcome):
    note = blamed(outcome("pointer"), "bad-pointer")
    assert "was killed by SIGSEGV: bad_pointer.py, line 7, in function" in note
    assert outcome("gaussian").stage == "done"


def test_an_allocation_of_20_gigabytes_is_refused_and_costs_one_panel(outcome):
    note = blamed(outcome("hunger"), "bad-hunger")
    wanted = "bad-hunger asked for more memory than a worker may use, 6,000 MB (ATTENTION_WORKER_M"
    assert wanted in note
    assert outcome("additive").stage == "done"


def test_a_good_plugin_beside_them_works(outcome):
    event = outcome("good")
    assert event.stage == "done"
    assert event.result.tables["curve"].num_rows > 0
