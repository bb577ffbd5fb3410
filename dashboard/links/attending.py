"""The choice of a normaliser in links, its parameters, and what of it may not be installed here.

``?normaliser=entmax&normaliser.alpha=1.5``; of a panel ``a.normaliser=entmax``. The softmax, which
is the usual one, is left out. A scoring may make its weights in its own way; it takes no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dashboard.language import gettext, gettext_noop
from dashboard.links.fields import NAME, Choice, ForeignSettings, refused
from dashboard.links.link import Field, Reader
from dashboard.records.attending import NORMALISER, OF_NORMALISER, SOFTMAX, Attending, Normalised
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.text import not_installed, shown

TITLE = gettext_noop("Normaliser")
HELP = gettext_noop("What makes weights of scores.")


@dataclass(frozen=True, kw_only=True)
class NormaliserName(Choice[Any]):
    """The name of a normaliser, installed here or not; the softmax where there is no choice."""

    def read(self, reader: Reader, view: Normalised, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        chosen = super().read(reader, view, catalogue)
        if chosen != SOFTMAX and isinstance(view, Attending) and brings_own(view, catalogue):
            wanted = gettext(
                "no normaliser, since {scoring} makes its weights in its own way",
                scoring=shown(view.scoring),
            )
            refused(reader, self.key or self.name, chosen, wanted, gettext("none"))
            reader.below(f"{self.key or self.name}.")
            return SOFTMAX
        return chosen


def normaliser_fields(prefix: str = "") -> tuple[Field[Any, Any], Field[Any, Any]]:
    """The fields ``normaliser`` and ``normaliser_parameters`` of a view; they follow its scoring.

    Args:
        prefix: of their keys in the link, such as ``a.`` of a panel.
    """
    name = NormaliserName(
        name="normaliser",
        key=prefix + NORMALISER,
        title=TITLE,
        help=HELP,
        options=lambda _, catalogue: normalisers(catalogue),
        default=lambda *_: SOFTMAX,
        unknown=NAME,
    )
    parameters: ForeignSettings[Any] = ForeignSettings(
        name="normaliser_parameters",
        parameters=lambda view, catalogue: parameters_of(catalogue, view.normaliser),
        owner=lambda view: f"normaliser-{view.normaliser}",
        key_of=lambda name: f"{prefix}{OF_NORMALISER}{name}",
        installed=lambda view, catalogue: not absent_normaliser(view, catalogue),
    )
    return name, parameters


def normalisers(catalogue: Catalogue) -> tuple[str, ...]:
    """The names of all normalisers, the usual one first."""
    return (SOFTMAX, *(name for name in catalogue.normalisers if name != SOFTMAX))


def parameters_of(catalogue: Catalogue, normaliser: str) -> tuple[Parameter, ...]:
    """The parameters of a normaliser; none of one that is not installed."""
    entry = catalogue.normalisers.get(normaliser)
    return entry.parameters if entry else ()


def brings_own(view: Attending, catalogue: Catalogue) -> bool:
    """Whether the scoring makes its weights in its own way."""
    entry = catalogue.scorings.get(view.scoring)
    return bool(entry and entry.own_normaliser)


def learns(view: Attending, catalogue: Catalogue) -> bool:
    """Whether there is anything to learn in the scoring or in the normaliser."""
    parts = catalogue.scorings.get(view.scoring), catalogue.normalisers.get(view.normaliser)
    return any(part.learns for part in parts if part)


def absent_normaliser(view: Normalised, catalogue: Catalogue) -> str:
    """That the normaliser is not installed here, in a sentence; empty if it is."""
    if view.normaliser in normalisers(catalogue):
        return ""
    return not_installed(TITLE, view.normaliser)
