"""What the model says without changes and with them, and where it looks."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from operator import itemgetter
from typing import Any

from dashboard.charts.summary import fixed
from dashboard.features.heads.view import FINDINGS, NEEDED, QUANTITIES, WEIGHTS, Heads, head_name
from dashboard.language import gettext, listed, ngettext, together
from dashboard.records.beside import beside
from dashboard.records.interventions import KINDS
from dashboard.records.request import Result
from dashboard.ui import charts, layout, maps, shown
from dashboard.ui.session import Session
from dashboard.ui.translations import likely, without
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["outcome"]
_WORDS = beside(__file__, "words.toml")
BUGS = ("row_sums", "padding")

# What each verdict says of a head, by its figures; both from the task, which knows the limits.
_SAYS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "row_sums": lambda h: gettext(_SAID["row_sums"], distance=_number(h["row_error"])),
    "padding": lambda h: gettext(_SAID["on_padding"], share=_share(h["padding"])),
    "eos": lambda h: gettext(_SAID["eos"], share=_share(h["eos"])),
    "stuck": lambda h: gettext(_SAID["stuck"], share=_share(h["concentration"])),
    "uniform": lambda h: gettext(_SAID["uniform"], share=_share(h["entropy"])),
    "untrained": lambda h: gettext(_SAID["untrained"], distance=h["distance"]),
}
_LISTED = 6  # heads of one map


def _share(value: float) -> str:
    return f"{value:.0%}" if value >= 0.01 else _number(value)


def _number(value: float) -> str:
    return gettext("NaN") if value != value else f"{value:.2g}"


def health_card(result: Result) -> None:
    """Bugs first, then findings map by map."""
    sites = defaultdict(list)
    for head in result.tables["heads"].to_pylist():
        sites[head["kind"], head["layer"]].append({**head, "said": head["verdicts"].split()})
    with shown.container(border=True, key="heads-health", gap="xsmall"):
        shown.markdown(gettext("**Map health**"))
        every = {verdict for own in sites.values() for head in own for verdict in head["said"]}
        bugs = [name for name in BUGS if name in every]
        for name in bugs:
            shown.error(_bug(name, result.facts["plugins"]), icon=":material/bug_report:")
        if not bugs:
            sound = _sound(result.facts)
            shown.markdown(gettext(":green-badge[:material/check: no bug] {sound}", sound=sound))
        silent = []
        for kind, layer in sorted(sites, key=lambda site: (KINDS.index(site[0]), site[1])):
            name = gettext(_WORDS["maps"][kind], layer=layer + 1)
            if not _map(name, sites[kind, layer]):
                silent.append(name)
        if len(silent) == len(sites):
            shown.caption(gettext("No findings in any map."))
        elif silent:
            shown.caption(gettext("No findings for {maps}.", maps=listed(map(plain, silent))))
        shown.caption(gettext(_SAID["finding"]))


def _sound(facts: Mapping[str, Any]) -> str:
    error, padding, tokens = facts["row_error"], facts["padding"], facts["padded_to"]
    sums = gettext("Rows sum to 1 within {error:.0e}.", error=error)
    if not tokens:
        return sums
    if padding == 0:
        said = gettext(_SAID["no_padding"], tokens=tokens)
    else:
        said = gettext(_SAID["padding"], tokens=tokens, padding=padding)
    return together((sums, plain(said)))


def _bug(name: str, plugins: Mapping[str, Mapping[str, str]]) -> str:
    made_by = {
        what: gettext(
            _WORDS["made_by"][what], name=plain(own["name"]),
            plugin=plain(f"{own['distribution']} {own['version']}"),
        )
        for what, own in plugins.items()
    }  # fmt: skip
    return gettext(FINDINGS[name]["explanation"], **made_by)


def _map(name: str, heads: list[dict[str, Any]]) -> bool:
    """A map's lines; whether there were any."""
    spoken = [head for head in heads if head["said"]]
    if not spoken:
        return False
    bad = any(verdict in BUGS for head in spoken for verdict in head["said"])
    badge = gettext(":red-badge[bug]") if bad else gettext(":blue-badge[finding]")
    lines = []
    for head in spoken[:_LISTED]:
        said = listed((_SAYS[verdict](head) for verdict in head["said"]), clauses=True)
        lines.append(gettext("head {head}: {said}", head=head["head"] + 1, said=said))
    if more := len(spoken[_LISTED:]):
        lines.append(ngettext("and {count} more head, see the table",
                              "and {count} more heads, see the table", more))  # fmt: skip
    shown.markdown(f"{badge} **{plain(name)}**  \n" + "  \n".join(map(plain, lines)))
    return True


_NEAR = 0.8  # of the largest effect: a head beyond it is named too
_MOST = 3  # heads named after the first


