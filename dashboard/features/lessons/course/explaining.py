"""Lesson 10: what attention weights explain, and what they do not."""

from __future__ import annotations

from dashboard.features.lessons.course.models import HOUSE, TRANSFORMER, link
from dashboard.features.lessons.figures import lines
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.language import gettext, gettext_noop
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_HEADS = 8
_LAYER = 2
_SHARP = 8
_PERCENT = 100
_EFFECT, _WITHOUT = gettext_noop("effect"), gettext_noop("without the head")


def _request(_head: Scalar, catalogue: Catalogue) -> Request | None:
    if TRANSFORMER not in catalogue.checkpoints:
        return None
    return Request.make("heads", data=TRANSFORMER, options={"text": HOUSE, "target": ""})


def _rows(result: Result) -> dict[int, tuple[float, float]]:
    """Entropy and ablation effect of the layer's heads, by their number from 1."""
    return {
        row["head"] + 1: (row["entropy"], row["leave_one_out"])
        for row in result.tables["heads"].to_pylist()
        if (row["kind"], row["layer"]) == ("cross", _LAYER - 1)
    }


def _measured(result: Result, head: Scalar) -> Figures:
    rows, at = _rows(result), int(head)
    entropy, effect = rows[at]
    worse = sum(other < effect for _, other in rows.values())
    return {
        "head": at, "entropy": entropy, "effect": effect,
        "sharpest": min(rows, key=lambda one: rows[one][0]),
        "worse": worse, "rank": worse + 1, "count": len(rows),
        "needed": min(rows, key=lambda one: rows[one][1]), "others": len(rows) - 1,
    }  # fmt: skip


def _figure(result: Result, head: Scalar) -> None:
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


def _answer(figures: Figures) -> str:
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
    request=_request,
    figure=_figure,
    measured=_measured,
    answer=_answer,
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
            query=link(TRANSFORMER, HOUSE, off="cross.2.6"),
        ),
        Try(
            page="heads",
            label="Without head 4 the model corrects its own mistake: “blanche”",
            query=link(TRANSFORMER, HOUSE, off="cross.2.4"),
        ),
    ),
)  # fmt: skip
