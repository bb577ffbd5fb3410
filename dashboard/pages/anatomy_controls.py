"""What determines one step: the example, the scoring, the way there, the numbers."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard.controls import choose, knob, knobs, place
from dashboard.pages import parts
from dashboard.runs import tensors
from dashboard.runs.anatomy_examples import DRAWN, EXAMPLES, GIVEN, HEADS, Sizes, names
from dashboard.runs.anatomy_view import (
    DROPOUT,
    HEAD_COUNT,
    HIDDEN,
    SIZES,
    Anatomy,
    default_anatomy,
    editable,
    fitted,
    kinds_of,
    layouts,
    text_of,
    usual_lengths,
)
from dashboard.runs.link_parts import SEED, defaults, pairs
from dashboard.runs.offers import Catalogue, Knob
from dashboard.runs.request import Scalar
from dashboard.state import Visit

CHOICE_WIDTH, SLIDER_WIDTH, _FIELD_WIDTH, _PICK_WIDTH = 230, 150, 110, 120  # px
_TITLES = {"q": "Queries", "k": "Keys", "v": "Values"}
_LENGTHS_HELP = (
    "How many keys each query may see: one number per batch row (2, 6), or one per query, batch "
    "rows parted by a slash (1, 3 / 2, 4). Empty: all of them."
)


def step_controls(here: Visit, catalogue: Catalogue, view: Anatomy) -> Anatomy:
    """Everything above the stages; the view that it says."""
    with parts.row("anatomy-what"):
        choose(
            "Example", list(EXAMPLES), view.example, "anatomy-example", here.fresh,
            title=lambda name: EXAMPLES[name].title, width=CHOICE_WIDTH,
            on_change=_use_example, args=(here, catalogue),
        )  # fmt: skip
        view = _way(here, catalogue, view)
        view = scoring_controls(here, catalogue, view)
    st.caption(EXAMPLES[view.example].said)
    with parts.row("anatomy-numbers"):
        view = _lengths(here, view)
        view = replace(view, dropout=own(here, view, DROPOUT))
        if not _needs_weights(catalogue, view):
            view = replace(view, seed=own(here, view, SEED, _FIELD_WIDTH))
        if view.example == DRAWN:
            view = _sizes(here, view)
        view = _tensors(here, view)
    return _picks(here, fitted(view))


def scoring_controls(here: Visit, catalogue: Catalogue, view: Anatomy) -> Anatomy:
    """Which scoring, and its parameters; the seed and size of its weights if it has some."""
    scoring = choose(
        "Scoring", list(catalogue.scorings), view.scoring, "anatomy-scoring", here.fresh,
        title=lambda name: catalogue.scorings[name].title if name in catalogue.scorings else name,
        width=CHOICE_WIDTH,
    )  # fmt: skip
    if scoring not in catalogue.scorings:
        return replace(view, scoring=scoring)
    offer = catalogue.scorings[scoring]
    held = view.parameters if scoring == view.scoring else defaults(offer.knobs)
    values = knobs(offer.knobs, held, f"anatomy-{scoring}", here.fresh, width=SLIDER_WIDTH)
    view = replace(view, scoring=scoring, parameters=values)
    if not _needs_weights(catalogue, view):
        return view
    return replace(
        view,
        hidden=own(here, view, HIDDEN, _FIELD_WIDTH),
        seed=own(here, view, SEED, _FIELD_WIDTH),
    )


def own(here: Visit, view: Anatomy, spec: Knob, width: int = SLIDER_WIDTH) -> Scalar:
    """The widget of something that every view has."""
    return knob(spec, getattr(view, spec.name), f"anatomy-{spec.name}", here.fresh, width=width)


def _needs_weights(catalogue: Catalogue, view: Anatomy) -> bool:
    learns = view.scoring in catalogue.scorings and catalogue.scorings[view.scoring].learns
    return learns or (view.part == "step" and view.layout != GIVEN)


def _use_example(here: Visit, catalogue: Catalogue) -> None:
    chosen = st.session_state["anatomy-example"]
    here.change(replace(default_anatomy(catalogue, chosen), part=here.view.part))


def _way(here: Visit, catalogue: Catalogue, view: Anatomy) -> Anatomy:
    """How queries and keys reach the scoring."""
    titles = layouts(catalogue)
    layout = choose(
        "What attends", list(titles), view.layout, "anatomy-layout", here.fresh,
        title=lambda name: titles.get(name, name), width=CHOICE_WIDTH,
    )  # fmt: skip
    if layout != view.layout:
        view = _reset_lengths(view, replace(view, layout=layout, q="", k="", v=""))
    if layout != HEADS:
        return view
    return replace(view, heads=own(here, view, HEAD_COUNT, _FIELD_WIDTH))


def _reset_lengths(before: Anatomy, after: Anatomy) -> Anatomy:
    """Lengths that still fit, if those before were nobody's choice or cannot stay."""
    usual = usual_lengths(after, after.sizes)
    if before.lengths == usual_lengths(before, before.sizes):
        return replace(after, lengths=usual)
    try:
        sizes = after.sizes.batch, after.sizes.queries
        kept = tensors.read_lengths(before.lengths, *sizes, kinds_of(after))
    except tensors.TensorError:
        kept = usual
    return replace(after, lengths=kept)


