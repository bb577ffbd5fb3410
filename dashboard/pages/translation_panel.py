"""One panel of the page *Translation*: its model, its words, its map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from dashboard.controls import choose, place, plain
from dashboard.pages import figures, parts
from dashboard.runs.link_parts import LETTERS, MOST_PANELS
from dashboard.runs.offers import Catalogue, Checkpoint
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.translation_link import (
    KINDS,
    Translation,
    reference,
    spots_of,
    with_spots,
)
from dashboard.state import Visit

_KINDS = {"cross": "Cross-attention", "encoder": "Encoder", "decoder": "Decoder"}
_NAMES = {
    "cross": "cross-attention",
    "encoder": "self-attention in its encoder",
    "decoder": "self-attention in its decoder",
}
AXES = {
    "cross": "Down: the words being written. Across: the words of the sentence.",
    "encoder": "Self-attention. Down and across: the words of the sentence, each looking at all.",
    "decoder": "Self-attention. Down: the words being written. Across: the words written before. "
    "What comes later is masked, grey and crossed out.",
}
_CLICK = " Each small map is a head, or the mean of its layer: click it to see it large."
_EXAMPLES = ("i'm home .", "he's calm .", "go .", "i lost .", "would you like a cup of tea ?")
_TRAIN = (
    "python -m attention_plugins train --corpus phrasebook --scoring additive "
    "--output trained/bahdanau-additive-phrasebook"
)


class Places(NamedTuple):
    """Where in a panel things go that come after its controls were read."""

    export: Any
    result: Any


def nothing_trained() -> None:
    """What a page says where there is no checkpoint at all."""
    with st.container(border=True, key="nothing-trained"):
        st.markdown(":material/model_training: **No trained model yet**")
        st.text(
            "This page needs a checkpoint. The command below trains one on the built-in "
            "phrasebook, without a network; when it is done, press “Reload plugins”."
        )
        st.code(_TRAIN, language="bash", wrap_lines=True)


def examples(place_of: Any, here: Visit, text: str, page: str = "translation") -> None:
    """Sentences to start with; a click on one replaces ``text`` and forgets the target."""
    place_of.pills(
        "Examples",
        _EXAMPLES,
        key=place(f"{page}-examples", text if text in _EXAMPLES else None, fresh=True),
        on_change=_use_example,
        args=(here, page),
        label_visibility="collapsed",
    )


def _use_example(here: Visit, page: str) -> None:
    sentence = st.session_state[f"{page}-examples"]
    if sentence is not None:
        here.change(replace(here.view, text=sentence, target=""))


def choose_panels(
    here: Visit,
    catalogue: Catalogue,
    corpus: str,
    page: str = "translation",
    formulas: bool = True,
) -> tuple[list[Places], tuple[str, ...]]:
    """Each panel's choice of model; the places for the results, and what was chosen.

    Args:
        page: begins the widgets' keys.
        formulas: whether each panel has its scoring's formula.
    """
    names = _names(catalogue, corpus)
    letters = LETTERS[: len(here.view.panels)]
    with parts.grid(len(letters)):
        drawn = [
            _panel_controls(here, catalogue, letter, panel, names, page, formulas)
            for letter, panel in zip(letters, here.view.panels, strict=True)
        ]
    return [slot for slot, _ in drawn], tuple(panel for _, panel in drawn)


def add_panel(here: Visit, catalogue: Catalogue, corpus: str) -> None:
    """The button that adds a panel, while there may be more."""
    names = tuple(_names(catalogue, corpus))
    if len(here.view.panels) < MOST_PANELS:
        st.button("Add a panel", icon=":material/add:", on_click=_add, args=(here, names))


def _add(here: Visit, names: Sequence[str]) -> None:
    unused = [name for name in names if name not in here.view.panels]
    new = (unused or names)[0]
    here.change(replace(here.view, panels=(*here.view.panels, new)))


def _names(catalogue: Catalogue, corpus: str) -> dict[str, Checkpoint]:
    """The checkpoints of a corpus, by what a panel calls them."""
    return {reference(catalogue, entry): entry for entry in catalogue.readers(corpus)}


def _panel_controls(
    here: Visit,
    catalogue: Catalogue,
    letter: str,
    panel: str,
    names: dict[str, Checkpoint],
    page: str,
    formulas: bool,
) -> tuple[Places, str]:
    with st.container(key=f"panel-{letter}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            parts.badge(letter)
            chosen = choose(
                f"Model of panel {letter}",
                list(names),
                panel,
                f"{page}-{letter}",
                here.fresh,
                title=lambda name: title_of(catalogue, names.get(name), name),
                label_visibility="collapsed",
            )
            menu = st.container(width="content")
            if len(here.view.panels) > 1:
                parts.remove(letter, _remove, here, letter)
        if formulas and chosen in names and names[chosen].scoring in catalogue.scorings:
            parts.formula_of(letter, catalogue.scorings[names[chosen].scoring])
        return Places(menu, st.container()), chosen


def title_of(catalogue: Catalogue, checkpoint: Checkpoint | None, name: str) -> str:
    """What a panel's model is called."""
    if checkpoint is None:
        return f"{name} (not here)"
    model, scoring = (
        catalogue.models.get(checkpoint.model),
        catalogue.scorings.get(checkpoint.scoring),
    )
    made_of = f"{scoring.title if scoring else checkpoint.scoring}"
    if checkpoint.adopted:
        return f"{made_of} · {checkpoint.adopted['family']} · {checkpoint.title}"
    models = {entry.model for entry in catalogue.checkpoints.values()}
    if len(models) > 1:
        made_of += f" · {model.title if model else checkpoint.model}"
    return made_of if name.count(".") else f"{made_of} · {checkpoint.name}"


