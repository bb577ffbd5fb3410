"""One training from a corpus to a checkpoint, with everything that determines it on the card."""

import platform
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

import torch

from attention_plugins.agreement import batch_of, losses, require_agreement
from attention_plugins.checkpoints import CONTINUES, Checkpoint, model_sizes, provenance, write
from attention_plugins.contract import (
    ContractError,
    DatasetSpec,
    MetricSpec,
    Scalar,
    SentencePair,
    Tokeniser,
    settle,
)
from attention_plugins.datasets import parallel
from attention_plugins.encoding import GOLD_TOKENISER, Encoded, encode
from attention_plugins.models.protocols import Batch, TranslationModel, as_translation_model
from attention_plugins.randomness import undisturbed
from attention_plugins.recipe import Preset, Recipe
from attention_plugins.registry import Registry
from attention_plugins.text import Vocabulary, normalise, truncate
from attention_plugins.training import Progress, train
from attention_plugins.translator import Translator

_GUARDED = 16  # sentence pairs
_INNOCENT = "scaled_dot"
_EXAMPLES = 5  # sentences of a corpus that names none, and how long they may be
_LONGEST_EXAMPLE = 60  # characters
BLEU = "bleu"


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What determines a training: equal experiments on equal corpora give equal models.

    Names are the registry's, parameters what differs from defaults. No normaliser is the scoring's
    own way; no ``dataset`` is a file of the user's, and ``corpus`` what the card calls it. So many
    ``held_out`` source sentences are kept away from training; ``split_seed`` says which ones.
    """

    model: str
    scoring: str
    model_parameters: Mapping[str, Scalar] = field(default_factory=dict)
    scoring_parameters: Mapping[str, Scalar] = field(default_factory=dict)
    normaliser: str | None = ""
    normaliser_parameters: Mapping[str, Scalar] = field(default_factory=dict)
    recipe: Recipe
    corpus: str
    dataset: str = ""
    held_out: int = 0
    split_seed: int = 0

    @classmethod
    def of_preset(
        cls, preset: Preset, model: str, data: DatasetSpec | None, *,
        model_parameters: Mapping[str, Scalar], recipe: Mapping[str, Any], **others: Any,
    ) -> Self:  # fmt: skip
        """A preset's sizes and recipe, with what is given instead; a data set's own tokeniser."""
        own = {"tokeniser": data.tokeniser} if data and data.tokeniser else {}
        return cls(
            model=model,
            model_parameters={**preset.model_parameters.get(model, {}), **model_parameters},
            recipe=replace(preset.recipe, **{**own, **recipe}), dataset=data.name if data else "",
            **{"held_out": preset.held_out, **others},
        )  # fmt: skip


@dataclass(frozen=True)
class Prepared:
    """An untrained model, the corpus it will learn, the pairs it will never see.

    ``learned`` are the pairs of ``encoded`` as text; ``card`` lacks only what training tells.
    """

    recipe: Recipe
    model: TranslationModel
    encoded: Encoded
    learned: Sequence[SentencePair]
    held_out: Sequence[SentencePair]
    card: Mapping[str, Any]
    metric: MetricSpec


@dataclass(frozen=True)
class Trained(Prepared):
    """The same after its training, with its history and the whole card."""

    history: Sequence[Progress]


def layer_of(registry: Registry, experiment: Experiment) -> str:
    """The name of the attention layer that the model is given; empty for its usual one."""
    for parameter in registry.model(experiment.model).parameters:
        chosen = experiment.model_parameters.get(parameter.name, parameter.default)
        if parameter.names == "layers" and chosen != parameter.default:
            return str(chosen)
    return ""


def prepare(experiment: Experiment, pairs: Sequence[SentencePair], registry: Registry) -> Prepared:
    """Split, encode, seed torch and build; ContractError says what cannot be trained."""
    model_spec = registry.model(experiment.model)
    if model_spec.task != "translation":
        raise ContractError(
            f"model {model_spec.name!r} is for {model_spec.task}; need one for translation"
        )
    scoring_spec = registry.scoring(experiment.scoring)
    if "translation" not in scoring_spec.tasks:
        raise ContractError(
            f"scoring {scoring_spec.name!r} is for {' and '.join(scoring_spec.tasks)}; need one "
            "for translation"
        )
    parameters = {
        "model_parameters": settle(model_spec.parameters, experiment.model_parameters),
        "scoring_parameters": settle(scoring_spec.parameters, experiment.scoring_parameters),
    }
    normaliser = experiment.normaliser or ""
    way = registry.normaliser(normaliser) if normaliser else None
    chosen = {}
    if way:
        values = settle(way.parameters, experiment.normaliser_parameters)
        chosen = {"normaliser": way.name, "normaliser_parameters": values}
    data = registry.dataset(experiment.dataset) if experiment.dataset else None
    metric = registry.metric(data.metric if data else BLEU)
    continued = data is not None and data.continues
    kept, held_out = divide(pairs, experiment.held_out, experiment.split_seed, continued=continued)
    recipe, counted = experiment.recipe, counted_by(data)
    encoded = encode(kept, recipe, registry, counted=counted, continued=continued)
    sizes = model_sizes(encoded.source_vocabulary, encoded.target_vocabulary)
    torch.manual_seed(recipe.seed)
    factory = registry.scoring_factory(
        experiment.scoring, experiment.scoring_parameters,
        normaliser, experiment.normaliser_parameters,
    )  # fmt: skip
    model = as_translation_model(model_spec.create(factory, sizes, experiment.model_parameters))
    card = {
        "title": f"{model_spec.title} with {scoring_spec.title} and {way.title} on "
        f"{experiment.corpus}"
        if way
        else f"{model_spec.title} with {scoring_spec.title} on {experiment.corpus}",
        "model": model_spec.name, "scoring": scoring_spec.name, **parameters, **chosen,
        "plugins": provenance(
            registry,
            {"model": experiment.model, "scoring": scoring_spec.name,
             "normaliser": normaliser, "tokeniser": recipe.tokeniser,
             "layer": layer_of(registry, experiment)},
        ),
        "tokeniser": recipe.tokeniser,
        "learned": dict(zip(("source", "target"), encoded.learned, strict=True)),
        "max_tokens": recipe.max_tokens,
        "corpus": {
            "name": experiment.corpus, "sha256": parallel.fingerprint(pairs), "pairs": len(pairs),
            "trained_on": len(kept), "held_out_sources": experiment.held_out,
            "split_seed": experiment.split_seed, **_described(data, held_out or kept, encoded),
        },
        "training": {
            **asdict(recipe), "threads": torch.get_num_threads(),
            "torch": torch.__version__, "python": platform.python_version(),
            "parameters": sum(p.numel() for p in model.parameters()),
        },
        "scores": {}, "source_vocabulary": list(encoded.source_vocabulary.tokens),
        "target_vocabulary": list(encoded.target_vocabulary.tokens),
    }  # fmt: skip
    return Prepared(recipe, model, encoded, kept, held_out, card, metric)


def counted_by(data: DatasetSpec | None) -> str:
    """The tokeniser whose tokens a data set's gold alignments count; None for a file's."""
    return (data.tokeniser if data else "") or GOLD_TOKENISER


def _described(
    data: DatasetSpec | None, pairs: Sequence[SentencePair], encoded: Encoded
) -> dict[str, Any]:
    """What a card says of a corpus, so that pages can show it without its data set."""
    short = dict.fromkeys(p.source for p in pairs if len(p.source) <= _LONGEST_EXAMPLE)
    known, reader = encoded.source_vocabulary, encoded.tokenisers[0]
    offered = (*(data.examples if data else ()), *short)
    learned = (text for text in offered if all(t in known for t in reader.tokenise(text)))
    examples = tuple(islice(learned, len(data.examples) if data and data.examples else _EXAMPLES))
    sides = {"sides": list(data.sides)} if data else {}
    continues = {CONTINUES: True} if data and data.continues else {}
    metric = data.metric if data else BLEU
    return {**sides, **continues, "examples": list(examples), "metric": metric}


def guard(prepared: Prepared, registry: Registry) -> None:
    """Refuse a model that learns one function and decodes by another, by its losses.

    See :mod:`~attention_plugins.agreement`. The scoring is to blame if the same model agrees with
    itself around a scaled dot product. DisagreementError: the model must not be kept.
    """
    batch = _guarded(prepared)
    found = losses(prepared.model, batch)
    if found.agree:
        return
    card = prepared.card
    sizes = model_sizes(*(Vocabulary(card[f"{side}_vocabulary"]) for side in ("source", "target")))
    with torch.random.fork_rng(devices=[]):
        plain = registry.model(card["model"]).create(
            registry.scoring(_INNOCENT).factory(), sizes, card["model_parameters"]
        )
    innocent = losses(as_translation_model(plain), batch).agree
    part = "scoring" if innocent else "model"
    require_agreement(found, f"{part} {card[part]!r}")


def _guarded(prepared: Prepared) -> Batch:
    encoded = prepared.encoded
    if not prepared.held_out:
        return batch_of(encoded.source[:_GUARDED], encoded.target[:_GUARDED])
    pairs = prepared.held_out[:_GUARDED]
    (reader, writer), limit = encoded.tokenisers, prepared.recipe.max_tokens
    read, written = encoded.source_vocabulary, encoded.target_vocabulary
    return batch_of(
        [truncate(read.ids(reader.tokenise(pair.source)), limit) for pair in pairs],
        [truncate(written.ids(writer.tokenise(pair.target)), limit) for pair in pairs],
    )


def card_after(prepared: Prepared, progress: Progress, device: object) -> dict[str, Any]:
    """The card of the model as it is after an epoch."""
    known = {
        "epochs_done": progress.epoch, "seconds": round(progress.seconds, 1),
        "loss": round(progress.loss, 4), "device": str(device),
    }  # fmt: skip
    return {**prepared.card, "training": {**prepared.card["training"], **known}}


def run(
    experiment: Experiment, pairs: Sequence[SentencePair], registry: Registry, *,
    device: torch.device | str = "cpu",
    on_step: Callable[[Progress], None] = lambda progress: None,
    on_epoch: Callable[[Progress], None] = lambda progress: None,
) -> Trained:  # fmt: skip
    """Prepare and train; what :func:`guard` finds is said after the first epoch and the last."""
    ready = prepare(experiment, pairs, registry)

    def after_epoch(progress: Progress) -> None:
        on_epoch(progress)
        if progress.epoch in (1, progress.epochs):
            guard(ready, registry)

    history = train(
        ready.model, ready.encoded, ready.recipe,
        device=device, on_step=on_step, on_epoch=after_epoch,
    )  # fmt: skip
    known = {**vars(ready), "card": card_after(ready, history[-1], device)}
    return Trained(**known, history=history)


def divide(
    pairs: Sequence[SentencePair], held_out: int, seed: int, *, continued: bool = False
) -> tuple[Sequence[SentencePair], Sequence[SentencePair]]:
    """Pairs to train on, and pairs whose source sentences never occur among these.

    Where targets continue their sources, ``continued``, no sentence is on both sides.
    """
    if not held_out:
        return pairs, []
    return parallel.split_by_source(pairs, held_out=held_out, seed=seed, continued=continued)


def _divided(
    corpus: Mapping[str, Any], pairs: Sequence[SentencePair]
) -> tuple[Sequence[SentencePair], Sequence[SentencePair]]:
    """As a card's ``corpus`` says."""
    held_out, seed = corpus["held_out_sources"], corpus["split_seed"]
    return divide(pairs, held_out, seed, continued=bool(corpus.get(CONTINUES)))


