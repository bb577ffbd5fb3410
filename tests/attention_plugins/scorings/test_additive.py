from __future__ import annotations

import math

import torch

from attention_plugins import Sizes
from attention_plugins.scorings.additive import ADDITIVE, MLP


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_additive_is_a_network_with_one_hidden_layer():
    scoring = ADDITIVE.create(Sizes(query=3, key=5, hidden=7)).double()
    queries, keys = draw(2, 3), draw(4, 5, seed=1)
    found = scoring(scoring.project_queries(queries), scoring.project_keys(keys))
    w_q, w_k, v = (w.tolist() for w in scoring.parameters())
    for i, query in enumerate(queries.tolist()):
        for j, key in enumerate(keys.tolist()):
            hidden = [
                math.tanh(
                    sum(a * b for a, b in zip(w_q[h], query, strict=True))
                    + sum(a * b for a, b in zip(w_k[h], key, strict=True))
                )
                for h in range(7)
            ]
            expected = sum(a * b for a, b in zip(v[0], hidden, strict=True))
            assert math.isclose(found[i, j].item(), expected, rel_tol=1e-12)


def test_additive_has_no_biases_and_takes_its_hidden_size_from_the_model():
    shapes = {tuple(w.shape) for w in ADDITIVE.create(Sizes(3, 5, 7)).parameters()}
    assert shapes == {(7, 3), (7, 5), (1, 7)}


def test_mlp_is_additive_by_another_name():
    torch.manual_seed(0)
    additive = ADDITIVE.create(Sizes(3, 5, 7))
    mlp = MLP.create(Sizes(3, 5, 7))
    mlp.load_state_dict(additive.state_dict())
    queries, keys = torch.randn(2, 7), torch.randn(4, 7)
    assert torch.equal(mlp(queries, keys), additive(queries, keys))
    assert "additive" in MLP.description


def test_the_projected_keys_survive_scoring():
    """The sums are changed in place; nobody else may hold them."""
    scoring = ADDITIVE.create(Sizes(3, 5, 7)).double()
    projected, queries = scoring.project_keys(draw(1, 5)), scoring.project_queries(draw(1, 3))
    before = projected.clone(), queries.clone()
    scoring(queries, projected)
    assert torch.equal(projected, before[0])
    assert torch.equal(queries, before[1])
