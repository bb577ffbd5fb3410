"""Train, score on the held-out sources, write the checkpoint."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from attention_plugins import experiment
from attention_plugins.checkpoints import CARD
from attention_plugins.commands import common
from attention_plugins.commands.evaluate import continues, note_held_out
from attention_plugins.contract import ContractError
from attention_plugins.evaluation import evaluate, foretold, neighbours_of
from attention_plugins.recipe import PRESETS
from attention_plugins.registry import installed
from attention_plugins.training import Progress
from attention_plugins.translator import Translator

_OVERRIDES = ("epochs", "batch_size", "learning_rate", "seed", "tokeniser")

COMPUTED = {"--preset": {"choices": sorted(PRESETS)}}


def run(given: argparse.Namespace) -> None:
    """Train a translation model and keep it as a checkpoint."""
    if (given.output / CARD).exists() and not given.overwrite:
        raise ContractError(
            f"{given.output} holds a checkpoint already; add --overwrite to replace it"
        )
    registry, device = installed(), common.device(given)
    plan = _plan(given)
    limit = PRESETS[given.preset].pairs if given.pairs is None else given.pairs
    pairs = common.load_corpus(given.corpus, registry, pairs=limit)
    with tqdm(
        total=plan.recipe.epochs, unit="epoch", file=sys.stderr, disable=None, smoothing=0
    ) as bar:

        def show_step(now: Progress) -> None:
            if bar.disable and now.epoch == now.step == 1:
                told = f"{len(pairs):,} pairs, {now.steps:,} steps an epoch, on {device}"
                threads = torch.get_num_threads()
                print(f"{told} with {threads} threads", file=sys.stderr, flush=True)
            bar.set_postfix_str(
                f"loss {now.loss:.3f}, {now.tokens_per_second:,.0f} tokens/s", refresh=False
            )
            bar.n = now.epoch - 1 + now.step / now.steps
            bar.update(0)

        def log_epoch(now: Progress) -> None:
            common.choose_threads(given.threads, computing=torch.get_num_threads())
            if bar.disable:
                print(f"epoch {now.epoch}: loss {now.loss:.4f}, {now.tokens_per_second:,.0f} "
                      f"tokens/s, {now.seconds:,.0f} s", file=sys.stderr, flush=True)  # fmt: skip

        trained = experiment.run(
            plan, pairs, registry, device=device, on_step=show_step, on_epoch=log_epoch
        )
    checkpoint = experiment.keep(trained, given.output)
    if trained.held_out:
        translator = Translator(checkpoint, registry, device)
        if continues(checkpoint.card):
            score = foretold(translator, trained.held_out, trained.learned)
        else:
            counted = experiment.counted_by(common.dataset_named(given.corpus, registry))
            score = evaluate(
                translator, trained.held_out, metric=trained.metric,
                neighbours=neighbours_of(trained.held_out, trained.learned, registry, counted),
            )  # fmt: skip
        checkpoint = note_held_out(checkpoint, score, given.corpus)
    last, scores = trained.history[-1], checkpoint.card["scores"]
    common.show(
        given,
        {"checkpoint": str(given.output), "loss": last.loss, "seconds": last.seconds,
         "tokens_per_second": last.tokens_per_second, "scores": scores},
        [f"{given.output}: loss {last.loss:.3f} nats per token after {last.seconds:,.0f} s"]
        + [_line(name, score) for name, score in scores.items()],
    )  # fmt: skip


def _line(name: str, score: Mapping[str, Any]) -> str:
    if "nats" in score:
        return f"{score['nats']:.3f} nats a token, {score['accuracy']:.1%} right ({name})"
    if own := score.get("metric"):  # what the data set is scored by; BLEU is on the card
        return f"{own['title']} {own['value']:.1f} {own['unit']}".rstrip() + f" ({name})"
    return f"BLEU {score['bleu']:.1f} ({name}; {score['signature']})"


def _plan(given: argparse.Namespace) -> experiment.Experiment:
    preset, registry = PRESETS[given.preset], installed()
    model, scoring = registry.model(given.model), registry.scoring(given.scoring)
    if model.task != "translation":
        raise ContractError(f"model {model.name!r} is for {model.task}; need one for translation")
    data = common.dataset_named(given.corpus, registry)
    chosen = {n: getattr(given, n) for n in _OVERRIDES if getattr(given, n) is not None}
    held_out = {} if given.held_out is None else {"held_out": given.held_out}
    return experiment.Experiment.of_preset(
        preset, model.name, data, recipe=chosen,
        model_parameters=common.settings(given.set, model.parameters),
        scoring=scoring.name,
        scoring_parameters=common.settings(given.set_scoring, scoring.parameters),
        normaliser=given.normaliser,
        normaliser_parameters=common.settings(
            given.set_normaliser,
            registry.normaliser(given.normaliser).parameters if given.normaliser else (),
        ),
        corpus=given.corpus_name or Path(given.corpus).stem,
        **held_out,
    )  # fmt: skip
