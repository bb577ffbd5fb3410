"""What checkpoints translate, and how well."""

import argparse
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from attention_plugins import experiment
from attention_plugins.checkpoints import CONTINUES, Checkpoint, add_score, find, read
from attention_plugins.commands import common
from attention_plugins.contract import ContractError, DatasetSpec, SentencePair
from attention_plugins.datasets import tatoeba
from attention_plugins.evaluation import COUNTED, Neighbour, evaluate, foretold, neighbours_of
from attention_plugins.gold import alignment_error, has_gold
from attention_plugins.home import SHIPPED
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.registry import Registry, installed
from attention_plugins.translator import Translator


class _Corpus(NamedTuple):
    """Sentence pairs to translate; of a file without ``data``, of which the card says more.

    ``neighbours`` are of every source its nearest training pair, ``learned`` all those, if known.
    """

    data: DatasetSpec | None
    pairs: Sequence[SentencePair]
    neighbours: Mapping[str, Neighbour] | None
    learned: Sequence[SentencePair] = ()


def measure(
    translator: Translator, corpus: _Corpus, registry: Registry, width: int
) -> dict[str, Any]:
    """What :func:`~attention_plugins.evaluation.evaluate` gives; ``alignment_error`` by head.

    Of a language model what :func:`~attention_plugins.evaluation.foretold` gives.
    """
    data, pairs, neighbours, learned = corpus
    if continues(translator.card):
        return foretold(translator, pairs, learned)
    named = data.metric if data else str(translator.card["corpus"].get("metric", experiment.BLEU))
    metric = registry.metric(named)
    score = evaluate(translator, pairs, width=width, metric=metric, neighbours=neighbours)
    rates = _alignment_error(translator, pairs, experiment.counted_by(data))
    return {**score, "alignment_error": rates} if rates else score


def continues(card: Mapping[str, Any]) -> bool:
    """Whether a card is that of a language model, which is scored by what it foretells."""
    return bool(card["corpus"].get(CONTINUES))


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


# How far a figure may be from its card's, for other processors round otherwise and then translate
# some sentences otherwise. What is not named here must be equal.
TOLERANCES: Mapping[str, float] = {
    "bleu": 0.1, "metric.value": 0.1,
    "near.bleu": 0.2, "near.value": 0.2, "far.bleu": 0.2, "far.value": 0.2,
    "alignment_error": 0.002, "nats": 0.005, "accuracy": 0.005,
}  # fmt: skip
_VERSION = re.compile(r"\|version:[^|]*")


class _NotHereError(Exception):
    """A corpus that is not here, and why, in one sentence."""


def _remeasure(given: argparse.Namespace) -> int:
    """Measure all that can be measured here, and say where a card says something else.

    1 if one does and ``--keep`` did not correct it, else 0.
    """
    named = {"checkpoint": "--checkpoint", "corpus": "--corpus", "beam": "--beam"}
    if more := [flag for name, flag in named.items() if getattr(given, name) is not None]:
        raise ContractError(f"--all measures what each card says; drop {' and '.join(more)}")
    registry, device = installed(), common.device(given)
    corpora: dict[str, _Corpus] = {}
    reports = []
    for spec in find([SHIPPED]):
        print(f"{spec.path.name} …", file=sys.stderr, flush=True)
        reports.append(report := {"checkpoint": spec.path.name, "scores": {}})
        try:
            first = read(spec.path)
            corpus = _corpus(first.card, registry, corpora)
            translator = Translator(first, registry, device)
            for name, score in first.card["scores"].items():
                found = measure(translator, corpus, registry, score.get("beam", 1))
                # Each is written by itself, and onto the card as it is then.
                checkpoint = read(spec.path)
                stated = checkpoint.card["scores"][name]
                said = disagreements(stated, found)
                report["scores"][name] = {"measured": found, "disagreements": said}
                if given.keep:
                    add_score(checkpoint, name, {**found, "command": stated["command"]})
        except _NotHereError as reason:
            report["skipped"] = str(reason)
        except ContractError as error:
            report["error"] = str(error)
    lines = [line for one in reports for line in _remeasured_lines(one)]
    common.show(given, {"checkpoints": reports}, lines)
    differ = any(score["disagreements"] for one in reports for score in one["scores"].values())
    return int(any("error" in one for one in reports) or (differ and not given.keep))


def _remeasured_lines(report: Mapping[str, Any]) -> Iterator[str]:
    for name, score in report["scores"].items():
        for line in score["disagreements"] or ["as its card says"]:
            yield f"{report['checkpoint']}, {name}: {line}"
    for key, mark in (("skipped", "skipped, "), ("error", "")):
        if key in report:
            yield f"{report['checkpoint']}: {mark}{report[key]}"


def _corpus(card: Mapping[str, Any], registry: Registry, corpora: dict[str, _Corpus]) -> _Corpus:
    """The card's held-out pairs, kept for the next checkpoint of the same split.

    _NotHereError: the card's corpus would have to be downloaded, or is another one here.
    """
    name, key = card["corpus"]["name"], json.dumps(card["corpus"], sort_keys=True)
    if key in corpora:
        return corpora[key]
    data = registry.datasets.get(name)
    if data is None:
        raise _NotHereError(f"no data set {name!r} is installed")
    if data is tatoeba.TATOEBA and not tatoeba.is_here():
        raise _NotHereError(f"set {tatoeba.VARIABLE} to a zip or a folder that holds its corpus")
    pairs = common.load_corpus(name, registry)
    try:
        learned, held_out = experiment.learned_and_unseen(card, pairs, f"data set {name!r}")
    except ContractError as error:
        if data is tatoeba.TATOEBA:  # whatever selection of it the user has
            raise _NotHereError(str(error)) from error
        raise
    corpora[key] = _of_card(card, data, (learned, held_out), registry)
    return corpora[key]


