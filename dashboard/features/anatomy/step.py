"""The part *One step* of the anatomy: every stage with its formula, its shape and its numbers."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from dashboard.charts.lineage import PROJECTED, STEP, Words
from dashboard.charts.walk import POINT, draw_walk, fits, prepare_walk
from dashboard.features.anatomy import moves
from dashboard.features.anatomy.chart import Stage, stages
from dashboard.features.anatomy.examples import HEADS, SENTENCE
from dashboard.features.anatomy.tensors import lengths
from dashboard.features.anatomy.view import Anatomy
from dashboard.language import gettext, gettext_noop, listed, together
from dashboard.records import sentence
from dashboard.records.attending import SOFTMAX
from dashboard.records.catalogue import Entry
from dashboard.records.request import Request, Result
from dashboard.ui import charts, layout, results, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import formula, plain

_NAMES = {  # of axes
    "n_q": gettext_noop("query"), "n_k": gettext_noop("key"), "n": gettext_noop("position"),
}  # fmt: skip
_QUANTITIES = {  # by tensor, what a cell is; a number by default
    "scores": gettext_noop("score"), "weights": gettext_noop("weight"),
    "dropped": gettext_noop("weight"),
}  # fmt: skip

_NEEDS = {  # of scorings, beside queries and keys
    "positions": gettext_noop("positions"), "memory": gettext_noop("earlier weights"),
    "mask": gettext_noop("mask"), "scores": gettext_noop("earlier scores"),
    "queries": "",  # which the scores are made of anyway
}  # fmt: skip

Pick = tuple[int | None, int | None]
Drawn = Mapping[str, tuple[str, Pick]]  # titles of tensors, and what is framed


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

    def picks(self) -> tuple[Pick, Pick, Pick]:
        """The rows of the query and of the key that are looked at, and where both meet."""
        query, key = self.view.query, self.view.key
        return (query, None), (key, None), (query, key)

    def matrix(self, name: str) -> np.ndarray:
        """The tensor at the batch row and head that are looked at."""
        return self.tensors[name].matrix(self.view.row, self.view.head)

    def without_weight(self) -> np.ndarray:
        """The keys that are ruled out, by the mask or by a score of minus infinity."""
        return (self.matrix("allowed") == 0) | np.isneginf(self.matrix("scores"))


def explain(walk: Walk, title: str, latex: str, text: str, description: str = "") -> None:
    """A stage's title, what happens in it, and its formula."""
    with walk.places[0]:
        shown.header(f"{walk.number} · {title}")
        shown.caption(text)
        if latex:
            formula(latex, description=description)


def matrices(
    walk: Walk, drawn: Drawn, masked: np.ndarray | None = None, vmax: float | None = None
) -> None:
    """The named tensors beside each other, each with its shape."""

    def draw(name: str, title: str, pick: Pick) -> None:
        stage, values, view = walk.tensors[name], walk.matrix(name), walk.view
        shape = stage.shape.replace(" ", "\N{NO-BREAK SPACE}")
        shown.markdown(f"**{title}** `{shape}`")
        kind = "masked" if masked is not None else ""
        count, wide = values.shape
        moves.show_matrix(
            f"anatomy {walk.result.digest} {name} {kind} {view.row} {view.head} {pick}",
            gettext("{title}: {rows} by {columns} numbers", title=title, rows=count, columns=wide),
            values=values, rows=stage.labels(-2), columns=stage.labels(-1), masked=masked,
            quantity=gettext(_QUANTITIES.get(name, gettext_noop("number"))), vmax=vmax,
            names=(
                gettext(_NAMES.get(stage.axes[-2], gettext_noop("row"))),
                gettext(_NAMES.get(stage.axes[-1], gettext_noop("column"))),
            ),
            picked=pick,
        )  # fmt: skip

    with walk.places[1], layout.grid(len(drawn)) if len(drawn) > 1 else shown.container():
        for name, (title, pick) in drawn.items():
            with shown.container(gap="xsmall"):
                draw(name, title, pick)


