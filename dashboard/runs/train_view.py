"""What the page *Train* shows, every value that may be set about it, and the requests it makes.

Names that are not installed here stay in a view, since a link may come from a friend who has more
plugins; :func:`missing` says so in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dashboard.runs.link_parts import AUTO, defaults, not_installed, pairs
from dashboard.runs.offers import Catalogue, Knob
from dashboard.runs.request import Pairs, Request, Scalar

TASK, UPLOAD = "training", "upload:"
MODEL, RECIPE = "model.", "recipe."  # before the names of a model's and the recipe's parameters
PROBE, PAIRS = "probe", "pairs"

_USUAL_SCORINGS = ("additive", "scaled_dot")


@dataclass(frozen=True, kw_only=True)
class Train:
    """The page *Train*.

    Args:
        model, scorings, data: what to train; each scoring is a training of its own. ``data`` is a
            data set's name or ``upload:<sha256>``.
        start: the preset whose values ``settings`` began with.
        settings: every option of a request but the probe.
        parameters: the scorings', named ``gaussian.width``.
        probe: the sentence to translate after every epoch.
        shown: the trainings in the charts, by the first digits of their ids; None for the latest.
        epoch: whose probe to look at; 0 for each training's latest.
    """

    model: str
    scorings: tuple[str, ...]
    data: str
    start: str = ""
    settings: Pairs = ()
    parameters: Pairs = ()
    probe: str = ""
    seed: int = 0
    device: str = AUTO
    shown: tuple[str, ...] | None = None
    epoch: int = 0


def is_upload(data: str) -> bool:
    """Whether ``data`` names an uploaded file of sentence pairs."""
    return data.startswith(UPLOAD)


def default_train(catalogue: Catalogue) -> Train:
    """Two scorings in the first translation model, from the first preset."""
    model = next(iter(catalogue.of_task("models", "translation")), "")
    usual = tuple(name for name in _USUAL_SCORINGS if name in catalogue.scorings)
    view = Train(
        model=model,
        scorings=usual or tuple(catalogue.scorings)[:1],
        data=next(iter(catalogue.of_task("datasets", "translation")), ""),
        start=next(iter(catalogue.presets), ""),
    )
    return refitted(view, catalogue, {})


def setting_knobs(view: Train, catalogue: Catalogue) -> tuple[Knob, ...]:
    """Corpus, recipe and model, named as in a request's options, at the values of the preset."""
    offer = catalogue.models.get(view.model)
    own = (replace(knob, name=MODEL + knob.name) for knob in (offer.knobs if offer else ()))
    values = catalogue.presets.get(view.start, {}).get(view.model, {})
    return tuple(
        _limited(replace(knob, default=values.get(knob.name, knob.default)), view, catalogue)
        for knob in (*catalogue.options.get(TASK, ()), *own)
    )


def _limited(knob: Knob, view: Train, catalogue: Catalogue) -> Knob:
    """No more pairs than the data set can give."""
    offer = catalogue.datasets.get(view.data)
    if knob.name != PAIRS or offer is None:
        return knob
    high = next((own.high for own in offer.knobs if own.name == PAIRS), knob.high)
    return replace(knob, high=high, default=min(knob.default, int(high)))


def scoring_knobs(view: Train, catalogue: Catalogue) -> tuple[Knob, ...]:
    """The parameters of the chosen scorings, named ``gaussian.width``."""
    return tuple(
        replace(knob, name=f"{name}.{knob.name}")
        for name in view.scorings
        if name in catalogue.scorings
        for knob in catalogue.scorings[name].knobs
    )


def usual_probe(view: Train, catalogue: Catalogue) -> str:
    """The sentence that the preset tries."""
    values = catalogue.presets.get(view.start, {}).get(view.model, {})
    return str(values.get(PROBE, ""))


def refitted(view: Train, catalogue: Catalogue, kept: Mapping[str, Scalar]) -> Train:
    """The view with a value for every knob that it has now: those ``kept``, else the usual."""
    known = {knob.name: knob for knob in setting_knobs(view, catalogue)}
    held = {name: value for name, value in kept.items() if name in known}
    if PAIRS in held:
        held[PAIRS] = min(held[PAIRS], int(known[PAIRS].high))
    own = defaults(scoring_knobs(view, catalogue))
    chosen = dict(view.parameters)
    return replace(
        view,
        settings=pairs({**dict(defaults(known.values())), **held}),
        parameters=pairs({name: chosen.get(name, value) for name, value in own}),
        probe=view.probe or usual_probe(view, catalogue),
    )


def missing(view: Train, catalogue: Catalogue) -> str:
    """What keeps the view from being trained, in a sentence; empty if nothing does."""
    if view.model not in catalogue.of_task("models", "translation"):
        return not_installed("Model", view.model)
    strangers = [name for name in view.scorings if name not in catalogue.scorings]
    if strangers:
        return not_installed("Scoring", strangers[0])
    return "" if view.scorings else "Choose at least one scoring."


def train_requests(view: Train) -> tuple[Request, ...]:
    """One for each scoring."""
    return tuple(
        Request.make(
            TASK,
            model=view.model,
            scoring=scoring,
            parameters={
                name.removeprefix(f"{scoring}."): value
                for name, value in view.parameters
                if name.startswith(f"{scoring}.")
            },
            data=view.data,
            options={**dict(view.settings), PROBE: view.probe},
            seed=view.seed,
            device=view.device,
        )
        for scoring in view.scorings
    )
