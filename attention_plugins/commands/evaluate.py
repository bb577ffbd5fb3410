"""Score a checkpoint's translations of a corpus with sacrebleu."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attention_plugins import experiment
from attention_plugins.checkpoints import Checkpoint, add_score, read
from attention_plugins.commands import common
from attention_plugins.contract import ContractError
from attention_plugins.datasets.parallel import fingerprint
from attention_plugins.registry import installed
from attention_plugins.translator import Translator


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which checkpoint on which corpus."""
    parser.add_argument("--checkpoint", type=Path, required=True, help="a checkpoint's folder")
    parser.add_argument(
        "--corpus", required=True, help="a TSV file, a data set's name, or a d2l zip or folder"
    )
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
    """Print lower-cased, detokenised, multi-reference BLEU and its signature."""
    if given.keep and not given.held_out:
        raise ContractError("a card keeps held-out scores only; add --held-out or drop --keep")
    registry, device = installed(), common.device(given)
    checkpoint = read(given.checkpoint)
    pairs = common.load_corpus(given.corpus, registry)
    if given.held_out:
        corpus = checkpoint.card["corpus"]
        pairs = pairs[: corpus["pairs"]]
        if fingerprint(pairs) != corpus["sha256"]:
            raise ContractError(
                f"{given.corpus} is not the corpus of this checkpoint's card "
                f"({corpus['name']}, {corpus['pairs']:,} pairs), "
                "so its held-out sources are unknown"
            )
        if not corpus["held_out_sources"]:
            raise ContractError("this checkpoint was trained on its whole corpus; drop --held-out")
        _, pairs = experiment.divide(pairs, corpus["held_out_sources"], corpus["split_seed"])
    translator = Translator(checkpoint, registry, device)
    score = experiment.evaluate(translator, pairs, width=given.beam)
    if given.keep:
        note_held_out(checkpoint, score, given.corpus)
    facts = score | {"checkpoint": str(given.checkpoint)}
    common.show(given, facts, [f"BLEU {score['bleu']:.2f}", score["signature"]])


def note_held_out(checkpoint: Checkpoint, score: Mapping[str, Any], corpus: str) -> Checkpoint:
    """Note a held-out score on the card, with the command that measures it again."""
    width = score["beam"]
    command = (
        f"python -m attention_plugins evaluate --checkpoint trained/{checkpoint.folder.name} "
        f"--corpus {corpus} --held-out --beam {width}"
    )
    name = "held out, greedy" if width == 1 else f"held out, beam {width}"
    return add_score(checkpoint, name, {**score, "command": command})
