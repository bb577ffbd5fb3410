"""While a slider of one step moves, its matrices and sentences are those of each position."""

from types import SimpleNamespace

import pytest
from support import live_frames

from dashboard.features.anatomy import following as page
from dashboard.features.anatomy import task
from dashboard.features.anatomy import view as anatomy

pytestmark = pytest.mark.slow


@pytest.fixture
def step(catalogue):
    """``step(slider, **changes)``: what follows that slider, its name the end of its key."""

    def found(slider, **changes):
        view = anatomy.LINK.parse(changes, catalogue)[0]
        session = SimpleNamespace(
            view=view, catalogue=catalogue,
            key=lambda *parts: "-".join(("anatomy", *filter(None, parts))).replace(".", "-"),
        )  # fmt: skip
        result = task.perform(anatomy.requests(view, catalogue)[0], live_frames.Context())
        walk = page.walked(view, catalogue, result)
        return next(
            page.followers(walk, catalogue, one)
            for one in page._moved(session) if one.slider.key.endswith(slider)
        )  # fmt: skip

    return found


SENTENCE = {"example": "sentence", "scoring": "gaussian"}


def test_each_frame_is_what_the_step_draws_there(step):
    got = live_frames.check(step("gaussian-width", scoring="gaussian"), 20)
    assert {"scores", "counted", "weights", "pooled", "lineage"} == {*got["tables"]}


def test_each_frame_of_dropout_is_what_the_step_draws_there(step):
    got = live_frames.check(step("dropout", dropout="0.3"), 6)
    assert {"dropped", "pooled"} == {*got["tables"]}
    assert len({*got["words"]["dropout"]}) == len(got["positions"])


@pytest.mark.parametrize("slider", ["row", "query", "key"])
def test_what_is_looked_at_follows_too(step, slider):
    got = live_frames.check(step(slider, scoring="additive"))
    assert {"counted", "weights", "traced"} < {*got["tables"]}
    assert len({*got["words"]["traced"]}) == len(got["positions"])


def test_a_head_and_its_column_follow(step):
    heads = {"layout": "heads", "heads": "2"}
    assert "split_q" in live_frames.check(step("head", **heads), 1)["tables"]
    assert "linear_q" in live_frames.check(step("column", **heads), 4)["tables"]


def test_what_is_the_same_everywhere_is_not_sent(step):
    assert "q" not in live_frames.frames(step("gaussian-width", scoring="gaussian"))["tables"]


@pytest.mark.parametrize(("chart", "most"), [("weights", 0.01), ("pooled", 0.02)])
def test_numbers_are_near_between_two_frames(step, chart, most):
    one = step("gaussian-width", scoring="gaussian")
    got = live_frames.frames(one)
    assert live_frames.between(one, got, chart, "cells", "value") < most
