from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from dashboard.records.request import Result
from dashboard.ui import maps, shown


@pytest.fixture
def session(monkeypatch):
    state = {}
    monkeypatch.setattr(maps.st, "session_state", state)
    return state


def clicked(name):
    return {"selection": {"head": [{"map": name}]}}


def test_a_grid_stays_as_it_is_while_the_reader_clicks_in_it(session):
    key, start = maps._started("maps", "2.mean")
    assert start == "2.mean"
    session[key] = clicked("1.2")
    assert maps._started("maps", "1.2") == (key, "2.mean")
    session[key] = clicked("2.mean")
    assert maps._started("maps", "2.mean") == (key, "2.mean")


def test_a_grid_is_made_anew_where_another_map_is_wanted_than_was_clicked(session):
    first, _ = maps._started("maps", "2.mean")
    session[first] = clicked("1.2")
    back, start = maps._started("maps", "2.mean")
    assert start == "2.mean"
    assert back != first
    linked, start = maps._started("maps", "1.1")
    assert start == "1.1"
    assert linked not in (first, back)


def result(*weights):
    """One cross-attention map per layer, each of one head."""
    count = len(weights)
    return Result(
        tables={
            "maps": pa.table(
                {
                    "kind": ["cross"] * count,
                    "layer": pa.array(range(count), pa.int32()),
                    "heads": pa.array([1] * count, pa.int32()),
                    "queries": [["q"] * len(one) for one in weights],
                    "keys": [["k"] * len(one[0]) for one in weights],
                    "causal": [False] * count,
                    "weights": pa.array(
                        [np.ravel(one).tolist() for one in weights], pa.list_(pa.float32())
                    ),
                }
            )
        }
    )


@pytest.mark.parametrize(
    ("facts", "queries", "keys"),
    [
        ({}, ("q", "q"), ("k", "k", "k")),
        ({"unknown": ["k"]}, ("q", "q"), ("k (?)",) * 3),
        ({"unknown": ["k"], "target_unknown": ["q"]}, ("q (?)",) * 2, ("k (?)",) * 3),
        ({"unknown": ["q"], "target_unknown": ["<unk>"]}, ("q", "q"), ("k", "k", "k")),
    ],
)
def test_words_that_a_model_does_not_know_are_marked_on_their_side(facts, queries, keys):
    drawn = replace(result([[0.1, 0.2, 0.7], [0.3, 0.05, 0.65]]), facts=facts)
    (frame,) = maps.marked(drawn, "cross")
    assert (frame.query_labels, frame.key_labels) == (queries, keys)
    assert maps.maps_of(drawn, "cross")[0].query_labels == ("q", "q")


def test_pieces_of_words_are_known_by_their_mark():
    words = result([[0.1, 0.9]])
    table = words.tables["maps"]
    at = table.schema.get_field_index("keys")
    cut = table.set_column(at, "keys", [[["trans", "·lation"]]])
    assert maps.has_pieces(replace(words, tables={"maps": cut}), "cross")
    assert not maps.has_pieces(words, "cross")
    assert not maps.has_pieces(Result(), "cross")


def test_panels_share_a_scale_that_holds_the_largest_weight_of_any():
    low, high = result([[0.1, 0.2], [0.3, 0.05]]), result([[0.25, 0.2]], [[0.1], [0.8]])
    assert maps.shared_scale([low]) == 0.3
    assert maps.shared_scale([low, high]) == maps.shared_scale([high, low]) == 0.8
    assert maps.shared_scale([low, Result()]) == 0.3
    assert maps.shared_scale([]) == 1.0


def test_the_map_that_was_clicked_is_the_one_that_a_page_is_kept_with(session):
    two = result([[0.1, 0.2]], [[0.3, 0.4]])

    def kept(selected):
        with shown.recording() as record:
            maps.attention_maps(two, "a", [two], maps.Choice("cross", selected, lambda _: None))
        (made,) = record.charts.values()
        return made()

    usual = kept("2.1")
    session["maps-a-cross-0"] = clicked("1.1")
    assert session["maps-a-cross"][1] == "2.1"
    assert kept("1.1") != usual
    assert session["maps-a-cross"][1] == "2.1"  # what the browser was sent stays
    session.clear()
    assert kept("2.1") == usual


def test_of_several_maps_the_chosen_one_is_large_over_all_of_them():
    def drawn(*weights, selected="1.1"):
        return maps.maps_chart(maps.maps_of(result(*weights), "cross"), selected).to_dict()

    two = [[0.1, 0.2]], [[0.3, 0.4]]
    one, first, second = drawn(two[0]), drawn(*two), drawn(*two, selected="2.1")
    assert "thumbnails" not in [layer.get("name") for layer in one["layer"]]
    assert "thumbnails" in [layer.get("name") for layer in first["layer"]]
    assert first != second


def test_the_room_for_a_translation_is_guessed_and_then_known():
    short, long = (maps.translation_height(text, (), "cross") for text in ("go .", 9 * "go "))
    assert short < long
    low, high = (result([[0.1] * 3] * count) for count in (2, 9))
    known = maps.translation_height("", [low], "cross")
    assert known < maps.translation_height("", [low, high], "cross")
    assert maps.translation_height(99 * "go ", [low], "cross") == known
    told = replace(low, facts={"unknown": ["k"], "target_unknown": ["q"]})
    assert maps.translation_height("", [low, told], "cross") >= known + 2 * 72
    grid = result([[0.1] * 3] * 2, [[0.2] * 3] * 2)
    assert maps.translation_height("", [grid], "cross") > known
