"""The page *Differences*: its view and its link.

``/differences?a=bahdanau.additive&b=transformer.scaled_dot&b.map=2.3&text=go .&target=va !``, with
``kind=encoder`` for another kind of attention and ``pair=b-c`` for the two panels of which the
difference is shown. Panels, spots, texts and corpus are those of a translation's link. An empty
target stands for what the first panel says by itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import combinations

from dashboard.runs.link_parts import AUTO, LETTERS, read_device
from dashboard.runs.offers import Catalogue, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.translation_link import (
    KINDS,
    Translation,
    default_translation,
    read_corpus,
    read_panels,
    with_spots,
    write_panels,
    write_spots,
)


@dataclass(frozen=True, kw_only=True)
class Differences(Translation):
    """The page *Differences*: panels that all read one target, and the pair that is subtracted.

    ``pair`` is ``a-b``, two different letters in order; empty for the first two panels.
    """

    pair: str = ""


def default_differences(catalogue: Catalogue, corpus: str = "") -> Differences:
    """The models that the page *Translation* starts with."""
    return Differences(**asdict(default_translation(catalogue, corpus)))


def pairs_of(view: Differences) -> list[str]:
    """Every pair that the panels allow, the usual one first."""
    letters = LETTERS[: len(view.panels)]
    return ["-".join(two) for two in combinations(letters, 2)]


def parse_differences(query: Query, catalogue: Catalogue) -> tuple[Differences, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    usual = default_differences(catalogue, read_corpus(reader, catalogue))
    named = read_panels(reader, catalogue, usual)
    view = replace(
        usual,
        panels=tuple(panel for panel, _ in named),
        kind=_read_kind(reader),
        text=reader.text("text", usual.text),
        target=reader.text("target", usual.target),
        device=read_device(reader, catalogue),
    )
    view = replace(view, pair=_read_pair(reader, pairs_of(view)))
    return with_spots(view, (spot for _, spot in named)), reader.finish()


def format_differences(view: Differences, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    link = write_panels(view, default_differences(catalogue, view.corpus), catalogue)
    if view.kind != KINDS[0]:
        link["kind"] = view.kind
    if view.pair in pairs_of(view)[1:]:
        link["pair"] = view.pair
    link |= write_spots(view)
    if view.device != AUTO:
        link["device"] = view.device
    return link


def _read_kind(reader: Reader) -> str:
    given = reader.take("kind")
    if given is None or given in KINDS:
        return given or KINDS[0]
    reader.problem(f"kind={shown(given)} is not {', '.join(KINDS)}; {KINDS[0]} is used")
    return KINDS[0]


def _read_pair(reader: Reader, pairs: list[str]) -> str:
    given = reader.take("pair")
    if given in (None, *pairs[:1]):
        return ""
    if given in pairs:
        return given
    offered = f"{', '.join(pairs)} are offered" if pairs else "there is one panel"
    reader.problem(f"pair={shown(given)} is not two of the panels: {offered}; ignored")
    return ""
