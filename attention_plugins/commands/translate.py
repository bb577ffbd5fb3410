"""Translate sentences with a checkpoint."""

import argparse
import sys
from pathlib import Path

from attention_plugins.commands import common
from attention_plugins.contract import ContractError
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.registry import installed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which checkpoint, and what to translate."""
    parser.add_argument("--checkpoint", type=Path, required=True, help="a checkpoint's folder")
    parser.add_argument("--beam", type=int, default=1, help="width of the beam (1: greedy)")
    parser.add_argument(
        "sentences", nargs="*", help="sentences to translate; without any, lines of standard input"
    )
    common.add_device(parser)


def run(given: argparse.Namespace) -> None:
    """Print one translation a line."""
    sentences = given.sentences or [line.strip() for line in sys.stdin if line.strip()]
    if not sentences:
        raise ContractError("need a sentence to translate, got none")
    checkpoint = read_checkpoint(given.checkpoint)
    translator = open_checkpoint(checkpoint, installed(), common.device(given))
    translations = translator.translate(sentences, width=given.beam)
    facts = [{"source": s, "translation": t} for s, t in zip(sentences, translations, strict=True)]
    common.show(given, {"translations": facts}, translations)
