from __future__ import annotations

import copy
import math

import pytest
import torch

from attention_plugins import (
    Intervention,
    Recorder,
    Scoring,
    Site,
    Sizes,
    Tap,
    attend,
    get_scoring,
)
from attention_plugins.scorings import ADDITIVE
from attention_plugins.scorings.memory import COVERAGE
from attention_plugins.scorings.scaled_dot import scaled_dot_product

CROSS, DECODER = Site("cross", 0), Site("decoder", 1)
SCALED_DOT = scaled_dot_product.create(Sizes(5, 5, 1))


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def inputs(*leading):
    """Queries, keys and values with 7 queries, 11 keys, sizes 5 and 3."""
    return draw(*leading, 7, 5), draw(*leading, 11, 5, seed=1), draw(*leading, 11, 3, seed=2)


def test_an_unwatched_tap_attends_to_much_in_blocks(monkeypatch):
    monkeypatch.setattr("attention_plugins.tap._MOST_SCORES", 2 * 7 * 11 - 1)
    monkeypatch.setattr("attention_plugins.blocks._BLOCK_ELEMENTS", 2 * 11 * 5 * 2)
    sizes = []

    class Watched(Scoring):
        def forward(self, queries, keys):
            sizes.append(queries.shape[-2])
            return queries @ keys.mT / math.sqrt(5)

    lengths = torch.tensor([11, 4])
    expected, _ = attend(SCALED_DOT, *inputs(2), lengths)
    torch.testing.assert_close(Tap().attend(CROSS, Watched(), *inputs(2), lengths), expected)
    assert sizes == [2, 2, 2, 1]
    Tap(Recorder()).attend(CROSS, Watched(), *inputs(2), lengths)
    assert sizes[4:] == [7]  # whoever watches wants all weights


def test_a_tap_gives_what_attention_gives():
    tensors = (*inputs(2), torch.tensor([3, 11]))
    expected, weights = attend(SCALED_DOT, *tensors)
    torch.testing.assert_close(Tap().attend(CROSS, SCALED_DOT, *tensors), expected)
    recorder = Recorder()
    assert torch.equal(Tap(recorder).attend(CROSS, SCALED_DOT, *tensors), expected)
    assert torch.equal(recorder.weights()[CROSS], weights)


def test_an_intervention_elsewhere_changes_no_bit():
    tensors = inputs(2, 3)
    expected = Tap().attend(CROSS, SCALED_DOT, *tensors)
    elsewhere = Intervention(site=DECODER, action="off")
    assert torch.equal(Tap(None, [elsewhere]).attend(CROSS, SCALED_DOT, *tensors), expected)


def test_a_recorder_joins_rows_in_the_order_of_the_queries():
    queries, keys, values = inputs(2)
    _, expected = attend(SCALED_DOT, queries, keys, values)
    recorder = Recorder()
    tap = Tap(recorder)
    tap.attend(DECODER, SCALED_DOT, queries[:, :2], keys, values)
    for row in range(7):
        tap.attend(CROSS, SCALED_DOT, queries[:, row : row + 1], keys, values)
    found = recorder.weights()
    torch.testing.assert_close(found[CROSS], expected)
    assert found[DECODER].shape == (2, 2, 11)
    assert set(found) == {CROSS, DECODER}


def test_a_recorder_of_some_sites_keeps_these_alone():
    recorder = Recorder({CROSS})
    tap = Tap(recorder)
    for site in (CROSS, DECODER):
        tap.attend(site, SCALED_DOT, *inputs(2))
    assert recorder.weights().keys() == {CROSS}
    assert (tap.watches(CROSS), tap.watches(DECODER)) == (True, False)


def test_a_recorder_keeps_no_graph_alive():
    queries, keys, values = (part.requires_grad_() for part in inputs(2))
    recorder = Recorder()
    Tap(recorder).attend(CROSS, SCALED_DOT, queries, keys, values)
    assert not recorder.weights()[CROSS].requires_grad


def test_attending_leaves_nothing_on_the_module():
    scoring = ADDITIVE.create(Sizes(5, 5, 7)).double()
    before = set(vars(scoring))
    Tap(Recorder()).attend(CROSS, scoring, *inputs(2))
    assert set(vars(scoring)) == before
    copy.deepcopy(scoring)


def intervened(*interventions, mask=None, leading=(2, 3)):
    recorder = Recorder()
    output = Tap(recorder, interventions).attend(CROSS, SCALED_DOT, *inputs(*leading), mask)
    return output, recorder.weights()[CROSS]


