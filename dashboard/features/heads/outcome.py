"""What the model says without changes and with them, and where it looks."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from dashboard.features.heads.view import Heads
from dashboard.records.result import Result
from dashboard.ui import layout, maps, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_TITLES = {"before": "**Unchanged**", "after": "**With the changes**"}
_NOTHING = "—"


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
        before, after, fresh = compared(unchanged["translation"], facts["translation"])
        effect = _effect(facts, unchanged, fresh)
    else:
        before, after = plain(facts["translation"]) or _NOTHING, _NOTHING
        effect = "Nothing is changed yet: switch heads off below."
    with layout.grid(2):
        with shown.container(gap="xsmall", key="heads-before"):
            shown.markdown(f"{_TITLES['before']}\n## {before}")
            shown.caption(_forced(facts) + _nats("log-probability", unchanged["log_probability"]))
        with shown.container(gap="xsmall", key="heads-after"):
            shown.markdown(f"{_TITLES['after']}\n## {after}")
            shown.caption(effect)


def _effect(facts: Mapping[str, Any], unchanged: Mapping[str, Any], fresh: int) -> str:
    if facts["forced"]:
        return _forced(facts) + _nats("log-probability", facts["log_probability"])
    gone = fresh == 0 and facts["translation"] != unchanged["translation"]
    words = "words are gone" if gone else f"{fresh or 'no'} word{'s' * (fresh != 1)} changed"
    return " · ".join(
        (
            words,
            _nats("log-probability", facts["log_probability"]),
            _nats("of the unchanged words under them", unchanged["changed_log_probability"]),
        )
    )


def _forced(facts: Mapping[str, Any]) -> str:
    return "forced · " if facts["forced"] else ""


def _nats(what: str, value: float) -> str:
    return f"{what} " + f"{value:.2f}".replace("-", "−")


def attention(session: Session[Heads], result: Result, *, kind: str, name: str) -> None:
    """The maps of one kind, one large.

    Args:
        name: ``"before"`` or ``"after"``.
    """
    shown.markdown(_TITLES[name])
    if not maps.maps_of(result, kind):
        shown.caption(f"This model has no {kind} attention of its own.")
        return
    maps.attention_maps(
        result, name, session.jobs.done(), kind, session.view.selected,
        lambda selected: session.update(selected=selected),
    )  # fmt: skip
