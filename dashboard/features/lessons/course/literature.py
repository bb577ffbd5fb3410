"""Lesson 9: other normalisers and other positions than the chapter's."""

from __future__ import annotations

from dashboard.features.lessons.figures import numbers, stage
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.language import gettext
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_SCORES = (2, 1.5, 1, 0.5, 0, -0.5)
_LEFT = 3


def _request(alpha: Scalar, _: Catalogue) -> Request:
    return Request.make(
        "anatomy", scoring="dot",
        options={
            "part": "step", "q": "1", "k": "/".join(f"{score:g}" for score in _SCORES),
            "v": "/".join("1" for _ in _SCORES), "normaliser": "entmax", "normaliser.alpha": alpha,
        },
    )  # fmt: skip


def _measured(result: Result, alpha: Scalar) -> Figures:
    weights = stage(result, "weights").ravel()
    zeros = int((weights == 0).sum())
    return {
        "alpha": float(alpha),
        "zeros": zeros,
        "left": len(weights) - zeros,
        "count": len(weights),
    }


def _figure(result: Result, alpha: Scalar) -> None:
    columns = [f"{score:g}".replace("-", "−") for score in _SCORES]
    numbers(result, gettext("Weights of six scores at α = {alpha}", alpha=alpha),
            stage(result, "weights").reshape(1, -1), rows=[gettext("weight")], columns=columns,
            column_title=gettext("score"))  # fmt: skip


def _answer(figures: Figures) -> str:
    return "a" if not figures["zeros"] else "c" if figures["left"] == 1 else "b"


LITERATURE = Lesson(
    name="literature",
    title="Normalisers and positions of the literature",
    papers="Martins & Astudillo 2016, section 2 (sparsemax); Peters, Niculae & Martins 2019, "
    "section 3 (α-entmax); Shaw et al. 2018; Raffel et al. 2020; Su et al. 2021; Press et al. "
    "2022",
    idea="The softmax never gives 0: every key counts a little. α-entmax is a family that begins "
    "with the softmax at α = 1 and has sparsemax at α = 2. Positions have alternatives as well: "
    "they can change the scores by distance (T5, ALiBi) or turn queries and keys (rotary).",
    formulas=(r"\alpha_i=\big[(\alpha-1)\,s_i-\tau(s)\big]_+^{1/(\alpha-1)}",),
    terms=("normaliser", "sparsemax", "relative position"),
    control=Parameter(name="at", title="Sparsity α", default=1.05, low=1.05, high=3.0, step=0.05),
    given=1.05,
    asked=2.0,
    question="Six scores, each 0.5 lower than the one before. At α = 2, how many of the six "
    "weights are exactly 0?",
    choices={"a": "None", "b": "Some", "c": "All but one"},
    request=_request,
    figure=_figure,
    measured=_measured,
    answer=_answer,
    reason="{zeros} of {count} are exactly 0. Sparsemax moves the scores down by one threshold "
    "and cuts off what falls below 0.",
    now="At α = {alpha:g}, **{left}** of {count} keys have a weight.",
    goal=f"Find an α at which exactly {_LEFT} keys have a weight.",
    reached=lambda figures: figures["left"] == _LEFT,
    missed="Not yet: at α = {alpha:g} the number of keys with a weight is {left}.",
    conclusion="At α = {alpha:g}, {left} keys share all the weight. In a model, α can be learned "
    "for every head.",
    tries=(
        Try(
            page="regression",
            label="One kernel by the softmax and by sparsemax",
            query={"a": "gaussian", "b": "gaussian", "b.normaliser": "sparsemax"},
        ),
        Try(
            page="race",
            label="Copying: what T5's bias by distance gains in a race",
            query={"task": "copy"},
        ),
    ),
)
