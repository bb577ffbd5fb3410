"""What a translation model promises beyond what all models do, and how models train."""

import math
from contextlib import suppress

import torch
from torch import Tensor, nn

from attention_plugins.beside import beside
from attention_plugins.checking.findings import Broken, draw, equal, rule
from attention_plugins.checking.models.benches import (
    SOURCE_WORDS,
    TARGET_WORDS,
    Translating,
    bench,
    make,
    translating,
)
from attention_plugins.contract import ModelSpec, RegressionData
from attention_plugins.decoding import beam, force, pick
from attention_plugins.encoding import Encoded
from attention_plugins.fitting import fit
from attention_plugins.models.protocols import Batch, ForcedModel, StepModel, as_translation_model
from attention_plugins.randomness import seed_all
from attention_plugins.recipe import Recipe
from attention_plugins.record import TEXT, axes_of
from attention_plugins.scorings.kernels import GAUSSIAN
from attention_plugins.tap import Site, Tap
from attention_plugins.text import BOS_ID, PAD_ID, RESERVED, Vocabulary
from attention_plugins.training import Progress, Trainer

_SAID = beside(__file__, "words.toml")["translating"]

_STEPS, _LEARNED, _RATE = 300, 0.3, 0.01


def _translates(spec: ModelSpec) -> bool:
    return spec.task == "translation"


@rule("models", applies=_translates)
def check_steps_give_log_probabilities(spec: ModelSpec) -> None:
    """The probabilities of all words add up to 1 after every step."""
    totals = translating().row(1).outputs(make(spec), Tap()).logsumexp(dim=-1)
    if not equal(totals, torch.zeros_like(totals)):
        raise Broken(_SAID["not_1"], most=totals.exp().max())


@rule("models", applies=_translates)
def check_word_by_word_equals_all_at_once(spec: ModelSpec) -> None:
    """``loss`` is what ``start`` and ``step`` say of the target, per token."""
    task, model = translating(), make(spec)
    said = task.outputs(model, Tap()).gather(2, task.batch.target[..., None]).sum()
    stepwise = -said / task.batch.target_lengths.sum()
    loss = task.loss(model)
    if not equal(loss, stepwise):
        raise Broken(_SAID["loss_is_not_stepwise"], loss=loss, stepwise=stepwise)


@rule("models", applies=_translates)
def check_forced_words_equal_steps(spec: ModelSpec) -> None:
    """``forced_log_probabilities``, where there is one, says and attends what steps do."""
    task, model = translating(), as_translation_model(make(spec))
    if not isinstance(model, ForcedModel):
        return
    (stepwise, maps), (at_once, found) = _both_ways(model, task)
    if not equal(at_once, stepwise):
        raise Broken(_SAID["forced_differs"])
    pairs = [(maps, found)]
    if any(TEXT in axes_of(model, site).queries for site in found):
        # Texts of a batch have their padding at their ends, or between what was read in steps.
        alone = (_both_ways(model, task.row(number)) for number in range(len(task.batch.source)))
        pairs = [(by_steps[1], forced[1]) for by_steps, forced in alone]
    if any(_differ(*both) for both in pairs):
        raise Broken(_SAID["forced_attends_otherwise"])


def _both_ways(model: StepModel, task: Translating) -> list[tuple[Tensor, dict[Site, Tensor]]]:
    given = task.batch.source, task.batch.source_lengths, task.batch.target
    return [force(model, *given, by_steps=steps) for steps in (True, False)]


def _differ(maps: dict[Site, Tensor], found: dict[Site, Tensor]) -> bool:
    return found.keys() != maps.keys() or not all(equal(found[s], maps[s]) for s in maps)


@rule("models", applies=_translates)
def check_a_later_word_changes_no_earlier_one(spec: ModelSpec) -> None:
    """In the loss, the probabilities of all words after a beginning add up to the beginning's."""
    task, model = translating().row(1), make(spec)
    source, lengths, target, _ = task.batch
    for length in (1, 2):
        beginning = target[:, :length]
        longer = [
            torch.cat([beginning, torch.full_like(beginning[:, :1], word)], dim=1)
            for word in range(TARGET_WORDS)
            if word != PAD_ID  # a loss may leave it out wherever it stands
        ]
        batch = Batch(source, lengths, longer[0], torch.tensor([length + 1]))
        left_out = Translating(batch).outputs(model, Tap())[0, -1, PAD_ID].exp()
        alone = -_total(model, source, lengths, beginning) + (-left_out).log1p()
        added = torch.stack([-_total(model, source, lengths, each) for each in longer])
        if not equal(added.logsumexp(dim=0), alone):
            raise Broken(_SAID["later_words_count"])


