"""The page *Translation*: its view, its link, the requests that it takes.

``?a=bahdanau.additive&b=transformer.scaled_dot&b.map=2.3&text=go .&beam=4&corpus=tatoeba``. Panels
are called a, b, c and d. ``map=encoder`` shows another kind of attention, ``b.map=2.3`` head 3 of
layer 2 large in panel b, ``b.map=2.mean`` the mean of that layer's heads, and
``map=encoder.2.3`` says both for all panels. A view holds names that may not be installed here,
since a link may come from a friend who has more plugins; :func:`untrained` says it in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from dashboard.runs.link_parts import AUTO, LETTERS, NAME, not_installed, read_device, write_common
from dashboard.runs.offers import Catalogue, Checkpoint, Knob, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.request import Request

SENTENCE = "i'm home ."
KINDS = ("cross", "encoder", "decoder")

_USUAL = (
    "bahdanau.additive", "bahdanau.scaled_dot", "transformer.scaled_dot", "bahdanau.bilinear",
)  # fmt: skip
_USUAL_PANELS = 3
_SPOT = re.compile(r"[1-9][0-9]?\.(mean|[1-9][0-9]?)\Z")


@dataclass(frozen=True, kw_only=True)
class Translation:
    """The page *Translation*. A panel is ``model.scoring``, or a checkpoint's name where two
    checkpoints of the corpus share model and scoring. A spot is the map that a panel shows large,
    ``layer.head`` or ``layer.mean``, empty for the usual one; panels at the end that have no spot
    show their usual one."""

    panels: tuple[str, ...]
    kind: str = KINDS[0]
    spots: tuple[str, ...] = ()
    corpus: str = ""
    text: str = SENTENCE
    target: str = ""
    beam: int = 1
    device: str = AUTO


def default_translation(catalogue: Catalogue, corpus: str = "") -> Translation:
    """Some checkpoints of the corpus, or of that with most checkpoints.

    Two that differ in their scoring alone, and one of another model, if they are here.
    """
    corpus = corpus or next(iter(catalogue.corpora()), "")
    names = [reference(catalogue, c) for c in catalogue.checkpoints.values() if c.corpus == corpus]
    chosen = [name for name in _USUAL if name in names] or names
    return Translation(panels=tuple(chosen[:_USUAL_PANELS]), corpus=corpus)


def spots_of(view: Translation) -> tuple[str, ...]:
    """The spot of every panel."""
    return (view.spots + ("",) * len(view.panels))[: len(view.panels)]


def with_spots(view: Translation, spots: Iterable[str]) -> Translation:
    """The view with these spots of its panels, in the one way of writing them."""
    kept = list(spots)[: len(view.panels)]
    while kept and not kept[-1]:
        kept.pop()
    return replace(view, spots=tuple(kept))


def beam_knob(catalogue: Catalogue) -> Knob:
    """How wide to search, as the translation task allows it."""
    return next(knob for knob in catalogue.options["translation"] if knob.name == "beam")


def reference(catalogue: Catalogue, checkpoint: Checkpoint) -> str:
    """What a panel calls this checkpoint within its corpus; an adopted one by its name."""
    if checkpoint.adopted:
        return checkpoint.name
    made_of = (checkpoint.model, checkpoint.scoring, checkpoint.corpus)
    others = [(c.model, c.scoring, c.corpus) for c in catalogue.checkpoints.values()]
    alone = others.count(made_of) == 1
    return f"{checkpoint.model}.{checkpoint.scoring}" if alone else checkpoint.name


def resolve(catalogue: Catalogue, corpus: str, panel: str) -> Checkpoint | None:
    """The checkpoint that a panel means, if it is here."""
    for checkpoint in catalogue.readers(corpus):
        if panel in (checkpoint.name, reference(catalogue, checkpoint)):
            return checkpoint
    return None


def untrained(catalogue: Catalogue, corpus: str, panel: str) -> str:
    """Why a panel's checkpoint is not here, in a sentence, and what would bring it."""
    model, _, scoring = panel.rpartition(".")
    if not model:
        return f"There is no checkpoint {shown(panel)} of the corpus {shown(corpus)} here."
    for kind, name, offered in (
        ("Model", model, catalogue.models),
        ("Scoring", scoring, catalogue.scorings),
    ):
        if name not in offered:
            return not_installed(kind, name)
    return f"{model} with {scoring} has not been trained on {shown(corpus)} here."


