"""Somebody who reads Chinese."""

from __future__ import annotations

import pytest

from dashboard import language


@pytest.fixture
def chinese():
    """Texts come from the real Chinese catalogues."""
    language.follow(lambda: "zh")
    yield
    language.follow(lambda: language.ENGLISH)
