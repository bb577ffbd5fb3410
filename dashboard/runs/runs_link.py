"""The page *Runs* as a link: ``/runs?id=<32 hexadecimal digits>``, or the list without one."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.runs.offers import Catalogue, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.store import ID


@dataclass(frozen=True, kw_only=True)
class RunsView:
    """What the page shows: one run, or all of them where ``id`` is empty."""

    id: str = ""


def parse_runs(query: Query, _: Catalogue) -> tuple[RunsView, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    id = reader.take("id") or ""
    if id and not ID.match(id):
        reader.problem(
            f"id={shown(id)}: need the 32 hexadecimal digits of a run, so all runs are shown"
        )
        id = ""
    return RunsView(id=id), reader.finish()


def format_runs(view: RunsView, _: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``."""
    return {"id": view.id} if view.id else {}
