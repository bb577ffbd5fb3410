"""The page *Kernel regression*: its view, its link, the requests that it takes.

``?a=gaussian&a.width=0.5&b=gaussian&b.learn=1&data=step&points=80&seed=1``. Panels are called a,
b, c and d. A view holds names that may not be installed here, since a link may come from a friend
who has more plugins; :func:`missing` says it in a sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial

from dashboard.runs.link_parts import (
    AUTO,
    LETTERS,
    NAME,
    SEED,
    defaults,
    not_installed,
    pairs,
    read_data,
    read_device,
    read_knobs,
    write_common,
    write_knobs,
)
from dashboard.runs.offers import Catalogue, Knob, shown
from dashboard.runs.reader import Query, Reader, tidy
from dashboard.runs.request import Pairs, Request

MODEL, DATA = "nadaraya_watson", "sine"
UPLOAD = "upload:"

_FALLBACK = "gaussian"
_LEARN, _STANDARDISE = "learn", "standardise"
_LEARNS = Knob(name=_LEARN, title="Learn", default=False)
_FOREIGN = re.compile(r"[a-z][a-z0-9_.]{0,59}\Z")
_OWN = frozenset((*LETTERS, "data", SEED.name, "device"))


@dataclass(frozen=True, kw_only=True)
class RegressionPanel:
    """One scoring to look at: all parameters of it and of its model; how it learns, if it does."""

    scoring: str
    model: str = MODEL
    parameters: Pairs = ()
    learn: bool = False
    fitting: Pairs = ()


@dataclass(frozen=True, kw_only=True)
class Regression:
    """The page *Kernel regression*. ``data`` is a data set's name or ``upload:<sha256>``."""

    panels: tuple[RegressionPanel, ...]
    data: str = DATA
    settings: Pairs = ()
    seed: int = 0
    device: str = AUTO


def is_upload(data: str) -> bool:
    """Whether ``data`` names an uploaded table."""
    return data.startswith(UPLOAD)


def default_regression(catalogue: Catalogue) -> Regression:
    """Average pooling, a fixed width, a learned width, and another kernel."""
    wanted = (("uniform", False), ("gaussian", False), ("gaussian", True), ("laplacian", False))
    panels = tuple(
        regression_panel(catalogue, scoring, learn=learn)
        for scoring, learn in wanted
        if scoring in catalogue.scorings
    )
    return Regression(panels=panels, settings=defaults(data_knobs(catalogue, DATA)))


def regression_panel(
    catalogue: Catalogue, scoring: str, *, model: str = MODEL, learn: bool = False
) -> RegressionPanel:
    """A panel of a scoring with everything at its default."""
    panel = RegressionPanel(scoring=scoring, model=model, learn=learn)
    return replace(
        panel,
        parameters=defaults(panel_knobs(catalogue, panel)),
        fitting=defaults(fitting_knobs(catalogue)) if learn else (),
    )


def panel_knobs(catalogue: Catalogue, panel: RegressionPanel) -> tuple[Knob, ...]:
    """The parameters of a panel: its scoring's, then those that only its model has."""
    if panel.scoring not in catalogue.scorings or panel.model not in catalogue.models:
        return ()
    own = catalogue.scorings[panel.scoring].knobs
    names = {knob.name for knob in own}
    return own + tuple(k for k in catalogue.models[panel.model].knobs if k.name not in names)


def fitting_knobs(catalogue: Catalogue) -> tuple[Knob, ...]:
    """How a panel learns: what the task reads besides the switches themselves."""
    options = catalogue.options.get("regression", ())
    return tuple(knob for knob in options if knob.name not in (_LEARN, _STANDARDISE))


def data_knobs(catalogue: Catalogue, data: str) -> tuple[Knob, ...]:
    """What may be set about the data: a problem's parameters, or how a table is treated."""
    if is_upload(data):
        options = catalogue.options.get("regression", ())
        return tuple(replace(k, default=True) for k in options if k.name == _STANDARDISE)
    return catalogue.datasets[data].knobs if data in catalogue.datasets else ()


def missing(catalogue: Catalogue, panel: RegressionPanel) -> str:
    """What a panel needs that is not installed here, in a sentence; empty if it is all here."""
    if panel.scoring in catalogue.scorings:
        return ""
    return not_installed("Scoring", panel.scoring)