def _remove(here: Visit, letter: str) -> None:
    shown = zip(LETTERS, here.view.panels, spots_of(here.view), strict=False)
    kept = [(panel, spot) for own, panel, spot in shown if own != letter]
    view = replace(here.view, panels=tuple(panel for panel, _ in kept))
    here.change(with_spots(view, (spot for _, spot in kept)))


def with_spot(view: Translation, letter: str, spot: str) -> Translation:
    """The view with this spot of one panel; "" is its usual one."""
    spots = dict(zip(LETTERS, spots_of(view), strict=False))
    return with_spots(view, (spots | {letter: spot}).values())


def origin(checkpoint: Checkpoint) -> str:
    """What the model learned from, and how well it does on sentences that it never saw.

    Of an adopted one: where it is from, and that its scoring is what it is.
    """
    if adopted := checkpoint.adopted:
        at = f" at {adopted['revision'][:7]}" if adopted["revision"] else ""
        where = plain(adopted["repository"] or checkpoint.name)
        more = f" · {plain(adopted['addition'])}" if adopted["addition"] else ""
        return (f"trained elsewhere: {where}{at}, with the Hugging Face library · its scoring "
                f"is its own and cannot be swapped{more}")  # fmt: skip
    words = [f"trained on {checkpoint.card['corpus']['trained_on']:,} pairs"]
    for name, score in checkpoint.card["scores"].items():
        if "bleu" in score:
            words.append(f"BLEU {score['bleu']:.1f} ({plain(name)})")
    return " · ".join(words)


def kind_control(here: Visit, results: Sequence[Result]) -> None:
    """Which kind of attention all panels show, where a model has several; what its axes are."""
    if choose_kind(here, results):
        several = figures.has_grid(results, here.view.kind)
        st.caption(AXES[here.view.kind] + (_CLICK if several else ""))


def choose_kind(here: Visit, results: Sequence[Result], page: str = "translation") -> bool:
    """The choice of a kind of attention; whether there is one."""
    kinds = [kind for kind in KINDS if any(figures.maps_of(one, kind) for one in results)]
    if len({*kinds, here.view.kind}) < 2:
        return False
    offered = [kind for kind in KINDS if kind in (*kinds, here.view.kind)]
    st.segmented_control(
        "Kind of attention",
        offered,
        key=place(f"{page}-kind", here.view.kind, fresh=True),
        format_func=_KINDS.get,
        on_change=_show_kind,
        args=(here, page),
        label_visibility="collapsed",
    )
    return True


def _show_kind(here: Visit, page: str) -> None:
    kind = st.session_state[f"{page}-kind"]
    if kind is not None:  # None where the chosen one was clicked again
        here.change(replace(here.view, kind=kind, spots=()))


def translation(here: Visit, request: Request, result: Result, letter: str) -> None:
    """The words, how likely they are, where the model looked, and what it did not know."""
    facts = result.facts
    st.markdown(f"#### {plain(facts['translation']) or '—'}")
    st.caption(("forced · " if facts["forced"] else "") + likelihood(result))
    view: Translation = here.view
    if figures.maps_of(result, view.kind):
        figures.attention_maps(
            request, result, letter, here.jobs.done(), view.kind,
            dict(zip(LETTERS, spots_of(view), strict=False))[letter],
            lambda spot: here.settle(with_spot(here.view, letter, spot)),
        )  # fmt: skip
    else:
        st.caption(without(view.kind))
    unknown_words(result)


def without(kind: str) -> str:
    """What is said of a model that has no such attention."""
    return f"This model has no {_NAMES[kind]}."


def likelihood(result: Result) -> str:
    """How likely the model finds the words, in nats."""
    return f"log-probability {result.facts['log_probability']:.2f}".replace(" -", " −")


def unknown_words(result: Result) -> None:
    """The words that are not in the model's vocabulary."""
    facts = result.facts
    for kind, words in (("sentence", "unknown"), ("translation", "target_unknown")):
        if facts[words]:
            unknown = ", ".join(plain(word) for word in dict.fromkeys(facts[words]))
            st.caption(f":material/help: not in this model's vocabulary ({kind}): {unknown}")
