"""One panel of the page *Kernel regression*: its scoring, its parameters, its charts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.frames import Table
from dashboard.charts.regression import draw_regression
from dashboard.charts.run_charts import prepare_curve, prepare_learning
from dashboard.charts.series import draw_loss
from dashboard.charts.template import Prepared
from dashboard.features.regression.figures import marks, own_scale
from dashboard.features.regression.view import Regression
from dashboard.jobs.backend import Event
from dashboard.language import gettext, listed, ngettext, together
from dashboard.links import fits as fits_link
from dashboard.links.attending import learns, parameters_of
from dashboard.links.fits import TASK, Fit, fit_parameters, fitting_parameters, learning
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, defaults, pairs
from dashboard.records.request import FORMULA, Pairs, Result, Scalar
from dashboard.ui import layout, navigation, shown
from dashboard.ui.charts import show_filled, show_prepared
from dashboard.ui.fields import draw_normaliser
from dashboard.ui.formulas import choice_title, choose_scoring, formula_field, package_button
from dashboard.ui.layout import attending_title, model_title, number_words, setting_words
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, draw_parameter, draw_parameters

Facts = Mapping[str, Any]
_OF_NORMALISER = "normaliser "  # as `learned_values` of attention_plugins.fitting begins them


class _Setting(NamedTuple):
    words: str
    usual: bool


def panel_titles(
    fits: Mapping[str, Fit], found: Mapping[str, Result], catalogue: Catalogue
) -> dict[str, str]:
    """The shortest title that no other panel has, unless panels are equal; all by letter."""
    none = Result()
    titles = {
        letter: _title(fit, found.get(letter, none).facts, catalogue)
        for letter, fit in fits.items()
    }
    for title in dict.fromkeys(titles.values()):
        alike = [letter for letter, own in titles.items() if own == title]
        held = {letter: _settings(fits[letter], catalogue) for letter in alike}
        names = _telling(held.values())
        for letter, settings in held.items():
            words = [settings[name].words for name in names if name in settings]
            titles[letter] = listed([title, *words])
    return titles


def panel_description(
    letter: str, fits: Mapping[str, Fit], facts: Facts, catalogue: Catalogue
) -> str:
    """A panel in a figure's caption: its scoring, what is unusual or differs, what it learned."""
    fit = fits[letter]
    held = [_settings(other, catalogue) for other in fits.values() if other.scoring == fit.scoring]
    words = [
        setting.words
        for name, setting in _settings(fit, catalogue, started=False).items()
        if not setting.usual or any(setting != other.get(name, setting) for other in held)
    ]
    if fit.learn:
        values, count = _with_starts(fit, facts, catalogue)
        if values:
            words.append(gettext("learned {values}", values=values))
        if count:
            words.append(ngettext("{count:,} learned weight", "{count:,} learned weights", count))
    return listed([attending_title(fit, catalogue), *words])


def learned_sentence(fit: Fit, facts: Facts, catalogue: Catalogue) -> str:
    """What a panel learned, and from where each parameter started; empty if it has nothing."""
    if not fit.learn:
        return ""
    values, count = _with_starts(fit, facts, catalogue)
    learned = gettext("Learned {values}.", values=values) if values else ""
    weights = ngettext("{count:,} weight was learned.", "{count:,} weights were learned.", count)
    return together((learned, weights if count else ""))


def _title(fit: Fit, facts: Facts, catalogue: Catalogue) -> str:
    words = attending_title(fit, catalogue)
    if not fit.learn:
        return words
    if len(facts.get("learned", {})) == 1:
        learned = _learned(fit, facts, catalogue)
        values = listed(setting_words(parameter, value) for parameter, value, _ in learned)
        return gettext("{name}, learned {values}", name=words, values=values)
    return gettext("{name}, learned", name=words)


def _telling(held: Iterable[Mapping[str, _Setting]]) -> list[str]:
    """The first settings that tell as many of these apart as all of them do."""
    rows = [*held]
    chosen: list[str] = []
    apart = 1
    for name in dict.fromkeys(chain.from_iterable(rows)):
        kinds = {tuple(map(row.get, (*chosen, name))) for row in rows}
        if len(kinds) > apart:
            chosen.append(name)
            apart = len(kinds)
    return chosen


def _settings(fit: Fit, catalogue: Catalogue, *, started: bool = True) -> dict[str, _Setting]:
    """Everything that is set of a panel, maybe without the values that learning started from."""
    model = _Setting(model_title(fit.model, catalogue), usual=fit.model == fits_link.MODEL)
    found = {"model ": model}  # no parameter's name holds a space
    for name, (spec, value) in _values(fit, catalogue).items():
        words = setting_words(spec, value)
        if fit.learn and spec.learnable:
            if not started:
                continue
            words = gettext("from {value}", value=words)
        found[name] = _Setting(words, value == spec.default and not spec.learnable)
    if fit.learn:
        for spec, value in _of(fitting_parameters(catalogue), fit.fitting):
            words = setting_words(spec, value)
            found[f"fitting {spec.name}"] = _Setting(words, value == spec.default)
    return found


