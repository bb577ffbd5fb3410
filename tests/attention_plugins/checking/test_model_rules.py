"""Each rule of models catches the fault that it is there for, and says what to change."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
import torch
from torch import nn

from attention_plugins import ModelSpec, Parameter, Scoring, Site, Sizes, Tap
from attention_plugins.attention import as_mask
from attention_plugins.checking import Broken, check_model, rules
from attention_plugins.text import BOS_ID

SITE, SIZE = Site("cross", 0), 8


class Plain(nn.Module):
    """A translation model without fault, to plant one in: a running mean of words asks."""

    def __init__(self, factory, sizes, values):
        super().__init__()
        self.source = nn.Embedding(sizes.source, SIZE)
        self.target = nn.Embedding(sizes.target, SIZE)
        self.scoring = factory(Sizes(SIZE, SIZE, SIZE))
        self.output = nn.Linear(2 * SIZE, sizes.target)

    def start(self, source, source_lengths, tap):
        shape = torch.Size((len(source), 1, source.shape[1]))
        memory = self.source(source)
        return {
            "memory": memory,
            "mask": as_mask(source_lengths, shape),
            "said": memory.new_zeros(len(source), SIZE),
        }

    def step(self, state, tokens, tap):
        said = torch.tanh(0.5 * state["said"] + self.target(tokens))
        context = self.look(state, said[:, None], tap)[:, 0]
        logits = self.output(torch.cat([said, context], dim=-1))
        return self.normalise(logits), {**state, "said": said}

    def look(self, state, query, tap):
        return tap.attend(
            SITE, self.scoring, query, state["memory"], state["memory"], state["mask"]
        )

    def normalise(self, logits):
        return logits.log_softmax(dim=-1)

    def loss(self, batch, label_smoothing=0.0):
        tap, total = Tap(), 0.0
        state = self.start(batch.source, batch.source_lengths, tap)
        for place, tokens in enumerate(self.inputs(batch.target).T):
            scores, state = self.step(state, tokens, tap)
            right = scores.gather(1, batch.target[:, place : place + 1])[:, 0]
            total = total - (right * (place < batch.target_lengths)).sum()
        return total / self.count(batch)

    def inputs(self, target):
        return torch.cat([torch.full_like(target[:, :1], BOS_ID), target[:, :-1]], dim=1)

    def count(self, batch):
        return batch.target_lengths.sum()


class Kernel(nn.Module):
    """A regression model without fault."""

    def __init__(self, factory, sizes, values):
        super().__init__()
        self.scoring = factory(Sizes(sizes.source, sizes.source, SIZE))

    def forward(self, queries, keys, values, mask, tap):
        site = Site("pooling", 0)
        return tap.attend(site, self.scoring, queries, keys, values[:, None], mask)[:, 0]


def record(kind, parameters=()):
    return ModelSpec(
        name=kind.__name__.lower(), title=kind.__name__, build=kind, parameters=parameters,
        task="regression" if issubclass(kind, Kernel) else "translation", reference="nobody",
    )  # fmt: skip


class Fault(NamedTuple):
    spec: ModelSpec
    rule: str
    phrase: str  # what the message must tell the author


FAULTS: dict[str, Fault] = {}


def fault(rule, phrase, parameters=()):
    def plant(kind):
        FAULTS[kind.__name__] = Fault(record(kind, parameters), rule, phrase)
        return kind

    return plant


@fault("outputs_have_the_shape_of_the_protocol", "need (7,)")
class Column(Kernel):
    def forward(self, *given):
        return super().forward(*given)[:, None]


@fault("rows_do_not_meet", "over the batch's dimension")
class BatchLeak(Plain):
    def start(self, *given):
        state = super().start(*given)
        return {**state, "memory": state["memory"] - state["memory"].mean(dim=(0, 1))}


@fault("padding_changes_nothing", "valid target tokens only")
class CountsPadding(Plain):
    def count(self, batch):
        return batch.target.numel()


@fault("padding_changes_nothing", "pack_padded_sequence")
class ReadsPadding(Plain):
    def start(self, *given):
        state = super().start(*given)
        return {**state, "said": state["memory"].mean(dim=1)}


@fault("points_have_no_order", "use no position")
class LooksAtPlaces(Kernel):
    def forward(self, queries, keys, values, mask, tap):
        keys = keys * torch.linspace(1, 2, len(keys), dtype=keys.dtype)[:, None]
        return super().forward(queries, keys, values, mask, tap)


@fault("it_takes_every_scoring", "keys_projected=False")
class WantsWeights(Plain):
    def look(self, state, query, tap):
        assert self.scoring.weight is not None
        return super().look(state, query, tap)


@fault("weights_leave_through_the_tap", "tap.attend(site, scoring, ...)")
class SoftmaxesItself(Plain):
    def look(self, state, query, tap):
        keys = self.scoring.project_keys(state["memory"])
        scores = self.scoring(self.scoring.project_queries(query), keys)
        scores = scores.masked_fill(~state["mask"], -1e9)
        return scores.softmax(dim=-1) @ state["memory"]


@fault("weights_leave_through_the_tap", "call it once per attention site")
class NeverAsksForAScoring(Plain):
    def __init__(self, factory, sizes, values):
        from attention_plugins.scorings.additive import ADDITIVE

        super().__init__(ADDITIVE.factory(), sizes, values)


@fault("weights_leave_through_the_tap", 'kind "cross"')
class MisnamesItsSite(Plain):
    def look(self, state, query, tap):
        memory = state["memory"]
        return tap.attend(Site("decoder", 0), self.scoring, query, memory, memory, state["mask"])


@fault("weights_are_a_distribution", "padding gets weight")
class ForgetsTheMask(Plain):
    def look(self, state, query, tap):
        return tap.attend(SITE, self.scoring, query, state["memory"], state["memory"])


@fault("it_can_be_built", "No module named 'nothing_here' (")
class LacksAnImport(Plain):
    def __init__(self, factory, sizes, values):
        raise ModuleNotFoundError("No module named 'nothing_here'")


@fault("its_maps_can_be_labelled", "give the model a method axes(site)")
class HasAKeyWithoutAName(Plain):
    def look(self, state, query, tap):
        memory = nn.functional.pad(state["memory"], (0, 0, 0, 1))
        mask = nn.functional.pad(state["mask"], (0, 1), value=True)
        return tap.attend(SITE, self.scoring, query, memory, memory, mask)


@fault("interventions_change_the_output", "use what tap.attend returns")
class IgnoresTheTap(Plain):
    def look(self, state, query, tap):
        super().look(state, query, tap)
        return super().look(state, query, Tap())


@fault("steps_give_log_probabilities", "log_softmax")
class GivesLogits(Plain):
    def normalise(self, logits):
        return logits


@fault("word_by_word_equals_all_at_once", "alike in loss and in step")
class OtherLoss(Plain):
    def loss(self, batch, label_smoothing=0.0):
        return super().loss(batch) * 1.1


@fault("a_later_word_changes_no_earlier_one", "a causal mask")
class Peeks(Plain):
    def inputs(self, target):
        return target


@fault("a_state_can_be_picked", "return a new dict")
class WritesIntoItsState(Plain):
    def step(self, state, tokens, tap):
        scores, new = super().step(state, tokens, tap)
        state["said"] = new["said"]
        return scores, new


@fault("a_state_can_be_picked", "belongs in the state")
class KeepsItsMemory(Plain):
    def start(self, *given):
        state = super().start(*given)
        self.memory = state.pop("memory")
        return state

    def look(self, state, query, tap):
        memory = self.memory[torch.arange(len(query)) % len(self.memory)]
        return super().look({**state, "memory": memory}, query, tap)


class Forced(Plain):
    def forced_log_probabilities(self, source, source_lengths, target, tap):
        state = self.start(source, source_lengths, tap)
        found = []
        for tokens, words in zip(self.inputs(target).T, target.T, strict=True):
            scores, state = self.step(state, tokens, tap)
            found.append(scores.gather(1, words[:, None]))
        return torch.cat(found, dim=1)


@fault("forced_words_equal_steps", "shift the target by one")
class PeeksWhereForced(Forced):
    def forced_log_probabilities(self, source, source_lengths, target, tap):
        self.inputs = lambda target: target
        found = super().forced_log_probabilities(source, source_lengths, target, tap)
        del self.inputs
        return found


@fault("forced_words_equal_steps", "pass the given tap at every site")
class IgnoresTheTapWhereForced(Forced):
    def forced_log_probabilities(self, source, source_lengths, target, tap):
        return super().forced_log_probabilities(source, source_lengths, target, Tap())


@fault("it_overfits_one_batch", "weights that start far too large")
class HardlyLearns(Plain):
    def normalise(self, logits):
        return (1e-6 * logits).log_softmax(dim=-1)


@fault("a_stopped_training_goes_on", "keep all that training changes in the state_dict")
class CountsItsSteps(Plain):
    calls = 0

    def loss(self, batch, label_smoothing=0.0):
        self.calls += 1
        return super().loss(batch) * (1 + 0.1 * self.calls)


@fault("training_lowers_the_error", "detach nothing")
class Detaches(Kernel):
    def forward(self, queries, keys, values, mask, tap):
        found = super().forward(queries, keys, values, mask, tap)
        return found.detach() + 0 * found


@fault("a_checkpoint_restores_it", "register_buffer")
class NotInTheState(Plain):
    def __init__(self, factory, sizes, values):
        super().__init__(factory, sizes, values)
        self.factor = 1 + random.random()

    def normalise(self, logits):
        return super().normalise(self.factor * logits)


@fault("equal_seeds_give_equal_models", "do not seed a generator in build")
class SeedsItself(Plain):
    def __init__(self, factory, sizes, values):
        torch.manual_seed(0)
        super().__init__(factory, sizes, values)


@fault("every_weight_learns", "or take it away")
class DeadWeight(Plain):
    def __init__(self, factory, sizes, values):
        super().__init__(factory, sizes, values)
        self.unused = nn.Linear(2, 2)


@fault("it_is_built_without_memory", ".item()")
class ReadsWhileBuilding(Plain):
    def __init__(self, factory, sizes, values):
        super().__init__(factory, sizes, values)
        self.rate = torch.ones(3).mean().item()


@fault("it_moves_as_a_whole", "register_buffer")
class LeavesATableBehind(Plain):
    def __init__(self, factory, sizes, values):
        super().__init__(factory, sizes, values)
        self.table = torch.arange(7)


@fault("nothing_is_drawn_at_random", "training=self.training")
class AlwaysDrops(Plain):
    def normalise(self, logits):
        return super().normalise(nn.functional.dropout(logits, 0.1))


@fault("nothing_is_kept_on_a_module", "Stashes.weights")
class Stashes(Plain):
    def normalise(self, logits):
        self.weights = logits
        return super().normalise(logits)


@fault("weights_stay_as_they_are", "leave weights and buffers alone")
class CountsInABuffer(Plain):
    def __init__(self, factory, sizes, values):
        super().__init__(factory, sizes, values)
        self.register_buffer("calls", torch.zeros(()))

    def normalise(self, logits):
        self.calls += 1
        return super().normalise(logits)


@fault(
    "every_parameter_is_used", "read parameters['depth']",
    (Parameter(name="depth", title="Depth", default=1, low=1, high=3),),
)  # fmt: skip
class UnusedParameter(Plain):
    pass


@fault(
    "every_parameter_is_used", "with depth=3",
    (Parameter(name="depth", title="Depth", default=1, low=1, high=3),),
)  # fmt: skip
class FailsAtABound(Plain):
    def __init__(self, factory, sizes, values):
        super().__init__(factory, sizes, values)
        self.first = [nn.Linear(2, 2), nn.Linear(2, 3)][values["depth"] - 1]


FAULTS["NoReference"] = Fault(
    ModelSpec(name="no_reference", title="None", task="translation", build=Plain),
    "the_record_explains_itself", "add reference=",
)  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_breaks_its_rule_which_says_what_to_change(name):
    spec, rule, phrase = FAULTS[name]
    with pytest.raises(Broken) as caught:
        rules("models", spec)[rule](spec)
    assert phrase in str(caught.value)


class Halved(Scoring):
    sums_to_one = False

    def forward(self, queries, keys):
        return queries @ keys.mT

    def normalise(self, scores):
        return super().normalise(scores) / 2


class BringsAScoring(Plain):
    """Whose rows need not sum to 1, beside the one that is chosen."""

    def __init__(self, factory, sizes, values):
        super().__init__(factory, sizes, values)
        self.own = Halved()
        self.kernel = nn.Parameter(torch.tensor([0.0, 1.0, 0.0]))
        self.step_of = values.get("depth", 1)

    def look(self, state, query, tap):
        memory = state["memory"]
        own = tap.attend(Site("cross", 1), self.own, query, memory, memory, state["mask"])
        kept = self.kernel[1] + self.kernel[0] * self.step_of + self.kernel[2]
        return super().look(state, query, tap) + kept * own


def test_a_scoring_of_the_model_s_own_and_a_kernel_that_starts_as_the_identity_are_no_fault():
    depth = Parameter(name="depth", title="Depth", default=1, low=1, high=3)
    spec = record(BringsAScoring, (depth,))
    for rule in ("weights_are_a_distribution", "every_parameter_is_used"):
        rules("models", spec)[rule](spec)


@pytest.mark.parametrize("kind", [Plain, Kernel, Forced])
def test_what_the_faults_are_planted_in_is_without_fault(kind):
    assert [f for f in check_model(record(kind)) if not f.passed] == []


def test_every_rule_has_a_fault_that_it_catches():
    known = {**rules("models", record(Plain)), **rules("models", record(Kernel))}
    assert set(known) == {fault.rule for fault in FAULTS.values()}
