"""Memory of all processes of a server: the page's and the workers'. Needs Linux."""

from __future__ import annotations

import time
from collections.abc import Iterator

from dashboard.ui.navigation import installed, location
from tests.benchmarks.rows import Row
from tests.benchmarks.watching import chromium, opened
from tests.support.processes import descendants, megabytes
from tests.support.serving import ROOT, served

_SETTLED = 5.0  # seconds: by then every worker has started, and a page's jobs are done


def rows(quick: bool) -> Iterator[Row]:
    """After the first page, and after a visit to every page, which ``quick`` leaves out."""
    with served(ROOT / "streamlit_app.py") as ours, chromium() as browser:
        page = opened(browser, ours.url)
        time.sleep(_SETTLED)
        yield _row("memory of all processes, after the first page", ours.pid)
        if quick:
            return
        for entry in installed():
            page.goto(ours.url + location(entry))
            page.wait_for_load_state("networkidle")
            time.sleep(_SETTLED)
        yield _row("the same, after all pages", ours.pid)


def _row(work: str, pid: int) -> Row:
    parts = [megabytes(each) for each in (pid, *descendants(pid))]
    note = "page " + " MB, workers ".join([f"{parts[0]:.0f}", *(f"{p:.0f}" for p in parts[1:])])
    return Row(work=work, ours=sum(parts), unit="MB", note=f"{note} MB")
