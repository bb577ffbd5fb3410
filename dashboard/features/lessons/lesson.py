"""What a lesson is: data, which one view draws; the charts and models that several lessons use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd

from dashboard.charts.frames import MapFrame
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.lineage import PROJECTED, STEP, Words
from dashboard.charts.series import SeriesShape, draw_series, prepare_series
from dashboard.charts.template import Draw, Prepared
from dashboard.charts.theme import PANEL_COLOURS
from dashboard.charts.values import draw_values, prepare_values
from dashboard.charts.walk import draw_walk, prepare_walk
from dashboard.language import gettext
from dashboard.links.fits import translation_request
from dashboard.records import sentence
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar
from dashboard.ui import maps

BAHDANAU_CHECKPOINT = "bahdanau_additive_phrasebook"
TRANSFORMER_CHECKPOINT = "transformer_scaled_dot_phrasebook"


def translated(catalogue: Catalogue, checkpoint: str, text: str) -> Request | None:
    """The sentence through a shipped model; None where it is not here."""
    found = catalogue.checkpoints.get(checkpoint)
    return found and translation_request(found, text=text)


_TEXTS = beside(__file__, "lessons.toml")


def texts(name: str, **values: object) -> dict[str, Any]:
    """What the lesson says, as ``lessons.toml`` has it; question and goal hold these values."""
    said = {"name": name, **_TEXTS[name]}
    return {**said, **{each: said[each].format(**values) for each in ("question", "goal")}}


def page_and_query(link: str, at: Scalar) -> tuple[str, dict[str, str]]:
    """Where a link such as ``"norms?x={at}"`` leads: a page's name, and its link's parameters."""
    page, _, query = link.format(at=at).partition("?")
    return page, dict(parse_qsl(query))


def stage(result: Result, name: str) -> np.ndarray:
    """A tensor of an attention step by name, as the page *Anatomy* computes it."""
    table = result.tables["stages"]
    at = table["name"].to_pylist().index(name)
    return np.array(table["values"][at].as_py()).reshape(table["shape"][at].as_py())


def map_of(result: Result, kind: str, layer: int) -> MapFrame:
    """The weights of one site, its layer counted from 1; ValueError if the model has none."""
    for found in maps.frames(result):
        if (found.kind, found.layer) == (kind, layer - 1):
            return found
    raise ValueError(f"need a map of kind {kind}, layer {layer}; the model has none")


class Figure(NamedTuple):
    """A chart that a lesson shows; of one result, no two may have the same ``alt``."""

    alt: str
    draw: Draw
    prepare: Callable[[], Prepared]


def numbers(
    alt: str, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], column_title: str
) -> Figure:
    """Weights ``(rows, columns)``, each written into its cell."""

    def prepare() -> Prepared:
        return prepare_values(
            values, rows=rows, columns=columns, titles=("", column_title), vmax=1.0,
            signed=False, numbers=".2f", cell=(90, 44),
        )  # fmt: skip

    return Figure(alt, draw_values, prepare)


def weights(alt: str, frame: MapFrame, values: np.ndarray, queries: Sequence[str] = ()) -> Figure:
    """Weights ``(queries, keys)`` with a map's labels, or with those of its queries so far."""
    queries = queries or frame.query_labels
    return Figure(
        alt, draw_heatmap, lambda: prepare_heatmap(values, queries, frame.key_labels, cell=26)
    )


def walked(result: Result) -> Figure:
    """Every number of a step of the words of :mod:`dashboard.records.sentence`."""
    names = {"q": "model_q", "k": "model_k", "v": "model_v"}
    tensors = {name: stage(result, names.get(name, name)) for name in (*STEP, *PROJECTED)}
    matrices = {name: each.reshape(each.shape[-2:]) for name, each in tensors.items()}
    words = [gettext(token) for token in sentence.TOKENS]
    alt = gettext("Three words, from their embeddings to the output")
    return Figure(alt, draw_walk, lambda: prepare_walk(matrices, Words(words, words)))


Points = Sequence[tuple[float, float]]


def lines(
    alt: str, series: Mapping[str, Points], marked: Mapping[str, Points], titles: tuple[str, str],
    ticks: Sequence[float] = (),
) -> Figure:  # fmt: skip
    """One line through the points of each series; those of ``marked`` stand by themselves.

    ``titles`` are of x and of y; ``ticks`` are those of x where each step doubles it.
    """
    colours = dict(zip(dict.fromkeys((*series, *marked)), PANEL_COLOURS.values(), strict=False))

    def prepare() -> Prepared[SeriesShape]:
        return prepare_series(
            _frame(marked), colours, x_title=titles[0], y_title=titles[1],
            fitted=_frame(series), doubling=bool(ticks), ticks=ticks, height=200,
        )  # fmt: skip

    return Figure(alt, draw_series, prepare)


def so_far(points: Points, count: int) -> Points:
    """All of them, of which the first ``count`` are drawn: so a slider moves no more than that."""
    return [*points[:count], *[(np.nan, np.nan)] * (len(points) - count)]


def _frame(series: Mapping[str, Points]) -> pd.DataFrame:
    rows = [(x, y, name) for name, points in series.items() for x, y in points]
    return pd.DataFrame(rows, columns=["x", "y", "series"]).astype({"x": float, "y": float})


Figures = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Lesson:
    r"""One lesson: an idea, a question, what is seen, something to find, and where to go on.

    Everything that it says of numbers is computed from a result. ``reason``, ``now``, ``missed``
    and ``conclusion`` are sentences with placeholders, filled with what ``measured`` gives. All
    texts are in English; the page translates them.

    Args:
        name: its own, in a browser's memory.
        section: of the book, see :data:`.view.SECTIONS`; empty where the lesson goes beyond it.
        papers: what else it rests on.
        idea: in Markdown, before the question.
        formulas: LaTeX, beside each other where there is room. What stands in ``\text{…}`` is
            translated, and therefore marked.
        terms: those of :mod:`dashboard.ui.glossary` that this lesson is the first to use.
        control: what the visitor moves once the question is answered; at its default before.
        asked: its value that the question is about.
        choices: the answers by their name in the link.
        request: what a worker computes at a value; None where a model is missing.
        figure, measured: a result at a value, drawn, and its figures.
        answer: the name of the right choice, by the figures at ``asked``.
        reason: why, by the same figures.
        now: what is seen at the present value.
        goal, reached: what to find by moving the control, and whether it is found.
        missed, conclusion: how far the goal is; what it shows once it is reached.
        step: one of words, drawn number by number below the rest once the question is answered;
            ``step_text`` stands over it, in Markdown.
        tries: links to states of other pages, in which ``{at}`` is the control's value, and what
            is to be seen there.
    """

    name: str
    title: str
    section: str = ""
    papers: str = ""
    idea: str
    formulas: Sequence[str]
    terms: Sequence[str]
    control: Parameter
    asked: Scalar
    question: str
    choices: Mapping[str, str]
    request: Callable[[Scalar, Catalogue], Request | None]
    figure: Callable[[Result, Scalar], Figure]
    measured: Callable[[Result, Scalar], Figures]
    answer: Callable[[Figures], str]
    reason: str
    now: str
    goal: str
    reached: Callable[[Figures], bool]
    missed: str
    conclusion: str
    tries: Mapping[str, str]
    step: Request | None = None
    step_text: str = ""