def test_a_head_that_is_off_says_nothing_and_the_others_as_before():
    plain_output, plain = intervened()
    output, weights = intervened(Intervention(site=CROSS, action="off", head=1))
    assert not output[:, 1].any()
    assert not weights[:, 1].any()
    assert torch.equal(output[:, [0, 2]], plain_output[:, [0, 2]])
    assert torch.equal(weights[:, [0, 2]], plain[:, [0, 2]])


def test_uniform_weights_respect_the_mask():
    lengths = torch.tensor([4, 0])
    output, weights = intervened(Intervention(site=CROSS, action="uniform"), mask=lengths)
    values = inputs(2, 3)[2]
    expected = torch.tensor([0.25] * 4 + [0.0] * 7, dtype=torch.float64).expand(3, 7, 11)
    torch.testing.assert_close(weights[0], expected)
    assert not weights[1].any()
    torch.testing.assert_close(output[0], values[0, :, :4].mean(1, keepdim=True).expand(3, 7, 3))


def test_a_pinned_row_reads_one_key():
    plain_output, plain = intervened()
    pin = Intervention(site=CROSS, action="pin", head=2, row=5, key=8)
    output, weights = intervened(pin)
    values = inputs(2, 3)[2]
    torch.testing.assert_close(output[:, 2, 5], values[:, 2, 8])
    assert (weights[:, 2, 5, 8] == 1).all()
    changed = torch.zeros(2, 3, 7, dtype=torch.bool)
    changed[:, 2, 5] = True
    assert torch.equal(weights[~changed], plain[~changed])
    torch.testing.assert_close(output[~changed], plain_output[~changed])


def test_without_a_head_dimension_head_0_is_the_only_one():
    _, weights = intervened(Intervention(site=CROSS, action="off", head=0, row=2), leading=(2,))
    assert not weights[:, 2].any()
    assert weights[:, [0, 1, 3]].any()


def test_rows_are_counted_through_the_whole_decoding():
    """What each step changes must not depend on how many rows came at once."""
    queries, keys, values = inputs(2)
    pins = [Intervention(site=CROSS, action="pin", row=4, key=3),
            Intervention(site=CROSS, action="uniform", row=6)]  # fmt: skip
    at_once, recorder = (
        Tap(None, pins).attend(CROSS, SCALED_DOT, queries, keys, values),
        Recorder(),
    )
    tap = Tap(recorder, pins)
    parts = [
        tap.attend(CROSS, SCALED_DOT, part, keys, values)
        for part in queries.split([1, 1, 3, 1, 1], dim=1)
    ]
    torch.testing.assert_close(torch.cat(parts, dim=1), at_once)
    weights = recorder.weights()[CROSS]
    assert (weights[:, 4, 3] == 1).all()
    torch.testing.assert_close(weights[:, 6], torch.full((2, 11), 1 / 11, dtype=torch.float64))


def test_interventions_act_in_order():
    off, uniform = (Intervention(site=CROSS, action=a, row=1) for a in ("off", "uniform"))
    _, last_uniform = intervened(off, uniform)
    _, last_off = intervened(uniform, off)
    torch.testing.assert_close(last_uniform[..., 1, :].sum(-1), torch.ones(2, 3).double())
    assert not last_off[..., 1, :].any()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"action": "mute"}, "need action to be off, uniform or pin, got 'mute'"),
        ({"action": "pin"}, "needs the key to pin to"),
    ],
)
def test_an_intervention_that_makes_no_sense_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Intervention(site=CROSS, **fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"action": "off", "head": 3}, "has 3 heads, no head 3"),
        ({"action": "off", "head": -1}, "has 3 heads, no head -1"),
        ({"action": "pin", "key": -1}, "has 11 keys, no key -1"),
    ],
)
def test_an_intervention_on_what_is_not_there_is_refused(fields, message):
    with pytest.raises(IndexError, match=message):
        intervened(Intervention(site=CROSS, **fields))


