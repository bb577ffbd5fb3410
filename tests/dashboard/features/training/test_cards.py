"""When a training ended, and the name that its model is offered to be kept under."""

from __future__ import annotations

from dataclasses import replace
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


def setup(options=(), seed=0, **facts):
    request = Request.make("training", options=dict(options), seed=seed)
    return cards.setup_of(SimpleNamespace(request=request, facts=facts))


def test_what_was_set_of_a_training_is_told_with_what_it_learned_from():
    assert setup() == ""
    assert setup({"pairs": 3000}) == "up to 3,000 pairs"
    assert setup({"pairs": 3000}, trained_on=1500, pairs=2000) == (
        "1,500 pairs learned, 500 held out"
    )
    assert setup(trained_on=1500, pairs=1500) == "1,500 pairs learned"
    options = {"model.hidden": 64, "recipe.learning_rate": 0.005}
    assert setup(options, 3, parameters=12345) == (
        "hidden 64 · learning rate 0.005 · 12,345 weights · seed 3"
    )


def test_a_name_that_is_taken_gets_a_number_and_a_long_one_has_room_for_it(catalogue):
    def suggested(data, *taken):
        made_of = Request.make("training", model="m-1", scoring="s", data=data)
        known = replace(catalogue, checkpoints=dict.fromkeys(taken))
        return _suggested(SimpleNamespace(request=made_of), known)

    assert suggested("x") == "m_1_s_x"
    assert suggested("x", "m-1-s-x") == suggested("x", "m_1_s_x") == "m_1_s_x_2"
    assert suggested("x", "m_1_s_x", "m_1_s_x_2") == "m_1_s_x_3"
    assert suggested("x" * 60) == f"m_1_s_{'x' * 31}"
    assert suggested(f"upload:{'0123456789' * 6}") == f"m_1_s_upload_{'0123456789'[:8]}"
