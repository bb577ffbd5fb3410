"""What a worker imports in advance, so that no job waits for it, and what it does without."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.abc import MetaPathFinder

from dashboard.records.request import Result


def import_torch() -> None:
    """Import what every task needs: torch, and what the first Arrow table imports."""
    _make_a_table()
    with suppress(Exception):  # without torch each job still fails with a sentence of its own
        import torch  # noqa: F401


class _NoPandas(MetaPathFinder):
    """Finds no pandas, as if it were not installed."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """None for all else, which others find."""
        if fullname == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")


def _make_a_table() -> None:
    """Make the first Arrow table without pandas.

    With its first array pyarrow imports pandas where it can, 45 MB and a third of a second, to
    know its objects; it asks once. No task has any. A plugin may import pandas as it likes, and
    arrays of it are made all the same.
    """
    import pyarrow as pa

    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
        Result().to_bytes()
    finally:
        sys.meta_path.remove(hidden)