@pytest.mark.parametrize("memory", [False, True])
def test_a_model_that_asks_gets_the_weights_that_met_the_values(memory):
    """Also under an intervention, and in two calls as in one."""
    torch.manual_seed(2)
    queries, keys, values = torch.randn(2, 5, 4), torch.randn(2, 7, 4), torch.randn(2, 7, 3)
    scoring = (COVERAGE if memory else scaled_dot_product).create(Sizes(4, 4, 4))
    pin = Intervention(site=CROSS, action="pin", row=3, key=2)
    lengths = torch.tensor([7, 4])
    output, weights = Tap(interventions=[pin]).attend_with_weights(
        CROSS, scoring, queries, keys, values, lengths
    )
    assert weights.shape == (2, 5, 7)
    assert weights[:, 3].tolist() == [[0, 0, 1, 0, 0, 0, 0]] * 2
    assert weights[1, :, 4:].max() == 0
    torch.testing.assert_close(weights @ values, output)
    recorder = Recorder()
    tap = Tap(recorder, [pin])
    parts = [
        tap.attend_with_weights(CROSS, scoring, queries[:, part], keys, values, lengths)
        for part in (slice(0, 2), slice(2, 5))
    ]
    torch.testing.assert_close(torch.cat([part[1] for part in parts], dim=1), weights)
    torch.testing.assert_close(recorder.weights()[CROSS], weights)
    alone = Tap(interventions=[pin]).attend(CROSS, scoring, queries, keys, values, lengths)
    torch.testing.assert_close(alone, output)


def test_a_model_may_say_where_its_keys_stand(monkeypatch):
    """In every way of attending: with weights, without, and in blocks."""

    class Distance(Scoring):
        needs = ("positions",)

        def forward(self, queries, keys, positions):
            return -positions.distances.abs().to(queries.dtype).expand(2, -1, -1)

    queries, keys = torch.randn(2, 3, 4), torch.randn(2, 4, 4)
    places = torch.tensor([0, 1, 0, 1])
    near = torch.tensor([0.0, -1.0, 0.0, -1.0])
    expected = torch.stack([near, near.flip(0), near.flip(0) - 1]).softmax(-1)
    expected[2] = torch.tensor([-2.0, -1.0, -2.0, -1.0]).softmax(-1)

    def asked(**more):
        return Tap().attend(CROSS, Distance(), queries, keys, keys, key_positions=places, **more)

    _, weights = Tap().attend_with_weights(
        CROSS, Distance(), queries, keys, keys, key_positions=places
    )
    torch.testing.assert_close(weights[0], expected)
    torch.testing.assert_close(asked(), expected @ keys)
    monkeypatch.setattr("attention_plugins.tap._MOST_SCORES", 1)
    torch.testing.assert_close(asked(), expected @ keys)


@pytest.mark.parametrize(
    ("name", "most"),
    [("linear_attention", 1000), ("gaussian", 1000), ("dot", 1000), ("alibi", 1), ("alibi", 1000)],
)
@pytest.mark.parametrize("weights", [False, True])
def test_queries_are_counted_however_they_are_attended_with(name, most, weights, monkeypatch):
    """In linear time, as a fast sum, fused, in blocks and by the weights."""
    monkeypatch.setattr("attention_plugins.tap._MOST_SCORES", most)
    monkeypatch.setattr("attention_plugins.sums.MANY_SCORES", 7 * 11 - 1)
    asked = []

    class Positional(Scoring):
        needs = ("positions",)

        def forward(self, queries, keys, positions):
            asked.append(positions.queries.tolist())
            return queries @ keys.mT

    queries, keys, values = inputs()
    tap, scoring = Tap(), get_scoring(name).create(Sizes(5, 5, 5)).double()
    with torch.no_grad():
        (tap.attend_with_weights if weights else tap.attend)(CROSS, scoring, queries, keys, values)
        tap.attend(DECODER, Positional(), queries, keys, values)
        tap.attend(CROSS, Positional(), queries[:3], keys, values)
    assert [number for part in asked for number in part] == [*range(7), 7, 8, 9]


class Given(Scoring):
    """For a model that makes its scores itself and hands them over as queries."""

    def forward(self, queries, keys):
        return queries


def test_a_model_s_own_scores_are_masked_recorded_and_changed_as_any():
    generator = torch.Generator().manual_seed(3)
    scores, values = (torch.randn(2, n, 5, generator=generator) for n in (3, 7))
    values, lengths, site = values.mT, torch.tensor([5, 2]), Site("cross")
    recorder = Recorder()
    output = Tap(recorder).attend(site, Given(), scores, values, values, lengths)
    weights = recorder.weights()[site]
    torch.testing.assert_close(weights[0], scores[0].softmax(dim=-1))
    torch.testing.assert_close(weights[1, :, :2], scores[1, :, :2].softmax(dim=-1))
    torch.testing.assert_close(output, weights @ values)
    unwatched = Tap().attend(site, Given(), scores, values, values, lengths)
    torch.testing.assert_close(unwatched, output)
    off = Tap(interventions=[Intervention(site=site, action="off")])
    assert not off.attend(site, Given(), scores, values, values, lengths).any()
