"""What determines one step: the example, the scoring, the way there, and what is looked at."""

from contextlib import suppress
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.features.anatomy import tensors
from dashboard.features.anatomy import view as anatomy
from dashboard.features.anatomy.examples import DRAWN, EXAMPLES, GIVEN, HEADS, WORDS, Sizes
from dashboard.features.anatomy.view import Anatomy
from dashboard.language import gettext
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import pairs
from dashboard.records.request import FORMULA
from dashboard.ui import layout, shown
from dashboard.ui.fields import draw_choice, draw_normaliser_of_view, draw_setting, draw_settings
from dashboard.ui.formulas import choose_scoring, formula_field, package_button
from dashboard.ui.session import Session
from dashboard.ui.widgets import draw_parameter, draw_parameters, place
from dashboard.ui.widgets import formula as draw_mathematics

_CHOICE_WIDTH, SLIDER_WIDTH, _FIELD_WIDTH, _INDEX_WIDTH = 230, 150, 110, 120  # px
_WORDS = beside(__file__, "words.toml")
_UNPROJECTED = (GIVEN, WORDS)  # but for what an example gives
_LENGTHS_OF = "anatomy lengths of"  # what the text in the field was written for


def refit(session: Session[Anatomy], before: Anatomy) -> None:
    """Drop the numbers, for which another layout or other sizes than ``before`` have no place.

    Lengths stay if somebody chose them and they are still possible.
    """
    session.update(q="", k="", v="")
    kept = anatomy.LENGTHS.default(session.view)
    if before.lengths != anatomy.LENGTHS.default(before):
        with suppress(tensors.TensorError):
            kept = anatomy.LENGTHS.parse(before.lengths, session.view)
    session.update(lengths=kept)


def lengths(session: Session[Anatomy]) -> None:
    """The field of the valid lengths."""
    view = session.view
    written_for = (view.example, view.layout, view.sizes)
    moved = st.session_state.get(_LENGTHS_OF) != written_for
    st.session_state[_LENGTHS_OF] = written_for
    given = st.text_input(
        gettext("Valid lengths"),
        key=place(session.key("lengths"), view.lengths, session.fresh or moved),
        help=gettext(_WORDS["lengths"]), width=SLIDER_WIDTH, placeholder=gettext("all"),
    )  # fmt: skip
    try:
        session.update(lengths=anatomy.LENGTHS.parse(given, view))
    except tensors.TensorError as error:
        st.text(
            gettext("Valid lengths: {error}; {used} is used", error=error, used=view.lengths)
            if view.lengths
            else gettext("Valid lengths: {error}; none is used", error=error)
        )


def sizes(session: Session[Anatomy]) -> None:
    """The sizes of queries, keys and values, in a menu."""
    before = session.view
    with st.popover(gettext("Sizes"), icon=":material/straighten:"):
        chosen = draw_parameters(
            anatomy.SIZES, pairs(anatomy.sizes_by_name(before)), session.key("size"), session.fresh
        )
    values = dict(chosen)
    session.update(sizes=Sizes(*(int(values[each.name]) for each in anatomy.SIZES)))
    if session.view.sizes != before.sizes:
        refit(session, before)


def editors(session: Session[Anatomy]) -> None:
    """The tensors of one batch row, in a menu."""
    names = [name for name in "qkv" if session.view.editable(name)]
    with st.popover(gettext("Edit numbers"), icon=":material/edit:", disabled=not names):
        st.caption(gettext("A line per row, as it stands or as Python prints it."))
        rows = range(session.view.sizes.batch)
        lost = st.session_state.get("anatomy-edited") not in rows
        row = st.segmented_control(
            gettext("Batch row"), rows, key=place("anatomy-edited", 0, session.fresh or lost)
        )
        for name in names:
            _editor(session, name, row or 0)
        if any(getattr(session.view, name) for name in names):
            st.button(
                gettext("Back to the example's"),
                on_click=lambda: session.change(q="", k="", v=""),
            )


def _editor(session: Session[Anatomy], name: str, row: int) -> None:
    view = session.view
    text, shape = view.text_of(name), view.sizes.of(name)
    matrices = list(tensors.read(text, shape))
    # One field per batch row and example: what was typed elsewhere does not belong here.
    key = f"anatomy-{name}-{row}-{view.example}-{view.layout}-{view.seed}-{shape}"
    title = gettext(_WORDS["titles"][name])
    given = st.text_area(
        gettext("{title}, {rows} × {columns}", title=title, rows=shape[1], columns=shape[2]),
        key=place(key, tensors.write_lines(matrices[row]), session.fresh),
        height=min(40 + 26 * shape[1], 200),
    )
    try:
        matrices[row] = tensors.read_lines(given, shape[1:])
    except tensors.TensorError as error:
        st.text(gettext("{field}: {error}", field=title, error=error))
        return
    written = tensors.write(matrices)
    if written != text:
        session.update(**{name: written})


