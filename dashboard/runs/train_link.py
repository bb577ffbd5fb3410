"""The page *Train* as a link.

``?model=transformer&scorings=additive,scaled_dot&start=d2l&epochs=40&model.hidden=64&show=3f2a91c0``.
A link says what would be trained and which trainings are looked at; it never starts one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from dashboard.runs.link_parts import (
    MOST_SCORINGS,
    NAME,
    NOBODY,
    SEED,
    read_data,
    read_device,
    read_knobs,
    read_scorings,
    write_common,
    write_knobs,
)
from dashboard.runs.offers import Catalogue, Knob, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.train_view import (
    MODEL,
    PROBE,
    RECIPE,
    Train,
    default_train,
    scoring_knobs,
    setting_knobs,
    usual_probe,
)

MOST_SHOWN = 4
SHORT = 8  # hexadecimal digits that name a training in a link

_TRAINING = re.compile(rf"[0-9a-f]{{{SHORT},32}}\Z")
_EPOCH = Knob(name="epoch", title="Epoch", default=0, low=0, high=10_000, step=1)


def parse_train(query: Query, catalogue: Catalogue) -> tuple[Train, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    usual = default_train(catalogue)
    view = Train(
        model=_read_model(reader, usual.model),
        scorings=read_scorings(reader, usual.scorings, MOST_SCORINGS),
        data=read_data(reader, catalogue, "translation", usual.data),
        start=_read_start(reader, catalogue, usual.start),
    )
    view = replace(
        view,
        settings=read_knobs(reader, _key, setting_knobs(view, catalogue)),
        parameters=read_knobs(reader, _scoring_key, scoring_knobs(view, catalogue)),
        probe=reader.text(PROBE, usual_probe(view, catalogue)),
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
        link["scorings"] = ",".join(view.scorings) or NOBODY
    write_knobs(link, _key, setting_knobs(view, catalogue), view.settings)
    write_knobs(link, _scoring_key, scoring_knobs(view, catalogue), view.parameters)
    if view.probe != usual_probe(view, catalogue):
        link[PROBE] = view.probe
    write_common(link, SEED, view.seed, view.device)
    if view.shown is not None:
        link["show"] = ",".join(view.shown) or NOBODY
    write_knobs(link, str, (_EPOCH,), ((_EPOCH.name, view.epoch),))
    return link


def _key(name: str) -> str:
    return name.removeprefix(RECIPE)


def _scoring_key(name: str) -> str:
    """A plugin may call its scoring ``model``."""
    return f"scoring.{name}" if name.startswith(MODEL) else name


def _read_model(reader: Reader, usual: str) -> str:
    given = reader.take("model")
    if given is None or NAME.match(given):
        return given or usual
    reader.problem(f"model={shown(given)} is not a model's name; {usual} is used")
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
    if given is None or given == NOBODY:
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
