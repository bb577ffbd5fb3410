"""What of a page can be one figure: all its panels, the charts of a section, or one chart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dashboard.language import gettext
from dashboard.language.joining import listed
from dashboard.storage.seen import Chart, Group, Text, Value, whole
from dashboard.ui.shown import is_off

LEGEND = "colours-from-weight"  # begins the name of a page's legend, which a figure has anyway
_ESCAPED = re.compile(r"\\([^a-zA-Z0-9\s])")  # as `plain` of widgets.py writes it
_MOST_SETTINGS = 4  # of a panel, in the caption
# In English and in Chinese: a run may have been kept in another language than it is read in.
_AFTER_SENTENCE, _AFTER_TITLE = re.compile(r"\. |。"), re.compile(r": |：")


@dataclass(frozen=True, kw_only=True)
class FigurePanel:
    """Charts that stand below each other in a figure.

    Args:
        charts: names, as the page was noted.
        title: what stands over them.
        said: what a caption says of them.
    """

    charts: tuple[str, ...]
    title: str = ""
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class FigurePart:
    """What can be one figure; ``title`` is what a reader chooses it by."""

    title: str
    panels: tuple[FigurePanel, ...]


class _Found(NamedTuple):
    """A chart with the panel and the section that it stands in."""

    chart: Chart
    panel: Group | None
    section: str


def figure_parts(seen: Group) -> list[FigurePart]:
    """What a reader may choose from, the comparisons first."""
    found = list(_charts(seen))
    letters = {one.panel.letter for one in found if one.panel}
    if len(letters) < 2:  # a letter that has no other beside it
        found = [one._replace(panel=None) for one in found]
    compared = [one for one in found if one.panel]
    several = [(gettext("All panels"), compared), *_alike(compared)]
    sections = dict.fromkeys(one.section for one in found if one.section)
    several += [(name, [one for one in found if one.section == name]) for name in sections]
    several.append((gettext("All charts"), found))
    parts: dict[tuple[FigurePanel, ...], str] = {}
    for title, charts in several:
        panels = tuple(_panels(charts))
        if len(panels) > 1:
            parts.setdefault(panels, title)
    made = [FigurePart(title=title, panels=panels) for panels, title in parts.items()]
    return [*made, *map(_alone, found)]


def _alike(compared: list[_Found]) -> Iterator[tuple[str, list[_Found]]]:
    """Yield what shows the same of several panels, where a panel has several charts."""
    kinds: dict[str, list[_Found]] = {}
    for one in compared:
        assert one.panel
        kinds.setdefault(_kind(one.chart, one.panel.letter), []).append(one)
    for kind, charts in kinds.items():
        yield gettext("All panels: {kind}", kind=kind), charts


def _kind(chart: Chart, letter: str) -> str:
    """What a chart of a panel shows, whichever panel it is of."""
    form = gettext("{what} of panel {letter}", what="\n", letter=letter)
    before, _, after = form.partition("\n")
    return _first(chart.alt).removeprefix(before).removesuffix(after)


def _charts(group: Group, panel: Group | None = None, section: str = "") -> Iterator[_Found]:
    """Every chart in its order; a heading counts until its group ends, or the next one."""
    for block in group.blocks:
        if isinstance(block, Text) and block.kind == "heading":
            section = _ESCAPED.sub(r"\1", block.text)
        elif isinstance(block, Group):
            yield from _charts(block, block if block.letter else panel, section)
        elif isinstance(block, Chart) and not block.name.startswith(LEGEND):
            yield _Found(block, panel, section)


def _panels(found: list[_Found]) -> Iterator[FigurePanel]:
    """The charts of a panel of the page together, each other one by itself."""
    done: list[Group] = []
    for one in found:
        if one.panel is None:
            yield FigurePanel(
                charts=(one.chart.name,),
                title=_first(one.chart.alt),
                said=_sentence(one.chart.alt),
            )
        elif not any(one.panel is panel for panel in done):
            done.append(one.panel)
            own = tuple(other.chart.name for other in found if other.panel is one.panel)
            yield FigurePanel(charts=own, title=one.panel.title, said=_described(one.panel))


def _alone(found: _Found) -> FigurePart:
    shown = said = _sentence(found.chart.alt)
    if found.panel:
        said = gettext("{title}: {shown}", title=shown, shown=_described(found.panel))
    title = shown
    if found.section:
        title = gettext("{title}: {shown}", title=found.section, shown=shown)
    return FigurePart(title=title, panels=(FigurePanel(charts=(found.chart.name,), said=said),))


def _described(panel: Group) -> str:
    """A panel's title with what its controls are set to; without switches that are off."""
    values = [block for block in whole(panel.blocks) if isinstance(block, Value)]
    settings = [one for one in values if one.kind == "setting" and not is_off(one.value)]
    words = [f"{one.label} {one.value}" for one in settings]
    return listed([panel.title, *words[:_MOST_SETTINGS]])


def _sentence(alt: str) -> str:
    """What a chart shows, without how it is used."""
    return _AFTER_SENTENCE.split(alt, maxsplit=1)[0]


def _first(alt: str) -> str:
    """What a chart shows, without how it is read."""
    return _AFTER_TITLE.split(_sentence(alt), maxsplit=1)[0]
