"""What the page *Train* shows, its link, and the requests it makes.

``?model=transformer&scorings=additive,scaled_dot&start=d2l&epochs=40&model.hidden=64&show=3f2a91c0``.
A link says what would be trained and which trainings are looked at; it never starts one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.language import gettext
from dashboard.links import recipes
from dashboard.links.fields import NOBODY, SEED, Setting, device
from dashboard.links.link import Field, Link
from dashboard.links.reader import Reader
from dashboard.links.recipes import ID_DIGITS, MOST_SHOWN, SHOW, Recipe
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request
from dashboard.records.text import not_installed, shown

_TRAINING = re.compile(rf"[0-9a-f]{{{ID_DIGITS},32}}\Z")


@dataclass(frozen=True, kw_only=True)
class Train(Recipe):
    """What to train, and which trainings to look at.

    Args:
        seed: of every training.
        shown: the trainings in the charts, by the first digits of their ids; None for the latest.
        epoch: whose probe to look at; 0 for each training's latest.
    """

    seed: int = 0
    shown: tuple[str, ...] | None = None
    epoch: int = 0


class Shown(Field[Train, tuple[str, ...] | None]):
    """The trainings in the charts."""

    def read(self, reader: Reader, view: Train, catalogue: Catalogue) -> tuple[str, ...] | None:
        """See :meth:`Field.read`."""
        given = reader.take(SHOW)
        if given is None or given == NOBODY:
            return None if given is None else ()
        wanted = list(dict.fromkeys(given.split(",")))
        for one in wanted:
            if not _TRAINING.match(one):
                reader.problem(
                    gettext(
                        "{parameter}: {given} is not a training; need {least} to 32 digits of its "
                        "id (0-9, a-f)",
                        parameter=SHOW, given=shown(one), least=ID_DIGITS,
                    )
                )  # fmt: skip
        kept = [one for one in wanted if _TRAINING.match(one)]
        if len(kept) > MOST_SHOWN:
            reader.problem(
                gettext(
                    "{parameter}: {count} trainings; the first {most} are shown",
                    parameter=SHOW, count=len(kept), most=MOST_SHOWN,
                )
            )  # fmt: skip
        return tuple(kept[:MOST_SHOWN]) or None

    def write(self, view: Train, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {} if view.shown is None else {SHOW: ",".join(view.shown) or NOBODY}


def missing(view: Train, catalogue: Catalogue, rows: int = 0) -> str:
    """What keeps the view from being trained, in a sentence; empty if nothing does.

    Args:
        view: what would be trained.
        catalogue: what is installed.
        rows: lines of the uploaded file; 0 for a data set, or if it is not known.
    """
    strangers = [name for name in view.scorings if name not in catalogue.scorings]
    return recipes.obstacle(view, catalogue, rows=rows) or (
        not_installed("Scoring", strangers[0]) if strangers else ""
    )


def requests(view: Train) -> tuple[Request, ...]:
    """What a press of the button trains: one request for each scoring."""
    return recipes.training_requests(view, view.seed)


SEED_FIELD: Setting[Train] = Setting(name="seed", parameter=SEED)
EPOCH: Setting[Train] = Setting(
    name="epoch",
    parameter=Parameter(name="epoch", title="Epoch", default=0, low=0, high=10_000, step=1),
)
DEVICE = device()
LINK = Link(
    default=lambda _: Train(),
    fields=(*recipes.FIELDS, SEED_FIELD, DEVICE, Shown(name="shown"), EPOCH),
)
