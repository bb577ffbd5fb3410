"""One panel of the page *Translation*: its model, its words, its map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.controls import choose, plain
from dashboard.pages import figures, parts
from dashboard.runs.link_parts import LETTERS
from dashboard.runs.offers import Catalogue, Checkpoint
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.state import Visit


def panel_controls(
    here: Visit, catalogue: Catalogue, letter: str, panel: str, names: dict[str, Checkpoint]
) -> tuple[Any, str]:
    """Which model a panel shows; the place for its result, and the choice.

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
                title=lambda name: _title(catalogue, names.get(name), name),
                label_visibility="collapsed",
            )
            if len(here.view.panels) > 1:
                parts.remove(letter, _remove, here, letter)
        if chosen in names and names[chosen].scoring in catalogue.scorings:
            parts.formula_of(letter, catalogue.scorings[names[chosen].scoring])
        return st.container(), chosen


def _title(catalogue: Catalogue, checkpoint: Checkpoint | None, name: str) -> str:
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
    kept = [p for own, p in zip(LETTERS, here.view.panels, strict=False) if own != letter]
    here.change(replace(here.view, panels=tuple(kept)))


def origin(checkpoint: Checkpoint) -> str:
    """What the model learned from, and how well it does on sentences that it never saw."""
    words = [f"trained on {checkpoint.card['corpus']['trained_on']:,} pairs"]
    for name, score in checkpoint.card["scores"].items():
        if "bleu" in score:
            words.append(f"BLEU {score['bleu']:.1f} ({plain(name)})")
    return " · ".join(words)


def translation(request: Request, result: Result, letter: str, shared: Sequence[Result]) -> None:
    """The words, how likely they are, where the model looked, and what it did not know."""
    facts = result.facts
    st.markdown(f"#### {plain(facts['translation']) or '—'}")
    likelihood = f"log-probability {facts['log_probability']:.2f}".replace("-", "−")
    st.caption(("forced · " if facts["forced"] else "") + likelihood.replace("log−", "log-"))
    figures.cross_attention(request, result, letter, shared)
    for kind, words in (("sentence", "unknown"), ("translation", "target_unknown")):
        if facts[words]:
            unknown = ", ".join(plain(word) for word in dict.fromkeys(facts[words]))
            st.caption(f":material/help: not in this model's vocabulary ({kind}): {unknown}")