@rule("models", applies=_translates)
def check_a_state_can_be_picked(spec: ModelSpec) -> None:
    """Beam search repeats and reorders the rows of a state, and keeps the state before."""
    task, model = translating(), as_translation_model(make(spec))
    state = model.start(task.batch.source, task.batch.source_lengths, Tap())
    tokens, rows = torch.full((3,), BOS_ID), torch.tensor([2, 0, 0, 1])
    for _ in range(2):
        if not isinstance(state, dict) or not all(
            isinstance(part, Tensor) and part.dim() and len(part) == 3 for part in state.values()
        ):
            raise Broken("a state is a dict of tensors whose first dimension is the batch's")
        before = {name: part.clone() for name, part in state.items()}
        found, after = model.step(state, tokens, Tap())
        picked, _ = model.step(pick(state, rows), tokens[0].repeat(4), Tap())
        if state.keys() != before.keys() or not all(before[n].equal(state[n]) for n in before):
            raise Broken("step changed the state it was given; return a new dict: {**state, ...}")
        if not equal(picked, found[rows]):
            raise Broken(_SAID["picked_rows_differ"])
        state = after
    beam(model, task.batch.source, task.batch.source_lengths, width=2, limit=3)


@rule("models", applies=_translates)
def check_it_overfits_one_batch(spec: ModelSpec) -> None:
    """Adam at 0.01 brings the loss of three pairs near 0 within 300 steps."""
    task, model = bench(spec), make(spec, dtype=torch.float32)
    optimiser = torch.optim.Adam(model.parameters(), lr=_RATE)
    loss = math.inf
    for _ in range(_STEPS):
        optimiser.zero_grad()
        found = task.loss(model)
        loss = found.item()
        if loss < _LEARNED:
            return
        found.backward()
        optimiser.step()
    raise Broken(_SAID["learned_too_little"], steps=_STEPS, loss=loss, learned=_LEARNED)


def _total(model: nn.Module, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
    words = target.shape[1]
    return Translating(Batch(source, lengths, target, torch.tensor([words]))).loss(model) * words


class _Stop(Exception):
    """What a user's click on *Pause* becomes in the middle of a training."""


@rule("models", applies=_translates)
def check_a_stopped_training_goes_on(spec: ModelSpec) -> None:
    """Stopped between two steps and restored elsewhere, it learns what it would have learned.

    A model breaks that by keeping something outside its ``state_dict``, or by drawing from a
    generator other than torch's.
    """
    whole = _trainer(spec, 5)
    for _ in whole.epochs():
        pass
    first = _trainer(spec, 5)

    def stop(now: Progress) -> None:
        if now.step == 2:
            raise _Stop

    with suppress(_Stop):
        for _ in first.epochs(stop):
            pass
    stopped = first.state()  # with the state of torch's generator
    second = _trainer(spec, 6)
    second.restore(*stopped)
    for _ in second.epochs():
        pass
    weights = second.model.state_dict()
    if not all(tensor.equal(weights[n]) for n, tensor in whole.model.state_dict().items()):
        raise Broken(_SAID["restored_differs"])


@rule("models", applies=lambda spec: spec.task == "regression")
def check_training_lowers_the_error(spec: ModelSpec) -> None:
    """Twenty steps on thirteen points of a sine bring the leave-one-out error down."""
    x = 3 * draw(13, bench(spec).sizes.source, seed=1)
    data = RegressionData(x, torch.sin(x[:, 0]), x)
    history = fit(make(spec, factory=GAUSSIAN.factory()), data, epochs=20).history
    if not history or not min(step.loss for step in history) < history[0].loss:
        raise Broken(_SAID["error_stays"])


def _trainer(spec: ModelSpec, seed: int) -> Trainer:
    batch = translating().batch
    source, target = (
        [row[:n] for row, n in zip(tokens.tolist(), lengths.tolist(), strict=True)]
        for tokens, lengths in ((batch.source, batch.source_lengths),
                                (batch.target, batch.target_lengths))
    )  # fmt: skip
    corpus = Encoded(source, target, _vocabulary(SOURCE_WORDS), _vocabulary(TARGET_WORDS))
    model = as_translation_model(make(spec, seed=seed, dtype=torch.float32))
    seed_all(5)  # of what training draws
    return Trainer(model, corpus, Recipe(epochs=2, batch_size=1))


def _vocabulary(size: int) -> Vocabulary:
    return Vocabulary((*RESERVED, *(f"w{i}" for i in range(size - len(RESERVED)))))
