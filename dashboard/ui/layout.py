"""How a page is laid out: rows of controls, panels beside each other, and their letters."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.language import gettext, listed, translated
from dashboard.records.attending import SOFTMAX, Attending
from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.parameter import Parameter
from dashboard.records.request import Scalar, is_formula, is_upload
from dashboard.records.text import with_unit
from dashboard.ui import shown, upload
from dashboard.ui.widgets import formula


def model_title(name: str, catalogue: Catalogue) -> str:
    """A model's title without what stands in brackets."""
    return _title(name, catalogue.models)


def scoring_title(name: str, catalogue: Catalogue) -> str:
    """A scoring's title without what stands in brackets."""
    return _title(name, catalogue.scorings)


def normaliser_title(name: str, catalogue: Catalogue) -> str:
    """A normaliser's title without what stands in brackets."""
    if name == SOFTMAX and name not in catalogue.normalisers:
        return translated("Softmax")
    return _title(name, catalogue.normalisers)


def lettered(letter: str, title: str) -> str:
    """A panel's letter before its title, so that a title may begin with a minus."""
    return gettext("{letter}: {title}", letter=letter, title=title)


def attending_title(chosen: Attending, catalogue: Catalogue) -> str:
    """A scoring's title, and that of the normaliser where it is not the usual one."""
    words = [_title(chosen.scoring, catalogue.scorings)]
    if chosen.normaliser != SOFTMAX:
        words.append(normaliser_title(chosen.normaliser, catalogue))
    return listed(words)


def setting_words(spec: Parameter, value: Scalar) -> str:
    """A parameter with its value amid a sentence: ``noise 0.5 sd``, ``σ = 0.5`` of a *Width σ*."""
    title, unit = translated(spec.title), translated(spec.unit)
    words = with_unit(number_words(value), unit)
    *before, last = title.split()
    if before and len(last) == 1:
        return f"{last} = {words}"
    if title[1:2].islower():  # and no name such as BLEU
        title = title[:1].lower() + title[1:]
    return f"{title} {words}"


def number_words(value: Scalar) -> str:
    """A parameter's value as it is read."""
    if isinstance(value, bool):
        return gettext("on") if value else gettext("off")
    # The outer format writes the exponent from 10^6 on alone, as tables do.
    return f"{float(f'{value:.3g}'):g}" if isinstance(value, float) else translated(str(value))


def data_title(data: str, catalogue: Catalogue, wanted: upload.Wanted = upload.SENTENCES) -> str:
    """What a data set is called, or a file of the user's that was ``wanted``."""
    return upload.title(data, wanted) if is_upload(data) else _title(data, catalogue.datasets)


def checkpoint_title(name: str, checkpoint: Checkpoint | None, catalogue: Catalogue) -> str:
    """The title of what a link calls by that name; None stands for one that is not here."""
    if checkpoint is None:
        return gettext("{name} (not here)", name=name)
    scoring = checkpoint.typed or catalogue.scorings.get(checkpoint.scoring)
    words = [scoring.short_title if scoring else checkpoint.scoring.removeprefix("=")]
    if another := checkpoint.card.get("normaliser"):
        words.append(normaliser_title(another, catalogue))
    if layer := layer_of(checkpoint, catalogue):
        words.append(layer.title)
    made_of = listed(words)
    if checkpoint.adopted:
        return f"{made_of} · {checkpoint.adopted['family']} · {checkpoint.title}"
    if len({entry.model for entry in catalogue.checkpoints.values()}) > 1:
        model = catalogue.models.get(checkpoint.model)
        made_of += f" · {model.short_title if model else checkpoint.model}"
    if not checkpoint.shipped:  # whoever kept it looks for its name
        return f"{checkpoint.name} · {made_of}"
    if checkpoint.card.get("tokeniser") == "pieces":
        return gettext("{scoring} · pieces of words", scoring=made_of)
    return made_of if name.count(".") else f"{made_of} · {checkpoint.name}"


def layer_of(checkpoint: Checkpoint, catalogue: Catalogue) -> Entry | None:
    """What attends in a Transformer in place of multi-head attention."""
    name = checkpoint.card.get("model_parameters", {}).get("layer", "multi_head")
    return None if name == "multi_head" else catalogue.others.get("layers", {}).get(name)


def _title(name: str, entries: Mapping[str, Entry]) -> str:
    if is_formula(name):  # a formula needs no plugin
        return name[1:].replace("-", "\N{MINUS SIGN}")
    if name in entries:
        return entries[name].short_title
    return gettext("{name} (not installed)", name=name)


_FORMULA_HEIGHT = 64  # px, holds a fraction
FOLDED = "folded-"
_FOLDING = ContextVar("folding", default=False)
_NARROWEST = 230  # px of a panel, before panels wrap
_MOST_COLUMNS = 24  # that Streamlit takes
_BADGES: dict[str, Literal["blue", "orange", "green", "violet"]] = {
    "a": "blue", "b": "orange", "c": "green", "d": "violet",
}  # fmt: skip


def row(key: str) -> DeltaGenerator:
    """A row of controls that wraps where the window is narrow."""
    place = controls(key) if _FOLDING.get() else st
    return place.container(horizontal=True, vertical_alignment="bottom", gap="small", key=key)


def controls(key: str) -> DeltaGenerator:
    """A place for controls and nothing else, which :func:`folding` can hide."""
    return st.container(key=f"{FOLDED}{key}" if _FOLDING.get() else None)


@contextmanager
def folding() -> Iterator[None]:
    """Have every place for controls that is made inside begin its key with :data:`FOLDED`."""
    token = _FOLDING.set(True)
    try:
        yield
    finally:
        _FOLDING.reset(token)


def grid(panels: int) -> shown.Place:
    """Panels beside each other, as many as have room."""
    return shown.grid(min(panels, _MOST_COLUMNS), min_column_width=_NARROWEST, gap="medium")


def badge(letter: str) -> None:
    """A panel's letter in the colour that its curve has."""
    st.badge(letter, color=_BADGES[letter])
    shown.change(letter=letter)


def remove(letter: str, action: Callable[..., None], *arguments: Any) -> None:
    """The button that takes a panel away."""
    label = gettext("Remove panel {letter}", letter=letter)
    st.button(
        label, icon=":material/close:", type="tertiary", key=f"panel-{letter}-remove", help=label,
        on_click=action, args=arguments,
    )  # fmt: skip


def formula_of(letter: str, scoring: Entry) -> None:
    """A scoring's formula in a place of one height, so that the panels stay aligned."""
    with shown.container(
        height=_FORMULA_HEIGHT, border=False, vertical_alignment="center",
        key=f"panel-{letter}-formula",
    ):  # fmt: skip
        formula(scoring.formula, description=scoring.description)
