"""Which sliders are followed, and by which charts; the other module holds each frame."""

import pytest
from support import following, live_frames

from dashboard.features.anatomy import following as page
from dashboard.features.anatomy import task
from dashboard.features.anatomy import view as anatomy

HEADS = {"layout": "heads", "heads": "2"}


def moved(**changes):
    """Where a slider stands that is followed, and its positions at most, by the end of its key."""
    session = following.session("anatomy", anatomy.LINK, **changes)
    return {
        one.slider.key.removeprefix("anatomy-"): (one.slider.at, one.slider.most)
        for one in page._moved(session)
    }


def followed(**changes):
    session = following.session("anatomy", anatomy.LINK, **changes)
    view, catalogue = session.view, session.catalogue
    result = task.perform(anatomy.requests(view, catalogue)[0], live_frames.Context())
    walk = page.walked(view, catalogue, result, sliders=("a slider",))
    assert walk.sliders == ("a slider",)
    return page.followers(walk, catalogue, next(page._moved(session)))


LOOK = {"dropout": (0.0, 41), "row": (0.0, 41), "query": (0.0, 41), "key": (0.0, 41)}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, LOOK),
        (HEADS, {**LOOK, "head": (0.0, 41), "column": (0.0, 41)}),
        ({"normaliser": "entmax"}, {"normaliser-entmax-alpha": (1.3, 41), **LOOK}),
        ({"scoring": "gaussian"}, {"gaussian-width": (1.0, 41), **LOOK}),
        (
            {"scoring": "polynomial", "scoring.degree": "3"},
            {"polynomial-degree": (3.0, 41), "polynomial-offset": (1.0, 41), **LOOK},
        ),
        (
            {"part": "root", "scoring": "gaussian", "normaliser": "entmax"},
            {"gaussian-width": (1.0, 15), "count": (16.0, 15)},
        ),
        (
            {"part": "landscape", "normaliser": "entmax"},
            {"normaliser-entmax-alpha": (1.3, 41), "x": (1.0, 41), "y": (0.5, 41)},
        ),
    ],
)
def test_every_number_that_changes_what_is_drawn_is_followed(changes, wanted):
    assert moved(**changes) == wanted


def test_each_stage_that_a_step_has_follows():
    usual = {*followed().charts}
    assert usual == {
        "q", "k", "v", "projected_q", "projected_k", "scores", "counted", "weights", "pooled",
        "lineage",
    }  # fmt: skip
    heads = {*followed(**HEADS, dropout="0.3").charts}
    assert heads - usual == {
        "linear_q", "split_q", "split_k", "split_v", "dropped", "merged", "mixed",
    }  # fmt: skip
    assert usual - heads == {"lineage"}, "it is too large"
    assert {*followed(layout="self_attention").charts} >= {"x", "model_q", "model_k", "encoded"}


def test_frames_are_of_all_that_a_visitor_looks_at():
    looks = [{}, {"row": "1"}, {"query": "1"}, {"key": "1"}, {"dropout": "0.3"}]
    looks += [HEADS, {**HEADS, "head": "1"}, {**HEADS, "column": "1"}]
    assert [followed(**each).more for each in looks] == [
        "0 0 0 0 0 0.0", "1 0 0 0 0 0.0", "0 0 1 0 0 0.0", "0 0 0 1 0 0.0", "0 0 0 0 0 0.3",
        "0 0 0 0 0 0.0", "0 1 0 0 0 0.0", "0 0 0 0 1 0.0",
    ]  # fmt: skip
