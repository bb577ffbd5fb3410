"""The part *One step* of the anatomy: every stage with its formula, its shape and its numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts.lineage import PROJECTED, STEP, Words
from dashboard.charts.walk import POINT, draw_walk, fits, prepare_walk
from dashboard.features.anatomy import moves
from dashboard.features.anatomy.chart import Matrix, Stage
from dashboard.features.anatomy.examples import HEADS, SENTENCE
from dashboard.features.anatomy.tensors import lengths
from dashboard.features.anatomy.view import Anatomy
from dashboard.language import gettext, listed, together
from dashboard.records import sentence
from dashboard.records.attending import SOFTMAX
from dashboard.records.beside import beside
from dashboard.records.catalogue import Entry
from dashboard.records.request import Result
from dashboard.ui import charts, layout, live, shown
from dashboard.ui.widgets import formula, plain

_WORDS = beside(__file__, "words.toml")
_SAID = _WORDS["step"]
_TITLES, _NAMES = _WORDS["titles"], _WORDS["axes"]
_QUANTITIES, _NEEDS = _WORDS["quantities"], _WORDS["needs"]
_STAGES = beside(__file__, "stages.toml")

Pick = tuple[int | None, int | None]
COUNTED = "counted"  # the scores once more, with the mask


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A result as its stages are drawn: the ``places`` are for an explanation and for matrices.

    The normaliser is None where the catalogue does not list the usual one.
    """

    result: Result
    view: Anatomy
    scoring: Entry
    normaliser: Entry | None
    tensors: Mapping[str, Stage]
    number: int = 0
    places: Sequence[shown.Place] = ()
    sliders: Sequence[live.Slider] = ()

    def pick(self, name: str) -> Pick:
        """What of a tensor is looked at: a query, a key, or where both meet."""
        query, key = self.view.query, self.view.key
        if name in ("scores", "weights", "dropped"):
            return query, key
        if name == "linear_q":
            return query, self.view.column
        return (key if name.endswith(("k", "v")) else query), None

    def matrix(self, name: str) -> np.ndarray:
        """The tensor at the batch row and head that are looked at."""
        return self.tensors[name].matrix(self.view.row, self.view.head)


def explain(
    walk: Walk, title: str, latex: str, text: str = "", description: str = "", words: str = ""
) -> None:
    """A stage's title, what happens in it, and its formula; ``words`` are of :data:`WORDS`."""
    with walk.places[0]:
        shown.header(f"{walk.number} · {title}")
        if text:
            shown.caption(text)
        if words:
            live.words(words, WORDS[words](walk), walk.sliders, "caption")
        if latex:
            formula(latex, description=description)


def drawn(walk: Walk, chart: str) -> Matrix:
    """How the matrix of a tensor, or :data:`COUNTED`, is drawn."""
    name, masked, vmax = "scores" if chart == COUNTED else chart, None, None
    stage, values = walk.tensors[name], walk.matrix(name)
    if name == "scores":
        masked = np.zeros(values.shape, bool)  # a slider may rule keys out
    if chart in (COUNTED, "weights", "dropped"):
        # Keys are ruled out by the mask, or by a score of minus infinity.
        masked = (walk.matrix("allowed") == 0) | np.isneginf(walk.matrix("scores"))
    if chart == "weights":
        vmax = max(1.0, float(np.nanmax(values)))
    if chart == "x" and (known := lengths(walk.view.lengths)):
        rows = np.arange(len(values)) >= known[0][walk.view.row]
        masked = np.broadcast_to(rows[:, None], values.shape)
    return Matrix(
        values=values, rows=stage.labels(-2), columns=stage.labels(-1), masked=masked,
        quantity=gettext(_QUANTITIES.get(name, _QUANTITIES["others"])), vmax=vmax,
        names=(
            gettext(_NAMES.get(stage.axes[-2], _NAMES["row"])),
            gettext(_NAMES.get(stage.axes[-1], _NAMES["column"])),
        ),
        picked=walk.pick(name),
    )  # fmt: skip


