"""Score a checkpoint's translations of a corpus with sacrebleu."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attention_plugins import experiment
from attention_plugins.checkpoints import Checkpoint, add_score
from attention_plugins.commands import common
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.gold import alignment_error, has_gold
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.registry import installed
from attention_plugins.translator import Translator


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which checkpoint on which corpus."""
    parser.add_argument("--checkpoint", type=Path, required=True, help="a checkpoint's folder")
    parser.add_argument(
        "--corpus", required=True,
        help="a TSV file, a data set's name, or a d2l zip or folder; word links in a file's "
        "third column, such as 0-0 1-2, are gold alignments, and their error rate is printed too",
    )  # fmt: skip
    parser.add_argument(
        "--held-out", action="store_true",
        help="only the source sentences that the card says were kept away from training",
    )  # fmt: skip
    parser.add_argument(
        "--keep", action="store_true", help="note the score on the card; needs --held-out"
    )
    parser.add_argument("--beam", type=int, default=1, help="width of the beam (1: greedy)")
    common.add_device(parser)


def run(given: argparse.Namespace) -> None:
    """Print the corpus's own metric, and lower-cased multi-reference BLEU with its signature."""
    if given.keep and not given.held_out:
        raise ContractError("a card keeps held-out scores only; add --held-out or drop --keep")
    registry, device = installed(), common.device(given)
    checkpoint = read_checkpoint(given.checkpoint)
    pairs = common.load_corpus(given.corpus, registry, alignments=None)
    if given.held_out:
        pairs = experiment.unseen(checkpoint.card, pairs, given.corpus)
    translator = open_checkpoint(checkpoint, registry, device)
    data = common.dataset_named(given.corpus, registry)
    named = data.metric if data else str(checkpoint.card["corpus"].get("metric", experiment.BLEU))
    score = experiment.evaluate(translator, pairs, width=given.beam, metric=registry.metric(named))
    if given.keep:
        note_held_out(checkpoint, score, given.corpus)
    rates = _alignment_error(translator, pairs, experiment.counted_by(data))
    facts = score | {"checkpoint": str(given.checkpoint), "alignment_error": rates}
    lines = [f"BLEU {score['bleu']:.2f}", score["signature"]]
    if own := score.get("metric"):
        lines.insert(0, f"{own['title']} {own['value']:.2f} {own['unit']}".rstrip())
    common.show(
        given, facts, lines + [f"AER {rate:.3f} ({place})" for place, rate in rates.items()]
    )


def _alignment_error(
    translator: Translator, pairs: Sequence[SentencePair], counted: str
) -> dict[str, float]:
    """By cross-attention head, where the corpus has gold alignments that this model can follow."""
    if translator.card["tokeniser"] != counted or not any(map(has_gold, pairs)):
        return {}
    rates = {}
    for site, heads in alignment_error(translator, pairs, counted).items():
        names = ["mean of heads"] if len(heads) > 1 else []
        names = [f"head {number}" for number in range(1, len(heads) + 1 - len(names))] + names
        for name, rate in zip(names, heads, strict=True):
            rates[f"cross-attention layer {site.layer + 1}, {name}"] = round(rate, 4)
    return rates


def note_held_out(checkpoint: Checkpoint, score: Mapping[str, Any], corpus: str) -> Checkpoint:
    """Note a held-out score on the card, with the command that measures it again."""
    width = score["beam"]
    command = (
        f"python -m attention_plugins evaluate --checkpoint {shlex.quote(str(checkpoint.folder))} "
        f"--corpus {shlex.quote(corpus)} --held-out --beam {width}"
    )
    name = "held out, greedy" if width == 1 else f"held out, beam {width}"
    return add_score(checkpoint, name, {**score, "command": command})
