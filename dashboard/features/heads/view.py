"""What the page *Heads* shows, its link, and its requests.

``/heads?a=transformer.scaled_dot&text=go .&off=cross.2.3,cross.2.4&uniform=encoder.1.all`` and
``&pin=cross.2.1:3>0&kind=decoder&sort=entropy&only=distance<0.1&map=2.3&shows=norms``. The
sentence and the model are written as on the page *Translation*, the changes as in
:mod:`dashboard.records.interventions`; ``other`` is the sentence of patches.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from dashboard.language import gettext, gettext_noop, translated
from dashboard.links import fits
from dashboard.links.fields import AUTO, Choice, Text, device
from dashboard.links.link import Field, Link, Reader, View
from dashboard.links.panels import SENTENCE, corpus, kind, one_kind, read_map, text, usual_sentence
from dashboard.records import interventions
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.interventions import Change
from dashboard.records.request import Request
from dashboard.records.text import shown

_SAID = beside(__file__, "words.toml")["view"]
PLACE = "place"  # in the model: layer by layer
FINDING, CHANGED = "finding", "changed"
LARGEST = 1e6  # of a filter's number
NEEDED = 0.05  # nats: a translation that loses less without a head hardly needs it
_TABLES = beside(__file__, "heads.toml")
FIGURE_TEXTS, FINDINGS = _TABLES["figures"], _TABLES["findings"]
FIGURES = tuple(FIGURE_TEXTS)
FIGURE_TITLES = {name: texts["title"] for name, texts in FIGURE_TEXTS.items()}
_PLACES = beside(__file__, "words.toml")["places"]

SORTS = (*FIGURES, PLACE)
_RENAMED = {"stuckness": "concentration"}  # as links call them that were shared before
_NAMES = "|".join((*FIGURES, *_RENAMED))
_ONLY = re.compile(rf"({_NAMES})([<>])(-?[0-9]{{1,7}}(\.[0-9]{{1,9}})?)\Z")


@dataclass(frozen=True, kw_only=True)
class Only:
    """Which heads are listed: those whose ``figure`` is at least (``>``) or at most ``number``.

    :data:`FINDING` and :data:`CHANGED` take no sign.
    """

    figure: str
    sign: str = ""
    number: float = 0.0

    def __str__(self) -> str:
        if not self.sign:
            return self.figure
        return f"{self.figure}{self.sign}{self.number:.9f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, kw_only=True)
class SortField(Choice[View]):
    """The figure by which heads are sorted."""

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.given(self.name)
        if given in _RENAMED:
            reader.take(self.name)
            return _RENAMED[given]
        return super().read(reader, view, catalogue)


@dataclass(frozen=True, kw_only=True)
class OnlyField(Field[View, Only | None]):
    """Which heads are listed; all where the link does not say."""

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> Only | None:
        """See :meth:`Field.read`."""
        given = reader.take(self.name)
        if given is None:
            return None
        if given in (FINDING, CHANGED):
            return Only(figure=given)
        found = _ONLY.match(given)
        if found and math.fabs(float(found[3])) <= LARGEST:
            figure = _RENAMED.get(found[1], found[1])
            return Only(figure=figure, sign=found[2], number=float(found[3]))
        reader.problem(
            gettext(
                _SAID["figure"], parameter=self.name, given=shown(given), finding=FINDING,
                changed=CHANGED, figures=", ".join(FIGURES),
            )
        )  # fmt: skip
        return None

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        only = self.of(view)
        return {self.name: str(only)} if only else {}


TASK = "heads"
EVERY_KIND = "all"
SHOWN_KINDS = (*interventions.KINDS, EVERY_KIND)
_WORDS = beside(__file__, "words.toml")
SHOWN_TITLES, MEANINGS, QUANTITIES = _WORDS["shows"], _WORDS["means"], _WORDS["quantities"]
WEIGHTS, *_ = SHOWN = tuple(SHOWN_TITLES)  # what maps show
_PANEL = "a"
_USUAL = "transformer.scaled_dot"


@dataclass(frozen=True, kw_only=True)
class Heads:
    """What the page shows.

    Args:
        checkpoint: as panels name it, see :mod:`dashboard.links.fits`.
        corpus: what it was trained on.
        text, target: the sentence, and the translation that is forced; empty for the model's own.
        changes: to its heads, in order.
        kind: of the heads that are listed.
        sort: the figure by which they are sorted, or their place in the model.
        only: which of them are listed.
        selected: the map shown large, ``layer.head`` or ``layer.mean``; empty: the usual one.
        shows, other: one of :data:`SHOWN`; from which sentence patched heads take their outputs.
    """

    checkpoint: str
    corpus: str = ""
    text: str = SENTENCE
    target: str = ""
    device: str = AUTO
    changes: tuple[Change, ...] = ()
    kind: str = interventions.KINDS[0]
    sort: str = SORTS[0]
    only: Only | None = None
    selected: str = ""
    shows: str = WEIGHTS
    other: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckpointField(Field[Heads, str]):
    """The one checkpoint, named like the first panel of other pages."""

    def read(self, reader: Reader, view: Heads, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        usual = usual_checkpoint(catalogue, view.corpus)
        given = reader.take(_PANEL)
        if given is None:
            return usual
        found = fits.named(catalogue, view.corpus, given)
        if not found:
            reader.problem(
                gettext(
                    _SAID["panel"], parameter=_PANEL, given=shown(given),
                    example=translated(fits.EXAMPLE), usual=usual,
                )
            )  # fmt: skip
        return found or usual

    def write(self, view: Heads, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        usual = usual_checkpoint(catalogue, view.corpus)
        return {} if view.checkpoint == usual else {_PANEL: view.checkpoint}


@dataclass(frozen=True, kw_only=True)
class ChangesField(Field[Heads, tuple[Change, ...]]):
    """The changes to heads: a parameter of the link for each action."""

    def read(self, reader: Reader, view: Heads, catalogue: Catalogue) -> tuple[Change, ...]:
        """See :meth:`Field.read`."""
        found: list[Change] = []
        for action in interventions.ACTIONS:
            for part in (reader.take(action) or "").split(","):
                try:
                    found += [interventions.read_change(action, part)] if part else []
                except ValueError as error:
                    reader.problem(
                        gettext(
                            "{parameter}={given}: {problem}; ignored",
                            parameter=action, given=shown(part), problem=translated(str(error)),
                        )
                    )  # fmt: skip
        if len(found) > interventions.MOST_CHANGES:
            reader.problem(
                gettext(_SAID["too_many"], count=len(found), most=interventions.MOST_CHANGES)
            )
        return interventions.in_order(found[: interventions.MOST_CHANGES])

    def write(self, view: Heads, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        by_action = {
            action: [change.where for change in view.changes if change.action == action]
            for action in interventions.ACTIONS
        }
        return {action: ",".join(where) for action, where in by_action.items() if where}


@dataclass(frozen=True, kw_only=True)
class MapField(Field[Heads, str]):
    """The map that is shown large."""

    def read(self, reader: Reader, view: Heads, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        return read_map(reader, "map")

    def write(self, view: Heads, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {"map": view.selected} if view.selected else {}


def usual_checkpoint(catalogue: Catalogue, trained_on: str) -> str:
    """A Transformer of the corpus if there is one, since it has many heads."""
    here = [fits.reference(catalogue, entry) for entry in catalogue.usual(trained_on)]
    return _USUAL if _USUAL in here else next(iter(fits.usual_panels(catalogue, trained_on)), "")


def default_view(catalogue: Catalogue) -> Heads:
    """The view of the bare address."""
    trained_on = fits.usual_corpus(catalogue)
    return Heads(
        checkpoint=usual_checkpoint(catalogue, trained_on), corpus=trained_on,
        text=usual_sentence(catalogue, trained_on),
    )  # fmt: skip


class Requests(NamedTuple):
    """What workers are asked for: translations with their maps, and the figures of every head."""

    unchanged: Request
    changed: Request
    figures: Request
    map: Request  # the first two again, where maps show something else than weights
    changed_map: Request


def requests(view: Heads, checkpoint: Checkpoint) -> Requests:
    """The translation as it is and under the changes; the figures, which no change concerns."""
    translation = partial(
        fits.translation_request, checkpoint, text=view.text, target=view.target,
        device=view.device,
    )  # fmt: skip
    options = {"text": view.text, "target": view.target}
    figures = Request.make(TASK, data=checkpoint.name, options=options, device=view.device)
    changes: dict[str, str] = {"changes": interventions.write_changes(view.changes)}
    if any(change.action == "patch" for change in view.changes):
        changes["other"] = view.other
    shows = {} if view.shows == WEIGHTS else {"measure": view.shows}
    return Requests(
        translation(), translation(**changes), figures,
        translation(**shows), translation(**changes, **shows),
    )  # fmt: skip


def head_name(kind: str, layer: int, head: int | str) -> str:
    """What a head is called, such as ``cross 2.3``; layer and head as a reader counts."""
    return gettext(_PLACES[kind], place=f"{layer}.{head}")


def usual_text(view: Heads, catalogue: Catalogue) -> str:
    """A sentence to start with; of a checkpoint that does not translate, its own."""
    checkpoint = fits.resolve(catalogue, view.corpus, view.checkpoint)
    if checkpoint and one_kind([checkpoint]) and (examples := checkpoint.examples):
        return next((one for one in examples if " " in one), examples[0])
    return usual_sentence(catalogue, view.corpus)


CORPUS = corpus()
CHECKPOINT = CheckpointField(name="checkpoint")
TEXT = replace(text(gettext_noop("A sentence to translate")), default=usual_text)
TARGET: Text[Heads] = Text(
    name="target", title="Force this translation",
    help="Each head is then judged by how likely the model finds these words without it.",
)  # fmt: skip
SORT: SortField[Heads] = SortField(
    name="sort", title=gettext_noop("Sort by"), options=lambda _view, _catalogue: SORTS
)
SHOWS: Choice[Heads] = Choice(
    name="shows", title=gettext_noop("What the maps show"), options=lambda _, __: SHOWN,
    titles=lambda name, _: SHOWN_TITLES[name],
)  # fmt: skip
OTHER: Text[Heads] = Text(name="other", title=gettext_noop("Other sentence"))
DEVICE = device()
LINK = Link(
    default=default_view,
    fields=(
        CORPUS, CHECKPOINT, TEXT, TARGET, ChangesField(name="changes"), kind(SHOWN_KINDS), SORT,
        OnlyField(name="only"), MapField(name="selected"), SHOWS, OTHER, DEVICE,
    ),
)  # fmt: skip
