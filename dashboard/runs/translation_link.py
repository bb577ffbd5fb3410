"""The page *Translation*: its view, its link, the requests that it takes.

``?a=bahdanau.additive&b=bahdanau.bilinear&text=go .&beam=4&corpus=tatoeba``. Panels are called a,
b, c and d. A view holds names that may not be installed here, since a link may come from a friend
who has more plugins; :func:`untrained` says it in a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dashboard.runs.link_parts import AUTO, LETTERS, NAME, not_installed, read_device, write_common
from dashboard.runs.offers import Catalogue, Checkpoint, Knob, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.request import Request

SENTENCE = "i'm home ."


@dataclass(frozen=True, kw_only=True)
class Translation:
    """The page *Translation*. A panel is ``model.scoring``, or a checkpoint's name where two
    checkpoints of the corpus share model and scoring."""

    panels: tuple[str, ...]
    corpus: str = ""
    text: str = SENTENCE
    target: str = ""
    beam: int = 1
    device: str = AUTO


def default_translation(catalogue: Catalogue, corpus: str = "") -> Translation:
    """The first checkpoints of the corpus, or of the first corpus there is."""
    corpus = corpus or next(iter(catalogue.corpora()), "")
    names = [reference(catalogue, c) for c in catalogue.checkpoints.values() if c.corpus == corpus]
    usual = [f"bahdanau.{scoring}" for scoring in ("additive", "scaled_dot", "bilinear")]
    chosen = [name for name in usual if name in names] or names[: len(usual)]
    return Translation(panels=tuple(chosen), corpus=corpus)


def beam_knob(catalogue: Catalogue) -> Knob:
    """How wide to search, as the translation task allows it."""
    return next(knob for knob in catalogue.options["translation"] if knob.name == "beam")


def reference(catalogue: Catalogue, checkpoint: Checkpoint) -> str:
    """What a panel calls this checkpoint within its corpus."""
    made_of = (checkpoint.model, checkpoint.scoring, checkpoint.corpus)
    others = [(c.model, c.scoring, c.corpus) for c in catalogue.checkpoints.values()]
    alone = others.count(made_of) == 1
    return f"{checkpoint.model}.{checkpoint.scoring}" if alone else checkpoint.name


def resolve(catalogue: Catalogue, corpus: str, panel: str) -> Checkpoint | None:
    """The checkpoint that a panel means, if it is here."""
    for checkpoint in catalogue.checkpoints.values():
        if checkpoint.corpus == corpus and panel in (
            checkpoint.name,
            reference(catalogue, checkpoint),
        ):
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
    usual = default_translation(catalogue, _read_corpus(reader, catalogue))
    panels = [
        _read_checkpoint(reader, letter, catalogue, usual.corpus)
        for letter in LETTERS
        if reader.has(letter)
    ]
    view = replace(
        usual,
        panels=tuple(filter(None, panels)) or usual.panels,
        text=reader.text("text", usual.text),
        target=reader.text("target", usual.target),
        beam=reader.knob(beam_knob(catalogue), "beam"),
        device=read_device(reader, catalogue),
    )
    return view, reader.finish()


def format_translation(view: Translation, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    usual = default_translation(catalogue, view.corpus)
    link: dict[str, str] = {}
    if view.panels != usual.panels:
        link.update(zip(LETTERS, view.panels, strict=False))
    if view.text != usual.text:
        link["text"] = view.text
    if view.target:
        link["target"] = view.target
    if view.corpus != default_translation(catalogue).corpus:
        link["corpus"] = view.corpus
    write_common(link, beam_knob(catalogue), view.beam, view.device)
    return link


def _read_corpus(reader: Reader, catalogue: Catalogue) -> str:
    given = reader.take("corpus")
    corpora = catalogue.corpora()
    if given is None or given in corpora:
        return given or ""
    offered = ", ".join(corpora) or "none"
    reader.problem(f"no checkpoint here was trained on corpus={shown(given)}; offered: {offered}")
    return ""


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