def matrices(walk: Walk, *charts: str) -> None:
    """The tensors beside each other, each with its title and its shape."""

    def draw(chart: str) -> None:
        stage, view = walk.tensors["scores" if chart == COUNTED else chart], walk.view
        title, shape = gettext(_TITLES[chart]), stage.shape.replace(" ", "\N{NO-BREAK SPACE}")
        shown.markdown(f"**{title}** `{shape}`")
        made = drawn(walk, chart)
        count, wide = made.values.shape
        moves.show_matrix(
            f"anatomy {walk.result.digest} {chart} {view.row} {view.head} {made.picked}",
            gettext("{title}: {rows} by {columns} numbers", title=title, rows=count, columns=wide),
            made, (chart, live.standing(walk.sliders)),
        )  # fmt: skip

    with walk.places[1], layout.grid(len(charts)) if len(charts) > 1 else shown.container():
        for chart in charts:
            with shown.container(gap="xsmall"):
                draw(chart)


def download(walk: Walk, name: str, values: np.ndarray, explanation: str) -> None:
    """A button for the matrix that is looked at as a table; empty where it is masked."""
    stage, file = walk.tensors[name], f"{name}.csv"
    with walk.places[1]:
        st.download_button(
            file, as_csv(values, stage.labels(-2), stage.labels(-1)), file_name=file,
            mime="text/csv", icon=":material/download:", key=f"anatomy-{name}-csv",
            type="tertiary", help=explanation, on_click="ignore",
        )  # fmt: skip


