"""MQAR, rule by rule of its definition, and the floors that stand in its table."""

import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.documents import section

from attention_plugins.race.field.model import SHAPES
from attention_plugins.race.field.tasks import FLOORS, IGNORED, TASKS

MQAR = TASKS["mqar_64_4"]


def sized(vocabulary, length, pairs, *, noise=False):
    given = {"pairs": pairs, "power": 0.01, "random_non_queries": noise}
    return replace(MQAR, vocabulary=vocabulary, length=length, settings=given)


@st.composite
def drawn(draw):
    pairs = draw(st.integers(1, 6))
    length = 2 * draw(st.integers(2 * pairs, 20))
    task = sized(2 * draw(st.integers(2 * pairs + 2, 60)), length, pairs)
    return task, task.drawn(11, draw(st.integers(0, 99)), learned=True)


@settings(max_examples=30, deadline=None)
@given(drawn())
def test_pairs_of_different_keys_and_values_come_first(found):
    task, (inputs, places, labels) = found
    pairs, half = task.settings["pairs"], task.vocabulary // 2
    keys, values = inputs[:, 0 : 2 * pairs : 2], inputs[:, 1 : 2 * pairs : 2]
    assert inputs.shape == (11, task.length)
    assert places.shape == labels.shape == (11, pairs)
    assert keys.min() >= 1
    assert keys.max() < half <= values.min()
    assert values.max() < task.vocabulary
    for side in (keys, values):
        assert all(len({*row}) == pairs for row in side.tolist())


@settings(max_examples=30, deadline=None)
@given(drawn())
def test_each_key_comes_once_more_and_its_value_is_asked_for_there(found):
    task, (inputs, places, labels) = found
    context = 2 * task.settings["pairs"]
    for row, where, asked in zip(inputs.tolist(), places.tolist(), labels.tolist(), strict=True):
        known = dict(zip(row[0:context:2], row[1:context:2], strict=True))
        assert {row[place]: label for place, label in zip(where, asked, strict=True)} == known
        assert all(place >= context and (place - context) % 2 == 0 for place in where)
        rest = {*range(context, task.length)} - {*where}
        assert all(row[place] == 0 for place in rest)