def translation_request(state: Translation, checkpoint: Checkpoint) -> Request:
    """What a worker must compute for one panel."""
    return Request.make(
        "translation",
        data=checkpoint.name,
        options={"text": state.text, "beam": state.beam, "target": state.target},
        device=state.device,
    )


def parse_translation(query: Query, catalogue: Catalogue) -> tuple[Translation, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    usual = default_translation(catalogue, read_corpus(reader, catalogue))
    kind, spot = _read_map(reader)
    named = read_panels(reader, catalogue, usual, spot)
    view = replace(
        usual,
        panels=tuple(panel for panel, _ in named),
        kind=kind,
        text=reader.text("text", usual.text),
        target=reader.text("target", usual.target),
        beam=reader.knob(beam_knob(catalogue), "beam"),
        device=read_device(reader, catalogue),
    )
    return with_spots(view, (spot for _, spot in named)), reader.finish()


def format_translation(view: Translation, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    link = write_panels(view, default_translation(catalogue, view.corpus), catalogue)
    _write_maps(link, view)
    write_common(link, beam_knob(catalogue), view.beam, view.device)
    return link


def write_panels(view: Translation, usual: Translation, catalogue: Catalogue) -> dict[str, str]:
    """The parameters that say what panels show and read, without what is as in ``usual``."""
    link: dict[str, str] = {}
    if view.panels != usual.panels:
        link.update(zip(LETTERS, view.panels, strict=False))
    if view.text != usual.text:
        link["text"] = view.text
    if view.target:
        link["target"] = view.target
    if view.corpus != default_translation(catalogue).corpus:
        link["corpus"] = view.corpus
    return link


def read_corpus(reader: Reader, catalogue: Catalogue) -> str:
    """The parameter ``corpus``, if something here was trained on it; else empty."""
    given = reader.take("corpus")
    corpora = catalogue.corpora()
    if given is None or given in corpora:
        return given or ""
    offered = ", ".join(corpora) or "none"
    reader.problem(f"no checkpoint here was trained on corpus={shown(given)}; offered: {offered}")
    return ""


def read_panels(
    reader: Reader, catalogue: Catalogue, usual: Translation, spot: str = ""
) -> list[tuple[str, str]]:
    """Every panel that a link names, or those of ``usual``, each with its spot.

    Args:
        spot: of panels that the link gives none.
    """
    given = {
        letter: _read_checkpoint(reader, letter, catalogue, usual.corpus)
        for letter in LETTERS
        if reader.has(letter)
    }
    if not any(given.values()):
        given |= dict(zip(LETTERS, usual.panels, strict=False))
    return [(panel, _read_spot(reader, letter, spot)) for letter, panel in given.items() if panel]


def _read_map(reader: Reader) -> tuple[str, str]:
    given = reader.take("map")
    if given is None:
        return KINDS[0], ""
    kind, _, spot = given.partition(".")
    if kind in KINDS and (kind == given or _SPOT.match(spot)):
        return kind, spot
    reader.problem(
        f"map={shown(given)} is not {', '.join(KINDS)}, alone or with a layer and a head "
        f"such as {KINDS[0]}.2.3; {KINDS[0]} is used"
    )
    return KINDS[0], ""


def _read_spot(reader: Reader, letter: str, usual: str) -> str:
    given = reader.take(f"{letter}.map")
    if given is None or _SPOT.match(given):
        return given or usual
    reader.problem(
        f"{letter}.map={shown(given)} is not a layer and a head such as 2.3 or 2.mean; ignored"
    )
    return usual


def _write_maps(link: dict[str, str], view: Translation) -> None:
    spots = spots_of(view)
    if spots and spots[0] and len(set(spots)) == 1:
        link["map"] = f"{view.kind}.{spots[0]}"
        return
    if view.kind != KINDS[0]:
        link["map"] = view.kind
    link.update(write_spots(view))


def write_spots(view: Translation) -> dict[str, str]:
    """The parameter ``b.map`` of every panel that has a spot."""
    spots = zip(LETTERS, spots_of(view), strict=False)
    return {f"{letter}.map": spot for letter, spot in spots if spot}


def _read_checkpoint(reader: Reader, letter: str, catalogue: Catalogue, corpus: str) -> str | None:
    given = reader.take(letter) or ""
    found = resolve(catalogue, corpus, given)
    if found is not None:
        return reference(catalogue, found)
    parts = given.split(".")
    if len(parts) <= 2 and all(NAME.match(part) for part in parts):
        return given
    reader.problem(f"{letter}={shown(given)} is not a model.scoring such as bahdanau.additive")
    return None
