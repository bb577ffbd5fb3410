"""One panel of the page *Translation*: its model, its words, its map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from dashboard.controls import choose, place, plain
from dashboard.pages import figures, parts
from dashboard.runs.link_parts import LETTERS
from dashboard.runs.offers import Catalogue, Checkpoint
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.translation_link import KINDS, Translation, spots_of, with_spots
from dashboard.state import Visit

_KINDS = {"cross": "Cross-attention", "encoder": "Encoder", "decoder": "Decoder"}
_NAMES = {
    "cross": "cross-attention",
    "encoder": "self-attention in its encoder",
    "decoder": "self-attention in its decoder",
}
_AXES = {
    "cross": "Down: the words being written. Across: the words of the sentence.",
    "encoder": "Self-attention. Down and across: the words of the sentence, each looking at all.",
    "decoder": "Self-attention. Down: the words being written. Across: the words written before. "
    "What comes later is masked, grey and crossed out.",
}
_CLICK = " Each small map is a head, or the mean of its layer: click it to see it large."


class Places(NamedTuple):
    """Where in a panel things go that come after its controls were read."""

    export: Any
    result: Any


def panel_controls(
    here: Visit, catalogue: Catalogue, letter: str, panel: str, names: dict[str, Checkpoint]
) -> tuple[Places, str]:
    """Which model a panel shows; the places for what comes of it, and the choice.

    Args:
        names: the checkpoints of the page's corpus, by what a panel calls them.
    """
    with st.container(key=f"panel-{letter}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            parts.badge(letter)
            chosen = choose(
                f"Model of panel {letter}",
                list(names),
                panel,
                f"translation-{letter}",
                here.fresh,
                title=lambda name: title_of(catalogue, names.get(name), name),
                label_visibility="collapsed",
            )
            menu = st.container(width="content")
            if len(here.view.panels) > 1:
                parts.remove(letter, _remove, here, letter)
        if chosen in names and names[chosen].scoring in catalogue.scorings:
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
    models = {entry.model for entry in catalogue.checkpoints.values()}
    if len(models) > 1:
        made_of += f" · {model.title if model else checkpoint.model}"
    return made_of if name.count(".") else f"{made_of} · {checkpoint.name}"


def _remove(here: Visit, letter: str) -> None:
    shown = zip(LETTERS, here.view.panels, spots_of(here.view), strict=False)
    kept = [(panel, spot) for own, panel, spot in shown if own != letter]
    view = replace(here.view, panels=tuple(panel for panel, _ in kept))
    here.change(with_spots(view, (spot for _, spot in kept)))


def _with_spot(view: Translation, letter: str, spot: str) -> Translation:
    spots = dict(zip(LETTERS, spots_of(view), strict=False))
    return with_spots(view, (spots | {letter: spot}).values())


def origin(checkpoint: Checkpoint) -> str:
    """What the model learned from, and how well it does on sentences that it never saw."""
    words = [f"trained on {checkpoint.card['corpus']['trained_on']:,} pairs"]
    for name, score in checkpoint.card["scores"].items():
        if "bleu" in score:
            words.append(f"BLEU {score['bleu']:.1f} ({plain(name)})")
    return " · ".join(words)


def kind_control(here: Visit, results: Sequence[Result]) -> None:
    """Which kind of attention all panels show, where a model has several; what its axes are."""
    kinds = [kind for kind in KINDS if any(figures.maps_of(one, kind) for one in results)]
    if len({*kinds, here.view.kind}) < 2:
        return
    offered = [kind for kind in KINDS if kind in (*kinds, here.view.kind)]
    st.segmented_control(
        "Kind of attention",
        offered,
        key=place("translation-kind", here.view.kind, fresh=True),
        format_func=_KINDS.get,
        on_change=_show_kind,
        args=(here,),
        label_visibility="collapsed",
    )
    several = figures.has_grid(results, here.view.kind)
    st.caption(_AXES[here.view.kind] + (_CLICK if several else ""))


def _show_kind(here: Visit) -> None:
    kind = st.session_state["translation-kind"]
    if kind is not None:  # None where the chosen one was clicked again
        here.change(replace(here.view, kind=kind, spots=()))


def translation(here: Visit, request: Request, result: Result, letter: str) -> None:
    """The words, how likely they are, where the model looked, and what it did not know."""
    facts = result.facts
    st.markdown(f"#### {plain(facts['translation']) or '—'}")
    likelihood = f"log-probability {facts['log_probability']:.2f}".replace("-", "−")
    st.caption(("forced · " if facts["forced"] else "") + likelihood.replace("log−", "log-"))
    view: Translation = here.view
    if figures.maps_of(result, view.kind):
        figures.attention_maps(
            request, result, letter, here.jobs.done(), view.kind,
            dict(zip(LETTERS, spots_of(view), strict=False))[letter],
            lambda spot: here.settle(_with_spot(here.view, letter, spot)),
        )  # fmt: skip
    else:
        st.caption(f"This model has no {_NAMES[view.kind]}.")
    for kind, words in (("sentence", "unknown"), ("translation", "target_unknown")):
        if facts[words]:
            unknown = ", ".join(plain(word) for word in dict.fromkeys(facts[words]))
            st.caption(f":material/help: not in this model's vocabulary ({kind}): {unknown}")
