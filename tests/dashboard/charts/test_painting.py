from __future__ import annotations

import threading

import pytest

from dashboard.charts import export
from dashboard.charts.export import ExportError, painted


def test_whoever_waits_too_long_for_others_is_told_so(monkeypatch):
    monkeypatch.setattr(export, "_at_once", threading.BoundedSemaphore(1))
    monkeypatch.setattr(export, "_QUEUE", 0.01)
    with export._at_once, pytest.raises(ExportError, match="try again"):
        painted([])


def test_a_painter_that_cannot_start_leaves_its_place_to_others(monkeypatch):
    monkeypatch.setattr(export, "_at_once", threading.BoundedSemaphore(1))
    monkeypatch.setattr(export.sys, "executable", "/no/such/python")
    for _ in range(2):
        with pytest.raises(ExportError, match="could not be painted"):
            painted([])
    assert export._at_once.acquire(blocking=False)
