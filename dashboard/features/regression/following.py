"""What follows the sliders of a panel while they move: its chart, all curves, and its figures."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from dashboard.charts.legend import prepare_scale
from dashboard.charts.template import Prepared
from dashboard.features.regression import figures
from dashboard.features.regression import panel as panels
from dashboard.features.regression.view import Regression, requests
from dashboard.language import gettext, together, translated
from dashboard.links.attending import parameters_of
from dashboard.links.fits import TASK, Fit
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, pairs
from dashboard.records.request import FORMULA, Request, Result, Scalar
from dashboard.ui import maps
from dashboard.ui.layout import lettered, number_words
from dashboard.ui.live import Followers, Found, Slider


def sliders(view: Regression, catalogue: Catalogue) -> dict[str, list[Slider]]:
    """Those of each panel, by its letter; a panel that learns has none."""
    return {
        letter: [_slider(view, catalogue, letter, n) for n in _numbers(view, catalogue, letter)]
        for letter in view.by_letter
    }


class _Number(NamedTuple):
    """A number of a panel that has a slider."""

    key: str
    part: str  # of its settings
    spec: Parameter
    at: float

    def moved(self, fit: Fit, value: Scalar) -> Fit:
        held = pairs({**dict(getattr(fit, self.part)), self.spec.name: value})
        return replace(fit, **{self.part: held})


def _numbers(view: Regression, catalogue: Catalogue, letter: str) -> Iterator[_Number]:
    fit = view.by_letter[letter]
    if fit.learn or fit.scoring not in catalogue.scorings:
        return
    typed = fit.scoring.removeprefix(FORMULA) in catalogue.formulas
    key = f"panel-{letter}-{'typed' if typed else fit.scoring}"
    offered = {
        "parameters": (key, catalogue.scorings[fit.scoring].parameters),
        "normaliser_parameters": (
            f"{key}--normaliser-{fit.normaliser}", parameters_of(catalogue, fit.normaliser),
        ),
    }  # fmt: skip
    for part, (begin, specs) in offered.items():
        held = dict(getattr(fit, part))
        for spec in specs:
            if type(spec.default) in (int, float) and spec.name in held:
                yield _Number(f"{begin}-{spec.name}", part, spec, float(held[spec.name]))


def _slider(view: Regression, catalogue: Catalogue, letter: str, one: _Number) -> Slider:
    def asked(value: Scalar) -> Mapping[str, Request]:
        moved = one.moved(view.by_letter[letter], value)
        return requests(view.with_panels({letter: moved}), catalogue)

    return Slider(one.key, one.spec, one.at, asked)


def names(view: Regression, found: Mapping[str, Result], catalogue: Catalogue) -> dict[str, str]:
    """What the chart of all panels calls those that have a result, by letter."""
    titles = panels.panel_titles(view.by_letter, found, catalogue)
    return {letter: lettered(letter, titles[letter]) for letter in found}


def sentences(
    letter: str, view: Regression, found: Mapping[str, Result], catalogue: Catalogue
) -> str:
    """A panel's figures, what it learned, and why its map or its curve looks as it does."""
    result, metrics = found[letter], catalogue.metrics.get(TASK, ())
    held = {one.title: result.facts["metrics"].get(one.name) for one in metrics if not one.unit}
    said = [
        " · ".join(f"{title} {number_words(n)}" for title, n in held.items() if n is not None),
        panels.learned_sentence(view.by_letter[letter], result.facts, catalogue),
        *(translated(one) for one in result.facts.get("remarks", ())),
    ]
    if result.facts.get("equal_weights") and not view.one_scale:
        said.append(gettext("Equal weights have the middle colour of the scale."))
    if same := figures.same_curve(found, letter):
        said.append(gettext("Its curve is the same as that of panel {letter}.", letter=same))
    return "\n".join(filter(None, (said[0], together(said[1:]))))


def followers(
    view: Regression, found: Mapping[str, Result], scale: panels.Scale, catalogue: Catalogue
) -> Iterator[Followers]:
    """What each slider moves of a panel that has a result: curves, weights, and sentences."""
    for letter in found:
        drawn = [letter] if scale.shared is None else [*found]
        others = [one.digest for other, one in found.items() if other != letter]
        for number in _numbers(view, catalogue, letter):
            moved = _Moved(view, found, letter, number, scale, catalogue)
            charts = {f"panel {each}": partial(moved.panel, each) for each in drawn}
            charts |= {} if scale.shared is None else {figures.SCALE: moved.legend}
            yield Followers(
                _slider(view, catalogue, letter, number),
                {**charts, figures.COMPARED: moved.compared},
                {f"panel {letter}": moved.said},
                f"{scale.signed} {names(view, found, catalogue)} {others}",
            )


class _Moved(NamedTuple):
    """What is drawn of a panel at another position of a slider."""

    view: Regression
    found: Mapping[str, Result]
    letter: str
    number: _Number
    scale: panels.Scale
    catalogue: Catalogue

    def _found(self, made: Found) -> dict[str, Result]:
        return {**self.found, self.letter: made[self.letter]}

    def _scale(self, made: Found) -> panels.Scale:
        if self.scale.shared is None:
            return self.scale
        return self.scale._replace(shared=maps.shared_scale([*self._found(made).values()]))

    def panel(self, letter: str, _: Scalar, made: Found) -> Prepared:
        return panels.prepare_panel(self._found(made)[letter], letter, self._scale(made))

    def legend(self, _: Scalar, made: Found) -> Prepared:
        return prepare_scale(self._scale(made).shared or 1.0, self.scale.signed)

    def compared(self, value: Scalar, made: Found) -> Prepared:
        fits, found = self.view.by_letter, self._found(made)
        moved = self.number.moved(fits[self.letter], value)
        view = self.view.with_panels({**fits, self.letter: moved})
        return figures.prepare_compared(found, names(view, found, self.catalogue))

    def said(self, _: Scalar, made: Found) -> str:
        return sentences(self.letter, self.view, self._found(made), self.catalogue)
