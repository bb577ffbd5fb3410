"""Changes by name, as a tap takes them: counted from 1 on the page, from 0 in a model."""

import pytest
import torch

from attention_plugins.contract import ContractError
from attention_plugins.record import AttentionMap
from attention_plugins.tap import Intervention, Site
from dashboard.features.translation.task import interventions
from dashboard.records.interventions import Change


def of(kind, layer=0, heads=3, rows=4, keys=6):
    labels = tuple(map(str, range(max(rows, keys))))
    weights = torch.zeros(heads, rows, keys)
    return AttentionMap(
        site=Site(kind, layer),
        weights=weights,
        query_labels=labels[:rows],
        key_labels=labels[:keys],
    )


MAPS = [of("encoder", rows=6), of("decoder", keys=4), of("cross"), of("cross", 1)]


def pin(kind, row, key, layer=1, head=1):
    return Change(action="pin", kind=kind, layer=layer, head=head, row=row, key=key)


def test_layers_and_heads_are_counted_from_one():
    (made,) = interventions([pin("cross", 3, 5, layer=2, head=3)], MAPS)
    assert made == Intervention(site=Site("cross", 1), action="pin", head=2, row=3, key=5)
    (made,) = interventions([Change(action="off", kind="encoder", layer=1, head=None)], MAPS)
    assert made == Intervention(site=Site("encoder", 0), action="off")


@pytest.mark.parametrize(
    ("kind", "row", "key"), [("cross", 0, 5), ("encoder", 0, 5), ("decoder", 2, 2)]
)
def test_a_word_may_look_at_whatever_its_map_has(kind, row, key):
    assert interventions([pin(kind, row, key)], MAPS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pin("decoder", 2, 3), r"need 0 <= key < 3, got 3 \(a word sees those before it alone\)"),
        (pin("decoder", 3, 4), r"need 0 <= key < 4, got 4 \("),
        (pin("cross", 0, 6), "need 0 <= key < 6, got 6$"),
        (pin("cross", 4, 0), "need 0 <= row < 4, got 4"),
        (pin("cross", 0, 0, head=4), "need 1 <= head <= 3, got 4"),
        (pin("cross", 0, 0, layer=3), r"no cross\.3; offered: encoder\.1, decoder\.1, cross\.1"),
    ],
)
def test_what_is_not_there_is_named(change, message):
    with pytest.raises(ContractError, match=message):
        interventions([change], MAPS)