def _lengths(here: Visit, view: Anatomy) -> Anatomy:
    # A view that came from elsewhere than this field, such as other sizes, is written into it.
    told = st.session_state.get("anatomy lengths of")
    stamp = (view.example, view.layout, view.sizes)
    given = st.text_input(
        "Valid lengths",
        key=place("anatomy-lengths", view.lengths, here.fresh or told != stamp),
        help=_LENGTHS_HELP,
        width=SLIDER_WIDTH,
        placeholder="all",
    )
    st.session_state["anatomy lengths of"] = stamp
    try:
        sizes = view.sizes.batch, view.sizes.queries
        return replace(view, lengths=tensors.read_lengths(given, *sizes, kinds_of(view)))
    except tensors.TensorError as error:
        st.text(f"Valid lengths: {error}; {view.lengths or 'none'} is used")
        return view


def _sizes(here: Visit, view: Anatomy) -> Anatomy:
    with st.popover("Sizes", icon=":material/straighten:"):
        held = pairs(dict(zip((spec.name for spec in SIZES), view.sizes, strict=True)))
        chosen = dict(knobs(SIZES, held, "anatomy-size", here.fresh))
    sizes = Sizes(*(chosen[spec.name] for spec in SIZES))
    if sizes == view.sizes:
        return view
    return _reset_lengths(view, replace(view, sizes=sizes, q="", k="", v=""))


def _tensors(here: Visit, view: Anatomy) -> Anatomy:
    """The numbers of one batch row, to be changed."""
    free = [name for name in names(view.layout) if editable(view, name)]
    with st.popover("Edit numbers", icon=":material/edit:", disabled=not free):
        st.caption("A line per row, as it stands or as Python prints it.")
        rows = range(view.sizes.batch)
        lost = st.session_state.get("anatomy-edited") not in rows
        row = st.segmented_control(
            "Batch row", rows, key=place("anatomy-edited", 0, here.fresh or lost)
        )
        for name in free:
            view = _tensor(here, view, name, row or 0)
        if any(getattr(view, name) for name in free):
            st.button("Back to the example's", on_click=_forget, args=(here,))
    return view


def _forget(here: Visit) -> None:
    here.change(replace(here.view, q="", k="", v=""))


def _tensor(here: Visit, view: Anatomy, name: str, row: int) -> Anatomy:
    text = text_of(view, name)
    shape = view.sizes.of(name)
    matrices = list(tensors.read(text, shape))
    lines = tensors.write_lines(matrices[row])
    # One field per batch row and example: what was typed elsewhere does not belong here.
    key = f"anatomy-{name}-{row}-{view.example}-{view.layout}-{view.seed}-{shape}"
    given = st.text_area(
        f"{_TITLES[name]}, {shape[1]} × {shape[2]}",
        key=place(key, lines, here.fresh),
        height=min(40 + 26 * shape[1], 200),
    )
    try:
        matrices[row] = tensors.read_lines(given, shape[1:])
    except tensors.TensorError as error:
        st.text(f"{_TITLES[name]}: {error}")
        return view
    written = tensors.write(matrices)
    return view if written == text else replace(view, **{name: written})


def _picks(here: Visit, view: Anatomy) -> Anatomy:
    """Which of everything is drawn and framed."""
    keys = view.sizes.queries if names(view.layout) == "q" else view.sizes.keys
    picks = {"row": ("Batch row", view.sizes.batch)}
    if view.layout == HEADS:
        picks["head"] = ("Head", view.heads)
    picks |= {"query": ("Query", view.sizes.queries), "key": ("Key", keys)}
    if view.layout == HEADS:
        picks["column"] = ("Column of W q", view.hidden)
    with parts.row("anatomy-picks"):
        st.caption("Look at", width="content")
        for name, (title, count) in picks.items():
            if count > 1:
                spec = Knob(name=name, title=title, default=0, low=0, high=count - 1, step=1)
                value = min(getattr(view, name), count - 1)
                key = f"anatomy-{name}-of-{count}"
                chosen = knob(spec, value, key, here.fresh, width=_PICK_WIDTH)
                view = replace(view, **{name: chosen})
    return view
