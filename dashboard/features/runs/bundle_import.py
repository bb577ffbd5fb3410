"""Imports a run through a worker: the page never parses the uploaded bytes itself.

The page stores the upload and asks for the task ``runs``. The worker reads, checks and rewrites
the file, and the page stores what the worker wrote. A file that crashes the reader, or needs
too much memory or time, ends a worker and costs this one import.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa

from dashboard.jobs.backend import Event
from dashboard.language import gettext, translated
from dashboard.records.request import UPLOAD, Request, Result
from dashboard.records.text import one_line
from dashboard.settings import settings
from dashboard.storage.blobs import Blobs
from dashboard.storage.bundle import LARGEST_ARCHIVE, MB, check_size
from dashboard.storage.files import BundleError
from dashboard.storage.page_run import PageRun
from dashboard.storage.run import Description, Provenance, Run

if TYPE_CHECKING:
    from dashboard.storage.runs import Runs

TASK = "runs"
LEFT_OUT = "pictures left out"  # the fact that says why, by name
_TABLE = "page"


def store_upload(data: bytes) -> Request:
    """Store an uploaded bundle; return the request that has a worker read it.

    Raises:
        BundleError: larger than a bundle may be.
        ValueError: no room for it, or the folder of uploads cannot be written.
    """
    check_size(data)
    blobs = Blobs(largest=LARGEST_ARCHIVE, total=settings().uploads_total_megabytes * MB)
    return Request.make(TASK, data=UPLOAD + blobs.put(data))


def to_result(page: PageRun, packed: bytes) -> Result:
    """Return the worker's result: the rewritten file, its picture, and what its record says."""
    columns = {name: pa.array([data], pa.large_binary())
               for name, data in (("packed", packed), ("picture", page.picture))}  # fmt: skip
    facts = {"description": Description.of(page).model_dump_json(), "cacheable": False}
    return Result(tables={_TABLE: pa.table(columns)}, facts=facts)


def add_run(runs: Runs, request: Request, event: Event, source: str, owner: str = "") -> Run:
    """Add the run that a worker has read, and delete the upload.

    Args:
        runs: the store to add it to.
        request: from :func:`store_upload`.
        event: the final event of its job.
        source: the name of the uploaded file.
        owner: who imports it.

    Raises:
        BundleError: the file was rejected, or the worker did not survive it.
        StorageError: no room, or a store that cannot be written.
    """
    with suppress(OSError):
        Blobs().remove(request.data.removeprefix(UPLOAD))
    if event.result is None:
        note = translated(event.note)
        if not event.facts.get("refused"):
            note = gettext("a worker failed to read it ({reason})", reason=note)
        raise BundleError(note)
    table = event.result.tables[_TABLE]
    description = Description.model_validate_json(event.result.facts["description"])
    made = Provenance(origin="imported", source=one_line(source), owner=owner)
    return runs.add(table["packed"][0].as_py(), description, table["picture"][0].as_py(), made)
