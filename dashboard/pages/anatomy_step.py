"""The part *One step* of the anatomy: every stage with its formula, its shape and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from dashboard.charts.stages import stages
from dashboard.pages import anatomy_moves, parts
from dashboard.pages.anatomy_walk import Walk, charts, download, told
from dashboard.runs import tensors
from dashboard.runs.anatomy_examples import HEADS
from dashboard.runs.anatomy_view import Anatomy, step_request
from dashboard.runs.offers import Catalogue
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.state import Visit

_HEIGHT = 420  # px, of the place while it waits


def requests(view: Anatomy) -> list[Request]:
    """The one result that the part draws."""
    return [step_request(view)]


def draw(here: Visit, catalogue: Catalogue, view: Anatomy, asked: Sequence[Request]) -> None:
    """The stages, one below the other."""
    (request,) = asked

    def walk(result: Result) -> None:
        _stages(
            Walk(
                request, view, catalogue.scorings[view.scoring],
                stages(result.tables["stages"]), result.facts,
            )
        )  # fmt: skip

    parts.results(here.jobs, request, walk, _HEIGHT, "anatomy-step", grows=True)


def _stages(walk: Walk) -> None:
    if not walk.facts["finite"]:
        st.text("Some of these numbers are not finite: the scoring cannot answer such inputs.")
    drawn = [_inputs, *([_heads] if walk.view.layout == HEADS else [])]
    drawn += [_model] if "x" in walk.tensors else []
    drawn += [_projections, _scores, _mask, _softmax, _dropout, _output]
    drawn += [_mixed] if "mixed" in walk.tensors else []
    drawn += [_encoded] if walk.facts.get("attends", 1) > 1 else []
    for number, stage in enumerate(drawn, start=1):
        with st.container(border=True, key=f"stage-{stage.__name__.strip('_')}"):
            # One matrix fits beside the words, several go below them.
            below = stage in (_inputs, _model, _heads, _mixed)
            places = (st.container(), st.container()) if below else st.columns([2, 3], gap="large")
            stage(replace(walk, words=places[0], numbers=places[1]), number)


def _inputs(walk: Walk, number: int) -> None:
    if "x" in walk.tensors:
        told(
            walk,
            number,
            "Sequence",
            r"X",
            "One row per position; padding behind the valid length.",
        )
        return charts(walk, {"x": ("Sequence", (walk.view.query, None))}, _padding(walk))
    told(
        walk, number, "Queries, keys, values", r"Q,\;K,\;V",
        "Every query asks, every key answers, every value is what is handed out.",
    )  # fmt: skip
    query, key = (walk.view.query, None), (walk.view.key, None)
    return charts(walk, {"q": ("Queries", query), "k": ("Keys", key), "v": ("Values", key)})


def _padding(walk: Walk) -> np.ndarray | None:
    """The rows of the sequence beyond its valid length."""
    known = tensors.lengths(walk.view.lengths)
    if not known:
        return None
    sequence = walk.matrix("x")
    beyond = np.arange(len(sequence)) >= known[0][walk.view.row]
    return np.broadcast_to(beyond[:, None], sequence.shape)


def _model(walk: Walk, number: int) -> None:
    told(
        walk, number, "The model's queries, keys, values", r"Q = X W_q,\;K = X W_k,\;V = X W_v",
        "What the model hands to the scoring, made of the sequence.",
    )  # fmt: skip
    query, key = (walk.view.query, None), (walk.view.key, None)
    charts(
        walk,
        {"model_q": ("Queries", query), "model_k": ("Keys", key), "model_v": ("Values", key)},
    )


def _heads(walk: Walk, number: int) -> None:
    told(
        walk, number, "Project and cut into heads", r"Q W_q,\quad K W_k,\quad V W_v",
        "One matrix projects for all heads; each head then gets its own columns.",
    )  # fmt: skip
    query, key = (walk.view.query, None), (walk.view.key, None)
    charts(
        walk,
        {
            "linear_q": ("Q projected, all heads", (walk.view.query, walk.view.column)),
            "split_q": (f"Queries of head {walk.view.head}", query),
            "split_k": (f"Keys of head {walk.view.head}", key),
            "split_v": (f"Values of head {walk.view.head}", key),
        },
    )
    anatomy_moves.heads(walk.request, walk.view, walk.tensors)


def _projections(walk: Walk, number: int) -> None:
    said = "The scoring brings both into the space where it compares them."
    if walk.facts["as_they_are"]:
        said = "This scoring compares queries and keys as they are: nothing to project."
    told(walk, number, "Projections of the scoring", r"\phi(q_i),\quad \psi(k_j)", said)
    if not walk.facts["as_they_are"]:
        charts(
            walk,
            {
                "projected_q": ("Queries", (walk.view.query, None)),
                "projected_k": ("Keys", (walk.view.key, None)),
            },
        )


def _scores(walk: Walk, number: int) -> None:
    told(
        walk, number, "Scores", "a(q, k) = " + walk.scoring.formula,
        "Every query against every key: how much the key is worth to the query.",
        walk.scoring.description,
    )  # fmt: skip
    charts(walk, {"scores": ("Scores", (walk.view.query, walk.view.key))})
    if "features" in walk.tensors:
        anatomy_moves.broadcast(walk.request, walk.view, walk.tensors)
    masked = np.where(walk.matrix("allowed") > 0, walk.matrix("scores"), np.nan)
    download(walk, "scores", masked)


def _mask(walk: Walk, number: int) -> None:
    lengths = walk.view.lengths
    told(
        walk, number, "Mask", r"m_{ij} = [\,j < \mathrm{length}\,]",
        f"Valid lengths {lengths.replace(',', ', ').replace('/', ' / ')}: grey ones do not count."
        if lengths else "No lengths: every key counts.",
    )  # fmt: skip
    pick = (walk.view.query, walk.view.key)
    charts(walk, {"scores": ("Scores that count", pick)}, masked=walk.matrix("allowed") == 0)


def _softmax(walk: Walk, number: int) -> None:
    told(
        walk, number, "Softmax",
        r"\alpha_{ij} = \frac{m_{ij}\,e^{s_{ij}}}{\sum_l m_{il}\,e^{s_{il}}}",
        "Each row becomes weights that sum to 1; a masked key gets exactly 0.",
    )  # fmt: skip
    pick = (walk.view.query, walk.view.key)
    masked = walk.matrix("allowed") == 0
    charts(walk, {"weights": ("Weights", pick)}, masked=masked, vmax=1.0)
    download(walk, "weights", walk.matrix("weights"))


def _dropout(walk: Walk, number: int) -> None:
    rate = walk.view.dropout
    said = "Off, as always outside training: the weights go on unchanged."
    if rate:
        said = (
            f"Each weight is dropped with probability {rate:g}; what stays is divided by "
            f"{1 - rate:g}, so that the sum is the same on average."
        )
    told(walk, number, "Dropout", r"\tilde\alpha_{ij} = \frac{b_{ij}}{1 - p}\,\alpha_{ij}", said)
    if rate:
        pick = (walk.view.query, walk.view.key)
        masked = walk.matrix("allowed") == 0
        charts(walk, {"dropped": ("Weights after dropout", pick)}, masked=masked)


def _output(walk: Walk, number: int) -> None:
    told(
        walk, number, "Output", r"o_i = \sum_j \tilde\alpha_{ij}\, v_j",
        "Every query gets the mean of the values, weighted by its row.",
    )  # fmt: skip
    charts(walk, {"pooled": ("Output", (walk.view.query, None))})


def _mixed(walk: Walk, number: int) -> None:
    told(
        walk, number, "Join the heads and mix", r"\mathrm{concat}(o^1, \ldots, o^H)\, W_o",
        "The heads' outputs stand side by side again, and one matrix mixes them.",
    )  # fmt: skip
    query = (walk.view.query, None)
    charts(walk, {"merged": ("Heads side by side", query), "mixed": ("Output", query)})
    anatomy_moves.joined(walk.request, walk.view, walk.tensors)


def _encoded(walk: Walk, number: int) -> None:
    told(
        walk, number, "The model's output", "",
        f"The model attends {walk.facts['attends']} times; the stages above are its first.",
    )  # fmt: skip
    charts(walk, {"encoded": ("Encoded", (walk.view.query, None))})