def _of_card(
    card: Mapping[str, Any], data: DatasetSpec | None,
    sides: tuple[Sequence[SentencePair], Sequence[SentencePair]], registry: Registry,
) -> _Corpus:  # fmt: skip
    """Held-out pairs beside those that were learned, with their neighbours where it translates."""
    learned, held_out = sides
    if continues(card):
        return _Corpus(data, held_out, None, learned)
    counted = experiment.counted_by(data)
    return _Corpus(data, held_out, neighbours_of(held_out, learned, registry, counted), learned)


def disagreements(stated: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Which figures of a score are not those that its card states, a sentence each."""
    said, seen = dict(_figures(stated)), dict(_figures(found))
    lines = (_disagreement(name, said.get(name), seen.get(name)) for name in said | seen)
    return [line for line in lines if line]


def _disagreement(name: str, stated: Any, found: Any) -> str:
    if stated is None:
        return f"{name} is {found} and not on its card"
    if found is None:
        return f"{name} is on its card as {stated} and was not measured"
    known = (limit for start, limit in TOLERANCES.items() if f"{name}.".startswith(f"{start}."))
    limit = next(known, 0.0)
    numbers = isinstance(stated, int | float) and isinstance(found, int | float)
    if abs(stated - found) <= limit + 1e-9 if numbers else stated == found:
        return ""
    within = f"; need at most {limit:g} between them" if limit else ""
    return f"{name} is {found}, its card says {stated}{within}"


def _figures(score: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """All that was measured by name, ``near.bleu``; sacrebleu may be of another version."""
    for name, value in score.items():
        if isinstance(value, Mapping):
            yield from _figures(value, f"{before}{name}.")
        elif name == "signature":
            yield before + name, _VERSION.sub("", value)
        elif name != "command":
            yield before + name, value


def run(given: argparse.Namespace) -> int:
    """Score a checkpoint's translations of a corpus with sacrebleu, or those of all that ship.

    Prints the corpus's own metric, and lower-cased multi-reference BLEU with its signature.
    """
    if given.all:
        return _remeasure(given)
    if not given.checkpoint or not given.corpus:
        raise ContractError("need --checkpoint and --corpus, or --all")
    if given.keep and not given.held_out:
        raise ContractError("a card keeps held-out scores only; add --held-out or drop --keep")
    registry, device = installed(), common.device(given)
    checkpoint = read_checkpoint(given.checkpoint)
    pairs = common.load_corpus(given.corpus, registry, alignments=None)
    data = common.dataset_named(given.corpus, registry)
    corpus = _Corpus(data, pairs, None)
    if given.held_out:
        sides = experiment.learned_and_unseen(checkpoint.card, pairs, given.corpus)
        corpus = _of_card(checkpoint.card, data, sides, registry)
    translator = open_checkpoint(checkpoint, registry, device)
    width = 1 if given.beam is None else given.beam
    score = measure(translator, corpus, registry, width)
    if given.keep:
        note_held_out(checkpoint, score, given.corpus)
    facts = {"alignment_error": {}, **score, "checkpoint": str(given.checkpoint)}
    common.show(given, facts, list(_lines(score)))
    return 0


def _lines(score: Mapping[str, Any]) -> Iterator[str]:
    if "nats" in score:
        yield from _foretold_lines(score)
        return
    if own := score.get("metric"):
        yield f"{own['title']} {own['value']:.2f} {own['unit']}".rstrip().replace(" %", "%")
    yield f"BLEU {score['bleu']:.2f}"
    yield score["signature"]
    yield score["normalised"]
    for name, said in _PARTS.items():
        if part := score.get(name):
            value = f"{own['title']} {part['value']:.2f}, " if own else ""
            yield f"{name}: {value}BLEU {part['bleu']:.2f} ({part['sentences']:,} {said})"
    for place, rate in score.get("alignment_error", {}).items():
        yield f"AER {rate:.3f} ({place})"


def _foretold_lines(score: Mapping[str, Any]) -> Iterator[str]:
    for name, figures in (("model", score), *((n, score[n]) for n in COUNTED if n in score)):
        yield f"{name}: {figures['nats']:.3f} nats a token, {figures['accuracy']:.1%} right"
    yield f"{score['words']:,} {score['signature']}"


_PARTS = {
    "near": "sources one token from a training source", "far": "other sources",
    "copied": "translations of the nearest training source",
}  # fmt: skip


def note_held_out(checkpoint: Checkpoint, score: Mapping[str, Any], corpus: str) -> Checkpoint:
    """Note a held-out score on the card, with the command that measures it again."""
    width = score.get("beam")
    command = (
        f"python -m attention_plugins evaluate --checkpoint {shlex.quote(str(checkpoint.folder))} "
        f"--corpus {shlex.quote(corpus)} --held-out" + (f" --beam {width}" if width else "")
    )
    name = {None: "held out", 1: "held out, greedy"}.get(width, f"held out, beam {width}")
    return add_score(checkpoint, name, {**score, "command": command})


def translate(given: argparse.Namespace) -> None:
    """Translate sentences with a checkpoint."""
    sentences = given.sentences or [line.strip() for line in sys.stdin if line.strip()]
    if not sentences:
        raise ContractError("need a sentence to translate, got none")
    checkpoint = read_checkpoint(given.checkpoint)
    translator = open_checkpoint(checkpoint, installed(), common.device(given))
    translations = translator.translate(sentences, width=given.beam)
    facts = [{"source": s, "translation": t} for s, t in zip(sentences, translations, strict=True)]
    common.show(given, {"translations": facts}, translations)
