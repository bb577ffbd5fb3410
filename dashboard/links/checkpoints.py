"""How links and panels name trained models, and what a worker must make with one.

A checkpoint is called ``model.scoring``, or by its own name where two checkpoints of a corpus
share model and scoring; one that is shipped shares with shipped ones alone, so that nothing that
is trained on a server changes its name. A link may name what is not installed here, since it may
come from somebody who has more plugins; :func:`untrained` says so in a sentence.
"""

from __future__ import annotations

from dashboard.language import gettext, gettext_noop
from dashboard.links.fields import AUTO, NAME
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.request import Request
from dashboard.records.text import not_installed, shown

EXAMPLE = gettext_noop("model.scoring such as bahdanau.additive")

_USUAL = (
    "bahdanau.additive", "bahdanau.scaled_dot", "transformer.scaled_dot", "bahdanau.bilinear",
)  # fmt: skip
_USUAL_PANELS = 3


def reference(catalogue: Catalogue, checkpoint: Checkpoint) -> str:
    """What a panel calls this checkpoint within its corpus.

    One that was kept or adopted here is called by its name, which stays its own when another of
    the same model and scoring is kept. So is one whose scoring was typed as a formula, and one
    that reads pieces of words: it stands beside the one that reads words.
    """
    if not checkpoint.shipped or not _by_recipe(checkpoint):
        return checkpoint.name
    made_of = (checkpoint.model, checkpoint.scoring, checkpoint.corpus)
    others = [
        (c.model, c.scoring, c.corpus)
        for c in catalogue.checkpoints.values()
        if c.shipped and not _reads_pieces(c)
    ]
    alone = others.count(made_of) == 1
    return f"{checkpoint.model}.{checkpoint.scoring}" if alone else checkpoint.name


def _by_recipe(checkpoint: Checkpoint) -> bool:
    """Whether its model and scoring say what it is."""
    told = NAME.match(checkpoint.scoring) and not _reads_pieces(checkpoint)
    return bool(told and not checkpoint.adopted)


def _reads_pieces(checkpoint: Checkpoint) -> bool:
    return checkpoint.card.get("tokeniser") == "pieces"


def references(catalogue: Catalogue, corpus: str) -> dict[str, Checkpoint]:
    """The checkpoints to set side by side for a corpus, by what a panel calls them."""
    return {reference(catalogue, entry): entry for entry in catalogue.readers(corpus)}


def resolve(catalogue: Catalogue, corpus: str, panel: str) -> Checkpoint | None:
    """The checkpoint that a panel means, if it is here.

    ``bahdanau.additive`` also means the only kept one of that model and scoring: former links
    call it so.
    """
    known = references(catalogue, corpus)
    for name, checkpoint in known.items():
        if panel in (checkpoint.name, name):
            return checkpoint
    kept = [one for one in known.values() if not one.shipped and _by_recipe(one)]
    made_so = [one for one in kept if f"{one.model}.{one.scoring}" == panel]
    return made_so[0] if len(made_so) == 1 else None


def named(catalogue: Catalogue, corpus: str, given: str) -> str:
    """What a panel calls the checkpoint of a link; empty where that can be no name."""
    found = resolve(catalogue, corpus, given)
    if found is not None:
        return reference(catalogue, found)
    parts = given.split(".")
    return given if len(parts) <= 2 and all(NAME.match(part) for part in parts) else ""


def untrained(catalogue: Catalogue, corpus: str, panel: str) -> str:
    """Why a panel's checkpoint is not here, in a sentence, and what would bring it."""
    model, _, scoring = panel.rpartition(".")
    if not model:
        return gettext(
            "There is no checkpoint {panel} of the corpus {corpus} here.",
            panel=shown(panel), corpus=shown(catalogue.corpus_title(corpus)),
        )  # fmt: skip
    for kind, name, known in (
        (gettext_noop("Model"), model, catalogue.models),
        (gettext_noop("Scoring"), scoring, catalogue.scorings),
    ):
        if name not in known:
            return not_installed(kind, name)
    return gettext(
        "{model} with {scoring} has not been trained on {corpus} here.",
        model=catalogue.models[model].short_title, scoring=catalogue.scorings[scoring].short_title,
        corpus=shown(catalogue.corpus_title(corpus)),
    )  # fmt: skip


def usual_corpus(catalogue: Catalogue) -> str:
    """The corpus of most shipped checkpoints; empty where there is none."""
    return next(iter(catalogue.corpora()), "")


def usual_panels(catalogue: Catalogue, corpus: str) -> tuple[str, ...]:
    """Two checkpoints that differ in their scoring alone and one of another model, if here."""
    names = [reference(catalogue, entry) for entry in catalogue.usual(corpus)]
    chosen = [name for name in _USUAL if name in names] or names
    return tuple(chosen[:_USUAL_PANELS])


def translation_request(
    checkpoint: Checkpoint, *, text: str, target: str = "", beam: int = 1, device: str = AUTO,
    changes: str = "",
) -> Request:  # fmt: skip
    """What a worker must translate.

    Args:
        target: words to force; empty for the model's own translation.
        changes: to heads, see :mod:`dashboard.records.interventions`.
    """
    options: dict[str, str | int] = {"text": text, "beam": beam, "target": target}
    if changes:
        options["changes"] = changes
    return Request.make("translation", data=checkpoint.name, options=options, device=device)
