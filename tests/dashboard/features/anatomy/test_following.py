"""While a slider of one step moves, its matrices and sentences are those of each position."""

from types import SimpleNamespace

import numpy as np
import pytest
from support import following, live_frames

from dashboard.charts.live import PICTURES
from dashboard.features.anatomy import following as page
from dashboard.features.anatomy import page as anatomy_page
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


@pytest.fixture
def plots(monkeypatch):
    """The same of the root and of the landscape."""
    held, catalogue = {}, following.catalogue()

    def found(slider, **changes):
        view = anatomy.LINK.parse(changes, catalogue)[0]
        asked = anatomy.requests(view, catalogue)
        session = SimpleNamespace(
            view=view, catalogue=catalogue,
            key=lambda *parts: "-".join(("anatomy", *filter(None, parts))).replace(".", "-"),
        )  # fmt: skip
        monkeypatch.setattr(page, "draw_plots", lambda session, request, made: held.update(made))
        monkeypatch.setattr(anatomy_page, "formula", lambda *_, **__: None)
        anatomy_page._DRAW[view.part](session, asked)
        return next(
            page.plotted(held, one)
            for one in page._moved(session) if one.slider.key.endswith(f"-{slider}")
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


@pytest.mark.parametrize(
    ("slider", "drawn", "given"),
    [
        ("count", {"variance", "largest", "entropy"}, {"part": "root", "scoring": "cosine"}),
        ("gaussian-width", {"score", "weight"}, {"part": "landscape", "scoring": "gaussian"}),
        ("x", {"score", "weight"}, {"part": "landscape", "scoring": "epanechnikov"}),
    ],
)
def test_each_frame_of_a_plot_is_what_the_page_draws_there(plots, slider, drawn, given):
    one = plots(slider, **given)
    got = live_frames.frames(one)
    assert {*got["tables"]} == drawn
    assert len(got["positions"]) <= (15 if slider == "count" else 41)
    for number in (0, 8, len(got["positions"]) - 1):
        exact, _ = live_frames.exact(one, got["positions"][number])
        for name, tables in got["tables"].items():
            for table, columns in tables.items():
                for column, values in columns.items():
                    there = exact[name].sent[table][column].to_pylist()
                    there = there[0] if column in PICTURES else there
                    assert values[number] == there, (name, table, column)
    moved = got["tables"]["score"]["query"]["left"] if slider == "x" else []
    assert moved == [[at] for at in got["positions"]] or slider != "x"


def test_curves_of_the_root_are_near_between_two_frames(plots):
    one = plots("count", part="root", scoring="cosine")
    got = live_frames.frames(one)
    values = np.array(got["tables"]["entropy"]["lines"]["y"])
    low = got["positions"].index(71)
    share = np.log(82 / 71) / np.log(got["positions"][low + 1] / 71)
    near = values[low] * (1 - share) + values[low + 1] * share
    drawn, _ = live_frames.exact(one, 82)
    error = np.abs(near - drawn["entropy"].tables["lines"]["y"].to_numpy()).max()
    assert error < 0.04 * np.ptp(values), "more than each measure is off by itself"


def test_what_is_the_same_everywhere_is_not_sent(step):
    assert "q" not in live_frames.frames(step("gaussian-width", scoring="gaussian"))["tables"]


@pytest.mark.parametrize(("chart", "most"), [("weights", 0.01), ("pooled", 0.02)])
def test_numbers_are_near_between_two_frames(step, chart, most):
    one = step("gaussian-width", scoring="gaussian")
    got = live_frames.frames(one)
    assert live_frames.between(one, got, chart, "cells", "value") < most
