"""Each rule of data sets catches the fault that it is there for, and says what to change."""

from __future__ import annotations

import pytest
import torch

from attention_plugins import DatasetSpec, Parameter, RegressionData, SentencePair
from attention_plugins.checking import Broken, check_dataset, rules
from attention_plugins.datasets import attention_datasets
from attention_plugins.registry import load

POINTS = Parameter(name="points", title="Points", default=7, low=2, high=50)


def drawn(parameters, seed, generator=None):
    """Regression data without fault."""
    generator = generator or torch.Generator().manual_seed(seed)
    x = torch.rand(parameters.get("points", 7), 1, generator=generator)
    return RegressionData(x, x[:, 0], x)


def pairs(*given):
    return lambda parameters, seed: [
        SentencePair(*pair) if isinstance(pair, tuple) else pair for pair in given
    ]


def from_the_common_generator(parameters, seed):
    torch.manual_seed(seed)
    return drawn(parameters, seed, torch.default_generator)


def spec(load=drawn, task="regression", parameters=(POINTS,), **texts):
    texts = {"name": "planted", "title": "Planted", "reference": "nobody", **texts}
    return DatasetSpec(task=task, load=load, parameters=parameters, **texts)


def corpus(*given, **fields):
    return spec(pairs(*given), task="translation", parameters=(), **fields)


GOOD = ("a b", "c")
FAULTS = {
    "texts": (spec(reference=""), "the_record_explains_itself", "add reference="),
    "formula": (
        spec(formula=r"\frac{1}{x"), "the_record_explains_itself", "close every {",
    ),
    "type": (spec(pairs(GOOD)), "it_loads_what_its_task_needs", "return RegressionData"),
    "shapes": (
        spec(lambda p, s: RegressionData(torch.ones(3), torch.ones(3), torch.ones(3))),
        "it_loads_what_its_task_needs", "need x (n, d)",
    ),
    "generator": (
        spec(lambda p, s: iter(pairs(GOOD)(p, s)), task="translation"),
        "it_loads_what_its_task_needs", "a list or tuple",
    ),
    "plain tuples": (corpus(["a", "b"]), "it_loads_what_its_task_needs", "make it a SentencePair"),
    "empty side": (corpus(GOOD, ("a", " ")), "it_loads_what_its_task_needs", "pair 2 has no tar"),
    "links": (corpus((*GOOD, ((1, 1),))), "gold_links_are_in_range", "tokeniser 'clitics'"),
    "links over other tokens": (
        corpus(("don't", "c", ((1, 0),)), GOOD, tokeniser="spaces"),
        "gold_links_are_in_range", "tokeniser 'spaces'",
    ),
    "no links": (corpus(GOOD, GOOD, aligned=True), "gold_links_are_in_range", "aligned=False"),
    "no tokeniser": (
        corpus(GOOD, ("d", "e", ((0, 0),)), tokeniser="nobodys"), "gold_links_are_in_range",
        'no tokeniser "nobodys"',
    ),
    "examples": (
        corpus(GOOD, GOOD, examples=("z y",)), "its_examples_are_read_by_its_tokeniser",
        "take some of its sources",
    ),
    "metric": (corpus(GOOD, metric="nobodys"), "its_metric_is_installed", 'no metric "nobodys"'),
    "common generator": (
        spec(from_the_common_generator), "one_seed_gives_the_same_data", "torch's random",
    ),
    "no seed": (
        spec(lambda p, s: drawn(p, torch.seed())), "one_seed_gives_the_same_data", "torch's",
    ),
    "one seed": (
        spec(lambda p, s: drawn(p, 3)), "another_seed_draws_other_data", "second argument",
    ),
    "unused": (
        spec(lambda p, s: drawn({}, s)), "every_parameter_is_used", "read parameters['points']",
    ),
    "bound": (
        spec(lambda p, s: drawn({"points": 50 // (p["points"] - 2)}, s)),
        "every_parameter_is_used", "with points=2",
    ),
    "size": (
        spec(lambda p, s: drawn({"points": p["points"] + 1}, s)), "it_has_the_size_it_says",
        "as many as were asked for",
    ),
    "one pair": (corpus(GOOD), "it_has_the_size_it_says", "at least 2"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_breaks_its_rule_which_says_what_to_change(fault):
    planted, rule, phrase = FAULTS[fault]
    with pytest.raises(Broken) as caught:
        rules("datasets", planted)[rule](planted)
    assert phrase in str(caught.value)


def test_every_rule_has_a_fault_that_it_catches():
    every = {**rules("datasets", spec()), **rules("datasets", corpus(GOOD))}
    assert set(every) == {rule for _, rule, _ in FAULTS.values()}


@pytest.mark.parametrize("good", [spec(), corpus(GOOD, ("d", "e", ((0, 0),)))])
def test_what_the_faults_are_planted_in_is_without_fault(good):
    assert [f for f in check_dataset(good) if not f.passed] == []


@pytest.fixture
def tatoeba(tmp_path, monkeypatch):
    (tmp_path / "fra.txt").write_text("Go.\tVa !\nRun!\tCours !\nI see.\tJe vois.\n", "utf-8")
    monkeypatch.setenv("ATTENTION_TATOEBA", str(tmp_path))


# A corpus that is drawn takes seconds to draw.
DRAWN = {"phrasebook", "copy", "reverse", "sort", "recall", "tagging"}
NAMES = [
    pytest.param(name, marks=[pytest.mark.slow] * (name in DRAWN))
    for name in load(allow=[]).datasets
]


@pytest.mark.parametrize("name", NAMES)
def test_the_built_in_data_sets_keep_every_rule(name, tatoeba):
    (built_in,) = [each for each in attention_datasets() if each.name == name]
    assert [f for f in check_dataset(built_in) if not f.passed] == []
