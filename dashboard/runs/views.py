"""What a page shows, as plain frozen records, and the requests that this takes.

A view holds names that may not be installed here: a link may come from a friend who has more
plugins. Nothing here raises for that; :func:`missing` and :func:`untrained` say it in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dashboard.runs.offers import Catalogue, Checkpoint, Knob, shown
from dashboard.runs.request import Pairs, Request, Scalar

MOST_PANELS = 4
AUTO = "auto"
MODEL, DATA, SENTENCE = "nadaraya_watson", "sine", "i'm home ."

SEED = Knob(
    name="seed",
    title="Seed",
    default=0,
    low=0,
    high=9999,
    step=1,
    help="Another seed draws other points and other starting weights.",
)
_LEARN, _STANDARDISE = "learn", "standardise"
UPLOAD = "upload:"


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


@dataclass(frozen=True, kw_only=True)
class Translation:
    """The page *Translation*. A panel is ``model.scoring``, or a checkpoint's name where two
    checkpoints of the corpus share model and scoring."""

    panels: tuple[str, ...]
    corpus: str = ""
    text: str = SENTENCE
    target: str = ""
    beam: int = 1
    device: str = AUTO


def pairs(values: Mapping[str, Scalar]) -> Pairs:
    """The mapping as a request holds it: sorted by name."""
    return tuple(sorted(values.items()))


def defaults(knobs: Iterable[Knob]) -> Pairs:
    """Every knob at its default."""
    return pairs({knob.name: knob.default for knob in knobs})


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
    return (
        f"Scoring {shown(panel.scoring)} is not installed here. A plugin provides it: install the "
        "plugin where this dashboard runs, then press “Reload plugins”."
    )


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


def default_translation(catalogue: Catalogue, corpus: str = "") -> Translation:
    """The first checkpoints of the corpus, or of the first corpus there is."""
    corpus = corpus or next(iter(catalogue.corpora()), "")
    names = [reference(catalogue, c) for c in catalogue.checkpoints.values() if c.corpus == corpus]
    usual = [f"bahdanau.{scoring}" for scoring in ("additive", "scaled_dot", "bilinear")]
    chosen = [name for name in usual if name in names] or names[: len(usual)]
    return Translation(panels=tuple(chosen), corpus=corpus)


def beam_knob(catalogue: Catalogue) -> Knob:
    """How wide to search, as the translation task allows it."""
    return next(knob for knob in catalogue.options["translation"] if knob.name == "beam")


def reference(catalogue: Catalogue, checkpoint: Checkpoint) -> str:
    """What a panel calls this checkpoint within its corpus."""
    made_of = (checkpoint.model, checkpoint.scoring, checkpoint.corpus)
    others = [(c.model, c.scoring, c.corpus) for c in catalogue.checkpoints.values()]
    alone = others.count(made_of) == 1
    return f"{checkpoint.model}.{checkpoint.scoring}" if alone else checkpoint.name


def resolve(catalogue: Catalogue, corpus: str, panel: str) -> Checkpoint | None:
    """The checkpoint that a panel means, if it is here."""
    for checkpoint in catalogue.checkpoints.values():
        if checkpoint.corpus == corpus and panel in (
            checkpoint.name,
            reference(catalogue, checkpoint),
        ):
            return checkpoint
    return None


def untrained(catalogue: Catalogue, corpus: str, panel: str) -> str:
    """Why a panel's checkpoint is not here, in a sentence, and what would bring it."""
    model, _, scoring = panel.rpartition(".")
    if not model:
        return f"There is no checkpoint {shown(panel)} of the corpus {shown(corpus)} here."
    for kind, name, offered in (
        ("Model", model, catalogue.models),
        ("Scoring", scoring, catalogue.scorings),
    ):
        if name not in offered:
            return (
                f"{kind} {shown(name)} is not installed here. A plugin provides it: install the "
                "plugin where this dashboard runs, then press “Reload plugins”."
            )
    return f"{model} with {scoring} has not been trained on {shown(corpus)} here."


def translation_request(state: Translation, checkpoint: Checkpoint) -> Request:
    """What a worker must compute for one panel."""
    return Request.make(
        "translation",
        data=checkpoint.name,
        options={"text": state.text, "beam": state.beam, "target": state.target},
        device=state.device,
    )
