"""One training from a corpus to a checkpoint, with everything that determines it on the card."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attention_plugins.checkpoints import Checkpoint, write
from attention_plugins.contract import ModelSizes, Scalar, SentencePair, settle
from attention_plugins.datasets.parallel import fingerprint, references, split_by_source
from attention_plugins.registry import Registry
from attention_plugins.scores import corpus_bleu
from attention_plugins.training import Encoded, Progress, Recipe, encode, train
from attention_plugins.translator import Translator


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What determines a training: equal experiments on equal corpora give equal models.

    Args:
        model, scoring: names in the registry.
        model_parameters, scoring_parameters: what differs from their defaults.
        recipe: how to train.
        corpus: what the card calls the corpus.
        held_out: source sentences kept away from training.
        split_seed: which ones.
    """

    model: str
    scoring: str
    model_parameters: Mapping[str, Scalar] = field(default_factory=dict)
    scoring_parameters: Mapping[str, Scalar] = field(default_factory=dict)
    recipe: Recipe
    corpus: str
    held_out: int = 0
    split_seed: int = 0


@dataclass(frozen=True)
class Trained:
    """A trained model with the corpus it learned, the pairs it never saw, and its history."""

    model: nn.Module
    encoded: Encoded
    held_out: Sequence[SentencePair]
    history: Sequence[Progress]
    card: Mapping[str, Any]


def run(
    experiment: Experiment,
    pairs: Sequence[SentencePair],
    registry: Registry,
    *,
    device: torch.device | str = "cpu",
    on_step: Callable[[Progress], None] = lambda progress: None,
    on_epoch: Callable[[Progress], None] = lambda progress: None,
) -> Trained:
    """Split, encode, build and train.

    Raises:
        ContractError: an unknown name, a bad parameter, a corpus too small for the split.
        FloatingPointError: the loss is not finite.
    """
    model_spec = registry.model(experiment.model)
    scoring_spec = registry.scoring(experiment.scoring)
    kept, held_out = divide(pairs, experiment.held_out, experiment.split_seed)
    encoded = encode(kept, experiment.recipe)
    sizes = ModelSizes(len(encoded.source_vocabulary), len(encoded.target_vocabulary))
    torch.manual_seed(experiment.recipe.seed)
    factory = scoring_spec.factory(experiment.scoring_parameters)
    model = model_spec.create(factory, sizes, experiment.model_parameters)
    history = train(
        model, encoded, experiment.recipe, device=device, on_step=on_step, on_epoch=on_epoch
    )
    card = {
        "title": f"{model_spec.title} with {scoring_spec.title} on {experiment.corpus}",
        "model": model_spec.name,
        "model_parameters": settle(model_spec.parameters, experiment.model_parameters),
        "scoring": scoring_spec.name,
        "scoring_parameters": settle(scoring_spec.parameters, experiment.scoring_parameters),
        "tokeniser": experiment.recipe.tokeniser,
        "max_tokens": experiment.recipe.max_tokens,
        "corpus": {
            "name": experiment.corpus, "sha256": fingerprint(pairs), "pairs": len(pairs),
            "trained_on": len(kept), "held_out_sources": experiment.held_out,
            "split_seed": experiment.split_seed,
        },
        "training": {
            **asdict(experiment.recipe), "seconds": round(history[-1].seconds, 1),
            "loss": round(history[-1].loss, 4), "device": str(device),
            "threads": torch.get_num_threads(), "torch": torch.__version__,
            "python": platform.python_version(),
            "parameters": sum(p.numel() for p in model.parameters()),
        },
        "scores": {},
        "source_vocabulary": list(encoded.source_vocabulary.tokens),
        "target_vocabulary": list(encoded.target_vocabulary.tokens),
    }  # fmt: skip
    return Trained(model, encoded, held_out, history, card)


def divide(
    pairs: Sequence[SentencePair], held_out: int, seed: int
) -> tuple[Sequence[SentencePair], Sequence[SentencePair]]:
    """Pairs to train on, and pairs whose source sentences never occur among these."""
    if not held_out:
        return pairs, []
    return split_by_source(pairs, held_out=held_out, seed=seed)


def keep(trained: Trained, folder: Path) -> Checkpoint:
    """Store the model with its card."""
    return write(folder, trained.model, trained.card)


def evaluate(
    translator: Translator, pairs: Sequence[SentencePair], *, width: int = 1
) -> dict[str, Any]:
    """Corpus BLEU of the translations of every distinct source, against all its references.

    Sources longer than the model reads are left out and counted.

    Returns:
        ``bleu`` (0 to 100), ``signature``, ``sentences``, ``beam``, ``too_long``.
    """
    by_source = references(pairs)
    sources = [source for source in by_source if translator.reads(source)]
    translations = translator.translate(sources, width=width)
    score = corpus_bleu(translations, [by_source[source] for source in sources])
    return {
        "bleu": round(score.score, 2), "signature": score.signature,
        "sentences": score.sentences, "beam": width, "too_long": len(by_source) - len(sources),
    }  # fmt: skip
