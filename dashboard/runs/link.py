"""A page's whole state as a link: short, readable, defaults left out.

Kernel regression: ``?a=gaussian&a.width=0.5&b=gaussian&b.learn=1&data=step&points=80&seed=1``.
Translation: ``?a=bahdanau.additive&b=bahdanau.bilinear&text=go .&beam=4&corpus=tatoeba``.

Panels are called a, b, c and d. Reading never raises: whatever a link holds, it gives a view
that can be shown, and one sentence for everything that was not taken as it stood. What is not
installed here stays in the view, so that its panel can say so and the link survives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from dashboard.runs.offers import Catalogue, Knob, shown
from dashboard.runs.reader import Query, Reader, tidy
from dashboard.runs.request import Pairs
from dashboard.runs.views import (
    AUTO,
    DATA,
    MODEL,
    SEED,
    Regression,
    RegressionPanel,
    Translation,
    beam_knob,
    data_knobs,
    default_regression,
    default_translation,
    fitting_knobs,
    pairs,
    panel_knobs,
    reference,
    resolve,
)

LETTERS = "abcd"

_FALLBACK = "gaussian"
_LEARN = Knob(name="learn", title="Learn", default=False)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")
_FOREIGN = re.compile(r"[a-z][a-z0-9_.]{0,59}\Z")
_UPLOAD = re.compile(r"upload:[0-9a-f]{64}\Z")
_OWN = frozenset((*LETTERS, "data", "seed", "device", "text", "target", "beam", "corpus"))

KeyOf = Callable[[str], str]


def parse_regression(query: Query, catalogue: Catalogue) -> tuple[Regression, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    panels = tuple(
        _read_panel(reader, letter, catalogue) for letter in LETTERS if reader.has(letter)
    )
    data = _read_data(reader, catalogue)
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
    _write_common(link, SEED, view.seed, view.device)
    return link


def parse_translation(query: Query, catalogue: Catalogue) -> tuple[Translation, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    usual = default_translation(catalogue, _read_corpus(reader, catalogue))
    panels = [
        _read_checkpoint(reader, letter, catalogue, usual.corpus)
        for letter in LETTERS
        if reader.has(letter)
    ]
    view = replace(
        usual,
        panels=tuple(filter(None, panels)) or usual.panels,
        text=reader.text("text", usual.text),
        target=reader.text("target", usual.target),
        beam=reader.knob(beam_knob(catalogue), "beam"),
        device=read_device(reader, catalogue),
    )
    return view, reader.finish()


def format_translation(view: Translation, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    usual = default_translation(catalogue, view.corpus)
    link: dict[str, str] = {}
    if view.panels != usual.panels:
        link.update(zip(LETTERS, view.panels, strict=False))
    if view.text != usual.text:
        link["text"] = view.text
    if view.target:
        link["target"] = view.target
    if view.corpus != default_translation(catalogue).corpus:
        link["corpus"] = view.corpus
    _write_common(link, beam_knob(catalogue), view.beam, view.device)
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
    learn = reader.knob(_LEARN, f"{letter}.{_LEARN.name}")
    if learn and not catalogue.scorings[scoring].learns:
        reader.problem(f"{letter}.{_LEARN.name}: {scoring} has nothing to learn")
        learn = False
    how = fitting_knobs(catalogue) if learn else ()
    fitting = read_knobs(reader, lambda name: f"{letter}.{name}", how)
    return replace(panel, parameters=values, learn=bool(learn), fitting=fitting)


def _read_names(reader: Reader, letter: str, catalogue: Catalogue) -> tuple[str, str]:
    given = reader.take(letter) or ""
    model, _, scoring = given.rpartition(".")
    if not _NAME.match(scoring):
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
        link[f"{letter}.{_LEARN.name}"] = "1"
        how = fitting_knobs(catalogue)
        write_knobs(link, lambda name: f"{letter}.{name}", how, panel.fitting)


def _read_data(reader: Reader, catalogue: Catalogue) -> str:
    given = reader.take("data")
    offered = catalogue.of_task("datasets", "regression")
    if given is None or given in offered or _UPLOAD.match(given):
        return given or DATA
    reader.problem(
        f"data={shown(given)} is not installed here; {DATA} is used "
        f"(offered: {', '.join(offered)})"
    )
    return DATA


def _read_corpus(reader: Reader, catalogue: Catalogue) -> str:
    given = reader.take("corpus")
    corpora = catalogue.corpora()
    if given is None or given in corpora:
        return given or ""
    offered = ", ".join(corpora) or "none"
    reader.problem(f"no checkpoint here was trained on corpus={shown(given)}; offered: {offered}")
    return ""


def _read_checkpoint(reader: Reader, letter: str, catalogue: Catalogue, corpus: str) -> str | None:
    given = reader.take(letter) or ""
    found = resolve(catalogue, corpus, given)
    if found is not None:
        return reference(catalogue, found)
    parts = given.split(".")
    if len(parts) <= 2 and all(_NAME.match(part) for part in parts):
        return given
    reader.problem(f"{letter}={shown(given)} is not a model.scoring such as bahdanau.additive")
    return None


def read_device(reader: Reader, catalogue: Catalogue) -> str:
    """The parameter ``device``, if it is here."""
    given = reader.take("device")
    if given is None or given == AUTO or given in catalogue.devices:
        return given or AUTO
    offered = ", ".join(catalogue.devices)
    reader.problem(f"device={shown(given)} is not here; {AUTO} is used (offered: {offered})")
    return AUTO


def read_knobs(reader: Reader, key_of: KeyOf, knobs: Iterable[Knob]) -> Pairs:
    """Every knob's value, mended where need be; ``key_of`` turns its name into the link's key."""
    return pairs({knob.name: reader.knob(knob, key_of(knob.name)) for knob in knobs})


def write_knobs(link: dict[str, str], key_of: KeyOf, knobs: Iterable[Knob], values: Pairs) -> None:
    """Put every value into the link that is not at its knob's default."""
    chosen = dict(values)
    for knob in knobs:
        if chosen.get(knob.name, knob.default) != knob.default:
            link[key_of(knob.name)] = knob.write(chosen[knob.name])


def _write_common(link: dict[str, str], knob: Knob, value: int, device: str) -> None:
    if value != knob.default:
        link[knob.name] = knob.write(value)
    if device != AUTO:
        link["device"] = device


def _panel_key(catalogue: Catalogue, letter: str, name: str) -> str:
    """A plugin may give its parameter the name of one of the task's own options."""
    options = {knob.name for knob in catalogue.options.get("regression", ())}
    return f"{letter}.{name}.value" if name in options else f"{letter}.{name}"


def _data_key(name: str) -> str:
    """A plugin may give its data a parameter that has the name of one of ours."""
    return f"data.{name}" if name in _OWN else name
