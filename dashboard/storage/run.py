"""The record of a stored run: who kept which page, when, and what computed each panel."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from pydantic import BaseModel, Field, ValidationError

from dashboard.records.invalid import STRICT, reason
from dashboard.records.request import Request, is_upload
from dashboard.storage.bundle import Bundle
from dashboard.storage.database import panels, runs
from dashboard.storage.entries import LONGEST_LINK
from dashboard.storage.files import Id, MaybeDigest, MaybeId, Sha256, StorageError
from dashboard.storage.page_run import LONGEST_NAME, LONGEST_NOTE, PageRun


def alive() -> sa.Select[Any]:
    """Return the query for all runs that have not expired."""
    return sa.select(runs).where(runs.c.expires.is_(None) | (runs.c.expires > time.time()))


def newest_first(owner: str | None) -> sa.Select[Any]:
    """Return the query for the runs of an owner, or of everybody."""
    asked = alive().order_by(runs.c.created.desc(), runs.c.id)
    return asked if owner is None else asked.where(runs.c.owner == owner)


def insert(connection: sa.Connection, run: Run, described: Sequence[PanelRecord]) -> None:
    """Add the record of a run, and those of its panels."""
    connection.execute(sa.insert(runs), run.model_dump())
    rows = [
        {**each.model_dump(), "run": run.id, "number": number, "plugins": json.dumps(each.plugins)}
        for number, each in enumerate(described)
    ]
    if rows:
        connection.execute(sa.insert(panels), rows)


def read_runs(
    rows: Iterable[sa.RowMapping], files: Collection[str]
) -> tuple[list[Run], list[tuple[str, str]]]:
    """Return the records of whole runs, and the ids of damaged ones with the reason."""
    found: list[Run] = []
    damaged: list[tuple[str, str]] = []
    for row in rows:
        try:
            run = read_run(row)
            if run.digest not in files:
                raise StorageError("its file is missing")
            found.append(run)
        except StorageError as error:
            damaged.append((str(row["id"]), str(error)))
    return found, damaged


def read_run(row: sa.RowMapping) -> Run:
    """Return the record in a row."""
    try:
        return Run.model_validate(dict(row))
    except ValidationError as error:
        raise StorageError(f"its record is damaged: {reason(error)}") from error


def read_panel(row: sa.RowMapping) -> PanelRecord:
    """Return the record of a panel in a row."""
    held = {name: value for name, value in row.items() if name not in ("run", "number")}
    try:
        return PanelRecord.model_validate({**held, "plugins": json.loads(held["plugins"])})
    except (ValueError, TypeError) as error:
        why = reason(error) if isinstance(error, ValidationError) else error
        raise StorageError(f"the record of a panel is damaged: {why}") from error


Origin = Literal["kept", "imported"]
LONGEST_SOURCE = 120
_LONGEST_OWNER = 200
_LONGEST_FACT = 300
_YEAR_10000 = 253_402_300_800  # seconds since 1970

Text = Annotated[str, Field(max_length=_LONGEST_FACT)]
Seconds = Annotated[float, Field(ge=0, lt=_YEAR_10000, allow_inf_nan=False)]


class PanelRecord(BaseModel, **STRICT):
    """What one panel of a run asked for, and what computed it; empty where that is not known.

    ``request`` is canonical JSON. ``plugins`` are versions by distribution, ``commit`` is that of
    the source tree, and ``threads`` are torch's, 0 where not known.
    """

    request: str
    task: Text
    seed: int
    device: Text = ""
    plugins: dict[str, str] = {}
    contract: Text = ""
    torch: Text = ""
    threads: Annotated[int, Field(ge=0)] = 0
    commit: Text = ""
    data_sha256: Text = ""

    @classmethod
    def of(cls, panel: Bundle) -> PanelRecord:
        """Return the record of a panel; facts of other types than expected are left out."""
        request, facts = panel.request, panel.result.facts
        made = _mapping(facts.get("environment"))
        threads = made.get("threads")
        return cls(
            request=request.to_json(), task=request.task[:_LONGEST_FACT],
            seed=max(-(2**63), min(2**63 - 1, request.seed)),
            device=_text(facts.get("device") or request.device), plugins=dict(_plugins(facts)),
            contract=_text(made.get("contract")),
            torch=_text(facts.get("torch") or made.get("torch")),
            threads=threads if type(threads) is int and 0 <= threads < 2**31 else 0,
            commit=_text(made.get("commit")), data_sha256=_text(_data_sha256(request, facts)),
        )  # fmt: skip


class Description(BaseModel, **STRICT):
    """What a run's record says of the page that it holds, without its contents."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    note: Annotated[str, Field(max_length=LONGEST_NOTE)] = ""
    link: Annotated[str, Field(max_length=LONGEST_LINK)] = ""
    panels: tuple[PanelRecord, ...] = ()

    @classmethod
    def of(cls, page: PageRun) -> Description:
        """Return the description of a page."""
        panels = tuple(map(PanelRecord.of, page.panels))
        return cls(name=page.name, note=page.note, link=page.link, panels=panels)


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a run comes from: kept from a page of this server, or imported.

    ``source`` is that page, or the name of the imported file; ``parent`` the run that this one is
    a copy of, empty if it is none.
    """

    origin: Origin
    source: str = ""
    owner: str = ""
    parent: str = ""


class Run(BaseModel, **STRICT):
    """The record of a run; times are in seconds since 1970, and it may expire never, at None.

    What it says of its page is in :class:`Description`, of its origin in :class:`Provenance`.
    ``bytes`` are those of its file and its picture, a PNG; ``digest`` and ``picture`` are their
    sha256, the latter empty if there is none.
    """

    id: Id
    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    note: Annotated[str, Field(max_length=LONGEST_NOTE)]
    link: Annotated[str, Field(max_length=LONGEST_LINK)]
    origin: Origin
    source: Annotated[str, Field(max_length=LONGEST_SOURCE)]
    created: Seconds
    expires: Seconds | None
    bytes: Annotated[int, Field(ge=0)]
    digest: Sha256
    picture: MaybeDigest
    owner: Annotated[str, Field(max_length=_LONGEST_OWNER)]
    parent: MaybeId


def _text(value: Any) -> str:
    """The value as a record may hold it; what is no text, or has a zero byte, is left out."""
    return value[:_LONGEST_FACT] if isinstance(value, str) and "\0" not in value else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _plugins(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield distributions with their versions, as tasks say them: by name, by role, or one."""
    named = _mapping(facts.get("plugins"))
    for name, version in named.items():
        if _text(name) and isinstance(version, str):
            yield _text(name), _text(version)
    for held in map(_mapping, (*named.values(), facts.get("plugin"))):
        if name := _text(held.get("distribution")):
            yield name, _text(held.get("version"))


def _data_sha256(request: Request, facts: Mapping[str, Any]) -> Any:
    if is_upload(request.data):
        return request.data.partition(":")[2]
    corpus = _mapping(_mapping(facts.get("card")).get("corpus"))
    return facts.get("data_sha256") or facts.get("sha256") or corpus.get("sha256")
