"""The map health card: what is wrong with the weights of each map, and what else stands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dashboard.records.interventions import KINDS
from dashboard.records.result import Result
from dashboard.ui import shown
from dashboard.ui.widgets import plain

_KIND_NAMES = {"cross": "Cross", "encoder": "Encoder", "decoder": "Decoder"}
BUGS = ("row_sums", "padding")

# What each verdict says of a head, by its figures; both from the task, which knows the limits.
_SAYS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "row_sums": lambda h: f"a row misses the sum 1 by {_number(h['row_error'])}",
    "padding": lambda h: f"up to {_share(h['padding'])} of a row lies on padding",
    "eos": lambda h: f"{_share(h['eos'])} of its weight lies on <eos>",
    "stuck": lambda h: f"{_share(h['concentration'])} of its weight lies on one word, in all rows",
    "uniform": lambda h: (
        f"looks everywhere alike: {_share(h['entropy'])} of the largest possible entropy"
    ),
    "untrained": lambda h: (
        f"looks where it looked before training: {h['distance']:.3f} bits apart"
    ),
}
SHORT = {
    "row_sums": "bug: rows off 1", "padding": "bug: padding", "eos": "on <eos>",
    "stuck": "on one word", "uniform": "uniform", "untrained": "as untrained",
}  # fmt: skip
_FAULTS = {
    "row_sums": "Weights of a row must sum to 1. These are made of the scores of {scoring} in "
    "{model}; one of the two gives numbers that are no weights.",
    "padding": "No row may look at padding: a sentence's translation then hangs on its "
    "neighbours in the batch. {model} must hand the sentences' lengths to the tap.",
}
_LISTED = 6  # heads of one map


def _share(value: float) -> str:
    return f"{value:.0%}" if value >= 0.01 else _number(value)


def _number(value: float) -> str:
    return "what is no number" if value != value else f"{value:.2g}"


def health_card(result: Result) -> None:
    """Bugs first, then findings map by map."""
    heads = result.tables["heads"].to_pandas()
    heads["said"] = [text.split() for text in heads["verdicts"]]
    with shown.container(border=True, key="heads-health", gap="xsmall"):
        shown.markdown("**Map health**")
        bugs = [name for name in BUGS if any(name in said for said in heads["said"])]
        for name in bugs:
            shown.error(_fault(name, result.facts["plugins"]), icon=":material/bug_report:")
        if not bugs:
            shown.markdown(f":green-badge[:material/check: no bug] {_sound(result.facts)}")
        silent = []
        maps = dict(list(heads.groupby(["kind", "layer"], sort=False)))
        for kind, layer in sorted(maps, key=lambda site: (KINDS.index(site[0]), site[1])):
            own = maps[kind, layer]
            name = f"{_KIND_NAMES[kind]} {layer + 1}"
            if not _map(name, own.to_dict("records")):
                silent.append(name)
        if silent:
            shown.caption(f"No findings for {', '.join(map(plain, silent))}.")
        shown.caption(
            "A finding is no fault: heads do end on one word or stay idle while the others work."
        )


def _sound(facts: Mapping[str, Any]) -> str:
    words = f"Rows sum to 1 within {facts['row_error']:.0e}"
    if facts["padded_to"]:
        padding = facts["padding"]
        least = "none" if padding == 0 else f"at most {padding:.0e}"
        words += (
            f"; of the weight, {least} lies on padding beside a sentence of "
            f"{facts['padded_to']} tokens"
        )
    return f"{words}."


def _fault(name: str, plugins: Mapping[str, Mapping[str, str]]) -> str:
    made_by = {
        what: f"the {what} ‘{plain(own['name'])}’ (plugin "
        + plain(f"{own['distribution']} {own['version']}")
        + ")"
        for what, own in plugins.items()
    }
    sentence = _FAULTS[name].format(**made_by)
    return f"**Bug.** {sentence}"


def _map(name: str, heads: list[dict[str, Any]]) -> bool:
    """A map's lines; whether there were any."""
    spoken = [head for head in heads if head["said"]]
    if not spoken:
        return False
    bad = any(verdict in BUGS for head in spoken for verdict in head["said"])
    badge = ":red-badge[bug]" if bad else ":blue-badge[finding]"
    lines = [
        f"head {head['head'] + 1}: " + "; ".join(_SAYS[verdict](head) for verdict in head["said"])
        for head in spoken[:_LISTED]
    ]
    if len(spoken) > _LISTED:
        lines.append(f"and {len(spoken) - _LISTED} more heads, see the table")
    shown.markdown(f"{badge} **{plain(name)}**  \n" + "  \n".join(map(plain, lines)))
    return True