def learned_and_unseen(
    card: Mapping[str, Any], pairs: Sequence[SentencePair], name: str
) -> tuple[Sequence[SentencePair], Sequence[SentencePair]]:
    """The pairs that a checkpoint learned, and those that its training was kept from.

    ContractError: another corpus than the card's, or one that was learned as a whole.
    """
    corpus = card["corpus"]
    pairs = pairs[: corpus["pairs"]]
    if parallel.fingerprint(pairs) != corpus["sha256"]:
        raise ContractError(
            f"{name} is not the corpus of this checkpoint's card "
            f"({corpus['name']}, {corpus['pairs']:,} pairs), "
            "so its held-out sources are unknown"
        )
    if not corpus["held_out_sources"]:
        raise ContractError(
            f"this checkpoint learned its whole corpus ({corpus['name']}); nothing was held out"
        )
    return _divided(corpus, pairs)


def new_to(card: Mapping[str, Any], pairs: Sequence[SentencePair]) -> list[SentencePair]:
    """The pairs whose sources a checkpoint did not learn: held-out, beyond its part, or all."""
    corpus = card["corpus"]
    own, beyond = pairs[: corpus["pairs"]], pairs[corpus["pairs"] :]
    if parallel.fingerprint(own) != corpus["sha256"]:
        return list(pairs)
    learned, held_out = _divided(corpus, own)
    text = parallel.whole if corpus.get(CONTINUES) else attrgetter("source")
    known = {parallel.source_key(text(pair)) for pair in learned}
    return [*held_out, *(pair for pair in beyond if parallel.source_key(text(pair)) not in known)]


