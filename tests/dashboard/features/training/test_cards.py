"""When a training ended, and the name that its model is offered to be kept under."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from dashboard.features.training import cards
from dashboard.features.training.cards import _suggested
from dashboard.jobs.training_files import checkpoint_name
from dashboard.records.request import Request


@pytest.mark.parametrize(
    ("scoring", "start"),
    [("additive", "bahdanau_additive_copy"), ("=dot(q, k) / sqrt(d)", "bahdanau_formula_")],
)
def test_it_is_a_name_of_a_checkpoint_whatever_the_scoring(scoring, start, catalogue, tmp_path):
    request = Request.make("train", model="bahdanau", scoring=scoring, data="copy")
    name = _suggested(SimpleNamespace(request=request), catalogue)
    assert name.startswith(start)
    assert checkpoint_name(name, tmp_path, ()) == name
    other = Request.make("train", model="bahdanau", scoring="=dot(k, q)", data="copy")
    assert _suggested(SimpleNamespace(request=other), catalogue) != name


@pytest.mark.parametrize("name", ["Mein erstes", " mein-erstes ", "mein_erstes", "mein \t erstes"])
def test_a_name_is_put_into_the_form_of_checkpoints(name, tmp_path):
    assert checkpoint_name(name, tmp_path, ()) == "mein_erstes"


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "UTC", "Nowhere/Else"])
def test_a_time_is_its_reader_s_and_names_another_day(zone, monkeypatch):
    monkeypatch.setattr(cards.st, "context", SimpleNamespace(timezone=zone))
    now = datetime.now(ZoneInfo("UTC" if zone.startswith("Nowhere") else zone))
    assert cards.clock(now.timestamp()) == f"{now:%H:%M}"
    before = now - timedelta(days=1)
    assert cards.clock(before.timestamp()) == f"{before:%d %b %H:%M}"
