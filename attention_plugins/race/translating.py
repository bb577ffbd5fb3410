"""One trial on sentence pairs: train a small model, then measure it on what it never saw."""

from collections.abc import Callable, Sequence

import torch
from torch.utils.flop_counter import FlopCounterMode

from attention_plugins import experiment
from attention_plugins.agreement import batch_of
from attention_plugins.attention import Scoring
from attention_plugins.contract import ContractError, MetricSpec, Scalar, SentencePair
from attention_plugins.datasets.parallel import references
from attention_plugins.evaluation import apart
from attention_plugins.experiment import Experiment, Prepared, at_rest, prepare
from attention_plugins.models.protocols import Module
from attention_plugins.race.data import draws_lengths, pairs_of
from attention_plugins.race.records import Budget, Example, Outcome, Trial
from attention_plugins.randomness import seeded
from attention_plugins.recipe import Recipe
from attention_plugins.registry import Registry, installed
from attention_plugins.training import Progress, train
from attention_plugins.translator import Translator


@torch.no_grad()
def share_weights(model: Module, plain: Module) -> int:
    """Give a model the weights of another, wherever both have one of equal name and shape.

    A scoring with weights of its own draws them between those of the model's layers, and so
    shifts all later draws. Weights of scorings, and of their normalisers, stay as they are.
    ``plain`` is the same model around a scoring without weights, of the same seed. Returns how
    many weights both have now in common.
    """
    scorings = (m for each in (model, plain) for m in each.modules() if isinstance(m, Scoring))
    theirs = {id(weight) for scoring in scorings for weight in scoring.parameters()}
    given = dict(plain.named_parameters())
    shared = 0
    for name, weight in model.named_parameters():
        other = given.get(name)
        if other is None or other.shape != weight.shape or theirs & {id(weight), id(other)}:
            continue
        weight.copy_(other)
        shared += weight.numel()
    return shared


def operations(run: Callable[[], object], examples: int) -> int:
    """Multiplications and additions of matrix products, for each of the examples of a pass."""
    with FlopCounterMode(display=False) as counter, torch.no_grad(), seeded(0):
        run()
    return round(counter.get_total_flops() / examples)


PLAIN = "uniform"  # a scoring without weights
# Of every model those that it has: small enough to train in seconds.
SIZES: dict[str, Scalar] = {
    "embed": 32, "hidden": 32, "heads": 2, "layers": 1, "ffn": 64, "dropout": 0.0,
}  # fmt: skip
_WARMUP = 0.1  # of all steps
_LONGEST = 40  # tokens
_COUNTED = 16  # sentence pairs whose operations are counted
_DIGITS = 3


def translate(trial: Trial, budget: Budget, device: torch.device | str = "cpu") -> Outcome:
    """Train a contestant on a parallel data set, and measure it.

    Quality is in the data set's own metric, over the greedy translations of the reported sources.
    ContractError: an unknown name, or a scoring that does not fit the model. FloatingPointError:
    the loss is not finite.
    """
    registry = installed()
    data = pairs_of(trial.task, budget.examples, trial.seed)
    ready = prepare(_experiment(trial, budget, registry), data.learned, registry)
    _start_alike(ready, trial, registry)
    encoded = ready.encoded
    batch = batch_of(encoded.source[:_COUNTED], encoded.target[:_COUNTED])
    counted = operations(lambda: ready.model.loss(batch, 0.0), len(batch.source))
    torch.manual_seed(trial.seed)  # dropout draws the same for all
    history = train(ready.model, encoded, ready.recipe, device=device)
    experiment.guard(ready, registry)
    with at_rest(ready, device) as translator:
        metric = ready.metric
        validation = _value(translator, data.validation, metric)
        if trial.tuning:
            return Outcome(trial=trial, validation=validation)
        sources, said, wanted = _translated(translator, data.reported)
        parts = apart(
            sources, said, wanted, data.neighbours,
            lambda texts, right: {"value": _rounded(metric, texts, right)},
        )  # fmt: skip
        return Outcome(
            trial=trial, validation=validation, quality=_rounded(metric, said, wanted),
            parts={name: part["value"] for name, part in parts.items()},
            curve=tuple(
                (float(n), _value(translator, pairs, metric))
                for n, pairs in data.by_length.items()
            ),
            losses=[round(one.loss, _DIGITS) for one in history],
            parameters=sum(w.numel() for w in ready.model.parameters() if w.requires_grad),
            operations=counted,
            milliseconds=_milliseconds(history),
            example=_example(translator, data.reported) if trial.seed == 0 else None,
        )  # fmt: skip