def keep(trained: Trained, folder: Path) -> Checkpoint:
    """Store the model with its card."""
    return write(folder, trained.model, trained.card)


@dataclass(frozen=True)
class _Unfinished(Checkpoint):
    prepared: Prepared

    def build(self, registry: Any) -> TranslationModel:
        return self.prepared.model

    def tokenisers(self, registry: Any) -> tuple[Tokeniser, Tokeniser]:
        source, target = self.prepared.encoded.tokenisers
        return source, target


def translator_of(prepared: Prepared, device: torch.device | str) -> Translator:
    """The model as it is now; it must be in evaluation mode while it translates."""
    return Translator(_Unfinished(Path(), prepared.card, prepared), None, device)


@contextmanager
def at_rest(prepared: Prepared, device: torch.device | str) -> Iterator[Translator]:
    """The model in the middle of its training as a translator; afterwards it trains on.

    Whatever is drawn at random meanwhile, the training goes on as if nothing had been.
    """
    model, device = prepared.model, torch.device(device)
    with undisturbed(device), torch.no_grad():
        model.eval()
        try:
            yield translator_of(prepared, device)
        finally:
            model.train()


def sample(pairs: Sequence[SentencePair], sources: int, seed: int = 0) -> list[SentencePair]:
    """All pairs of at most so many different sources, drawn at random."""
    by_source = parallel.references(pairs)
    ordered = sorted(by_source, key=normalise)
    chosen = random.Random(seed).sample(ordered, min(sources, len(ordered)))
    return [SentencePair(source, target) for source in chosen for target in by_source[source]]
