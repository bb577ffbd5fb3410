"""A file of prices is gone on with where it stopped, and refused where it is another's."""

import json
from dataclasses import replace

import pytest

from attention_plugins.contract import ContractError
from attention_plugins.price import store
from attention_plugins.price.records import Budget, Outcome, Shown, Swap
from attention_plugins.price.table import Prices
from tests.attention_plugins.price.conftest import BUDGET

SEEN = Shown(text="then", maps=[[[1.0, 0.0], [0.25, 0.75]]], queries=["a", "b"], keys=["a", "b"])
ONE = Outcome(swap=Swap(scoring="additive", normaliser="entmax15", positions="remove"), seed=1,
              before=1.25, after=(1.0, float("inf")), parameters=7,
              shown_before=replace(SEEN, text="first"), shown_after=SEEN)  # fmt: skip
HEAD = Prices(model="tiny", texts="texts", budget=BUDGET, facts={"torch": "2"})


def test_outcomes_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "new" / "one.jsonl"
    assert store.begin(path, HEAD) == HEAD
    store.add(path, ONE)
    store.add(path, Outcome(swap=Swap(), seed=0, problem="no"))
    found = store.read(path)
    assert (found.model, found.texts, found.budget, found.facts) == (
        "tiny", "texts", BUDGET, {"torch": "2"},
    )  # fmt: skip
    one, other = found.outcomes
    assert one.to_json() == ONE.to_json()
    assert (one.swap, one.before, one.after[0], one.shown_after) == (ONE.swap, 1.25, 1.0, SEEN)
    assert one.shown_before == ONE.shown_before
    assert one.after[1] != one.after[1]  # JSON has no infinity
    assert replace(ONE, before=1.234567).to_json()["before"] == 1.23457
    assert other.problem == "no"


def test_an_outcome_is_on_the_disk_before_the_next_one_is_measured(tmp_path, monkeypatch):
    path = tmp_path / "one.jsonl"
    store.begin(path, HEAD)
    seen = []
    monkeypatch.setattr("os.fsync", lambda number: seen.append(path.read_text("utf-8")))
    store.add(path, ONE)
    assert seen == [path.read_text("utf-8")]


def test_a_line_that_was_cut_off_is_left_out_and_written_over(tmp_path):
    path = tmp_path / "one.jsonl"
    store.begin(path, HEAD)
    store.add(path, ONE)
    whole = path.read_text("utf-8")
    path.write_text(whole + whole.splitlines()[1][:40], "utf-8")
    assert len(store.begin(path, HEAD).outcomes) == 1
    store.add(path, ONE)
    assert len(store.read(path).outcomes) == 2


def test_more_seeds_go_on_with_what_is_there_and_name_both_commits(tmp_path):
    path = tmp_path / "one.jsonl"
    store.begin(path, replace(HEAD, facts={"commit": "one"}))
    store.add(path, ONE)
    more = replace(HEAD, budget=replace(BUDGET, seeds=5), facts={"commit": "two"})
    found = store.begin(path, more)
    assert (found.budget.seeds, found.facts) == (5, {"commit": "one, two"})
    assert [one.to_json() for one in store.read(path).outcomes] == [ONE.to_json()]
    with pytest.raises(ContractError, match="has another budget"):
        store.begin(path, HEAD)
    again = store.begin(path, replace(more, facts={"commit": "one, two", "torch": "3"}))
    assert again.facts == {"commit": "one, two", "torch": "3"}
    assert store.begin(path, replace(more, facts={})).facts == {"commit": "one, two"}


def test_files_of_others_are_refused_in_one_sentence(tmp_path):
    path = tmp_path / "one.jsonl"
    store.begin(path, HEAD)
    with pytest.raises(ContractError, match="has another texts: texts; name another file"):
        store.begin(path, replace(HEAD, texts="others"))
    other = Prices(model="tiny", texts="texts", budget=Budget(seeds=3))
    with pytest.raises(ContractError, match=r"has another budget: .*; name another file"):
        store.begin(path, other)
    bad = ("", "[]", "{}", '{"format": 2}', "\x00", json.dumps({"format": 1, "budget": {}}))
    for text in bad:
        path.write_text(text + "\n", "utf-8")
        with pytest.raises(ContractError, match="holds no prices of swaps"):
            store.read(path)
    head = {"format": 1, "model": "m", "texts": "t", "facts": {}, "budget": {"rates": [0.1]}}
    path.write_text(json.dumps({**head, "format": 2}) + "\n", "utf-8")
    with pytest.raises(ContractError, match="format 2; need 1"):
        store.read(path)
    lines = [json.dumps(head), '{"swap": {"scoring": 1, "x": 2}}']
    path.write_text("\n".join([*lines, ""]), "utf-8")
    with pytest.raises(ContractError, match="no outcome of a swap"):
        store.read(path)
    with pytest.raises(ContractError, match="holds no prices"):
        store.read(tmp_path)
