"""The page *Alignment*: its view, its link, the requests that it takes.

``/alignment?a=bahdanau.additive&b=transformer.scaled_dot&b.map=1.2&count=500&pair=17&order=worst``.
Panels, their spots and ``corpus``, what the models were trained on, are those of a translation's
link. ``gold`` says what they are held against: a data set with gold alignments, an uploaded file,
or ``own`` for one pair that the link itself holds in ``source``, ``target`` and ``links``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dashboard.runs.link_parts import AUTO, LETTERS, UPLOAD, read_device, write_knobs
from dashboard.runs.offers import Catalogue, Checkpoint, Knob, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.request import Request
from dashboard.runs.translation_link import (
    default_translation,
    read_corpus,
    read_panels,
    reference,
    with_spots,
    write_spots,
)

TASK = "alignment"
OWN = "own"
EXAMPLE = {"source": "I'm home.", "target": "Je suis chez moi.", "links": "0-0 1-1 2-2 2-3 3-4"}
ORDERS = ("number", "worst")
_LEAST_PANELS = 2
PAIR = Knob(
    name="pair",
    title="Pair",
    default=1,
    low=1,
    high=999_999,
    step=1,
    help="Its number among the pairs that none of these models has learned.",
)


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """The page *Alignment*. Panels and spots are those of a translation, but the usual spot is
    the best one. ``count`` pairs are scored, one is shown; ``order`` is that of going from one
    to the next."""

    panels: tuple[str, ...]
    spots: tuple[str, ...] = ()
    corpus: str = ""
    gold: str = OWN
    source: str = EXAMPLE["source"]
    target: str = EXAMPLE["target"]
    links: str = EXAMPLE["links"]
    count: int
    pair: int = 1
    order: str = ORDERS[0]
    device: str = AUTO


def default_alignment(catalogue: Catalogue, corpus: str = "") -> Alignment:
    """Some checkpoints of the corpus, or of one with gold alignments, held against these."""
    aligned = golden(catalogue)
    known = catalogue.corpora()
    corpus = corpus or next((name for name in known if name in aligned), next(iter(known), ""))
    return Alignment(
        panels=_usual_panels(catalogue, corpus),
        corpus=corpus,
        gold=corpus if corpus in aligned else next(iter(aligned), OWN),
        count=int(count_knob(catalogue).default),
    )


def _usual_panels(catalogue: Catalogue, corpus: str) -> tuple[str, ...]:
    """Those of a translation, and some other where that is only one."""
    usual = default_translation(catalogue, corpus).panels
    known = [reference(catalogue, c) for c in catalogue.checkpoints.values() if c.corpus == corpus]
    others = [name for name in known if name not in usual]
    return (*usual, *others)[: max(len(usual), _LEAST_PANELS)]


def golden(catalogue: Catalogue) -> tuple[str, ...]:
    """The data sets with gold alignments."""
    offered = catalogue.of_task("datasets", "translation")
    return tuple(name for name, offer in offered.items() if offer.aligned)


def count_knob(catalogue: Catalogue) -> Knob:
    """How many pairs are scored, as the task allows it."""
    return next(knob for knob in catalogue.options[TASK] if knob.name == "pairs")


def alignment_request(
    view: Alignment, checkpoint: Checkpoint, beside: Iterable[Checkpoint], pair: int = 0
) -> Request:
    """What a worker must compute for one panel: the rates of its heads, or one pair's maps.

    Args:
        beside: the checkpoints of all panels. What one of them has learned is shown to none, so
            that all are judged by the same pairs.
        pair: its number, or 0 for the rates.
    """
    options: dict[str, str | int] = {"corpus": view.gold}
    if view.gold == OWN:
        options |= {"source": view.source, "target": view.target, "links": view.links}
    else:
        options["others"] = _others(checkpoint, beside)
        options |= {} if pair else {"pairs": view.count}
    if pair:
        options["pair"] = pair
    return Request.make(TASK, data=checkpoint.name, options=options, device=view.device)


def _others(checkpoint: Checkpoint, beside: Iterable[Checkpoint]) -> str:
    """One checkpoint of every other part of a corpus that was learned."""
    parts = {_learned(other): other.name for other in sorted(beside, key=lambda one: one.name)}
    parts.pop(_learned(checkpoint), None)
    return ",".join(sorted(parts.values()))


def _learned(checkpoint: Checkpoint) -> str:
    corpus = checkpoint.card["corpus"]
    names = ("sha256", "pairs", "held_out_sources", "split_seed")
    return repr([corpus.get(name) for name in names])


def parse_alignment(query: Query, catalogue: Catalogue) -> tuple[Alignment, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    usual = default_alignment(catalogue, read_corpus(reader, catalogue))
    named = read_panels(reader, catalogue, usual)
    view = replace(
        usual,
        panels=tuple(panel for panel, _ in named),
        gold=_read_gold(reader, catalogue, usual.gold),
        count=reader.knob(count_knob(catalogue), "count"),
        pair=reader.knob(PAIR, "pair"),
        order=_read_order(reader),
        device=read_device(reader, catalogue),
    )
    if view.gold == OWN:
        texts = {name: reader.text(name, text) for name, text in EXAMPLE.items()}
        view = replace(view, pair=1, **texts)
    return with_spots(view, (spot for _, spot in named)), reader.finish()


def format_alignment(view: Alignment, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    usual = default_alignment(catalogue, view.corpus)
    link: dict[str, str] = {}
    if view.panels != usual.panels:
        link.update(zip(LETTERS, view.panels, strict=False))
    if view.corpus != default_alignment(catalogue).corpus:
        link["corpus"] = view.corpus
    if view.gold != usual.gold:
        link["gold"] = view.gold
    if view.gold == OWN:
        link |= {n: getattr(view, n) for n, text in EXAMPLE.items() if getattr(view, n) != text}
    else:
        write_knobs(link, str, (PAIR,), (("pair", view.pair),))
    count = replace(count_knob(catalogue), name="count")
    write_knobs(link, str, (count,), (("count", view.count),))
    if view.order != ORDERS[0]:
        link["order"] = view.order
    link |= write_spots(view)
    if view.device != AUTO:
        link["device"] = view.device
    return link


def _read_gold(reader: Reader, catalogue: Catalogue, usual: str) -> str:
    given = reader.take("gold")
    offered = (*golden(catalogue), OWN)
    if given is None or given in offered or UPLOAD.match(given):
        return given or usual
    reader.problem(
        f"gold={shown(given)} is no data set with gold alignments here; {usual} is used "
        f"(offered: {', '.join(offered)})"
    )
    return usual


def _read_order(reader: Reader) -> str:
    given = reader.take("order")
    if given is None or given in ORDERS:
        return given or ORDERS[0]
    reader.problem(f"order={shown(given)} is not {' or '.join(ORDERS)}; {ORDERS[0]} is used")
    return ORDERS[0]
