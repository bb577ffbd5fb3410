"""What the page *Translation* shows, its link, and its requests.

``?a=bahdanau.additive&b=transformer.scaled_dot&b.map=2.3&text=go .&beam=4&corpus=tatoeba``. Panels
and their maps are those of :mod:`dashboard.links.panels`. ``map=encoder`` shows another kind of
attention, and ``map=encoder.2.3`` selects head 3 of layer 2 in all panels besides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from dashboard.language import gettext, gettext_noop
from dashboard.links import panels
from dashboard.links.fields import Setting, Text, device
from dashboard.links.fits import translation_request
from dashboard.links.link import Field, Link, Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.interventions import KINDS
from dashboard.records.request import Request
from dashboard.records.text import shown

TASK = "translation"
_MAP = "map"  # of all panels


@dataclass(frozen=True, kw_only=True)
class Translation(panels.Reading):
    """What the page shows."""

    beam: int = 1  # translations that are followed at once


default_view = partial(panels.usual_reading, Translation)  # of the bare address


@dataclass(frozen=True, kw_only=True)
class KindField(Field[Translation, str]):
    """The kind of attention, and with it the selected map where all panels select the same."""

    def read(self, reader: Reader, view: Translation, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(_MAP)
        if given is None:
            return KINDS[0]
        kind, _ = _kind_and_map(given)
        if not kind:
            reader.problem(
                gettext(
                    "{parameter}={given}: need {kinds}, alone or with a layer and a head such as "
                    "{usual}.2.3, so {usual} is used",
                    parameter=_MAP, given=shown(given), kinds=", ".join(KINDS), usual=KINDS[0],
                )
            )  # fmt: skip
        return kind or KINDS[0]

    def write(self, view: Translation, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        if everywhere := _everywhere(view):
            return {_MAP: f"{view.kind}.{everywhere}"}
        return {} if view.kind == KINDS[0] else {_MAP: view.kind}


@dataclass(frozen=True, kw_only=True)
class MapsField(panels.SelectedField[Translation]):
    """The selected maps; one that all panels select stands with the kind of attention."""

    def everywhere(self, reader: Reader) -> str:
        """See :meth:`SelectedField.everywhere`."""
        return _kind_and_map(reader.given(_MAP) or "")[1]

    def write(self, view: Translation, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {} if _everywhere(view) else super().write(view, catalogue)


def requests(view: Translation, catalogue: Catalogue) -> dict[str, Request]:
    """What workers must translate, by the letter of its panel; nothing without a sentence."""
    if not view.text:
        return {}
    given = {"text": view.text, "target": view.target, "device": view.device}
    return {letter: translation_request(checkpoint, **given, beam=view.beam)
            for letter, checkpoint in panels.checkpoints_of(view, catalogue).items()}  # fmt: skip


def _kind_and_map(given: str) -> tuple[str, str]:
    """What ``encoder`` or ``encoder.2.3`` says; empty words where it is neither."""
    kind, dot, selected = given.partition(".")
    fits = kind in KINDS and (not dot or panels.IS_MAP.match(selected))
    return (kind, selected) if fits else ("", "")


def _everywhere(view: Translation) -> str:
    """The map that all panels select; empty where they do not."""
    maps = set(panels.selected_maps(view).values())
    return maps.pop() if len(maps) == 1 else ""


CORPUS = panels.corpus()
PANELS: panels.PanelsField[Translation] = panels.PanelsField(name="panels")
TEXT = panels.text(gettext_noop("A sentence to translate"))
TARGET: Text[Translation] = Text(
    name="target",
    title="Force this translation",
    help="Every model is given this translation and writes none of its own: the page shows how "
    "likely each finds these words, and where it looks at each of them.",
)
BEAM: Setting[Translation] = Setting(
    name="beam", parameter=lambda _, catalogue: catalogue.option(TASK, "beam")
)
DEVICE = device()
LINK = Link(
    default=default_view,
    fields=(
        CORPUS, PANELS, panels.CheckpointLetters(panels=PANELS), TEXT, TARGET,
        KindField(name="kind"), MapsField(name="selected", panels=PANELS), BEAM, DEVICE,
    ),
)  # fmt: skip