def _of(specs: Iterable[Parameter], values: Pairs) -> Iterator[tuple[Parameter, Scalar]]:
    held = dict(values)
    for spec in specs:
        yield spec, held.get(spec.name, spec.default)


def _values(fit: Fit, catalogue: Catalogue) -> dict[str, tuple[Parameter, Scalar]]:
    own = _of(fit_parameters(catalogue, fit), fit.parameters)
    of_normaliser = _of(parameters_of(catalogue, fit.normaliser), fit.normaliser_parameters)
    return {kind + spec.name: (spec, value)
            for kind, held in (("", own), (_OF_NORMALISER, of_normaliser))
            for spec, value in held}  # fmt: skip


def _learned(
    fit: Fit, facts: Facts, catalogue: Catalogue
) -> Iterator[tuple[Parameter, float, Scalar]]:
    """Yield each learned parameter, its value, and where it started."""
    known = _values(fit, catalogue)
    for name, value in facts.get("learned", {}).items():
        if name in known:
            spec, start = known[name]
            yield spec, value, start


def _with_starts(fit: Fit, facts: Facts, catalogue: Catalogue) -> tuple[str, int]:
    """The learned values in a line, and how many weights were learned if these are not all."""
    found = [(setting_words(spec, value), number_words(start))
             for spec, value, start in _learned(fit, facts, catalogue)]  # fmt: skip
    values = [gettext("{value} (from {start})", value=now, start=start) for now, start in found]
    count = facts.get("parameters", 0)
    return listed(values), count if count > len(values) else 0


_NAMES = beside(__file__, "words.toml")["names"]  # of a formula, as panels show it


class PanelPlaces(NamedTuple):
    """Where in a panel things go that come after its controls were read."""

    whole: shown.Place
    export: DeltaGenerator
    result: shown.Place
    remarks: shown.Place
    learning: shown.Place


def panel_controls(
    session: Session[Regression], letter: str, panel: Fit
) -> tuple[PanelPlaces, Fit]:
    """Draw the scoring above the result's place and its parameters below; the fit they say."""
    with shown.container(key=f"panel-{letter}", gap="small") as whole:
        # Its two parts begin on the same lines in all panels, see dashboard/style.css.
        with st.container(key=f"panel-{letter}-above", gap="small"):
            chosen, menu, is_typed = _scoring(session, letter, panel)
            if is_typed:
                chosen = _typed(session, letter, chosen)
                shown.title(choice_title(chosen.scoring, session.catalogue))
            if chosen.scoring in session.catalogue.scorings:
                layout.formula_of(letter, session.catalogue.scorings[chosen.scoring])
        with st.container(key=f"panel-{letter}-below", gap="small"):
            return _below(session, letter, chosen, whole, menu)


def _below(
    session: Session[Regression], letter: str, chosen: Fit, whole: shown.Place,
    menu: DeltaGenerator,
) -> tuple[PanelPlaces, Fit]:  # fmt: skip
    if chosen.scoring not in session.catalogue.scorings:
        return PanelPlaces(whole, menu, *[shown.container() for _ in range(3)]), chosen
    result, remarks = shown.container(), shown.container()
    formula = session.catalogue.formulas.get(chosen.scoring.removeprefix(FORMULA))
    # One key for all formulas: while one is typed, its widgets stay as they are.
    key = f"panel-{letter}-{'typed' if formula else chosen.scoring}"
    with st.container():
        chosen = _parameters(session, key, chosen)
        if formula:
            package_button(f"panel-{letter}", formula)
            navigation.link_to_race(chosen.scoring, session.view.data)
    return PanelPlaces(whole, menu, result, remarks, shown.container()), chosen


