"""What sliders of the page move while they move: its charts and words, by their names."""

import math
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from dashboard.charts.frames import matrix
from dashboard.charts.template import Prepared
from dashboard.charts.values import draw_values, prepare_values
from dashboard.features.norms import view as norms
from dashboard.features.norms.view import Norms
from dashboard.language import gettext, ngettext
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, live
from dashboard.ui.live import Followers, Slider
from dashboard.ui.session import Session

_SAID = beside(__file__, "words.toml")["following"]
CHARTS = beside(__file__, "charts.toml")
_CELL = (58, 28)  # px, holds a number
_OUTPUT_END = 2.0  # of the colours of normalised numbers: few lie beyond two deviations
_STEPS = 101  # of a slider, at most: each has a frame, since results are small
_ADDED = (*CHARTS["add_and_norm"],)
_CHANGES = (*CHARTS["changes"],)
_FOLLOW = {  # what follows each slider: charts, and words
    "momentum": (("evaluated", "running"), ()),
    "batches": (("evaluated", "running"), ("evaluated",)),
    "padding": (_CHANGES, ("padded", *_CHANGES)),
    "dropout": (_ADDED, ("dropout",)),
}
Sliders = Mapping[str, Slider]


def sliders(session: Session[Norms]) -> Sliders:
    """Those that are followed, by their names: all."""
    return live.of_settings(
        session, norms.SETTINGS,
        lambda view, catalogue: dict.fromkeys([norms.TASK], *norms.requests(view, catalogue)),
        _FOLLOW, most=_STEPS,
    )  # fmt: skip


def values(result: Result, name: str, *sliders: Slider) -> None:
    """Draw a chart, which follows these sliders."""
    title = gettext((CHARTS["matrices"] | CHARTS["changes"])[name]["title"])
    charts.show_filled(
        f"norms {result.digest} {name}", draw_values, partial(prepared, result, name), title,
        follows=(name, live.standing(sliders)),
    )  # fmt: skip


def prepared(result: Result, name: str) -> Prepared:
    """A chart by its name: a matrix of the result, or the running statistics."""
    if name in _CHANGES:
        return prepare_values(
            matrix(result.tables[name]), rows=_tokens(result.facts["lengths"]),
            vmax=max(result.facts["change"].values()), numbers=".2f", cell=(_CELL[0], 22),
            titles=("", gettext("feature")),
        )  # fmt: skip
    rows, end = None, _OUTPUT_END
    if name == "running":
        numbers = np.array(result.facts["statistics"]["evaluated"])
        rows = gettext("mean"), gettext("variance")
        end = 10 * float(np.abs(numbers).max())  # these are no outputs: their cells stay pale
    else:
        numbers = matrix(result.tables[name])
        if name in _ADDED and name != "normed":
            end = float(np.abs(matrix(result.tables["added"])).max()) or 1.0
    framed = CHARTS["matrices"][name].get("framed", "")
    return prepare_values(
        numbers, rows=rows, vmax=end, numbers=".3~g", framed=framed, cell=_CELL,
        room=60 if name in _FOLLOW["batches"][0] else 18,
    )  # fmt: skip


def _tokens(lengths: list[int]) -> list[str]:
    return [
        gettext("s{sentence} t{token}", sentence=sentence, token=token)
        for sentence, length in enumerate(lengths, start=1)
        for token in range(1, length + 1)
    ]


def said(result: Result, name: str, value: float) -> str:
    """Words by their name, at a position of the slider that they follow."""
    if name == "evaluated":
        return ngettext(**_SAID["batches"], count=int(value))
    if name == "padded":
        lengths = result.facts["lengths"]
        return gettext(
            _SAID["padded"], first=lengths[0], second=lengths[1], less=max(lengths),
            more=max(lengths) + int(value),
        )  # fmt: skip
    if name in _CHANGES:
        if largest := result.facts["change"][name.removeprefix("change_")]:
            return gettext("Valid outputs: changes by up to {largest:.2f}.", largest=largest)
        return gettext("Valid outputs: nothing changes.")
    if math.isclose(value, 0):
        return gettext(_SAID["no_dropout"])
    return gettext(_SAID["dropout"], rate=value, factor=1 / (1 - value))


def followers(sliders: Sliders) -> Iterator[Followers]:
    """What each slider moves."""
    for slider, (drawn, told) in _FOLLOW.items():
        made = {
            name: lambda _, found, name=name: prepared(found[norms.TASK], name) for name in drawn
        }
        words = {
            name: lambda value, found, name=name: said(found[norms.TASK], name, float(value))
            for name in told
        }
        yield Followers(sliders[slider], made, words)