def regression_request(state: Regression, panel: RegressionPanel) -> Request:
    """What a worker must compute for one panel."""
    prefix = "" if is_upload(state.data) else "data."
    options = {f"{prefix}{name}": value for name, value in state.settings}
    if panel.learn:
        options |= {_LEARN: True, **dict(panel.fitting)}
    return Request.make(
        "regression",
        model=panel.model,
        scoring=panel.scoring,
        parameters=dict(panel.parameters),
        data=state.data,
        options=options,
        seed=state.seed,
        device=state.device,
    )


def parse_regression(query: Query, catalogue: Catalogue) -> tuple[Regression, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    panels = tuple(
        _read_panel(reader, letter, catalogue) for letter in LETTERS if reader.has(letter)
    )
    data = read_data(reader, catalogue, "regression", DATA)
    view = Regression(
        panels=panels or default_regression(catalogue).panels,
        data=data,
        settings=read_knobs(reader, _data_key, data_knobs(catalogue, data)),
        seed=reader.knob(SEED, SEED.name),
        device=read_device(reader, catalogue),
    )
    return view, reader.finish()


def format_regression(view: Regression, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    link: dict[str, str] = {}
    if view.panels != default_regression(catalogue).panels:
        for letter, panel in zip(LETTERS, view.panels, strict=False):
            _write_panel(link, letter, panel, catalogue)
    if view.data != DATA:
        link["data"] = view.data
    write_knobs(link, _data_key, data_knobs(catalogue, view.data), view.settings)
    write_common(link, SEED, view.seed, view.device)
    return link


def _read_panel(reader: Reader, letter: str, catalogue: Catalogue) -> RegressionPanel:
    model, scoring = _read_names(reader, letter, catalogue)
    panel = RegressionPanel(scoring=scoring, model=model)
    if scoring not in catalogue.scorings:
        foreign = reader.below(f"{letter}.")
        kept = {name: tidy(text) for name, text in foreign.items() if _FOREIGN.match(name)}
        return replace(panel, parameters=pairs(kept))
    values = read_knobs(
        reader, partial(_panel_key, catalogue, letter), panel_knobs(catalogue, panel)
    )
    learn = reader.knob(_LEARNS, f"{letter}.{_LEARN}")
    if learn and not catalogue.scorings[scoring].learns:
        reader.problem(f"{letter}.{_LEARN}: {scoring} has nothing to learn")
        learn = False
    how = fitting_knobs(catalogue) if learn else ()
    fitting = read_knobs(reader, lambda name: f"{letter}.{name}", how)
    return replace(panel, parameters=values, learn=bool(learn), fitting=fitting)


def _read_names(reader: Reader, letter: str, catalogue: Catalogue) -> tuple[str, str]:
    given = reader.take(letter) or ""
    model, _, scoring = given.rpartition(".")
    if not NAME.match(scoring):
        reader.problem(f"{letter}={shown(given)} is not a scoring's name; {_FALLBACK} is used")
        return MODEL, _FALLBACK
    if model and model not in catalogue.of_task("models", "regression"):
        reader.problem(
            f"{letter}={shown(given)}: no regression model {shown(model)} here; {MODEL} is used"
        )
        return MODEL, scoring
    return model or MODEL, scoring


def _write_panel(
    link: dict[str, str], letter: str, panel: RegressionPanel, catalogue: Catalogue
) -> None:
    link[letter] = panel.scoring if panel.model == MODEL else f"{panel.model}.{panel.scoring}"
    if panel.scoring not in catalogue.scorings:
        link.update({f"{letter}.{name}": str(value) for name, value in panel.parameters})
        return
    knobs = panel_knobs(catalogue, panel)
    write_knobs(link, partial(_panel_key, catalogue, letter), knobs, panel.parameters)
    if panel.learn:
        link[f"{letter}.{_LEARN}"] = "1"
        how = fitting_knobs(catalogue)
        write_knobs(link, lambda name: f"{letter}.{name}", how, panel.fitting)


def _panel_key(catalogue: Catalogue, letter: str, name: str) -> str:
    """A plugin may give its parameter the name of one of the task's own options."""
    options = {knob.name for knob in catalogue.options.get("regression", ())}
    return f"{letter}.{name}.value" if name in options else f"{letter}.{name}"


def _data_key(name: str) -> str:
    """A plugin may give its data a parameter that has the name of one of ours."""
    return f"data.{name}" if name in _OWN else name
