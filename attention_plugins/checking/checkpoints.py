"""Rules of checkpoints. Importing this registers them, in the order in which they run."""

import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from attention_plugins.beside import beside
from attention_plugins.checking.findings import Broken, attempt, rule
from attention_plugins.checkpoints import CARD, WEIGHTS, Checkpoint, CheckpointError
from attention_plugins.contract import CheckpointSpec, ContractError
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.registry import installed
from attention_plugins.text import RESERVED
from attention_plugins.translator import Translator

_SAID = beside(__file__, "words.toml")["checkpoints"]

_KNOWN: Mapping[str, Sequence[str]] = {
    "corpus": ("name", "sha256", "pairs", "trained_on", "held_out_sources"),
    "training": ("epochs", "batch_size", "learning_rate", "seed", "loss", "torch", "parameters"),
}


@rule("checkpoints")
def check_a_card_says_how_it_came_to_be(spec: CheckpointSpec) -> None:
    """Corpus, training and how each score was measured."""
    card = _read(spec).card
    if not card["title"].strip():
        raise Broken("the card's title is blank; say which model learned what")
    for part, names in _KNOWN.items():
        if missing := [name for name in names if name not in card[part]]:
            raise Broken(_SAID["card_lacks"], part=part, missing=", ".join(missing))
    for name, score in card["scores"].items():
        if not isinstance(score, dict) or not (score.get("signature") and score.get("command")):
            raise Broken(_SAID["score_unmeasured"], name=name)


@rule("checkpoints")
def check_its_weights_are_those_of_its_model(spec: CheckpointSpec) -> None:
    """They load strictly into the model and scoring of the card, which are installed."""
    _translator(spec)


@rule("checkpoints")
def check_its_weights_are_those_that_were_kept(spec: CheckpointSpec) -> None:
    """The file has the SHA-256 of the card."""
    stated = _read(spec).card.get("weights_sha256")
    path = spec.path / WEIGHTS
    found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
    if stated != found:
        raise Broken(_SAID["other_weights"], weights=WEIGHTS, found=found, stated=stated)


@rule("checkpoints")
def check_it_has_the_size_it_says(spec: CheckpointSpec) -> None:
    """As many numbers as its card states, and not more than its vocabularies need."""
    stated = _read(spec).card["training"].get("parameters")
    n = sum(weight.numel() for weight in _translator(spec).model.parameters())
    if stated != n:
        raise Broken(f"the card states {stated} parameters, the model has {n:,}; correct the card")


@rule("checkpoints")
def check_it_translates(spec: CheckpointSpec) -> None:
    """Three words that it knows give words, finite numbers and maps."""
    translator = _translator(spec)
    words = translator.source_vocabulary.tokens[len(RESERVED) :]
    text = " ".join([word for word in words if word.isalpha()][:3])
    with attempt(f"translating {text!r}", "look at its model's start and step, and at max_tokens"):
        found = translator.explain(text)
    if not found.tokens or not found.maps:
        raise Broken("it translates without a word or without a map; look at its model's step")
    if not all(map(math.isfinite, found.log_probabilities)):
        raise Broken("its log-probabilities are NaN or infinite; look at its weights")


def _read(spec: CheckpointSpec) -> Checkpoint:
    try:
        return read_checkpoint(spec.path)
    except CheckpointError as error:
        raise Broken(f"{error}") from error


def _translator(spec: CheckpointSpec) -> Translator:
    checkpoint = _read(spec)
    files = [path.stat() for path in (spec.path / CARD, spec.path / WEIGHTS) if path.is_file()]
    try:
        return _loaded(checkpoint.folder, *((file.st_mtime_ns, file.st_size) for file in files))
    except ContractError as error:
        raise Broken(f"{error}; ship the weights with the card they were trained with") from error


@functools.lru_cache(maxsize=1)
def _loaded(folder: Path, *files: tuple[int, int]) -> Translator:
    """Loaded once for all rules, as long as the files are as they were."""
    return open_checkpoint(read_checkpoint(folder), installed())
