"""Pages whose charts and words follow the finger, and the server's own numbers after it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.browser.dragging import Drag, ink, words

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

TABLES = "cells", "queries", "points", "curves", "turn", "spokes", "ends", "labels"
# Of each page its sliders: the way in pixels, words that change; how many charts do.
DRAGS = {
    "": {"start-width": (60, {"weight", "curve"}, 1)},
    "normalisation": {
        "norms-momentum": (-40, set(), 2), "norms-batches": (-40, {"evaluated"}, 2),
        "norms-padding": (-30, {"padded"}, 2), "norms-dropout": (-30, {"dropout"}, 2),
    },
    "positions": {
        "positions-offset": (-40, {"rotation", "matrices"}, 1),
        "positions-position": (-40, {"rotation", "matrices"}, 1),
        "positions-pair": (-40, {"rotation", "matrices"}, 1),
    },
}  # fmt: skip


def drawn(seen):
    """Of every chart its data, once the page stands still."""
    seen.until(lambda: seen.views() and words(seen), "charts and words").settle(1.0)
    return [
        {name: rows for name, rows in view.items() if rows and "datum" not in rows[0]}
        for view in seen.views()
    ]


def numbers(views):
    """The named tables, without the number of a row."""
    return [
        [{key: held for key, held in row.items() if key != "live_row"}
         for name in TABLES if name in view for row in view[name]]
        for view in views
    ]  # fmt: skip


@pytest.mark.parametrize("page", DRAGS)
def test_charts_and_words_follow_and_the_server_has_the_last_word(window, page):
    seen = window(page, height=2600)
    moved = numbers(drawn(seen))
    for key, (by, told, charts) in DRAGS[page].items():
        before, said = ink(seen), words(seen)
        drag = Drag(seen, key)
        drag.move(by / 2)
        at = drag.move(by / 2)
        after, now = ink(seen), words(seen)
        assert drag.told() == 0, f"the server heard of the drag of {key}"
        changed = sum(one != other for one, other in zip(before, after, strict=True))
        assert changed >= charts, key
        assert {name for name in said if said[name] != now[name]} >= told
        drag.drop()
        stood, moved, texts = moved, numbers(drawn(seen)), words(seen)
        with pytest.raises(AssertionError):  # numbers that are none would differ by ``!=``
            np.testing.assert_equal(moved, stood)
        assert float(drag.input.input_value()) == at
        assert key.partition("-")[2] + "=" in seen.page.url
        assert texts == now, f"words jumped when the server's came for {key}"

    again = window(seen.page.url.removeprefix(f"{seen.url}/"), height=2600)
    fresh = numbers(drawn(again))
    assert words(again) == texts
    assert len(fresh) == len(moved)
    for one, other in zip(moved, fresh, strict=True):
        np.testing.assert_equal(one, other)
