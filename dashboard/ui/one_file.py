"""A page that was noted, or a run that was kept, as what its HTML file shows."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dashboard.charts.image import data_address
from dashboard.charts.one_file import Edition
from dashboard.storage.page_run import PageRun
from dashboard.storage.seen import whole
from dashboard.ui.shown import Record


def edition(page: PageRun, link: str, *, foreign: bool = False) -> Edition:
    """The page for an HTML file; of a ``foreign`` one pictures and plain texts alone."""
    blocks = page.seen.model_dump(mode="json")["blocks"]
    shown = Edition(title=page.name, note=page.note, link=link, seen=blocks, tables=page.tables)
    if not foreign:
        return replace(shown, charts=page.charts)
    pictures = {name.removesuffix(".png"): data_address(held)
                for name, held in page.pictures.items() if name.endswith(".png")}  # fmt: skip
    return replace(shown, seen=[*map(_as_text, blocks)], pictures=pictures)


def followed(record: Record) -> dict[str, Any]:
    """What an :class:`Edition` has of sliders, whose frames are computed now.

    A slider whose frames cannot be made is shown as a setting.
    """
    follows: dict[int, Mapping[str, str | int]] = {}
    sliders: list[Mapping[str, Any]] = []
    for number, block in enumerate(whole(record.seen.blocks)):
        kind, name = record.moved.get(id(block), ("", ""))
        if kind == "words":
            follows[number] = {"words": name}
        elif found := record.sliders.get(name):
            with suppress(ValueError):
                sliders.append({**found._asdict(), "frames": found.frames()})
                follows[number] = {"slider": len(sliders) - 1}
    return {"follows": follows, "sliders": sliders}


def _as_text(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stranger's block, whose Markdown and formulas are not read."""
    if "blocks" in block:
        return {**block, "blocks": [*map(_as_text, block["blocks"])]}
    if block["kind"] == "metric":
        return {**block, "kind": "setting"}
    return {**block, "kind": "text"} if "text" in block else block
