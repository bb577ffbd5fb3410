"""Where numbers come from: each is computed again, from its parents and from its arithmetic."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_plugins import Sizes, registry
from attention_plugins.attention import masked_weights
from attention_plugins.randomness import seeded
from dashboard.charts.lineage import PROJECTED, STEP, Words, equation, lineage, paired
from dashboard.charts.walk import _short
from dashboard.features.anatomy import task_step
from dashboard.features.anatomy.chart import stages
from dashboard.features.anatomy.task import perform
from dashboard.records import sentence
from dashboard.records.request import Request

WORDS = Words(["cats", "eat", "fish"], ["cats", "eat", "fish"], "by name", "normaliser")
NAMES = {"q": "model_q", "k": "model_k", "v": "model_v"}
SPARSE = "sparsemax"
SCORINGS = [*registry.installed().scorings]
EXACT = re.compile(r"(.+) (=|≈) ([−\d.]+(?:e−\d+)?)\Z")


class Context:
    def report(self, fraction, note="", facts=None):
        """As a task's context."""

    def stopped(self):
        return False


def asked(scoring="dot", **options):
    usual = {"part": "step", "q": sentence.EMBEDDINGS, **sentence.WEIGHTS}
    return Request.make("anatomy", scoring=scoring, options={**usual, **options})


def matrices(request):
    result = perform(request, Context())
    found = stages(result.tables["stages"])
    names = (*STEP, *PROJECTED)
    return {name: found[NAMES.get(name, name)].matrix(0) for name in names}, result.facts


def cells(made, title):
    number = [block.title for block in made.blocks].index(title)
    return [cell for cell in made.cells if cell.block == number]


def value(text):
    """What a written expression gives."""
    python = text.replace("·", "*").replace("−", "-").replace("²", "**2")
    python = re.sub(r"√(\d+)", r"math.sqrt(\1)", python).replace("exp(", "math.exp(")
    return eval(python, {"math": math})


def check_said(text, number):
    """The arithmetic gives the result that stands there, which is the number, or says ≈."""
    if not (said := EXACT.match(text)):
        assert not re.search("[=≈]", text)
        return
    left, sign, right = said.groups()
    decimals = [len(one) for one in re.findall(r"\.(\d+)", right) or re.findall(r"\.(\d+)", left)]
    power = float("1" + (re.search("e−.*", right) or [""])[0].replace("−", "-"))
    most = (0.5 / 10 ** max(decimals, default=0) + 1e-9) * power
    assert abs(value(right) - number) <= most, text
    off = abs(value(left) - value(right))
    half_way = off == pytest.approx(most, rel=1e-5)  # rounded to either side
    assert half_way or (off <= most) == (sign == "="), text


@pytest.mark.parametrize(
    ("scoring", "options"), [*((name, {}) for name in SCORINGS), ("dot", {"normaliser": SPARSE})]
)
def test_every_number_is_what_its_parents_and_its_arithmetic_give(scoring, options):
    request = asked(scoring, **options)
    tensors, facts = matrices(request)
    made = lineage(tensors, WORDS)
    drawn = {
        name: values for name, values in tensors.items() if name not in ("allowed", "dropped")
    }
    assert sum(v.size for v in drawn.values()) <= len(made.cells)
    held = [cell.value for cell in made.cells]
    for cell in made.cells:
        check_said(cell.said, cell.value)
    with seeded(request.seed), task_step.double():
        scorer = task_step.scoring_factory(request)(Sizes(2, 2, 8, value=2))
    exp = any(block.title == "exp" for block in made.blocks)
    for cell in made.cells:
        title, of = made.blocks[cell.block].title, np.array([held[i] for i in cell.parents])
        if title in "QKV":
            again = of[:2] @ of[2:]
        elif title == "exp":
            again = math.exp(of[0])
        elif title == "Weights" and exp:
            again = of[cell.column] / of.sum() if of.any() else 0.0  # all are ruled out
        elif title == "Weights" and not facts["needs"]:
            with torch.no_grad():
                again = masked_weights(torch.tensor(of[None, None]), None, scorer.normalise)
            again = float(again[0, 0, cell.column])
        elif title == "Scores" and not facts["needs"]:
            q, k = (torch.tensor(part[None, None]) for part in (of[:2], of[2:]))
            with torch.no_grad():
                again = float(scorer(scorer.project_queries(q), scorer.project_keys(k)))
        elif title == "Output" and len(of) == 6:
            again = of[:3] @ of[3:]
        else:
            continue
        assert again == pytest.approx(cell.value, abs=1e-9), cell


def test_what_the_scoring_rules_out_is_not_called_masked():
    made = lineage(matrices(asked("lsh"))[0], WORDS)
    out = {cell.said for cell in made.cells if cell.said.startswith("0: ")}
    assert out == {"0: the score rules this key out"}