def _experiment(trial: Trial, budget: Budget, registry: Registry) -> Experiment:
    who, data = trial.contestant, registry.dataset(trial.task)
    model = registry.model(who.model)
    return Experiment(
        model=who.model, scoring=who.scoring, normaliser=who.normaliser,
        model_parameters={p.name: SIZES[p.name] for p in model.parameters if p.name in SIZES},
        recipe=Recipe(
            tokeniser=data.tokeniser or "clitics", min_frequency=1 if draws_lengths(data) else 2,
            max_tokens=_LONGEST, epochs=budget.epochs, batch_size=budget.batch_size,
            learning_rate=trial.rate, schedule="cosine", warmup=round(_WARMUP * budget.steps),
            seed=trial.seed,
        ),
        corpus=data.title, dataset=data.name,
    )  # fmt: skip


def _start_alike(ready: Prepared, trial: Trial, registry: Registry) -> None:
    """The initial weights that all contestants of a model have in common."""
    encoded, model = ready.encoded, registry.model(trial.contestant.model)
    sizes = experiment.model_sizes(encoded.source_vocabulary, encoded.target_vocabulary)
    with seeded(trial.seed):
        factory = registry.scoring_factory(PLAIN)
        plain = model.create(factory, sizes, ready.card["model_parameters"])
    share_weights(ready.model, plain)


def _value(translator: Translator, pairs: Sequence[SentencePair], metric: MetricSpec) -> float:
    _, said, wanted = _translated(translator, pairs)
    if not said:
        raise ContractError("the model reads none of the sentences: all are too long for it")
    return _rounded(metric, said, wanted)


def _translated(
    translator: Translator, pairs: Sequence[SentencePair]
) -> tuple[list[str], list[str], list[list[str]]]:
    """The sources that the model reads, what it makes of them, and what is right."""
    by_source = references(pairs)
    sources = [source for source in by_source if translator.reads(source)]
    return sources, translator.translate(sources), [by_source[source] for source in sources]


def _rounded(metric: MetricSpec, said: Sequence[str], wanted: Sequence[Sequence[str]]) -> float:
    return round(float(metric.score(said, wanted)), _DIGITS)


def _milliseconds(history: Sequence[Progress]) -> float:
    """Of one step, without the first epoch, in which caches are filled."""
    first, last = history[0], history[-1]
    steps = (last.epochs - 1) * last.steps
    return round(1e3 * (last.seconds - first.seconds) / steps, _DIGITS) if steps else float("nan")


def _example(translator: Translator, pairs: Sequence[SentencePair]) -> Example:
    """The map between target and source of the last layer, for a pair that all look at."""
    readable = [pair for pair in pairs if translator.reads(pair.source)]
    readable.sort(key=lambda one: (len(one.source.split()), one.source))
    pair = readable[len(readable) // 2]
    explained = translator.explain(pair.source, target=pair.target)
    across = [one for one in explained.maps if one.query_labels != one.key_labels]
    last = (across or list(explained.maps))[-1]
    rows = [[[round(w, _DIGITS) for w in row] for row in head] for head in last.weights.tolist()]
    return Example(queries=last.query_labels, keys=last.key_labels, weights=rows)
