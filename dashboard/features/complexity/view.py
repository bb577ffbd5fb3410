"""What the page *Complexity* shows, and its link: ``/complexity?longest=2048&kernel=5&seed=1``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dashboard.links.attending import absent_normaliser, normaliser_fields
from dashboard.links.fields import AUTO, SEED, Setting, Settings, device
from dashboard.links.link import Link
from dashboard.records.attending import Normalised
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Pairs, Request

TASK = "complexity"
_SECONDS, _SECONDS_PER_PRODUCT, _ROUNDS = 0.5, 2.3e-9, 7


@dataclass(frozen=True, kw_only=True)
class Complexity(Normalised):
    """What the page shows. Another seed draws other weights, and measures again.

    The normaliser is self-attention's.
    """

    settings: Pairs = ()
    seed: int = 0
    device: str = AUTO


SETTINGS: Settings[Complexity] = Settings(
    name="settings", parameters=lambda _, catalogue: catalogue.options[TASK]
)
DEVICE = device()
LINK = Link(
    default=lambda _: Complexity(),
    fields=(SETTINGS, *normaliser_fields(), Setting(name="seed", parameter=SEED), DEVICE),
)


def timing_work(request: Request) -> float:
    """What timing costs, see :mod:`dashboard.records.work`; it stops itself before long."""
    options = dict(request.options)
    n, d = int(options.get("longest", 1024)), int(options.get("widest", 256))
    rounds = min(int(options.get("repeats", _ROUNDS)), _ROUNDS)
    return _SECONDS + _SECONDS_PER_PRODUCT * (n * n * d + n * d * d) * rounds / _ROUNDS


def requests(view: Complexity, catalogue: Catalogue) -> Iterable[Request]:
    """What a worker must measure; nothing while the normaliser is not installed."""
    if absent_normaliser(view, catalogue):
        return
    options = {**dict(view.settings), **view.options()}
    yield Request.make(TASK, options=options, seed=view.seed, device=view.device)
