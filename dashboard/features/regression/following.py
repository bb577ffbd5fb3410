"""What follows the sliders of a panel while they move: its chart, all curves, and its figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dashboard.features.regression import figures
from dashboard.features.regression.panel import Scale, learned_sentence, prepare_panel
from dashboard.features.regression.view import Regression, requests
from dashboard.language import gettext, together, translated
from dashboard.links.attending import parameters_of
from dashboard.links.fits import TASK, Fit
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import pairs
from dashboard.records.request import FORMULA, Request, Result, Scalar
from dashboard.ui.live import Followers, Found, Slider


def sliders(view: Regression, catalogue: Catalogue) -> dict[str, list[Slider]]:
    """Those of each panel, by its letter; a panel that learns has none."""
    return {
        letter: [] if fit.learn else [*_sliders(view, catalogue, letter, fit)]
        for letter, fit in view.by_letter.items()
        if fit.scoring in catalogue.scorings
    }


def _sliders(view: Regression, catalogue: Catalogue, letter: str, fit: Fit) -> Iterator[Slider]:
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
                moved = partial(_moved, view, catalogue, letter, part, spec.name)
                yield Slider(f"{begin}-{spec.name}", spec, float(held[spec.name]), moved)


def _moved(
    view: Regression, catalogue: Catalogue, letter: str, part: str, name: str, value: Scalar
) -> Mapping[str, Request]:
    fit = view.by_letter[letter]
    held = pairs({**dict(getattr(fit, part)), name: value})
    return requests(view.with_panels({letter: replace(fit, **{part: held})}), catalogue)


def sentences(
    letter: str, view: Regression, found: Mapping[str, Result], catalogue: Catalogue
) -> str:
    """A panel's figures, what it learned, and why its map or its curve looks as it does."""
    result, metrics = found[letter], catalogue.metrics.get(TASK, ())
    held = {one.title: result.facts["metrics"].get(one.name) for one in metrics if not one.unit}
    said = [
        " · ".join(f"{title} {value:.3g}" for title, value in held.items() if value is not None),
        learned_sentence(view.by_letter[letter], result.facts, catalogue),
        *(translated(one) for one in result.facts.get("remarks", ())),
    ]
    if result.facts.get("equal_weights") and not view.one_scale:
        said.append(gettext("Equal weights have the middle colour of the scale."))
    if same := figures.same_curve(found, letter):
        said.append(gettext("Its curve is the same as that of panel {letter}.", letter=same))
    return "\n".join(filter(None, (said[0], together(said[1:]))))


def followers(
    view: Regression, found: Mapping[str, Result], sliders: Mapping[str, Sequence[Slider]],
    titles: Mapping[str, str], scale: Scale, catalogue: Catalogue,
) -> Iterator[Followers]:  # fmt: skip
    """What each slider moves of a panel that has a result: curves, weights, and sentences."""
    for letter in titles:
        with_it = partial(_with, found, letter)
        name, charts = f"panel {letter}", {}
        charts[name] = lambda _, made, letter=letter: prepare_panel(made[letter], letter, scale)
        charts[figures.COMPARED] = lambda _, made, with_it=with_it: figures.prepare_compared(
            with_it(made), titles
        )
        said = {
            name: lambda _, made, letter=letter, with_it=with_it: sentences(
                letter, view, with_it(made), catalogue
            )
        }
        others = [one.digest for other, one in found.items() if other != letter]
        for slider in sliders[letter]:
            yield Followers(slider, charts, said, f"{scale} {titles} {others}")


def _with(found: Mapping[str, Result], letter: str, made: Found) -> dict[str, Result]:
    return {**found, letter: made[letter]}
