"""The table of mechanisms says what there is; its cells of rules are held by each kind's test."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import mechanisms
import pytest

from attention_plugins.checking import check
from attention_plugins.registry import load
from attention_plugins.scorings.position_biases import KERPLE_POWER

KEPT = {name: row.rules for name, row in mechanisms.table().items()}


def test_the_table_is_what_there_is():
    text = mechanisms.DOCUMENT.read_text("utf-8")
    names = [name for _, name, _ in mechanisms.records()]
    assert sorted(KEPT) == sorted(names), "python -m tests.mechanisms writes the table"
    assert mechanisms.block(text) == mechanisms.render(KEPT)


def test_a_mechanism_without_a_row_is_noticed():
    with pytest.raises(KeyError, match="fire"):
        mechanisms.render({name: rules for name, rules in KEPT.items() if name != "fire"})


def test_every_kind_that_makes_attention_is_in_it():
    registry = load(allow=[])
    kinds = mechanisms.kinds()
    assert {"scorings", "normalisers"} <= set(kinds)
    assert len(KEPT) == sum(len(registry.records[kind]) for kind in kinds)


@pytest.mark.slow
def test_rules_of_other_kinds_than_scorings_and_normalisers_are_those_of_the_kit():
    """Those two kinds are checked where each of their records is tested."""
    others = [one for one in mechanisms.records() if one[0] not in ("scorings", "normalisers")]
    for kind, name, spec in others:
        waived = mechanisms.waivers(kind).get(name, {})
        findings = check(kind, spec, expected_failures=waived)
        assert all(finding.passed for finding in findings)
        assert KEPT[name] == mechanisms.rules_kept(findings)


def test_lines_are_those_of_the_record_and_of_what_it_is_made_of():
    count = partial(mechanisms.lines, "scorings")
    assert count("dot") == 9  # eight of them are its table
    assert count("kerple_power") > count("kerple_log")  # its record is the other's with changes
    assert count("alibi") < 60  # of a file of five mechanisms
    # Another file's record has a parameter of that name.
    assert 30 < mechanisms.lines("normalisers", "temperature") < 50


def test_a_reference_without_a_year_is_noticed():
    with pytest.raises(LookupError, match="kerple_power names no year"):
        mechanisms.year_of(replace(KERPLE_POWER, reference="its authors"))
