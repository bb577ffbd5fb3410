"""The page *Plugins* as a link: ``/plugins?show=<distribution>``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dashboard.runs.distributions import Distribution
from dashboard.runs.offers import Catalogue, shown
from dashboard.runs.reader import Query, Reader

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?\Z")
_SEPARATORS = re.compile(r"[-_.]+")


@dataclass(frozen=True, kw_only=True)
class PluginsView:
    """What the page shows in full: one distribution; by default the first that offers anything."""

    show: str = ""


def parse_plugins(query: Query, catalogue: Catalogue) -> tuple[PluginsView, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended.

    Names are compared as installers do: ``My.Kernels`` is ``my-kernels``.
    """
    reader = Reader(query)
    given = reader.take("show") or ""
    if given and not _NAME.match(given):
        reader.problem(f"show={shown(given)}: need the name of a distribution, so it is left out")
        given = ""
    known = {_canonical(name): name for name in catalogue.distributions}
    return PluginsView(show=known.get(_canonical(given), given)), reader.finish()


def format_plugins(view: PluginsView, _: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``."""
    return {"show": view.show} if view.show else {}


def chosen(view: PluginsView, catalogue: Catalogue) -> Distribution | None:
    """The distribution to show in full; None if it is not installed, or nothing is."""
    if view.show:
        return catalogue.distributions.get(view.show)
    return next((one for one in catalogue.distributions.values() if one.offers()), None)


def _canonical(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
