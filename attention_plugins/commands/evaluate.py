"""Score a checkpoint's translations of a corpus with sacrebleu, or those of all that ship."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attention_plugins import experiment
from attention_plugins.checkpoints import Checkpoint, add_score
from attention_plugins.commands import common, remeasuring
from attention_plugins.commands.remeasuring import measure
from attention_plugins.contract import ContractError
from attention_plugins.evaluation import neighbours_of
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.registry import installed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which checkpoint on which corpus, or all that ship on their own."""
    parser.add_argument("--checkpoint", type=Path, help="a checkpoint's folder")
    parser.add_argument(
        "--corpus",
        help="a TSV file, a data set's name, or a d2l zip or folder; word links in a file's "
        "third column, such as 0-0 1-2, are gold alignments, and their error rate is printed too",
    )
    parser.add_argument(
        "--held-out", action="store_true",
        help="only the source sentences that the card says were kept away from training; scored "
        "also apart, by how near the training set they are",
    )  # fmt: skip
    parser.add_argument(
        "--keep", action="store_true",
        help="note the score on the card; needs --held-out or --all",
    )  # fmt: skip
    parser.add_argument("--beam", type=int, help="width of the beam (1: greedy)")
    parser.add_argument(
        "--all", action="store_true",
        help="measure every score of every shipped checkpoint's card again; ends with 1 where "
        "one differs by more than its tolerance. A corpus that is not here is left out",
    )  # fmt: skip
    common.add_device(parser)


def run(given: argparse.Namespace) -> int:
    """Print the corpus's own metric, and lower-cased multi-reference BLEU with its signature."""
    if given.all:
        return _all(given)
    if not given.checkpoint or not given.corpus:
        raise ContractError("need --checkpoint and --corpus, or --all")
    if given.keep and not given.held_out:
        raise ContractError("a card keeps held-out scores only; add --held-out or drop --keep")
    registry, device = installed(), common.device(given)
    checkpoint = read_checkpoint(given.checkpoint)
    pairs = common.load_corpus(given.corpus, registry, alignments=None)
    data, neighbours = common.dataset_named(given.corpus, registry), None
    if given.held_out:
        learned, pairs = experiment.learned_and_unseen(checkpoint.card, pairs, given.corpus)
        neighbours = neighbours_of(pairs, learned, registry, experiment.counted_by(data))
    translator = open_checkpoint(checkpoint, registry, device)
    width = 1 if given.beam is None else given.beam
    score = measure(translator, pairs, registry, data, width=width, neighbours=neighbours)
    if given.keep:
        note_held_out(checkpoint, score, given.corpus)
    facts = {"alignment_error": {}, **score, "checkpoint": str(given.checkpoint)}
    common.show(given, facts, list(_lines(score)))
    return 0


def _all(given: argparse.Namespace) -> int:
    named = {"checkpoint": "--checkpoint", "corpus": "--corpus", "beam": "--beam"}
    if more := [flag for name, flag in named.items() if getattr(given, name) is not None]:
        raise ContractError(f"--all measures what each card says; drop {' and '.join(more)}")
    return remeasuring.run(given, installed(), common.device(given))


def _lines(score: Mapping[str, Any]) -> Iterator[str]:
    if own := score.get("metric"):
        yield f"{own['title']} {own['value']:.2f} {own['unit']}".rstrip()
    yield f"BLEU {score['bleu']:.2f}"
    yield score["signature"]
    yield score["normalised"]
    for name, said in _PARTS.items():
        if part := score.get(name):
            value = f"{own['title']} {part['value']:.2f}, " if own else ""
            yield f"{name}: {value}BLEU {part['bleu']:.2f} ({part['sentences']:,} {said})"
    for place, rate in score.get("alignment_error", {}).items():
        yield f"AER {rate:.3f} ({place})"


_PARTS = {
    "near": "sources one token from a training source",
    "far": "other sources",
    "copied": "translations of the nearest training source",
}


def note_held_out(checkpoint: Checkpoint, score: Mapping[str, Any], corpus: str) -> Checkpoint:
    """Note a held-out score on the card, with the command that measures it again."""
    width = score["beam"]
    command = (
        f"python -m attention_plugins evaluate --checkpoint {shlex.quote(str(checkpoint.folder))} "
        f"--corpus {shlex.quote(corpus)} --held-out --beam {width}"
    )
    name = "held out, greedy" if width == 1 else f"held out, beam {width}"
    return add_score(checkpoint, name, {**score, "command": command})
