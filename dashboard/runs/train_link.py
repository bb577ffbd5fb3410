"""The page *Train*: its view, its link, the requests that it takes.

``?model=transformer&scorings=additive,scaled_dot&start=d2l&epochs=40&model.hidden=64&show=3f2a91c0``.
A link says what would be trained and which trainings are looked at; it never starts one. Names
that are not installed here stay in the view, and :func:`missing` says so in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dashboard.runs.link_parts import (
    AUTO,
    NAME,
    SEED,
    defaults,
    not_installed,
    pairs,
    read_device,
    read_knobs,
    write_common,
    write_knobs,
)
from dashboard.runs.offers import Catalogue, Knob, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.request import Pairs, Request, Scalar

TASK, UPLOAD = "training", "upload:"
MODEL = "model."  # before the name of a model's parameter
MOST_SCORINGS, MOST_SHOWN = 8, 4
SHORT = 8  # hexadecimal digits that name a training in a link

_RECIPE, _PROBE, _PAIRS, _NOBODY = "recipe.", "probe", "pairs", "none"
_USUAL_SCORINGS = ("additive", "scaled_dot")
_UPLOAD = re.compile(rf"{UPLOAD}[0-9a-f]{{64}}\Z")
_TRAINING = re.compile(r"[0-9a-f]{8,32}\Z")
_EPOCH = Knob(name="epoch", title="Epoch", default=0, low=0, high=10_000, step=1)


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
    if knob.name != _PAIRS or offer is None:
        return knob
    high = next((own.high for own in offer.knobs if own.name == _PAIRS), knob.high)
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
    return str(values.get(_PROBE, ""))


def refitted(view: Train, catalogue: Catalogue, kept: Mapping[str, Scalar]) -> Train:
    """The view with a value for every knob that it has now: those ``kept``, else the usual."""
    known = {knob.name: knob for knob in setting_knobs(view, catalogue)}
    held = {name: value for name, value in kept.items() if name in known}
    if _PAIRS in held:
        held[_PAIRS] = min(held[_PAIRS], int(known[_PAIRS].high))
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
            options={**dict(view.settings), _PROBE: view.probe},
            seed=view.seed,
            device=view.device,
        )
        for scoring in view.scorings
    )


def parse_train(query: Query, catalogue: Catalogue) -> tuple[Train, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    usual = default_train(catalogue)
    view = Train(
        model=_read_model(reader, usual.model),
        scorings=_read_scorings(reader, usual.scorings),
        data=_read_data(reader, catalogue, usual.data),
        start=_read_start(reader, catalogue, usual.start),
    )
    view = replace(
        view,
        settings=read_knobs(reader, _key, setting_knobs(view, catalogue)),
        parameters=read_knobs(reader, _scoring_key, scoring_knobs(view, catalogue)),
        probe=reader.text(_PROBE, usual_probe(view, catalogue)),
        seed=reader.knob(SEED, SEED.name),
        device=read_device(reader, catalogue),
        shown=_read_shown(reader),
        epoch=reader.knob(_EPOCH, _EPOCH.name),
    )
    return view, reader.finish()


def format_train(view: Train, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    usual = default_train(catalogue)
    link = {
        name: getattr(view, name)
        for name in ("model", "data", "start")
        if getattr(view, name) != getattr(usual, name)
    }
    if view.scorings != usual.scorings:
        link["scorings"] = ",".join(view.scorings) or _NOBODY
    write_knobs(link, _key, setting_knobs(view, catalogue), view.settings)
    write_knobs(link, _scoring_key, scoring_knobs(view, catalogue), view.parameters)
    if view.probe != usual_probe(view, catalogue):
        link[_PROBE] = view.probe
    write_common(link, SEED, view.seed, view.device)
    if view.shown is not None:
        link["show"] = ",".join(view.shown) or _NOBODY
    write_knobs(link, str, (_EPOCH,), ((_EPOCH.name, view.epoch),))
    return link


def _key(name: str) -> str:
    return name.removeprefix(_RECIPE)


def _scoring_key(name: str) -> str:
    """A plugin may call its scoring ``model``."""
    return f"scoring.{name}" if name.startswith(MODEL) else name


def _read_model(reader: Reader, usual: str) -> str:
    given = reader.take("model")
    if given is None or NAME.match(given):
        return given or usual
    reader.problem(f"model={shown(given)} is not a model's name; {usual} is used")
    return usual


def _read_scorings(reader: Reader, usual: Sequence[str]) -> tuple[str, ...]:
    given = reader.take("scorings")
    if given is None:
        return tuple(usual)
    if given == _NOBODY:
        return ()
    names = dict.fromkeys(given.split(","))
    for name in names:
        if not NAME.match(name):
            reader.problem(f"scorings: {shown(name)} is not a scoring's name; it is left out")
    kept = [name for name in names if NAME.match(name)]
    if len(kept) > MOST_SCORINGS:
        reader.problem(f"scorings: {len(kept)} of them; the first {MOST_SCORINGS} are used")
    return tuple(kept[:MOST_SCORINGS]) or tuple(usual)


def _read_data(reader: Reader, catalogue: Catalogue, usual: str) -> str:
    given = reader.take("data")
    offered = catalogue.of_task("datasets", "translation")
    if given is None or given in offered or _UPLOAD.match(given):
        return given or usual
    reader.problem(
        f"data={shown(given)} is not installed here; {usual} is used "
        f"(offered: {', '.join(offered)})"
    )
    return usual


def _read_start(reader: Reader, catalogue: Catalogue, usual: str) -> str:
    given = reader.take("start")
    if given is None or given in catalogue.presets:
        return given or usual
    reader.problem(
        f"start={shown(given)} is no way to train here; {usual} is used "
        f"(offered: {', '.join(catalogue.presets)})"
    )
    return usual


def _read_shown(reader: Reader) -> tuple[str, ...] | None:
    given = reader.take("show")
    if given is None or given == _NOBODY:
        return None if given is None else ()
    wanted = list(dict.fromkeys(given.split(",")))
    for one in wanted:
        if not _TRAINING.match(one):
            reader.problem(
                f"show: {shown(one)} is not a training; need 8 to 32 digits of its id (0-9, a-f)"
            )
    kept = [one for one in wanted if _TRAINING.match(one)]
    if len(kept) > MOST_SHOWN:
        reader.problem(f"show: {len(kept)} trainings; the first {MOST_SHOWN} are shown")
    return tuple(kept[:MOST_SHOWN]) or None
