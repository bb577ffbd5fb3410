"""Imports a bundle through a worker: the page never parses the uploaded bytes itself.

The page stores the upload and asks for the task ``runs``. The worker reads, checks and rewrites
the bundle, and the page stores what the worker wrote. A bundle that crashes the reader, or needs
too much memory or time, ends a worker and costs this one import.
"""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa

from dashboard.jobs.backend import Event
from dashboard.records.request import UPLOAD, Request
from dashboard.records.result import Result
from dashboard.storage.archive import LARGEST_ARCHIVE, check_size
from dashboard.storage.blobs import Blobs
from dashboard.storage.bundle import Bundle
from dashboard.storage.errors import BundleError
from dashboard.storage.runs import Run, Runs

TASK = "runs"
LEFT_OUT = "pictures left out"  # the fact that says why, by name
_TABLE, _COLUMN = "bundle", "packed"


def store_upload(data: bytes) -> Request:
    """Store an uploaded bundle; return the request that has a worker read it.

    Raises:
        BundleError: larger than a bundle may be.
        OSError: the folder of uploads cannot be written.
    """
    check_size(data)
    return Request.make(TASK, data=UPLOAD + Blobs(largest=LARGEST_ARCHIVE).put(data))


def to_result(run: Bundle, packed: bytes) -> Result:
    """Return the worker's result: the rewritten bundle, and what its record says."""
    column = pa.array([packed], pa.large_binary())
    facts = {"title": run.title, "task": run.request.task, "cacheable": False}
    return Result(tables={_TABLE: pa.table({_COLUMN: column})}, facts=facts)


def add_run(request: Request, event: Event, source: str) -> Run:
    """Add the run that a worker has read, and delete the upload.

    Args:
        request: from :func:`store_upload`.
        event: the final event of its job.
        source: the name of the uploaded file.

    Raises:
        BundleError: the bundle was rejected, or the worker did not survive it.
        StorageError: no room, or a folder that cannot be written.
    """
    with suppress(OSError):
        Blobs().remove(request.data.removeprefix(UPLOAD))
    if event.result is None:
        refused = event.facts.get("refused")
        raise BundleError(event.note if refused else f"a worker failed to read it ({event.note})")
    packed = event.result.tables[_TABLE][_COLUMN][0].as_py()
    facts = event.result.facts
    return Runs().add(
        packed, title=facts["title"], task=facts["task"], origin="imported", source=source
    )