def test_the_sentence_is_worked_through_as_by_hand():
    made = lineage(matrices(asked())[0], WORDS)
    said = {cell.name: cell.said for cell in made.cells}
    assert said["Embeddings (fish, 1)"] == "1, as given"
    assert said["V (fish, 1)"] == "1·3 + 1·1 = 4"
    assert said["Scores (fish, cats)"] == "1·1 + 1·1 = 2"
    assert said["exp (fish, cats)"] == "exp(2) = 7.39"
    assert said["Weights (fish, cats)"] == "7.39 / (7.39 + 2.72 + 20.09) = 0.24"
    assert said["Output (fish, 1)"] == "0.24·3 + 0.09·1 + 0.67·4 = 3.49"
    assert sum(bool(EXACT.match(text)) for text in said.values()) == 18 + 9 + 9 + 9 + 6


@pytest.mark.parametrize(
    ("scoring", "form"),
    [("scaled_dot", r"\(.+\) / √2 [=≈] "), ("gaussian", r"−0.5·\(.+²\) [=≈] "),
     ("additive", r"[−\d.]+, by by name from query and key\Z")],
)  # fmt: skip
def test_a_score_is_written_as_what_it_is(scoring, form):
    for cell in cells(lineage(matrices(asked(scoring))[0], WORDS), "Scores"):
        assert re.match(form, cell.said), cell


def test_what_a_scoring_needs_beside_its_vectors_is_named():
    tensors, _ = matrices(asked("additive"))
    made = lineage(tensors, WORDS._replace(needs="positions"))
    assert cells(made, "Scores")[0].said.endswith("from query, key and positions")


def test_masked_keys_are_named_and_count_nothing():
    made = lineage(matrices(asked(lengths="2"))[0], WORDS)
    for title in ("exp", "Weights"):
        last = [cell for cell in cells(made, title) if cell.column == 2]
        assert {(cell.value, cell.said) for cell in last} == {(0.0, "0: this key is masked")}


def test_no_form_is_said_of_numbers_that_it_does_not_give():
    tensors, _ = matrices(asked())
    tensors["pooled"] = tensors["pooled"] + 0.01
    tensors["weights"] = tensors["dropped"] = tensors["weights"] * 1.01
    tensors["scores"] = tensors["scores"] + 0.01
    made = lineage(tensors, WORDS)
    assert "exp" not in {block.title for block in made.blocks}
    for title in ("Scores", "Weights", "Output"):
        assert all("by " in cell.said for cell in cells(made, title))


SMALL = st.floats(-9, 9)


@given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=4))
def test_a_sum_never_contradicts_itself(pairs):
    left, right = zip(*pairs, strict=True)
    result = float(np.dot(left, right))
    check_said(paired(left, right, result), result)


def test_digits_are_added_only_where_they_are_needed():
    assert paired([0.25, 0.5], [2, 4], 2.5) == "0.25·2 + 0.50·4 = 2.50"
    third = 1 / 3
    assert paired([third, 2 * third], [3, 6], 5.0) == "0.333·3 + 0.667·6 ≈ 5"
    assert equation("exp({})".format, math.exp, [0.5], math.exp(0.5)) == "exp(0.50) = 1.65"
    assert equation("exp({})".format, math.exp, [1.3], math.exp(1.3)) == "exp(1.30) = 3.67"
    assert paired([-1.0], [-2.0], 2.0) == "(−1)·(−2) = 2"


def test_small_numbers_are_not_written_as_0_and_dust_is():
    """A Gaussian kernel of width 0.5, as *Anatomy* has it."""
    q, k, v = np.array([[2.0]]), np.array([[-2.0], [0.5], [2.0]]), np.array([[1.0], [1.0], [-1.0]])
    scores = -2 * (q - k.T) ** 2 + np.array([[0, 0, 1e-17]])
    weights = np.exp(scores) / np.exp(scores).sum()
    tensors = (q, k, v, scores, np.ones((1, 3)), weights, weights, weights @ v)
    made = lineage(dict(zip(STEP, tensors, strict=True)), Words(["q0"], ["k0", "k1", "k2"]))
    assert [cell.said for cell in cells(made, "exp")] == [
        "exp(−32) = 1.3e−14", "exp(−4.50) = 0.01", "exp(0) = 1",
    ]  # fmt: skip
    first, *_ = cells(made, "Weights")
    assert first.said == "1.3e−14 / (1.3e−14 + 0.01 + 1) = 1.3e−14"
    for cell in (*cells(made, "exp"), *cells(made, "Weights")):
        check_said(cell.said, cell.value)
    assert [_short(cell.value) for cell in cells(made, "exp")] == ["1e−14", "0.01", "1"]
    assert [_short(cell.value) for cell in cells(made, "Scores")] == ["−32", "−4.50", "0"]
    assert [_short(each) for each in (-0.0, 0.0049, -0.0049, 0.005, -1e-11)] == [
        "0", "5e−3", "−5e−3", "0.01", "−1e−11",
    ]  # fmt: skip
