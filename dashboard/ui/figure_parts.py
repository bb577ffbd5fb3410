"""What of a page can be one figure: all its panels, the charts of a section, or one chart.

And the caption of such a figure: what is seen, and what computed it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from dashboard.language import ended, gettext, gettext_noop, listed, together, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result, Scalar, is_upload
from dashboard.storage.bundle import versions
from dashboard.storage.seen import Chart, Group, Text, Value, whole
from dashboard.ui import upload
from dashboard.ui.layout import data_title, setting_words

LEGEND = "colours-from-weight"  # begins the name of a page's legend, which a figure has anyway
_ESCAPED = re.compile(r"\\([^a-zA-Z0-9\s])")  # as `plain` of widgets.py writes it
_MOST_SETTINGS = 4  # of a panel, in the caption
# In English and in Chinese: a run may have been kept in another language than it is read in.
_AFTER_SENTENCE, _AFTER_TITLE = re.compile(r"\. |。"), re.compile(r": |：")


@dataclass(frozen=True, kw_only=True)
class FigurePanel:
    """Charts below each other in a figure; ``said`` and ``marks`` are for its caption."""

    charts: tuple[str, ...]
    title: str = ""
    said: str = ""
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FigurePart:
    """What can be one figure: ``shown`` is what all panels show, where they show the same."""

    title: str
    panels: tuple[FigurePanel, ...]
    shown: str = ""

    @property
    def marks(self) -> tuple[str, ...]:
        """What the marks of all panels mean, each sentence once."""
        return tuple(dict.fromkeys(mark for panel in self.panels for mark in panel.marks))


class _Found(NamedTuple):
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
    parts: dict[tuple[FigurePanel, ...], FigurePart] = {}
    for title, charts in several:
        panels = tuple(_panels(charts))
        if len(panels) > 1:
            parts.setdefault(panels, FigurePart(title=title, panels=panels, shown=_common(charts)))
    return [*parts.values(), *map(_alone, found)]


def _common(charts: list[_Found]) -> str:
    kinds = {_kind(_first(one.chart.alt), one.panel) if one.panel else "" for one in charts}
    return kinds.pop() if len(kinds) == 1 else ""


def _alike(compared: list[_Found]) -> Iterator[tuple[str, list[_Found]]]:
    kinds: dict[str, list[_Found]] = {}
    for one in compared:
        kinds.setdefault(_kind(_first(one.chart.alt), one.panel), []).append(one)
    for kind, charts in kinds.items():
        yield gettext("All panels: {kind}", kind=kind), charts


def _kind(shown: str, panel: Group | None) -> str:
    if panel is None:
        return shown
    form = gettext("{what} of panel {letter}", what="\n", letter=panel.letter)
    before, _, after = form.partition("\n")
    return shown.removeprefix(before).removesuffix(after)


def _charts(group: Group, panel: Group | None = None, section: str = "") -> Iterator[_Found]:
    """Every chart; a heading counts until its group ends, or the next one."""
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
                charts=(one.chart.name,), title=_first(one.chart.alt),
                said=_sentence(one.chart.alt), marks=_marks([one]),
            )  # fmt: skip
        elif not any(one.panel is panel for panel in done):
            done.append(one.panel)
            own = [other for other in found if other.panel is one.panel]
            yield FigurePanel(
                charts=tuple(other.chart.name for other in own), title=one.panel.title,
                said=_described(one.panel), marks=_marks(own),
            )  # fmt: skip


def _marks(found: list[_Found]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.chart.marks for one in found if one.chart.marks))


def _alone(found: _Found) -> FigurePart:
    shown = said = _sentence(found.chart.alt)
    if found.panel:
        kind = _kind(shown, found.panel)
        said = gettext("{title}: {shown}", title=kind, shown=_described(found.panel))
    title = shown
    if found.section:
        title = gettext("{title}: {shown}", title=found.section, shown=shown)
    panel = FigurePanel(charts=(found.chart.name,), said=said, marks=_marks([found]))
    return FigurePart(title=title, panels=(panel,))


def _described(panel: Group) -> str:
    """What the page says of a panel; else its title with what its controls are set to.

    Switches that are off are left out.
    """
    if panel.said:
        return panel.said
    values = [block for block in whole(panel.blocks) if isinstance(block, Value)]
    off = ("off", gettext("off"))  # in English and in this language
    settings = [one for one in values if one.kind == "setting" and one.value not in off]
    words = [f"{one.label} {one.value}" for one in settings]
    return listed([panel.title, *words[:_MOST_SETTINGS]])


def _sentence(alt: str) -> str:
    """What a chart shows, without how it is used."""
    return _AFTER_SENTENCE.split(alt, maxsplit=1)[0]


def _first(alt: str) -> str:
    """What a chart shows, without how it is read."""
    return _AFTER_TITLE.split(_sentence(alt), maxsplit=1)[0]


TITLE = "Attention Workbench"

_LONGEST_LINK = 500  # characters; a longer one stands in the BibTeX alone
_OF_DATA = "data."  # before the options of a request that are its data's


@dataclass(frozen=True, kw_only=True)
class Made:
    """What a page shows, and what it was computed with.

    Args:
        results: what it was drawn from.
        catalogue: what is installed.
        english, installed: title and catalogue in English, where the others are not.
    """

    title: str
    link: str
    results: Sequence[tuple[Request, Result]]
    catalogue: Catalogue
    english: str = ""
    installed: Catalogue | None = None


def is_local(link: str) -> bool:
    """Whether an address leads elsewhere on other machines, or outside this network."""
    host = urlsplit(link).hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local"))


def caption(made: Made, part: FigurePart) -> str:
    """What is seen, of which data, what computed it, and where it can be seen again."""
    shows = gettext("{title}: {shown}", title=made.title, shown=part.shown)
    sentences = [ended(shows if part.shown else made.title)]
    if len(part.panels) == 1:
        shown = ended(part.panels[0].said)
        sentences = [gettext("{title}: {shown}", title=made.title, shown=shown)]
    for number, panel in enumerate(part.panels if len(part.panels) > 1 else ()):
        sentences.append(f"({chr(ord('a') + number % 26)}) {ended(panel.said)}")
    sentences += part.marks
    known = made.catalogue.checkpoints
    models = listed(dict.fromkeys(known[r.data].title for r, _ in made.results if r.data in known))
    # A record tells by its marks what it is of; its request only asks for it.
    asked = [one for one in made.results if "recorded" not in one[1].facts]
    data = listed(_data_of(replace(made, results=asked)))
    if models:
        sentences.append(gettext("Model: {models}.", models=models))
    seeds = ", ".join(map(str, sorted({request.seed for request, _ in asked})))
    if data:
        sentences.append(gettext("Data: {data}.", data=data))
    if seeds:
        sentences.append(gettext("Seed: {seeds}.", seeds=seeds))
    sentences.append(translated(computed_with(made)))
    link = made.link if len(made.link) <= _LONGEST_LINK and not is_local(made.link) else ""
    return " ".join(filter(None, (together(sentences), link)))


def computed_with(made: Made) -> str:
    """The sentence that names versions and commit, as far as results say them; in English."""
    version, found = versions().get("attention-workbench", ""), environment(made)
    program = f"{TITLE} {version}".rstrip()
    if commit := found.get("commit"):
        program = gettext_noop("{program} (commit {commit})", program=program, commit=commit)
    if torch := found.get("torch"):
        return gettext_noop(
            "Computed with {program} and torch {version}.", program=program, version=torch
        )
    return gettext_noop("Computed with {program}.", program=program)


def environment(made: Made) -> Mapping[str, str]:
    """What the first result says that it was made with."""
    return next((result.facts["environment"] for _, result in made.results
                 if result.facts.get("environment")), {})  # fmt: skip


def _data_of(made: Made) -> Iterator[str]:
    asked: dict[str, list[dict[str, Scalar]]] = {}
    for request, _ in made.results:
        if request.data and request.data not in made.catalogue.checkpoints:
            asked.setdefault(request.data, []).append(dict(request.options))
    for name, options in asked.items():
        entry = made.catalogue.datasets.get(name)
        words = []
        for spec in entry.parameters if entry else ():
            first, *others = {one.get(f"{_OF_DATA}{spec.name}") for one in options}
            if first is not None and not others:
                words.append(setting_words(spec, first))
        title, said = _data(name, made.catalogue), listed(words)
        yield gettext("{data} ({settings})", data=title, settings=said) if words else title


def _data(name: str, catalogue: Catalogue) -> str:
    if is_upload(name):
        return upload.any_title(name)
    return data_title(name, catalogue) if name in catalogue.datasets else name