def _scoring(
    session: Session[Regression], letter: str, panel: Fit
) -> tuple[Fit, DeltaGenerator, bool]:
    """What the panel shows; the place for its export menu; whether its scoring is typed."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        layout.badge(letter)
        with st.container(horizontal=True, width="content", gap="xsmall"):
            menu = st.container(width="content")
            if len(session.view.panels) > 1:
                layout.remove(letter, _remove, session, letter)
    # As wide as its panel: beside buttons, a long title would be cut off.
    scoring = choose_scoring(
        session, gettext("Scoring of panel {letter}", letter=letter),
        session.catalogue.scorings_for(TASK), panel.scoring, key=f"panel-{letter}-scoring",
        label_visibility="collapsed",
    )  # fmt: skip
    if scoring in (panel.scoring, FORMULA):
        return panel, menu, scoring == FORMULA
    return _with_scoring(session, panel, scoring), menu, False


def _with_scoring(session: Session[Regression], panel: Fit, scoring: str) -> Fit:
    return fits_link.default_fit(
        session.catalogue, scoring, model=panel.model, learn=panel.learn, normalised=panel
    )


def _typed(session: Session[Regression], letter: str, panel: Fit) -> Fit:
    """The panel with the formula as its scoring; as it was while the formula cannot be used."""
    names = {name: gettext(meaning) for name, meaning in _NAMES.items()}
    formula = formula_field(session, letter, panel.scoring, names, TASK)
    if not formula or not formula.entry or formula.entry.name == panel.scoring:
        return panel
    # A letter that the formula before had too keeps its value, since it keeps its slider.
    return _with_scoring(session, panel, formula.entry.name)


def _remove(session: Session[Regression], letter: str) -> None:
    kept = {own: fit for own, fit in session.view.by_letter.items() if own != letter}
    session.change(session.view.with_panels(kept))


def _parameters(session: Session[Regression], key: str, panel: Fit) -> Fit:
    # Names hold no dash, so a parameter called "learn" cannot meet our own "--learn".
    catalogue, fresh = session.catalogue, session.fresh
    panel = draw_normaliser(session, panel, f"{key}--normaliser")
    specs, values = catalogue.scorings[panel.scoring].parameters, dict(panel.parameters)
    values |= dict(draw_parameters(specs, panel.parameters, key, fresh))
    learn = learns(panel, catalogue) and bool(
        draw_parameter(learning(catalogue), panel.learn, f"{key}--learn", fresh)
    )
    how = fitting_parameters(catalogue) if learn else ()
    fitting = (panel.fitting or defaults(how)) if learn else ()
    models = catalogue.of_task("models", TASK)
    if learn or len(models) > 1:
        more = st.popover(
            gettext("More"), icon=":material/tune:", type="tertiary", key=f"{key}--more",
            on_change="rerun",
        )  # fmt: skip
        if more.open:
            with more:
                if len(models) > 1:
                    model = choose(
                        gettext("Model"), list(models), panel.model, f"{key}--model", fresh,
                        format_func=lambda name: models[name].title,
                    )  # fmt: skip
                    panel = replace(panel, model=model)
                own = [k for k in fit_parameters(catalogue, panel) if k not in specs]
                values |= dict(draw_parameters(own, pairs(values), f"{key}-{panel.model}", fresh))
                if learn:
                    fitting = draw_parameters(how, fitting, f"{key}--fit", fresh)
    # A value for every parameter that the panel has now, and for no other.
    own = fit_parameters(catalogue, panel)
    held = pairs({spec.name: values.get(spec.name, spec.default) for spec in own})
    return replace(panel, parameters=held, learn=learn, fitting=fitting)


PANEL_HEIGHT = 430  # px of a panel's curve and map, with room for the axis
LEARNING_HEIGHT = 300


class Scale(NamedTuple):
    """The colour scale of the maps: its end, or None where each has its own; its sides."""

    shared: float | None
    signed: bool = False


def prepare_panel(result: Result, letter: str, scale: Scale) -> Prepared:
    """What :func:`regression_panel` draws."""
    vmax = own_scale(result) if scale.shared is None else scale.shared
    return prepare_curve(result, colour=PANEL_COLOURS[letter], vmax=vmax, signed=scale.signed)


def regression_panel(
    result: Result, letter: str, scale: Scale, follows: Mapping[str, float]
) -> None:
    """One panel's curve over its weights; ``follows`` are its sliders, by what they are of."""
    show_filled(
        f"regression {result.digest} {letter} {scale}", draw_regression,
        partial(prepare_panel, result, letter, scale),
        gettext("Curve and weights of panel {letter}", letter=letter), marks=marks(result),
        follows=(f"panel {letter}", follows),
    )  # fmt: skip


def learning_curve(result: Result, letter: str) -> None:
    """How the error fell while a panel learned, and where its parameters went."""
    show_filled(
        f"learning {result.digest} {letter}", draw_loss,
        lambda: _prepared(result.tables["history"], letter),
        gettext("Learning curve of panel {letter}", letter=letter),
    )  # fmt: skip


def live_learning(events: Sequence[Event], letter: str) -> None:
    """The same while it still learns, as far as it has come."""
    steps = [event.facts for event in events if "loss" in event.facts]
    if len(steps) > 1:
        # Each look has its own numbers, so nothing of them is kept.
        alt = gettext("Learning curve of panel {letter}", letter=letter)
        show_prepared(draw_loss, _prepared(pd.DataFrame(steps), letter), alt)


def _prepared(history: Table, letter: str) -> Prepared:
    return prepare_learning(history, colour=PANEL_COLOURS[letter], left_out=True)