def download(walk: Walk, name: str, values: np.ndarray, explanation: str) -> None:
    """A button for the matrix that is looked at as a table; empty where it is masked."""
    stage, file = walk.tensors[name], f"{name}.csv"
    with walk.places[1]:
        st.download_button(
            file,
            as_csv(values, stage.labels(-2), stage.labels(-1)),
            file_name=file,
            mime="text/csv",
            icon=":material/download:",
            key=f"anatomy-{name}-csv",
            type="tertiary",
            help=explanation,
            on_click="ignore",
        )


def as_csv(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> str:
    """A line per query with the query's name first; empty where a number is missing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["query", *columns])
    for row, numbers in zip(rows, values.tolist(), strict=True):
        writer.writerow([row, *("" if np.isnan(n) else repr(n) for n in numbers)])
    return text.getvalue()


_HEIGHT = 420  # px, of the place while it waits


def draw(session: Session[Anatomy], asked: Sequence[Request]) -> None:
    """The stages, one below the other."""
    (request,), view, catalogue = asked, session.view, session.catalogue

    def walk(result: Result) -> None:
        _stages(
            Walk(
                result=result, view=view, scoring=catalogue.scorings[view.scoring],
                normaliser=catalogue.normalisers.get(view.normaliser),
                tensors=stages(result.tables["stages"]),
            )
        )  # fmt: skip

    results.results(session.jobs, request, walk, _HEIGHT, "anatomy-step", grows=True)


def _stages(walk: Walk) -> None:
    facts = walk.result.facts
    if not facts["finite"]:
        shown.text(
            gettext("Some of these numbers are not finite: the scoring cannot answer such inputs.")
        )
    _lineage(walk)
    drawn = [_inputs, *([_heads] if walk.view.layout == HEADS else [])]
    drawn += [_model] if "x" in walk.tensors else []
    drawn += [_projections, _scores, _mask, _weights, _dropout, _output]
    drawn += [_mixed] if "mixed" in walk.tensors else []
    drawn += [_encoded] if facts.get("attends", 1) > 1 else []
    for number, stage in enumerate(drawn, start=1):
        with shown.container(border=True, key=f"stage-{stage.__name__.strip('_')}"):
            # One matrix fits beside the words, several go below them.
            below = stage in (_inputs, _model, _heads, _mixed)
            places = (
                [shown.container(), shown.container()]
                if below
                else shown.columns([2, 3], gap="large")
            )
            stage(replace(walk, number=number, places=places))


def _lineage(walk: Walk) -> None:
    """All numbers of the step in one chart, each with where it comes from, if they are few."""
    made = ("split_{}", "model_{}", "{}")
    names = {
        each: next(name for form in made if (name := form.format(each)) in walk.tensors)
        for each in "qkv"
    }
    more = PROJECTED if "w_q" in walk.tensors else ()
    tensors = {name: walk.matrix(names.get(name, name)) for name in (*STEP, *more)}
    if not fits(tensors):
        return
    view, words = walk.view, [gettext(token) for token in sentence.TOKENS]
    if view.example != SENTENCE:
        words = []
    called = Words(
        words or walk.tensors["scores"].labels(-2), words or walk.tensors["scores"].labels(-1),
        plain(walk.scoring.short_title),
        plain(walk.normaliser.short_title if walk.normaliser else walk.scoring.short_title),
        listed(gettext(said) for need in walk.result.facts["needs"] if (said := _NEEDS[need])),
    )  # fmt: skip
    with shown.container(border=True, key="stage-lineage"):
        charts.show_filled(
            f"anatomy {walk.result.digest} lineage {view.row} {view.head} {called}", draw_walk,
            lambda: prepare_walk(tensors, called), gettext("Every number of this step"),
        )  # fmt: skip
        shown.caption(gettext(POINT))


def _inputs(walk: Walk) -> None:
    if "x" not in walk.tensors:
        explain(
            walk, gettext("Queries, keys, values"), r"Q,\;K,\;V",
            gettext("Every query asks, every key answers, every value is what is handed out."),
        )  # fmt: skip
        return matrices(walk, _threesome(walk, "q", "k", "v"))
    title, beyond = gettext("Sequence"), None
    explain(walk, title, r"X", gettext("One row per position; padding behind the valid length."))
    if known := lengths(walk.view.lengths):
        sequence = walk.matrix("x")
        rows = np.arange(len(sequence)) >= known[0][walk.view.row]
        beyond = np.broadcast_to(rows[:, None], sequence.shape)
    return matrices(walk, {"x": (title, walk.picks()[0])}, beyond)


def _threesome(walk: Walk, *names: str) -> Drawn:
    """Queries, keys and values by their tensors' names, with the rows that are framed."""
    query, key, _ = walk.picks()
    titles = (gettext("Queries"), query), (gettext("Keys"), key), (gettext("Values"), key)
    return dict(zip(names, titles, strict=False))


def _model(walk: Walk) -> None:
    explain(
        walk, gettext("The model's queries, keys, values"),
        r"Q = X W_q,\;K = X W_k,\;V = X W_v",
        gettext("What the model hands to the scoring, made of the sequence."),
    )  # fmt: skip
    matrices(walk, _threesome(walk, "model_q", "model_k", "model_v"))


def _heads(walk: Walk) -> None:
    explain(
        walk, gettext("Project and cut into heads"), r"Q W_q,\quad K W_k,\quad V W_v",
        gettext("One matrix projects for all heads; each head then gets its own columns."),
    )  # fmt: skip
    view, (query, key, _) = walk.view, walk.picks()
    drawn: Drawn = {
        "linear_q": (gettext("Q projected, all heads"), (view.query, view.column)),
        "split_q": (gettext("Queries of head {head}", head=view.head), query),
        "split_k": (gettext("Keys of head {head}", head=view.head), key),
        "split_v": (gettext("Values of head {head}", head=view.head), key),
    }
    matrices(walk, drawn)
    moves.heads(view, walk.tensors)


def _projections(walk: Walk) -> None:
    as_they_are = walk.result.facts["as_they_are"]
    text = (
        gettext("This scoring compares queries and keys as they are: nothing to project.")
        if as_they_are
        else gettext("The scoring brings both into the space where it compares them.")
    )
    title = gettext("Projections of the scoring")
    explain(walk, title, r"\phi(q_i),\quad \psi(k_j)", text)
    if not as_they_are:
        matrices(walk, _threesome(walk, "projected_q", "projected_k"))


def _scores(walk: Walk) -> None:
    title = gettext("Scores")
    explain(
        walk, title, "a(q, k) = " + walk.scoring.formula,
        gettext("Every query against every key: how well the key answers the query."),
        walk.scoring.description,
    )  # fmt: skip
    matrices(walk, {"scores": (title, walk.picks()[2])})
    if "features" in walk.tensors:
        moves.broadcast(walk.result.digest, walk.view, walk.tensors)
    masked = np.where(walk.matrix("allowed") > 0, walk.matrix("scores"), np.nan)
    said = gettext("Scores of batch row {row}, as they stand above.", row=walk.view.row)
    download(walk, "scores", masked, said)


def _mask(walk: Walk) -> None:
    lengths = walk.view.lengths
    text = gettext("No lengths: every key counts.")
    if lengths:
        said = lengths.replace(",", ", ").replace("/", " / ")
        text = gettext("Valid lengths {lengths}: grey ones do not count.", lengths=said)
    if np.isneginf(walk.matrix("scores")).any():
        text = together((text, gettext("A score of −∞ rules its key out as well.")))
    explain(walk, gettext("Mask"), r"m_{ij} = [\,j < \mathrm{length}\,]", text)
    drawn = {"scores": (gettext("Scores that count"), walk.picks()[2])}
    matrices(walk, drawn, masked=walk.without_weight())


def _weights(walk: Walk) -> None:
    title, latex, text = _normalisation(walk)
    weights, query, key = walk.matrix("weights"), walk.view.query, walk.view.key
    sums = gettext("Each row sums to 1; a masked key gets exactly 0.")
    if not walk.result.facts["sums_to_one"]:
        sums = gettext(
            "Rows need not sum to 1: that of query {query} sums to {sum:.4g}. A masked key gets "
            "exactly 0.",
            query=query, sum=weights[query].sum(),
        )  # fmt: skip
    explain(walk, title, latex, together((text, sums)))
    drawn = {"weights": (gettext("Weights"), (query, key))}
    top = max(1.0, float(np.nanmax(weights)))
    matrices(walk, drawn, masked=walk.without_weight(), vmax=top)
    said = gettext("Weights of batch row {row}, as they stand above.", row=walk.view.row)
    download(walk, "weights", weights, said)


def _normalisation(walk: Walk) -> tuple[str, str, str]:
    """What makes weights of the scores: its title, its formula, and a sentence."""
    if walk.scoring.own_normaliser:
        text = gettext(
            "This scoring makes its weights in its own way, without another normaliser."
        )
        return gettext("Weights"), "", text
    if walk.view.normaliser == SOFTMAX or walk.normaliser is None:
        latex = r"\alpha_{ij} = \frac{m_{ij}\,e^{s_{ij}}}{\sum_l m_{il}\,e^{s_{il}}}"
        return "Softmax", latex, gettext("Scores become weights.")
    said = gettext("Over the scores s of the keys that count, for each query.")
    text = together((plain(walk.normaliser.description), said))
    latex = r"\alpha_i = " + walk.normaliser.formula
    return plain(walk.normaliser.short_title), latex, text


def _dropout(walk: Walk) -> None:
    rate = walk.view.dropout
    text = gettext("Off, as always outside training: the weights go on unchanged.")
    if rate:
        text = gettext(
            "Each weight is dropped with probability {rate:g}; what stays is divided by {rest:g}, "
            "so that the sum is the same on average.",
            rate=rate, rest=1 - rate,
        )  # fmt: skip
    explain(
        walk, gettext("Dropout"), r"\tilde\alpha_{ij} = \frac{b_{ij}}{1 - p}\,\alpha_{ij}", text
    )
    if rate:
        drawn = {"dropped": (gettext("Weights after dropout"), walk.picks()[2])}
        matrices(walk, drawn, masked=walk.without_weight())


def _output(walk: Walk) -> None:
    title = gettext("Output")
    explain(
        walk, title, r"o_i = \sum_j \tilde\alpha_{ij}\, v_j",
        gettext("Every query gets the mean of the values, weighted by its row.")
        if walk.result.facts["sums_to_one"]
        else gettext("Every query gets the sum of the values, weighted by its row."),
    )  # fmt: skip
    matrices(walk, {"pooled": (title, walk.picks()[0])})


def _mixed(walk: Walk) -> None:
    explain(
        walk, gettext("Join the heads and mix"), r"\mathrm{concat}(o^1, \ldots, o^H)\, W_o",
        gettext("The heads' outputs stand side by side again, and one matrix mixes them."),
    )  # fmt: skip
    query, *_ = walk.picks()
    titles = {"merged": gettext("Heads side by side"), "mixed": gettext("Output")}
    matrices(walk, {name: (title, query) for name, title in titles.items()})
    moves.joined(walk.view, walk.tensors)


def _encoded(walk: Walk) -> None:
    text = gettext(
        "The model attends {times} times; the stages above are its first.",
        times=walk.result.facts["attends"],
    )
    explain(walk, gettext("The model's output"), "", text)
    matrices(walk, {"encoded": (gettext("Encoded"), walk.picks()[0])})
