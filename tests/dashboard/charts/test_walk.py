"""The chart of an attention step: its cells, what is marked around each, and its two plans."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.charts.lineage import STEP, Words, lineage
from dashboard.charts.template import chart_of, template
from dashboard.charts.walk import draw_walk, fits, prepare_walk

WORDS = Words(["q0", "q1"], ["k0", "k1", "k2"])


def step(queries=2, keys=3, size=2, seed=0):
    """A step of the dot product, by numpy alone."""
    draw = np.random.default_rng(seed).integers(-2, 3, size=(queries + 2 * keys, size))
    q, k, v = np.split(draw.astype(float), [queries, queries + keys])
    scores = q @ k.T
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    values = (q, k, v, scores, np.ones_like(scores), weights, weights, weights @ v)
    return dict(zip(STEP, values, strict=True))


def make(**sizes):
    return chart_of(draw_walk, prepare_walk(step(**sizes), WORDS))


def test_it_survives_and_holds_every_number(survives, rows):
    spec = survives(make)
    cells = rows(spec, "id", "b", "said")
    made = lineage(step(), WORDS)
    assert [cell["id"] for cell in cells] == [*range(len(made.cells))][::-1]
    assert [cell["said"] for cell in cells] == [f"{c.name}: {c.said}" for c in made.cells]
    assert cells[-1]["text"] == f"{made.cells[-1].value:.2f}".replace("-", "−")


def test_marked_are_a_cell_its_parents_and_whom_it_is_a_parent_of():
    made, tables = lineage(step(), WORDS), prepare_walk(step(), WORDS).tables
    last = len(made.cells) - 1
    marked: dict = {}
    for edge in tables["edges"].to_pylist():
        marked.setdefault((edge["id"], edge["way"]), []).append(edge["other"])
    for place, cell in enumerate(made.cells):
        own = last - place
        assert marked[own, "self"] == [own]
        assert marked.get((own, "from"), []) == [last - parent for parent in cell.parents]
        into = [last - child for child, one in enumerate(made.cells) if place in one.parents]
        assert marked.get((own, "into"), []) == into
    places = {
        cell["id"]: (cell["b"], cell["x"], cell["y"]) for cell in tables["cells"].to_pylist()
    }
    for edge in tables["edges"].to_pylist():
        assert places[edge["other"]] == (edge["b"], edge["x"], edge["y"])


def test_the_specification_is_the_same_for_other_numbers_and_sizes():
    one, other = (prepare_walk(step(**sizes), WORDS) for sizes in ({}, {"size": 5, "seed": 1}))
    assert template(draw_walk, one) is template(draw_walk, other)


def corners(seen):
    return [(item["left"], item["top"], item["left"] + item["width"]) for item in
            seen.items("cells_marks")]  # fmt: skip


@pytest.mark.parametrize("width", [340, 900])
def test_cells_lie_inside_the_chart_and_apart(painted, width):
    seen = painted(make(), width=width)
    found = corners(seen)
    assert len({(left, top) for left, top, _ in found}) == len(found) == 38
    assert max(right for *_, right in found) <= width
    assert (max(right for *_, right in found) > 340) == (width > 340)
    (name,), said = seen.items("name_marks"), seen.items("arithmetic_marks")
    assert name["text"] == "Output (q1, 1)"
    assert min(line["top"] for line in said) > name["top"] > max(top for _, top, _ in found)
    assert "".join(line["text"] for line in said) == lineage(step(), WORDS).cells[-1].said
    assert len(seen.items("self_marks")) == 1
    assert len(seen.items("from_marks")) == 6
    assert not seen.items("into_marks")


def test_large_steps_and_dropped_weights_are_not_drawn():
    assert fits(step(queries=8, keys=8, size=8))
    assert not fits(step(keys=9))
    dropped = step()
    dropped["dropped"] = dropped["dropped"] * 2
    assert not fits(dropped)


def test_the_summary_says_every_number():
    summary = prepare_walk(step(), WORDS).summary
    last = lineage(step(), WORDS).cells[-1]
    assert summary.words == f"{last.name}: {last.said}."
    assert summary.table().num_rows == 38
