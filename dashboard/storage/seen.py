"""What stood on a page, in its order: texts, charts and tables, in rows, grids and panels.

Charts and tables stand in the file of a page under names, see :mod:`dashboard.storage.page_run`;
a block says where each was seen. Texts are Markdown of this dashboard's own pages. Those of an
imported file are a stranger's, and are shown as they stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from dashboard.records.invalid import STRICT, reason
from dashboard.storage.files import BundleError

MOST_BLOCKS = 2_000
LONGEST_TEXT = 20_000
NAME = r"[a-z0-9][a-z0-9_-]{0,59}"

_Name = Annotated[str, Field(pattern=rf"\A{NAME}\z")]
_Words = Annotated[str, Field(max_length=LONGEST_TEXT)]
_Title = Annotated[str, Field(max_length=300)]
_Weight = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]
_Format = Annotated[str, Field(pattern=r"\A%[+,]?(\.\d)?[defg]%?%?\z")]  # of numbers, as printf


class Text(BaseModel, **STRICT):
    """Words: Markdown, apart from ``text``, which is shown as it stands, and ``latex``."""

    kind: Literal["heading", "markdown", "caption", "text", "latex", "error"]
    text: _Words


class Value(BaseModel, **STRICT):
    """A figure with its label, in Markdown; or what a control was set to, as it stands."""

    kind: Literal["metric", "setting"]
    label: _Title
    value: _Words


class Chart(BaseModel, **STRICT):
    """A chart of the page's file, which may fill its place.

    ``marks`` says what its marks mean, in a sentence, where the chart itself does not say so.
    """

    kind: Literal["chart"] = "chart"
    name: _Name
    alt: _Words = ""
    marks: _Title = ""
    stretch: bool = True


class Table(BaseModel, **STRICT):
    """A table of the page's file, which may fill its place.

    ``formats`` are those of its columns of numbers, such as ``%.3f``; ``bold`` are cells that
    stand out, as rows from 0 and names of columns.
    """

    kind: Literal["table"] = "table"
    name: _Name
    formats: dict[_Title, _Format] = {}
    stretch: bool = True
    bold: tuple[tuple[Annotated[int, Field(ge=0)], _Title], ...] = ()


class Group(BaseModel, **STRICT):
    """Blocks below each other, beside each other in columns, or in a grid that wraps.

    Attributes:
        weights: of the columns of a row, as wide as each is.
        letter: of the panel that this is; empty if it is none.
        title: of the panel, or of what else it is; as it stands.
        said: the same in the caption of a figure; empty for the title and all settings.
        height: px; 0 for what it needs.
    """

    kind: Literal["group"] = "group"
    layout: Literal["stack", "row", "grid"] = "stack"
    weights: tuple[_Weight, ...] = ()
    letter: Literal["", "a", "b", "c", "d"] = ""
    title: _Title = ""
    said: _Words = ""
    border: bool = False
    height: Annotated[int, Field(ge=0, le=10_000)] = 0
    blocks: tuple[Block, ...] = ()


Block = Annotated[Text | Value | Chart | Table | Group, Field(discriminator="kind")]


def whole(blocks: tuple[Any, ...]) -> Iterator[Any]:
    """Yield every block, a group before those that are in it."""
    for block in blocks:
        yield block
        if isinstance(block, Group):
            yield from whole(block.blocks)


def widths(group: Group, width: float) -> Iterator[tuple[str, float]]:
    """Yield every chart's name with the width of its place, of a page so many px wide."""
    for number, block in enumerate(group.blocks):
        own = width
        if group.layout == "row" and len(group.weights) == len(group.blocks):
            own = width * group.weights[number] / sum(group.weights)
        elif group.layout != "stack":
            own = width / len(group.blocks)
        if isinstance(block, Chart):
            yield block.name, own
        elif isinstance(block, Group):
            yield from widths(block, own)


def read(held: dict[str, Any], charts: set[str], tables: set[str]) -> Group:
    """Read what stood on a page from parsed JSON of unknown origin."""
    try:
        found = Group.model_validate_json(json.dumps(held))
    except ValidationError as error:
        raise BundleError(f"page.json, what was seen: {reason(error)}") from error
    check(found, charts, tables)
    return found


def check(seen: Group, charts: set[str], tables: set[str]) -> None:
    """Check that blocks and file name the same charts and tables, and are not too many."""
    blocks = list(whole(seen.blocks))
    if len(blocks) > MOST_BLOCKS:
        raise BundleError(f"need at most {MOST_BLOCKS:,} blocks on a page, got {len(blocks):,}")
    for kind, held in ((Chart, charts), (Table, tables)):
        named = {block.name for block in blocks if isinstance(block, kind)}
        for name in sorted(named ^ held):
            block = kind.__name__.lower()
            if name in named:
                raise BundleError(f"the {block} {name!a} is missing from the file")
            raise BundleError(f"the {block} {name!a} is on no place of the page")
