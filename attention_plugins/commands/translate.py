"""Translate sentences with a checkpoint."""

import argparse
import sys

from attention_plugins.commands import common
from attention_plugins.contract import ContractError
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.registry import installed


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
