"""Lessons 9 and 10: what others built, and what weights explain."""

from __future__ import annotations

from dashboard.features.lessons.course.models import HOUSE, TRANSFORMER_CHECKPOINT, link
from dashboard.features.lessons.lesson import Figures, Lesson, Try, lines, numbers, stage
from dashboard.language import gettext, gettext_noop
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_HEADS = 8
_LAYER = 2
_SHARP = 8
_PERCENT = 100
_EFFECT, _WITHOUT = gettext_noop("effect"), gettext_noop("without the head")


def _explaining_request(_head: Scalar, catalogue: Catalogue) -> Request | None:
    if TRANSFORMER_CHECKPOINT not in catalogue.checkpoints:
        return None
    return Request.make(
        "heads", data=TRANSFORMER_CHECKPOINT, options={"text": HOUSE, "target": ""}
    )


def _rows(result: Result) -> dict[int, tuple[float, float]]:
    """Entropy and ablation effect of the layer's heads, by their number from 1."""
    return {
        row["head"] + 1: (row["entropy"], row["leave_one_out"])
        for row in result.tables["heads"].to_pylist()
        if (row["kind"], row["layer"]) == ("cross", _LAYER - 1)
    }


def _explaining_measured(result: Result, head: Scalar) -> Figures:
    rows, at = _rows(result), int(head)
    entropy, effect = rows[at]
    worse = sum(other < effect for _, other in rows.values())
    return {
        "head": at, "entropy": entropy, "effect": effect,
        "sharpest": min(rows, key=lambda one: rows[one][0]),
        "worse": worse, "rank": worse + 1, "count": len(rows),
        "needed": min(rows, key=lambda one: rows[one][1]), "others": len(rows) - 1,
    }  # fmt: skip


def _explaining_figure(result: Result, head: Scalar) -> None:
    """The heads up to this one, so that nothing is shown before it is asked for."""
    at = int(head)
    rows = {one: (_PERCENT * x, y) for one, (x, y) in _rows(result).items()}
    ends = [end(x for x, _ in rows.values()) for end in (min, max)]
    others = [place for one, place in rows.items() if one < at]
    lines(
        result, gettext("Entropy and ablation effect of the heads up to {head}", head=at),
        {gettext("no effect"): [(x, 0.0) for x in ends]},
        x_title=gettext("entropy, % of the largest possible"), y_title=gettext("effect, nats"),
        marked={
            gettext("head {head}", head=at): [rows[at]], gettext("heads before it"): others,
        },
    )  # fmt: skip


def _explaining_answer(figures: Figures) -> str:
    if not figures["worse"]:
        return "a"
    return "b" if figures["effect"] < 0 else "c"


EXPLAINING = Lesson(
    name="explaining",
    title="What attention does and does not explain",
    papers="Jain & Wallace 2019; Wiegreffe & Pinter 2019; Michel, Levy & Neubig 2019, section 3",
    idea="A map shows where a head looks. It does not show what the model does with what it "
    "finds. To learn that, change something: switch the head off, and see how much less likely "
    "the translation becomes.",
    formulas=(
        rf"\text{{{_EFFECT}}}=\log p(y\mid x,\text{{ {_WITHOUT}}})-\log p(y\mid x)",
    ),
    terms=("ablation", "ablation effect", "faithful"),
    control=Parameter(name="at", title="Head that is switched off", default=1, low=1,
                      high=_HEADS, step=1),
    given=1,
    asked=_SHARP,
    question=f"“{HOUSE}” In layer {_LAYER} of cross-attention, head {_SHARP} is the sharpest: it "
    "looks at almost one word at a time. What does the translation lose without it?",
    choices={
        "a": "More than without any other head",
        "b": "Something, but other heads matter more",
        "c": "Nothing",
    },
    request=_explaining_request,
    figure=_explaining_figure,
    measured=_explaining_measured,
    answer=_explaining_answer,
    reason="Its effect is {effect:+.2f} nats, and {worse} of {others} other heads of the layer "
    "are needed more. A clear map is easy to read; that does not make it important.",
    now="Without head {head} the translation changes by **{effect:+.2f} nats**.",
    goal="Find the head that the translation needs most.",
    reached=lambda figures: figures["head"] == figures["needed"],
    missed="Not yet: head {head} has an effect of {effect:+.2f} nats, rank {rank} of {count} from "
    "the most needed.",
    conclusion="Without head {head} the translation's log-probability changes by {effect:+.2f} "
    "nats. Maps give ideas; only a change of the model tests them, and only for this sentence.",
    tries=(
        Try(
            page="heads",
            label="Without head 6 the article is wrong: “un maison”",
            query=link(TRANSFORMER_CHECKPOINT, HOUSE, off="cross.2.6"),
        ),
        Try(
            page="heads",
            label="Without head 4 the model corrects its own mistake: “blanche”",
            query=link(TRANSFORMER_CHECKPOINT, HOUSE, off="cross.2.4"),
        ),
    ),
)  # fmt: skip


_SCORES = (2, 1.5, 1, 0.5, 0, -0.5)
_LEFT = 3


def _literature_request(alpha: Scalar, _: Catalogue) -> Request:
    return Request.make(
        "anatomy", scoring="dot",
        options={
            "part": "step", "q": "1", "k": "/".join(f"{score:g}" for score in _SCORES),
            "v": "/".join("1" for _ in _SCORES), "normaliser": "entmax", "normaliser.alpha": alpha,
        },
    )  # fmt: skip


def _literature_measured(result: Result, alpha: Scalar) -> Figures:
    weights = stage(result, "weights").ravel()
    zeros = int((weights == 0).sum())
    return {
        "alpha": float(alpha),
        "zeros": zeros,
        "left": len(weights) - zeros,
        "count": len(weights),
    }


def _literature_figure(result: Result, alpha: Scalar) -> None:
    columns = [f"{score:g}".replace("-", "−") for score in _SCORES]
    numbers(result, gettext("Weights of six scores at α = {alpha}", alpha=alpha),
            stage(result, "weights").reshape(1, -1), rows=[gettext("weight")], columns=columns,
            column_title=gettext("score"))  # fmt: skip


def _literature_answer(figures: Figures) -> str:
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
    request=_literature_request,
    figure=_literature_figure,
    measured=_literature_measured,
    answer=_literature_answer,
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
