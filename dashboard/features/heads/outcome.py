"""What the model says without changes and with them, and where it looks."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from dashboard.features.heads.view import Heads
from dashboard.language import gettext, gettext_noop, ngettext
from dashboard.records.result import Result
from dashboard.ui import layout, maps, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_TITLES = {
    "before": gettext_noop("**Unchanged**"),
    "after": gettext_noop("**With the changes**"),
}
_NAMES = {
    "before": gettext_noop("the unchanged translation"),
    "after": gettext_noop("the changed translation"),
}
_WITHOUT = {
    "cross": gettext_noop("This model has no cross-attention."),
    "encoder": gettext_noop("This model has no self-attention in its encoder."),
    "decoder": gettext_noop("This model has no self-attention in its decoder."),
}
_NOTHING = "—"
_LEAST = 0.005  # nats; less is written as 0.00


def compared(before: str, after: str) -> tuple[str, str, int]:
    """Both texts as Markdown, and how many words of ``after`` are new.

    Words that vanished are struck through in the first, new ones stand out in the second.
    """
    old, new = before.split(), after.split()
    left: list[str] = []
    right: list[str] = []
    fresh = 0
    for same, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = map(plain, old[a:b]), map(plain, new[c:d])
        if same == "equal":
            left += gone
            right += come
        else:
            left += [f"~~{word}~~" for word in gone]
            right += [f":orange-background[:orange[{word}]]" for word in come]
            fresh += d - c
    return " ".join(left) or _NOTHING, " ".join(right) or _NOTHING, fresh


def outcome(result: Result) -> None:
    """The translation without changes, and beside it the one with them."""
    facts = result.facts
    unchanged = facts.get("unchanged", facts)
    if "unchanged" in facts:
        before, after, _ = compared(unchanged["translation"], facts["translation"])
        likely, effect = _likely(facts, unchanged), _effect(facts, unchanged)
    else:
        before, after = plain(facts["translation"]) or _NOTHING, _NOTHING
        likely = _likelihood(facts, facts)
        effect = gettext("Nothing is changed yet: tick heads in the table below.")
    with layout.grid(2):
        for name, words, said in (("before", before, likely), ("after", after, effect)):
            with shown.container(gap=None, key=f"heads-{name}"):
                shown.caption(f"{gettext(_TITLES[name])} · {said}")
                shown.markdown(f"## {words}")


def _likely(facts: Mapping[str, Any], unchanged: Mapping[str, Any]) -> str:
    """How likely the unchanged translation is, and what it loses where others words are written.

    Where the words stay, :func:`_effect` says what they lose.
    """
    before = _likelihood(facts, unchanged)
    if facts["translation"] == unchanged["translation"]:
        return before
    return gettext("{before} · {loss} with the changes", before=before, loss=_loss(unchanged))


def _effect(facts: Mapping[str, Any], unchanged: Mapping[str, Any]) -> str:
    before, after = unchanged["translation"], facts["translation"]
    said = [] if facts["forced"] else [changed_words(before, after)]
    if before == after:
        said.append(_loss(unchanged))
    return " · ".join([*said, _likelihood(facts, facts)])


def _loss(unchanged: Mapping[str, Any]) -> str:
    """How much less likely the changes make the unchanged translation."""
    change = unchanged["changed_log_probability"] - unchanged["log_probability"]
    if abs(change) < _LEAST:
        return gettext("as likely as before")
    if change < 0:
        return gettext("less likely by {change} nats", change=nats(-change))
    return gettext("more likely by {change} nats", change=nats(change))


def changed_words(before: str, after: str) -> str:
    """How many words of ``after`` are new, in words."""
    *_, fresh = compared(before, after)
    if fresh:
        return ngettext("{count} word changed", "{count} words changed", fresh)
    return gettext("words left out") if before != after else gettext("no words changed")


def _likelihood(facts: Mapping[str, Any], of: Mapping[str, Any]) -> str:
    """How likely a translation is, and whether it was forced."""
    value = nats(of["log_probability"])
    if facts["forced"]:
        return gettext("forced · log-probability {value}", value=value)
    return gettext("log-probability {value}", value=value)


def nats(value: float) -> str:
    """A log-probability, or a change of one, as it is read."""
    return f"{value:.2f}".replace("-", "−")


def attention(session: Session[Heads], result: Result, *, kind: str, name: str) -> None:
    """The maps of one kind, one large.

    Args:
        name: ``"before"`` or ``"after"``.
    """
    shown.markdown(gettext(_TITLES[name]))
    if not maps.maps_of(result, kind):
        shown.caption(gettext(_WITHOUT[kind]))
        return
    maps.attention_maps(
        result, name, session.jobs.done(), kind, session.view.selected,
        lambda selected: session.update(selected=selected), name=gettext(_NAMES[name]),
    )  # fmt: skip