def test_gaps_follow_the_power_law():
    task = sized(64, 24, 1)
    places = task.drawn(60_000, 3, learned=True).places[:, 0]
    odds = torch.arange(1, 12, dtype=torch.float64) ** (0.01 - 1)
    found = ((places - 2) // 2).bincount(minlength=11) / len(places)
    assert (found - odds / odds.sum()).abs().max() < 0.01


def test_noise_stands_where_nothing_else_does_and_nowhere_else():
    plain, noisy = (sized(64, 24, 2, noise=n).drawn(40, 7, learned=True) for n in (False, True))
    blank = plain.inputs == 0
    assert torch.equal(plain.inputs[~blank], noisy.inputs[~blank])
    assert len(noisy.inputs[blank].unique()) > 50
    assert torch.equal(plain.labels, noisy.labels)


def test_what_is_tested_is_another_draw_and_equal_seeds_draw_alike():
    learned, tested = (sized(64, 24, 2).drawn(30, 7, learned=part) for part in (True, False))
    assert not ({*map(tuple, learned.inputs.tolist())} & {*map(tuple, tested.inputs.tolist())})
    again = sized(64, 24, 2).drawn(30, 7, learned=True)
    assert all(map(torch.equal, learned, again))


@pytest.mark.parametrize("name", TASKS)
def test_what_is_learned_has_a_label_at_each_of_its_places(name):
    labels = TASKS[name].drawn(40, 3, learned=True).labels
    assert ((labels >= 0) & (labels < TASKS[name].vocabulary)).all()


@pytest.mark.parametrize(("name", "length", "pairs"), [
    ("mqar_64_4", 64, 4), ("mqar_128_8", 128, 8), ("mqar_256_16", 256, 16),
])  # fmt: skip
def test_sizes_and_budgets_are_the_papers(name, length, pairs):
    task = TASKS[name]
    assert (task.vocabulary, task.length, task.settings["pairs"]) == (8192, length, pairs)
    assert (task.settings["power"], task.settings["random_non_queries"]) == (0.01, False)
    budget = task.budget
    assert (budget.examples, task.reported, budget.epochs) == (100_000, 3_000, 64)
    assert budget.batch_size == (256 if length == 256 else 512)
    assert sorted(budget.rates) == pytest.approx(torch.logspace(-4, -2, 4).tolist(), rel=1e-4)
    assert (task.decay, task.solved, task.floors["shown"]) == (0.1, 0.99, 1 / pairs)


def accuracy(task, guesses, labels):
    if not task.macro:
        return (guesses == labels).double().mean().item()
    shares = [(guesses[labels == one] == one).double().mean() for one in labels.unique()]
    return torch.stack(shares).mean().item()


def guessed(by, labels):
    """The commonest label of each of ``by``."""
    kinds, by = by.unique(return_inverse=True)
    table = torch.zeros(len(kinds), int(labels.max()) + 1)
    table.index_put_((by, labels), torch.ones(len(by)), accumulate=True)
    return table.argmax(dim=1)[by]


@pytest.mark.parametrize("name", [n for n in TASKS if n not in ("mqar_128_8", "mqar_256_16")])
def test_floors_are_what_they_say(name):
    task = TASKS[name]
    found = task.drawn(3000, 1, learned=False)
    asked = found.labels != IGNORED
    labels, floors = found.labels[asked], dict(task.floors)
    assert floors.keys() <= FLOORS.keys()
    assert max(floors.values()) < task.ceiling
    assert floors["chance"] == pytest.approx(1 / task.vocabulary, rel=0.01)
    if task.draw == "mqar":  # too many labels for a table; all values are equally likely
        assert floors["commonest"] == floors["token"] == pytest.approx(1 / 4096, rel=0.01)
        assert floors["shown"] == 1 / task.settings["pairs"]
        return
    by = {
        "commonest": torch.zeros_like(labels), "place": found.places[asked],
        "token": found.inputs.gather(1, found.places)[asked].long(),
    }  # fmt: skip
    for how in floors.keys() & by.keys():
        best = accuracy(task, guessed(by[how], labels), labels)
        assert floors[how] == pytest.approx(best, abs=0.03), how


def test_the_document_gives_the_budgets_of_the_tasks():
    table = [line.split("|") for line in section("using.md", "Tasks of the field").splitlines()
             if line.startswith("| ")]  # fmt: skip
    said = {row[1].strip(): (row[2], row[3]) for row in table}
    for name, task in TASKS.items():
        mad, budget = name.startswith("mad"), task.budget

        def told(row, column=mad):
            return said[row][column]

        examples = budget.examples if not task.of else TASKS[task.of].budget.examples
        assert {f"{examples:,}", f"{task.reported:,}"} <= words(told("sequences learned, tested"))
        assert {str(budget.epochs), str(budget.batch_size)} <= words(told("steps"))
        assert {f"{rate:.2g}" for rate in budget.rates} == words(told("rates"))
        assert f"cosine to {task.last_rate:.0g}".replace("e-06", "e-6") in told("AdamW")
        assert f"weight decay {task.decay}" in told("AdamW")
        assert (task.macro, task.solved) == (mad, 0.999 if mad else 0.99)
        assert f"above {100 * task.solved:g}%" in told("solved")


def test_the_document_gives_the_sizes_of_the_models():
    said = " ".join(section("using.md", "Tasks of the field").split())
    zoology, mad = SHAPES["zoology_64"], SHAPES["mad_128"]
    assert {zoology.blocks, zoology.heads, mad.blocks} == {2, 1}
    assert f"`zoology_64` to `{[*SHAPES][-3]}` have two layers of attention alone" in said
    assert f"learned positions and a dropout of {zoology.dropout}" in said
    assert f"`mad_128` has two layers of attention with {mad.heads} heads" in said
    assert replace(mad, heads=2) == SHAPES["mad_128_heads_2"]
    assert "`mad_128_heads_2` the same with 2 heads" in said
    assert f"for {MQAR.flat} epochs ({TASKS['mad_fuzzy'].flat} of MAD)" in said


def words(cell):
    return {*re.findall(r"[\d.,e-]*\d", cell)}
