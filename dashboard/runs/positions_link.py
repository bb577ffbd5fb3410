"""The page *Positional encoding* as a link: ``/positions?size=16&columns=0,1,2&offset=-7``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dashboard.runs.link_parts import pairs, read_knobs, write_knobs
from dashboard.runs.offers import Catalogue, Knob, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.request import Pairs, Request

TASK = "positions"
COLUMNS = (6, 7, 8, 9)
MOST_COLUMNS = 4
SIZES = ("size", "positions", "flow_rows")  # what bounds other knobs
_LIST = re.compile(r"[0-9]{1,3}(,[0-9]{1,3})*\Z")


@dataclass(frozen=True, kw_only=True)
class Positions:
    """What the page shows: all knobs' values, and the columns that are drawn as curves."""

    settings: Pairs = ()
    columns: tuple[int, ...] = COLUMNS


def positions_knobs(catalogue: Catalogue) -> tuple[Knob, ...]:
    """What may be set besides the columns, with the bounds of the largest encoding."""
    return catalogue.options[TASK]


def fitted(knobs: tuple[Knob, ...], sizes: Pairs) -> tuple[Knob, ...]:
    """The knobs with the bounds and defaults that the chosen sizes leave them."""
    held = dict(sizes)
    most = {
        "pair": held["size"] // 2 - 1,
        "position": held["positions"] - 1,
        "flow_tokens": held["flow_rows"],
    }
    return tuple(
        replace(knob, high=most[knob.name], default=min(knob.default, most[knob.name]))
        if knob.name in most
        else knob
        for knob in knobs
    )


def usual_columns(size: int) -> tuple[int, ...]:
    """The document's columns 6 to 9, or the last ones of a smaller encoding."""
    first = max(0, min(COLUMNS[0], size - len(COLUMNS)))
    return tuple(range(first, min(size, first + len(COLUMNS))))


def parse_positions(query: Query, catalogue: Catalogue) -> tuple[Positions, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    knobs = positions_knobs(catalogue)
    sizes = read_knobs(reader, str, [knob for knob in knobs if knob.name in SIZES])
    others = [knob for knob in fitted(knobs, sizes) if knob.name not in SIZES]
    settings = pairs(dict((*sizes, *read_knobs(reader, str, others))))
    view = Positions(settings=settings, columns=_read_columns(reader, dict(sizes)["size"]))
    return view, reader.finish()


def _read_columns(reader: Reader, size: int) -> tuple[int, ...]:
    usual = usual_columns(size)
    given = reader.take("columns")
    if given is None:
        return usual
    chosen = tuple(dict.fromkeys(map(int, given.split(",")))) if _LIST.match(given) else ()
    if not chosen or len(chosen) > MOST_COLUMNS or max(chosen) >= size:
        reader.problem(
            f"columns={shown(given)}: need 1 to {MOST_COLUMNS} numbers from 0 to {size - 1} "
            f"with commas between, so {','.join(map(str, usual))} is used"
        )
        return usual
    return tuple(sorted(chosen))


def format_positions(view: Positions, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    link: dict[str, str] = {}
    knobs = fitted(positions_knobs(catalogue), view.settings)
    write_knobs(link, str, knobs, view.settings)
    if view.columns != usual_columns(dict(view.settings)["size"]):
        link["columns"] = ",".join(map(str, view.columns))
    return link


def positions_request(view: Positions) -> Request:
    """What a worker must compute; which columns are drawn is the page's own affair."""
    return Request.make(TASK, options=dict(view.settings))
