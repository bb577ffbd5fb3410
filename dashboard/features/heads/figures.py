"""The figures of heads: by which heads are sorted and filtered, and how links say so."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.language import gettext
from dashboard.links.fields import Choice
from dashboard.links.link import Field, Reader, View
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import shown

PLACE = "place"  # in the model: layer by layer
FIGURES = (
    "leave_one_out", "entropy", "eos", "concentration", "diagonality", "distance", "padding",
    "row_error",
)  # fmt: skip
SORTS = (*FIGURES, PLACE)
FINDING, CHANGED = "finding", "changed"
LARGEST = 1e6  # of a filter's number
NEEDED = 0.05  # nats: a translation that loses less without a head hardly needs it

_RENAMED = {"stuckness": "concentration"}  # as links call them that were shared before
_NAMES = "|".join((*FIGURES, *_RENAMED))
_ONLY = re.compile(rf"({_NAMES})([<>])(-?[0-9]{{1,7}}(\.[0-9]{{1,9}})?)\Z")


@dataclass(frozen=True, kw_only=True)
class Only:
    """Which heads are listed: those whose ``figure`` is at least (``>``) or at most ``number``.

    The figures :data:`FINDING` and :data:`CHANGED` take no sign: heads of which there is
    something to be said, and heads that are changed.
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
                "{parameter}={given}: need {finding}, {changed}, or a figure and its bound such "
                "as entropy>0.9 (figures: {figures}); ignored",
                parameter=self.name, given=shown(given), finding=FINDING, changed=CHANGED,
                figures=", ".join(FIGURES),
            )
        )  # fmt: skip
        return None

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        only = self.of(view)
        return {self.name: str(only)} if only else {}