def answer(result: Result) -> str:
    """The head without which the translation is least likely, by how much, and its words.

    Markdown; empty where no head has an ablation effect.
    """
    effects = [head for head in result.tables["heads"].to_pylist()
               if not math.isnan(head["leave_one_out"])]  # fmt: skip
    if not effects:
        return ""
    first, *others = sorted(effects, key=itemgetter("leave_one_out"))
    loss = -first["leave_one_out"]
    what = likely(result.facts)
    if loss < NEEDED and what:
        return gettext(_SAID["none_matters"], what=what, change=fixed(NEEDED))
    if loss < NEEDED:
        return gettext(_SAID["none_translates"], change=fixed(max(loss, 0.0)))
    layer, head = first["layer"] + 1, first["head"] + 1
    name = gettext(_WORDS["heads"][first["kind"]], layer=layer, head=head)
    needed, alone = result.facts.get("needed"), result.tables["heads"].num_rows == 1
    words = changed_words(needed["translation"], needed["without"]) if needed else ""
    known = _WORDS["other" if what else "only" if alone else "matters"]
    said = known["with_words" if needed else "without_words"]
    most = gettext(said, head=name, change=fixed(loss), words=words, what=what)
    near = [one for one in others if one["leave_one_out"] <= -_NEAR * loss]
    return together((most, _close(near)))


def _close(heads: Sequence[Mapping[str, Any]]) -> str:
    if not heads:
        return ""
    names = listed(
        gettext(
            "{head} ({change} nats)",
            head=head_name(head["kind"], head["layer"] + 1, head["head"] + 1),
            change=fixed(-head["leave_one_out"]),
        )
        for head in heads[:_MOST]
    )  # fmt: skip
    if (more := len(heads) - _MOST) > 0:
        return gettext("Close behind: {heads}, and {count} more.", heads=names, count=more)
    return gettext("Close behind: {heads}.", heads=names)


_TITLES = _WORDS["titles"]
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
        same = unchanged["translation"] == facts["translation"]
        before, after, _ = compared(unchanged["translation"], facts["translation"])
        likely, loss = _likelihood(facts, unchanged), _loss(unchanged)
        # What the unchanged words lose is said beside them only where others are written.
        if not same:
            likely = gettext("{before} · {loss} with the changes", before=likely, loss=loss)
        words = changed_words(unchanged["translation"], facts["translation"])
        parts = [*[words] * (not facts["forced"]), *[loss] * same, _likelihood(facts, facts)]
        effect = " · ".join(parts)
    else:
        before, after = plain(facts["translation"]) or _NOTHING, _NOTHING
        likely = _likelihood(facts, facts)
        effect = gettext("Nothing is changed yet: tick heads in the table below.")
    with layout.grid(2):
        for name, words, said in (("before", before, likely), ("after", after, effect)):
            with shown.container(gap=None, key=f"heads-{name}"):
                shown.caption(f"{gettext(_TITLES[name])} · {said}")
                shown.markdown(f"## {words}")


def _loss(unchanged: Mapping[str, Any]) -> str:
    change = unchanged["changed_log_probability"] - unchanged["log_probability"]
    if abs(change) < _LEAST:
        return gettext("as likely as before")
    if change < 0:
        return gettext("less likely by {change} nats", change=fixed(-change))
    return gettext("more likely by {change} nats", change=fixed(change))


def changed_words(before: str, after: str) -> str:
    """How many words of ``after`` are new, in words."""
    *_, fresh = compared(before, after)
    if fresh:
        return ngettext("{count} word changed", "{count} words changed", fresh)
    return gettext("words left out") if before != after else gettext("no words changed")


def _likelihood(facts: Mapping[str, Any], of: Mapping[str, Any]) -> str:
    value = fixed(of["log_probability"])
    if facts["forced"]:
        return gettext("forced · log-probability {value}", value=value)
    return gettext("log-probability {value}", value=value)


def attention(session: Session[Heads], result: Result, *, kind: str, name: str) -> None:
    """The maps of one kind, one large, ``"before"`` or ``"after"`` the changes."""
    shown.markdown(title := gettext(_TITLES[name]))
    if not maps.maps_of(result, kind):
        shown.caption(without(kind))
        return
    shows = result.facts.get("measure", WEIGHTS)
    alike = [one for one in session.jobs.done() if one.facts.get("measure", WEIGHTS) == shows]
    scale = maps.Scale(1.0 if shows == WEIGHTS else maps.shared_scale(alike))
    charts.legend(scale.vmax, signed=maps.are_signed(alike), quantity=QUANTITIES.get(shows, ""))
    maps.attention_maps(
        result, name, alike,
        maps.Choice(
            kind, session.view.selected, lambda selected: session.update(selected=selected),
            scale=scale._replace(quantity=QUANTITIES.get(shows, scale.quantity)),
        ),
        title.strip("*") if likely(result.facts) else gettext(_WORDS["names"][name]),
    )  # fmt: skip
