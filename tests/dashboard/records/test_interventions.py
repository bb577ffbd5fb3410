from itertools import permutations

import pytest

from dashboard.records.interventions import (
    MOST_CHANGES,
    Change,
    in_order,
    of_states,
    read_changes,
    state_of,
    write_changes,
)

TEXT = "off:cross.2.3 uniform:encoder.1.all pin:cross.2.1:3>0"


def test_changes_come_back_as_they_were_written():
    changes = read_changes(TEXT)
    assert changes == (
        Change(action="off", kind="cross", layer=2, head=3),
        Change(action="uniform", kind="encoder", layer=1),
        Change(action="pin", kind="cross", layer=2, head=1, row=3, key=0),
    )
    assert write_changes(changes) == TEXT
    assert read_changes("  ") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mute:cross.1.1", "need one of off, uniform, pin, patch before a colon, got ‘mute’"),
        ("off", r"need off of a head such as cross\.2\.3 .*, got ‘’"),
        ("off:pooling.1.1", r"\(kinds: cross, encoder, decoder\), got ‘pooling\.1\.1’"),
        ("off:cross.0.1", "got ‘cross.0.1’"),
        ("off:cross.1.1:2>0", "got ‘cross.1.1:2>0’"),
        ("pin:cross.1.1", r"need pin of a head such as cross\.2\.1:3>0"),
        ("pin:cross.1.1:-1>0", "got ‘cross.1.1:-1>0’"),
        ("off:cross.1.1 " * (MOST_CHANGES + 1), "need at most 200 changes, got 201"),
    ],
)
def test_what_is_no_change_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        read_changes(text)


def test_states_are_written_with_whole_layers_and_read_back():
    every = {(kind, layer, head): "on" for kind in ("cross", "decoder") for layer in (1, 2)
             for head in (1, 2, 3)}  # fmt: skip
    states = every | {("cross", 2, head): "off" for head in (1, 2, 3)}
    states |= {("decoder", 1, 2): "uniform", ("decoder", 2, 3): "off"}
    changes = of_states(states)
    assert write_changes(changes) == "off:cross.2.all off:decoder.2.3 uniform:decoder.1.2"
    assert {place: state_of(changes, place) for place in every} == states
    assert of_states(every) == ()
    assert write_changes(of_states({("cross", 1, 1): "off"})) == "off:cross.1.1"


def test_the_last_change_to_a_head_counts_and_a_pin_is_no_state():
    place = ("cross", 1, 2)
    assert state_of(read_changes("off:cross.1.all uniform:cross.1.2"), place) == "uniform"
    assert state_of(read_changes("uniform:cross.1.2 off:cross.1.all"), place) == "off"
    assert state_of(read_changes("off:cross.1.1 pin:cross.1.2:0>0"), place) == "on"


@pytest.mark.parametrize(
    "text",
    [
        "off:cross.1.1 uniform:cross.1.1 pin:cross.1.1:0>0",
        "off:cross.1.1 off:encoder.1.1 off:decoder.1.1",
        "off:cross.1.1 off:cross.2.1 off:cross.10.1",
        "off:cross.1.all off:cross.1.1 off:cross.1.10",
        "pin:cross.1.1:0>4 pin:cross.1.1:1>3 pin:cross.1.1:10>2",
        "pin:cross.1.1:1>0 pin:cross.1.1:1>2 pin:cross.1.1:1>10",
        "pin:cross.12.12:9>7 pin:cross.12.12:100>101",
    ],
)
def test_equal_changes_are_written_alike_in_whatever_order_they_were_made(text):
    """By each part of a change: else equal pages would have two links and two requests."""
    for changes in permutations(read_changes(text)):
        assert write_changes(in_order(changes)) == text


def test_order_is_that_of_the_actions_and_nothing_is_twice():
    changes = read_changes("pin:cross.1.1:2>0 uniform:cross.1.1 off:decoder.1.1 off:cross.2.1 "
                           "off:cross.2.1")  # fmt: skip
    assert write_changes(in_order(changes)) == (
        "off:cross.2.1 off:decoder.1.1 uniform:cross.1.1 pin:cross.1.1:2>0"
    )


def test_as_many_changes_as_the_bound_allows_are_read():
    assert len(read_changes("off:cross.1.1 " * MOST_CHANGES)) == MOST_CHANGES


def test_the_switch_of_a_whole_layer_is_the_state_of_each_of_its_heads_alone():
    changes = read_changes("uniform:cross.2.all patch:cross.1.1")
    states = {(kind, layer): state_of(changes, (kind, layer, 1))
              for kind in ("cross", "encoder") for layer in (1, 2)}  # fmt: skip
    assert states == {("cross", 1): "on", ("cross", 2): "uniform",
                      ("encoder", 1): "on", ("encoder", 2): "on"}  # fmt: skip
