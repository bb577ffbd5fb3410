from __future__ import annotations

import numpy as np
import pytest

from dashboard.charts.frames import MapFrame
from dashboard.charts.template import chart_of
from dashboard.features.training.probe import (
    CELLS,
    ProbeShape,
    draw_probe,
    prepare_probe,
    relative_entropy,
)

WEIGHTS = np.random.default_rng(3).dirichlet(np.ones(5), size=(2, 3))


SHAPE = ProbeShape(10, 5, query_room=50, key_room=40)


def frame(weights=WEIGHTS):
    _, queries, keys = weights.shape
    return MapFrame(
        kind="cross", layer=1, weights=weights,
        query_labels=tuple(f"mot {n}" for n in range(queries)),
        key_labels=tuple(f"word {n}" for n in range(keys)),
    )  # fmt: skip


def drawn(weights=WEIGHTS):
    return chart_of(draw_probe, prepare_probe(frame(weights), SHAPE))


def test_a_row_per_cell_with_the_mean_of_the_heads():
    rows = prepare_probe(frame(), SHAPE).tables[CELLS].to_pandas()
    assert list(rows["query"].unique()) == ["mot 0", "mot 1", "mot 2", ""]
    found = rows.pivot(index="q", columns="k", values="value").to_numpy()
    assert found.shape == (10, 5)
    np.testing.assert_allclose(found[:3], WEIGHTS.mean(axis=0), rtol=1e-4)
    assert np.isnan(found[3:]).all()


@pytest.mark.parametrize(("width", "column"), [(400, 30), (200, None)])
def test_columns_are_as_wide_as_rows_are_high_where_there_is_room(width, column, painted):
    cells = painted(drawn(), width=width).items("cells_marks")
    assert {round(cell["height"]) for cell in cells} <= {29, 30}
    widths = {round(cell["width"]) for cell in cells}
    assert widths <= {29, 30} if column else max(widths) < 29


def test_fewer_words_take_the_same_places(survives, painted):
    survives(drawn)
    many, few = painted(drawn(), width=400), painted(drawn(WEIGHTS[:, :2]), width=400)
    places = [
        {(round(i["left"]), round(i["top"])) for i in scene.items("cells_marks")}
        for scene in (many, few)
    ]
    assert len(places[0]) == 15
    assert len(places[1]) == 10
    assert places[1] < places[0]
    assert (many.width, many.height) == (few.width, few.height)
    written = [item["text"] for item in few.items("queries_marks") + few.items("keys_marks")]
    assert written == ["mot 0", "mot 1", *(f"word {n}" for n in range(5))]


def test_entropy_is_0_on_one_key_and_1_on_all_alike():
    one = np.zeros((2, 3, 5))
    one[..., 2] = 1
    assert relative_entropy(frame(one)) == 0.0
    assert relative_entropy(frame(np.full((2, 3, 5), 0.2))) == pytest.approx(1.0)
    halves = np.zeros((1, 3, 4))
    halves[..., :2] = 0.5
    assert relative_entropy(frame(halves)) == pytest.approx(0.5)
    assert relative_entropy(frame(np.ones((1, 3, 1)))) == 0.0