def as_csv(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> str:
    """A line per query with the query's name first; empty where a number is missing."""
    table = pd.DataFrame(values, index=pd.Index(rows, name="query"), columns=[*columns])
    return table.to_csv(lineterminator="\n")


def draw_stages(walk: Walk) -> None:
    """The stages, one below the other."""
    facts = walk.result.facts
    if not facts["finite"]:
        shown.text(
            gettext("Some of these numbers are not finite: the scoring cannot answer such inputs.")
        )
    _lineage(walk)
    told = {  # their tables in stages.toml, where these have other names
        "inputs": "sequence" if "x" in walk.tensors else "inputs",
        "projections": "as_they_are" if facts["as_they_are"] else "projections",
        "dropout": "dropout" if walk.view.dropout else "no_dropout",
        "output": "mean" if facts["sums_to_one"] else "sum",
    }
    drawn = ["inputs", *(["heads"] if walk.view.layout == HEADS else [])]
    drawn += ["model"] if "x" in walk.tensors else []
    drawn += ["projections", "scores", "mask", "weights", "dropout", "output"]
    drawn += ["mixed"] if "mixed" in walk.tensors else []
    drawn += ["encoded"] if facts.get("attends", 1) > 1 else []
    for number, stage in enumerate(drawn, start=1):
        with shown.container(border=True, key=f"stage-{stage}"):
            # One matrix fits beside the words, several go below them.
            below = stage in ("inputs", "model", "heads", "mixed")
            places = (
                [shown.container(), shown.container()]
                if below
                else shown.columns([2, 3], gap="large")
            )
            draw = _DRAWN.get(stage, partial(_tell, name=told.get(stage, stage)))
            draw(replace(walk, number=number, places=places))


def lineage(walk: Walk) -> tuple[Mapping[str, np.ndarray], Words]:
    """What the chart of all numbers of the step is drawn of."""
    made = ("split_{}", "model_{}", "{}")
    names = {
        each: next(name for form in made if (name := form.format(each)) in walk.tensors)
        for each in "qkv"
    }
    more = PROJECTED if "w_q" in walk.tensors else ()
    tensors = {name: walk.matrix(names.get(name, name)) for name in (*STEP, *more)}
    words: list[str] = []
    if walk.view.example == SENTENCE:
        words = [gettext(token) for token in sentence.TOKENS]
    return tensors, Words(
        words or walk.tensors["scores"].labels(-2), words or walk.tensors["scores"].labels(-1),
        plain(walk.scoring.short_title),
        plain(walk.normaliser.short_title if walk.normaliser else walk.scoring.short_title),
        listed(gettext(said) for need in walk.result.facts["needs"] if (said := _NEEDS[need])),
    )  # fmt: skip


def _lineage(walk: Walk) -> None:
    """All numbers of the step in one chart, each with where it comes from, if they are few."""
    view, (tensors, called) = walk.view, lineage(walk)
    if not fits(tensors):
        return
    with shown.container(border=True, key="stage-lineage"):
        charts.show_filled(
            f"anatomy {walk.result.digest} lineage {view.row} {view.head} {called}", draw_walk,
            lambda: prepare_walk(tensors, called), gettext("Every number of this step"),
            follows=("lineage", live.standing(walk.sliders)),
        )  # fmt: skip
        shown.caption(gettext(POINT))


def _tell(walk: Walk, name: str, latex: str = "", description: str = "", **values: object) -> None:
    """A stage as its table of ``stages.toml`` has it; ``values`` are its caption's."""
    stage = _STAGES[name]
    caption = gettext(stage["caption"], **values) if "caption" in stage else ""
    latex = latex or stage.get("formula", "")
    explain(walk, gettext(stage["title"]), latex, caption, description, stage.get("words", ""))
    if tensors := stage.get("tensors"):
        matrices(walk, *tensors)


def _heads(walk: Walk) -> None:
    _tell(walk, "heads")
    moves.heads(walk.view, walk.tensors)


def _scores(walk: Walk) -> None:
    _tell(walk, "scores", "a(q, k) = " + walk.scoring.formula, walk.scoring.description)
    if "features" in walk.tensors:
        moves.broadcast(walk.result.digest, walk.view, walk.tensors, walk.sliders)
    masked = np.where(walk.matrix("allowed") > 0, walk.matrix("scores"), np.nan)
    said = gettext("Scores of batch row {row}, as they stand above.", row=walk.view.row)
    download(walk, "scores", masked, said)


def _mask(walk: Walk) -> None:
    if not walk.view.lengths:
        return _tell(walk, "all_keys")
    return _tell(walk, "mask", lengths=walk.view.lengths.replace(",", ", ").replace("/", " / "))


def _ruled(walk: Walk) -> str:
    if np.isneginf(walk.matrix("scores")).any():
        return gettext("A score of −∞ rules its key out as well.")
    return ""


def _weights(walk: Walk) -> None:
    explain(walk, *_normalisation(walk), words="sums")
    matrices(walk, "weights")
    said = gettext("Weights of batch row {row}, as they stand above.", row=walk.view.row)
    download(walk, "weights", walk.matrix("weights"), said)


def _sums(walk: Walk) -> str:
    if walk.result.facts["sums_to_one"]:
        return gettext("Each row sums to 1; a masked key gets exactly 0.")
    query = walk.view.query
    return gettext(_SAID["sums"], query=query, sum=walk.matrix("weights")[query].sum())


def _normalisation(walk: Walk) -> tuple[str, str, str]:
    """What makes weights of the scores: its title, its formula, and a sentence."""
    if walk.scoring.own_normaliser:
        own = gettext("This scoring makes its weights in its own way, without another normaliser.")
        return gettext("Weights"), "", own
    if walk.view.normaliser == SOFTMAX or walk.normaliser is None:
        latex = r"\alpha_{ij} = \frac{m_{ij}\,e^{s_{ij}}}{\sum_l m_{il}\,e^{s_{il}}}"
        return "Softmax", latex, gettext("Scores become weights.")
    said = gettext("Over the scores s of the keys that count, for each query.")
    text = together((plain(walk.normaliser.description), said))
    latex = r"\alpha_i = " + walk.normaliser.formula
    return plain(walk.normaliser.short_title), latex, text


def _rate(walk: Walk) -> str:
    rate = walk.view.dropout
    if not rate:
        return gettext("Off, as always outside training: the weights go on unchanged.")
    return gettext(_SAID["dropped"], rate=rate, rest=1 - rate)


WORDS: Mapping[str, Callable[[Walk], str]] = {"ruled": _ruled, "sums": _sums, "dropout": _rate}


def _mixed(walk: Walk) -> None:
    _tell(walk, "mixed")
    moves.joined(walk.view, walk.tensors)


def _encoded(walk: Walk) -> None:
    _tell(walk, "encoded", times=walk.result.facts["attends"])


_DRAWN: Mapping[str, Callable[[Walk], None]] = {
    "heads": _heads, "scores": _scores, "mask": _mask, "weights": _weights, "mixed": _mixed,
    "encoded": _encoded,
}  # fmt: skip
