"""The map health card: what is wrong with the weights of each map, and what else stands out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

from dashboard.language import gettext, gettext_noop
from dashboard.language.joining import together
from dashboard.records.interventions import KINDS
from dashboard.records.request import Result
from dashboard.ui import shown
from dashboard.ui.widgets import plain

_MAPS = {
    "cross": gettext_noop("Cross {layer}"),
    "encoder": gettext_noop("Encoder {layer}"),
    "decoder": gettext_noop("Decoder {layer}"),
}
BUGS = ("row_sums", "padding")

# What each verdict says of a head, by its figures; both from the task, which knows the limits.
_SAYS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "row_sums": lambda h: gettext(
        "a row misses the sum 1 by {distance}", distance=_number(h["row_error"])
    ),
    "padding": lambda h: gettext(
        "up to {share} of a row lies on padding", share=_share(h["padding"])
    ),
    "eos": lambda h: gettext("{share} of its weight lies on <eos>", share=_share(h["eos"])),
    "stuck": lambda h: gettext(
        "{share} of its weight lies on one word, in all rows", share=_share(h["concentration"])
    ),
    "uniform": lambda h: gettext(
        "spreads its weight evenly: {share} of the largest possible entropy",
        share=_share(h["entropy"]),
    ),
    "untrained": lambda h: gettext(
        "looks where it did before training: only {distance:.3f} bits apart",
        distance=h["distance"],
    ),
}
SHORT = {
    "row_sums": gettext_noop("bug: row sums"),
    "padding": gettext_noop("bug: padding"),
    "eos": gettext_noop("on <eos>"),
    "stuck": gettext_noop("on one word"),
    "uniform": gettext_noop("uniform"),
    "untrained": gettext_noop("as untrained"),
}
_BUGS = {
    "row_sums": gettext_noop(
        "**Bug.** The weights of a row must sum to 1. These come from {scoring} in {model}; one "
        "of the two is at fault."
    ),
    "padding": gettext_noop(
        "**Bug.** No row may put weight on padding, else a translation depends on the other "
        "sentences of its batch. {model} must pass the lengths of the sentences to the tap."
    ),
}
_MADE_BY = {
    "model": gettext_noop("the model ‘{name}’ (plugin {plugin})"),
    "scoring": gettext_noop("the scoring ‘{name}’ (plugin {plugin})"),
}
_LISTED = 6  # heads of one map


def _share(value: float) -> str:
    return f"{value:.0%}" if value >= 0.01 else _number(value)


def _number(value: float) -> str:
    return gettext("NaN") if value != value else f"{value:.2g}"


def health_card(result: Result) -> None:
    """Bugs first, then findings map by map."""
    heads = result.tables["heads"].to_pandas()
    heads["said"] = [text.split() for text in heads["verdicts"]]
    with shown.container(border=True, key="heads-health", gap="xsmall"):
        shown.markdown(gettext("**Map health**"))
        bugs = [name for name in BUGS if any(name in said for said in heads["said"])]
        for name in bugs:
            shown.error(_bug(name, result.facts["plugins"]), icon=":material/bug_report:")
        if not bugs:
            sound = _sound(result.facts)
            shown.markdown(gettext(":green-badge[:material/check: no bug] {sound}", sound=sound))
        silent = []
        sites = dict(list(heads.groupby(["kind", "layer"], sort=False)))
        for kind, layer in sorted(sites, key=lambda site: (KINDS.index(site[0]), site[1])):
            own = sites[kind, layer]
            name = gettext(_MAPS[kind], layer=layer + 1)
            if not _map(name, own.to_dict("records")):
                silent.append(name)
        if len(silent) == len(sites):
            shown.caption(gettext("No findings in any map."))
        elif silent:
            maps = _joined(gettext_noop("{some}, {more}"), map(plain, silent))
            shown.caption(gettext("No findings for {maps}.", maps=maps))
        shown.caption(
            gettext(
                "A finding is not an error: trained heads often look at one word alone, or do "
                "little, while others do the work."
            )
        )


def _sound(facts: Mapping[str, Any]) -> str:
    error, padding, tokens = facts["row_error"], facts["padding"], facts["padded_to"]
    sums = gettext("Rows sum to 1 within {error:.0e}.", error=error)
    if not tokens:
        return sums
    if padding == 0:
        said = gettext(
            "No weight lies on padding when a longer sentence in the batch pads this one to "
            "{tokens} tokens, <eos> included.",
            tokens=tokens,
        )
    else:
        said = gettext(
            "At most {padding:.0e} of a row's weight lies on padding when a longer sentence in "
            "the batch pads this one to {tokens} tokens, <eos> included.",
            tokens=tokens, padding=padding,
        )  # fmt: skip
    return together((sums, plain(said)))


def _bug(name: str, plugins: Mapping[str, Mapping[str, str]]) -> str:
    made_by = {
        what: gettext(
            _MADE_BY[what], name=plain(own["name"]),
            plugin=plain(f"{own['distribution']} {own['version']}"),
        )
        for what, own in plugins.items()
    }  # fmt: skip
    return gettext(_BUGS[name], **made_by)


def _map(name: str, heads: list[dict[str, Any]]) -> bool:
    """A map's lines; whether there were any."""
    spoken = [head for head in heads if head["said"]]
    if not spoken:
        return False
    bad = any(verdict in BUGS for head in spoken for verdict in head["said"])
    badge = gettext(":red-badge[bug]") if bad else gettext(":blue-badge[finding]")
    lines = [_line(head) for head in spoken[:_LISTED]]
    if more := len(spoken[_LISTED:]):
        lines.append(gettext("and {count} more heads, see the table", count=more))
    shown.markdown(f"{badge} **{plain(name)}**  \n" + "  \n".join(map(plain, lines)))
    return True


def _line(head: Mapping[str, Any]) -> str:
    """What there is to say of one head."""
    said = _joined(
        gettext_noop("{some}; {more}"), (_SAYS[verdict](head) for verdict in head["said"])
    )
    return gettext("head {head}: {said}", head=head["head"] + 1, said=said)


def _joined(two: str, texts: Iterable[str]) -> str:
    """Texts beside each other.

    Args:
        two: how two stand beside each other.
    """
    return reduce(lambda some, more: gettext(two, some=some, more=more), texts)
