"""Two panels laid over each other: whose maps, which cells, in which words."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from dashboard.charts import MapFrame, usual_map
from dashboard.features.differences import page
from dashboard.features.differences.pair import Pair, Side, map_title, misfits, prepare_sides
from dashboard.features.differences.view import Differences
from dashboard.links.panels import selected_maps
from dashboard.records.request import Result
from dashboard.ui import maps

WORDS = ("x", "y", "z")
WEIGHTS = np.arange(1, 19, dtype=np.float32).reshape(2, 3, 3)  # heads x queries x keys


def side(letter, weights=WEIGHTS, kind="cross", selected="1.1", labels=(WORDS, WORDS), **more):
    frame = MapFrame(kind=kind, layer=0, weights=weights, query_labels=labels[0],
                     key_labels=labels[1])  # fmt: skip
    made = {"checkpoint": f"of {letter}", "title": "T", "digest": "d", "likely": (), **more}
    return Side(letter=letter, frames=(frame,), selected=selected, **made)


def result(most=2):
    cells = [float(n) for n in range(9)]
    return Result(
        tables={
            "differences": pa.table(
                {"difference": cells, "weight_one": cells, "weight_other": cells}
            ),
            "divergence": pa.table({"jensen_shannon_bits": [0.25, 0.5, 0.75]}),
        },
        facts={"most_different": most, "mean_divergence": 0.5},
    )


PAIR = Pair(one=side("a"), other=side("c", selected="1.2"))


def test_the_selected_map_is_a_head_or_the_mean_of_its_layer():
    assert side("a", selected="1.2").weights.tolist() == WEIGHTS[1].tolist()
    assert side("a", selected="1.mean").weights.tolist() == WEIGHTS.mean(0).tolist()


@pytest.mark.parametrize(
    ("count", "name", "title"),
    [(1, "1.1", "layer 1 · one head"), (2, "1.2", "layer 1 · head 2"),
     (2, "1.mean", "layer 1 · mean of 2 heads")],
)  # fmt: skip
def test_a_map_is_called_by_its_layer_and_its_head(count, name, title):
    assert map_title(side("a", WEIGHTS[:count]).frames, name) == title


def test_a_word_of_a_decoder_sees_none_that_comes_after_it():
    told = {"texts": ("x y", "x y"), "labels": (("x", "y"), ("x", "y"))}
    whole = np.full((1, 2, 2), 0.5, np.float32)
    seen = [np.isnan(side("a", whole, kind, **told).by_words().frames[0].weights[0])
            for kind in ("decoder", "encoder")]  # fmt: skip
    assert np.array_equal(seen[0], ~np.tri(3, dtype=bool))
    assert not seen[1].any()


def test_a_panel_of_other_words_is_named_with_how_many_it_has_and_the_first_has():
    other = side("b", WEIGHTS[:, :, :2], labels=(WORDS, WORDS[:2]))
    (said,) = misfits([side("a"), other, side("c")]).values()
    assert "than those of panel a (2 and 3)" in said


def test_a_difference_is_told_by_its_panels_and_its_rows():
    tile = PAIR.tile(result())
    assert (tile.letter, tile.subtitle) == ("a − c", "blue: a looks more, orange: c")
    assert tile.weights.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert tile.notes[2] == "Jensen–Shannon 0.75 bit"
    tables = PAIR.tables(result())
    assert tables["differences"].column_names == ["difference", "weight_a", "weight_c"]


def test_the_chart_begins_with_the_row_that_differs_most():
    assert prepare_sides([PAIR.one, PAIR.other], PAIR, result()).values["start"] == 2
    assert prepare_sides([PAIR.one, PAIR.other], PAIR, result(None)).values["start"] == 0
    assert prepare_sides((), PAIR, result()).shape.count == 1


def test_a_worker_is_asked_for_the_maps_that_are_seen_on_the_device_that_was_chosen():
    view = Differences(corpus="", panels=(), text="go", kind="encoder", device="cpu")
    asked = PAIR.request(view, "va")
    assert (asked.data, asked.device) == ("of a", "cpu")
    assert dict(asked.options) == {
        "other": "of c", "text": "go", "target": "va", "kind": "encoder", "map": "1.1",
        "other_map": "1.2",
    }  # fmt: skip
    by_words = replace(PAIR, one=replace(PAIR.one, of_words=True))
    assert dict(by_words.request(view, "va").options)["words"] == "yes"


def test_a_rows_note_says_how_likely_its_word_is():
    assert side("a", likely=(0.25, 0.5, 1.0)).tile().notes[1] == "probability 0.50"


def test_rows_without_shares_have_no_verdict_but_a_reason():
    below = Pair(one=side("a", -WEIGHTS), other=side("b"))
    assert below.verdict(result(None)) == maps.SIGNED
    assert PAIR.verdict(result(None)) == ""
    assert "differ most at “z”: 0.75 bit" in PAIR.verdict(result())


def test_heads_that_are_used_as_matched_stand_in_the_link_unless_they_are_usual():
    view = Differences(corpus="", panels=("x", "y", "z"))
    changed = []
    session = SimpleNamespace(view=view, change=changed.append)
    usual = usual_map(PAIR.one.frames)
    page._use(session, PAIR, page._Match(usual, "1.2", 0.5))
    page._use(session, PAIR, page._Match("1.1", None, None))
    assert [selected_maps(one) for one in changed] == [{"a": "", "b": "", "c": "1.2"}]