def step_controls(session: Session[Anatomy]) -> None:
    """Everything above the stages."""
    row = layout.row("anatomy-what")
    with row:
        before = session.view
        chosen = draw_choice(session, anatomy.EXAMPLE, width=_CHOICE_WIDTH)
        if chosen != before.example:
            usual = anatomy.default_view(session.catalogue, chosen)
            session.change(replace(usual, part=before.part))
        before = session.view
        if draw_choice(session, anatomy.LAYOUT, width=_CHOICE_WIDTH) != before.layout:
            refit(session, before)
        if session.view.layout == HEADS:
            draw_setting(session, anatomy.HEADS_FIELD, width=_FIELD_WIDTH)
    scoring_controls(session, row)
    if anatomy.as_given(session.view, session.catalogue):
        shown.caption(gettext(EXAMPLES[session.view.example].caption))
    with layout.row("anatomy-numbers"):
        lengths(session)
        draw_setting(session, anatomy.DROPOUT_FIELD, width=SLIDER_WIDTH)
        if _reads_seed(session.view, session.catalogue):
            draw_setting(session, anatomy.SEED_FIELD, width=_FIELD_WIDTH)
        if session.view.example == DRAWN:
            sizes(session)
        editors(session)
    session.update(**anatomy.indices_inside(session.view))
    with layout.row("anatomy-picks"):  # which of everything is drawn and framed
        st.caption(gettext("Look at"), width="content")
        for each in anatomy.looked_at(session.view):
            index = draw_parameter(
                each, getattr(session.view, each.name), session.key(each.name), session.fresh,
                width=_INDEX_WIDTH,
            )  # fmt: skip
            session.update(**{each.name: index})


def scoring_controls(session: Session[Anatomy], row: DeltaGenerator) -> None:
    """Which scoring, and its parameters; the seed and hidden size where they change anything.

    They stand in ``row``; a formula is typed below it.
    """
    before = session.view
    with row:
        scoring = choose_scoring(
            session, gettext(anatomy.SCORING.title), session.catalogue.scorings_for(),
            before.scoring, key=session.key(anatomy.SCORING.name), width=_CHOICE_WIDTH,
        )  # fmt: skip
    if scoring == FORMULA:
        scoring = _typed(session)
    session.update(scoring=scoring)
    if scoring not in session.catalogue.scorings:
        return
    if scoring != before.scoring:
        session.update(parameters=anatomy.PARAMETERS.default(session.view, session.catalogue))
    with row:
        draw_settings(session, anatomy.PARAMETERS, width=SLIDER_WIDTH)
        if session.view.part != anatomy.ROOT:
            widths = {"width": SLIDER_WIDTH}
            draw_normaliser_of_view(session, width=_CHOICE_WIDTH, parameters=widths)
        step = session.view.part == anatomy.STEP  # there the seed comes after the dropout
        if session.catalogue.scorings[scoring].sized or (
            step and session.view.layout not in _UNPROJECTED
        ):
            draw_setting(session, anatomy.HIDDEN_FIELD, width=_FIELD_WIDTH)
        if not step and _reads_seed(session.view, session.catalogue):
            draw_setting(session, anatomy.SEED_FIELD, width=_FIELD_WIDTH)


def _typed(session: Session[Anatomy]) -> str:
    """The name of the formula; the scoring as it was while the formula cannot be used."""
    scoring = session.view.scoring
    formula = formula_field(
        session, "", scoring, {name: gettext(meaning) for name, meaning in _WORDS["names"].items()}
    )  # fmt: skip
    if not formula or not formula.entry:
        return scoring
    if session.view.part == anatomy.ROOT:  # the others write the formula beside what comes of it
        draw_mathematics(formula.entry.formula)
    package_button("anatomy", formula)
    return formula.entry.name


def _reads_seed(view: Anatomy, catalogue: Catalogue) -> bool:
    """Whether anything is drawn: the numbers or weights of the part, or what is dropped."""
    scoring = catalogue.scorings.get(view.scoring)
    if view.part == anatomy.ROOT or (scoring and scoring.drawn):
        return True
    held = {EXAMPLES[view.example].numbers[name] for name in anatomy.names(view.layout)
            if not getattr(view, name)}  # fmt: skip
    drawn = view.layout not in _UNPROJECTED or bool(held & {"normal", "unit"}) or view.dropout > 0
    return view.part == anatomy.STEP and drawn
