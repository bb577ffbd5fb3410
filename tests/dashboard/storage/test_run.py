from __future__ import annotations

import pytest
from pydantic import ValidationError
from support.runs import page, panel

from dashboard.records.request import Request
from dashboard.storage.run import Description, PanelRecord


@pytest.mark.parametrize(
    ("facts", "plugins"),
    [
        ({"plugins": {"a": "1", "b": "2"}}, {"a": "1", "b": "2"}),
        (
            {"plugins": {"model": {"name": "m", "distribution": "a", "version": "1"},
                         "scoring": {"name": "s", "distribution": "b", "version": "2"}}},
            {"a": "1", "b": "2"},
        ),
        ({"plugin": {"distribution": "a", "version": "1"}}, {"a": "1"}),
        ({"plugins": ["a"]}, {}), ({"plugins": {"a": 5}}, {}), ({"plugin": {"version": "1"}}, {}),
        ({"plugins": {"a\0": "1"}}, {}), ({}, {}),
    ],
)  # fmt: skip
def test_plugins_are_read_as_tasks_say_them(facts, plugins):
    assert PanelRecord.of(panel(**facts)).plugins == plugins


@pytest.mark.parametrize(
    ("data", "facts", "found"),
    [
        ("upload:" + "ab" * 32, {}, "ab" * 32), ("", {"data_sha256": "cd"}, "cd"),
        ("", {"sha256": "ef"}, "ef"), ("", {"card": {"corpus": {"sha256": "01"}}}, "01"),
        ("", {"card": {"corpus": "tatoeba"}}, ""), ("", {"card": 5}, ""), ("", {}, ""),
    ],
)  # fmt: skip
def test_the_data_is_known_by_its_sha256(data, facts, found):
    made = panel(**facts)
    asked = Request.make("regression", data=data)
    object.__setattr__(made, "request", asked)
    assert PanelRecord.of(made).data_sha256 == found


def test_facts_of_strangers_of_any_type_make_a_record():
    odd = panel(
        seed=10**30, device=5, torch=["2"], data_sha256="x" * 9999,
        environment={"threads": True, "contract": {}, "commit": 1},
    )  # fmt: skip
    made = PanelRecord.of(odd)
    assert made.seed == 2**63 - 1
    assert (made.device, made.torch, made.contract, made.commit) == ("", "", "", "")
    assert made.threads == 0
    assert len(made.data_sha256) == 300
    assert PanelRecord.of(panel(environment=7)).threads == 0
    for threads, recorded in ((-1, 0), (0, 0), (5, 5), (2**31 - 1, 2**31 - 1), (2**31, 0)):
        found = PanelRecord.of(panel(environment={"threads": threads})).threads
        assert found == recorded  # as PostgreSQL holds it


def test_a_description_crosses_processes_as_json():
    made = Description.of(page())
    assert Description.model_validate_json(made.model_dump_json()) == made
    assert (made.name, made.note, made.link) == (page().name, page().note, page().link)
    assert [one.seed for one in made.panels] == [7, 11]
    with pytest.raises(ValidationError):
        Description.model_validate_json('{"name": "x", "more": 1}')
