"""Which head the translation needs most, in words."""

from __future__ import annotations

import pandas as pd

from dashboard.features.heads.figures import NEEDED
from dashboard.features.heads.listing import head_name
from dashboard.features.heads.outcome import changed_words, nats
from dashboard.language import gettext, gettext_noop
from dashboard.language.joining import listed, together
from dashboard.records.result import Result

_NEAR = 0.8  # of the largest effect: a head beyond it is named too
_MOST = 3  # heads named after the first
_HEADS = {
    "cross": gettext_noop("Cross-attention layer {layer}, head {head}"),
    "encoder": gettext_noop("Encoder self-attention layer {layer}, head {head}"),
    "decoder": gettext_noop("Decoder self-attention layer {layer}, head {head}"),
}


def answer(result: Result) -> str:
    """The head without which the translation is least likely, by how much, and its words.

    Args:
        result: of the task ``heads``.

    Returns:
        Markdown; empty where no head has an ablation effect.
    """
    heads = result.tables["heads"].to_pandas().dropna(subset=["leave_one_out"])
    if heads.empty:
        return ""
    heads = heads.sort_values("leave_one_out", kind="stable")
    first, loss = heads.iloc[0], -float(heads["leave_one_out"].iloc[0])
    if loss < NEEDED:
        return gettext(
            "**No single head matters much for this sentence**: without any one of them, the "
            "translation is less likely by at most {change} nats.",
            change=nats(max(loss, 0.0)),
        )  # fmt: skip
    name = gettext(_HEADS[first["kind"]], layer=first["layer"] + 1, head=first["head"] + 1)
    close = heads[heads["leave_one_out"] <= -_NEAR * loss].iloc[1:]
    alone = result.tables["heads"].num_rows == 1
    return together((_most(result, name, loss, alone=alone), _close(close)))


def _most(result: Result, name: str, loss: float, *, alone: bool) -> str:
    needed = result.facts.get("needed")
    words = changed_words(needed["translation"], needed["without"]) if needed else ""
    if alone:
        return _only(name, loss, words)
    if needed is None:
        return gettext(
            "**{head}** matters most for this sentence: without it, the translation is less "
            "likely by {change} nats.",
            head=name, change=nats(loss),
        )  # fmt: skip
    return gettext(
        "**{head}** matters most for this sentence: without it, the translation is less likely "
        "by {change} nats, with {words}.",
        head=name, change=nats(loss), words=words,
    )  # fmt: skip


def _only(name: str, loss: float, words: str) -> str:
    if not words:
        return gettext(
            "**{head}** is the only head of this model: without it, the translation is less "
            "likely by {change} nats.",
            head=name, change=nats(loss),
        )  # fmt: skip
    return gettext(
        "**{head}** is the only head of this model: without it, the translation is less likely "
        "by {change} nats, with {words}.",
        head=name, change=nats(loss), words=words,
    )  # fmt: skip


def _close(heads: pd.DataFrame) -> str:
    if heads.empty:
        return ""
    names = listed(
        gettext(
            "{head} ({change} nats)",
            head=head_name(head["kind"], head["layer"] + 1, head["head"] + 1),
            change=nats(-head["leave_one_out"]),
        )
        for head in heads.head(_MOST).to_dict("records")
    )  # fmt: skip
    if (more := len(heads) - _MOST) > 0:
        return gettext("Close behind: {heads}, and {count} more.", heads=names, count=more)
    return gettext("Close behind: {heads}.", heads=names)
