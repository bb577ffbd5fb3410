"""Pages to be stored as runs, and stores of every kind to put them into."""

from __future__ import annotations

import secrets

import pyarrow as pa
import pytest

from dashboard.records.request import Request, Result
from dashboard.storage.bundle import Bundle
from dashboard.storage.page_run import PNG, PageRun
from dashboard.storage.runs import Runs
from dashboard.storage.seen import Chart, Group, Table, Text

ROW = Group(
    layout="row", weights=(2.0, 1.0),
    blocks=(Chart(name="map", alt="a map"), Table(name="rates", formats={"rate": "%.3f"})),
)  # fmt: skip
HEAD = PNG + b"\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05"  # of 7 x 5 px


def panel(seed=7, rows=3, **facts) -> Bundle:
    return Bundle(
        request=Request.make("regression", scoring="gaussian", seed=seed),
        result=Result(
            tables={"curve": pa.table({"x0": [0.5] * rows})}, facts={"notes": [], **facts}
        ),
        title=f"Gaussian, seed {seed}",
    )


def page(name="one", seed=7, **changes) -> PageRun:
    """A page of two results, a chart and a table, with a note and a picture."""
    given = {
        "panels": (panel(seed), panel(seed + 4)),
        "note": "first line\nsecond line",
        "link": "/?a=gaussian&b=uniform",
        "picture": HEAD + name.encode(),
        "seen": Group(blocks=(Text(kind="caption", text="**seen**"), ROW)),
        "charts": {"map": {"mark": "rect", "datasets": {"cells": [{"weight": 0.5}]}}},
        "tables": {"rates": pa.table({"map": ["1.1"], "rate": [0.125]})},
        "pictures": {"map.png": HEAD},
    }
    return PageRun(name=name, **(given | changes))


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request, tmp_path):
    """Where a store lies, as arguments of ``Runs``: SQLite and a folder, PostgreSQL and memory."""
    if request.param == "sqlite":
        return {"root": tmp_path}
    new = request.getfixturevalue("postgres")
    blobs = f"memory://runs-{secrets.token_hex(4)}"
    return {"root": tmp_path, "database": new(), "blobs": blobs}


@pytest.fixture
def opened_runs(places):
    """``opened_runs(**more)``: another store at the same place, as another server opens it."""
    stores = []

    def new(**more) -> Runs:
        stores.append(Runs(**places, **more))
        return stores[-1]

    yield new
    for store in stores:
        store.close()


@pytest.fixture
def runs(opened_runs):
    return opened_runs()
