"""What holds for every built-in scoring, whatever its formula."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from attention_plugins import Scoring, ScoringSpec, Sizes, attend, scorings
from attention_plugins.attention import attend_in_blocks

SPECS = {spec.name: spec for spec in scorings.attention_scorings()}
LEADING = [(), (3,), (2, 3), (1, 3, 1)]


@pytest.fixture(params=SPECS)
def spec(request) -> ScoringSpec:
    return SPECS[request.param]


def make(spec: ScoringSpec, query=5, key=5, dtype=torch.float64) -> Scoring:
    torch.manual_seed(7)
    return spec.create(Sizes(query, key, 11)).to(dtype)


def scores(scoring: Scoring, queries, keys):
    return scoring(scoring.project_queries(queries), scoring.project_keys(keys))


def draw(*shape, dtype=torch.float64, seed=0, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return (scale * torch.randn(*shape, generator=generator, dtype=torch.float64)).to(dtype)


def test_the_nine_are_there():
    assert list(SPECS) == [
        "scaled_dot", "dot", "additive", "mlp", "bilinear", "cosine", "gaussian", "laplacian",
        "uniform",
    ]  # fmt: skip


def test_every_record_explains_itself(spec):
    assert spec.title
    assert spec.reference
    assert spec.description.endswith(".")
    assert spec.formula.count("{") == spec.formula.count("}")
    assert all(parameter.help for parameter in spec.parameters)


@pytest.mark.parametrize("query_size", [2, 20])
def test_equal_keys_pool_the_allowed_values_alike(spec, query_size):
    """The worked example of d2l.ai, section 11.3: equal keys, so only the lengths matter."""
    keys = torch.ones(2, 10, 2)
    values = torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    queries = draw(2, 1, query_size, dtype=torch.float32)
    scoring = make(spec, query=query_size, key=2, dtype=torch.float32)
    output, weights = attend(scoring, queries, keys, values, torch.tensor([2, 6]))
    expected = torch.tensor([[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]])
    torch.testing.assert_close(output, expected, atol=5e-5, rtol=0)
    torch.testing.assert_close(weights[0, 0], torch.tensor([0.5] * 2 + [0.0] * 8))
    torch.testing.assert_close(weights[1, 0], torch.tensor([1 / 6] * 6 + [0.0] * 4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("leading", LEADING, ids=str)
def test_any_leading_dimensions_in_any_precision(spec, leading, dtype):
    queries, keys = draw(*leading, 7, 5, dtype=dtype), draw(*leading, 13, 5, dtype=dtype, seed=1)
    found = scores(make(spec, dtype=dtype), queries, keys)
    assert found.shape == (*leading, 7, 13)
    assert found.dtype == dtype
    exact = scores(make(spec), queries.double(), keys.double())
    tolerance = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 0.06}[dtype]
    torch.testing.assert_close(
        found.double(), exact, atol=tolerance * exact.abs().max().clamp_min(1).item(), rtol=0
    )


@pytest.mark.parametrize(("n_queries", "n_keys", "size"), [(1, 13, 5), (7, 1, 5), (1, 1, 1)])
def test_dimensions_of_one_are_dimensions(spec, n_queries, n_keys, size):
    scoring = make(spec, query=size, key=size)
    queries, keys = draw(2, n_queries, size), draw(2, n_keys, size, seed=1)
    found = scores(scoring, queries, keys)
    assert found.shape == (2, n_queries, n_keys)
    one = scores(scoring, queries[1, :1], keys[1, :1])
    torch.testing.assert_close(found[1, :1, :1], one)


def test_queries_and_keys_of_different_sizes_are_matched(spec):
    scoring = make(spec, query=5, key=3)
    found = scores(scoring, draw(2, 7, 5), draw(2, 13, 3, seed=1))
    assert found.shape == (2, 7, 13)


def test_batch_rows_and_heads_do_not_meet(spec):
    scoring = make(spec)
    queries, keys = draw(2, 3, 7, 5), draw(2, 3, 13, 5, seed=1)
    together = scores(scoring, queries, keys)
    for row in range(2):
        for head in range(3):
            alone = scores(scoring, queries[row, head], keys[row, head])
            torch.testing.assert_close(together[row, head], alone)


def test_queries_may_come_one_at_a_time(spec):
    scoring = make(spec)
    queries, keys = draw(2, 7, 5), draw(2, 13, 5, seed=1)
    projected = scoring.project_keys(keys)
    rows = [scoring(scoring.project_queries(queries[:, i : i + 1]), projected) for i in range(7)]
    torch.testing.assert_close(torch.cat(rows, dim=1), scores(scoring, queries, keys))


def test_moving_the_keys_moves_their_scores(spec):
    scoring, order = make(spec), torch.randperm(13, generator=torch.Generator().manual_seed(2))
    queries, keys = draw(2, 7, 5), draw(2, 13, 5, seed=1)
    moved = scores(scoring, queries, keys[:, order])
    torch.testing.assert_close(moved, scores(scoring, queries, keys)[..., order])


def test_inputs_stay_as_they_are(spec):
    queries, keys = draw(2, 7, 5), draw(2, 13, 5, seed=1)
    before = queries.clone(), keys.clone()
    scoring = make(spec)
    weights_before = {name: value.clone() for name, value in scoring.state_dict().items()}
    scores(scoring, queries, keys)
    assert torch.equal(queries, before[0])
    assert torch.equal(keys, before[1])
    assert (queries._version, keys._version) == (0, 0)
    assert all(torch.equal(scoring.state_dict()[name], v) for name, v in weights_before.items())


@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_scores_and_gradients_are_finite(spec, scale, dtype):
    queries = draw(2, 7, 5, dtype=dtype, scale=scale).requires_grad_()
    keys = draw(2, 13, 5, dtype=dtype, scale=scale, seed=1).requires_grad_()
    scoring = make(spec, dtype=dtype)
    found = scores(scoring, queries, keys)
    assert torch.isfinite(found).all()
    (found.float().sum() + 0 * (queries.sum() + keys.sum())).backward()
    grown = [queries, keys, *scoring.parameters()]
    assert all(torch.isfinite(part.grad).all() for part in grown)


def test_gradients_are_finite_where_a_query_is_a_key(spec):
    points = draw(2, 7, 5).requires_grad_()
    found = scores(make(spec), points, points)
    (found.sum() + 0 * points.sum()).backward()
    assert torch.isfinite(points.grad).all()


def test_gradients_are_those_of_the_formula(spec):
    scoring = make(spec)
    queries, keys = draw(2, 3, 5).requires_grad_(), draw(2, 4, 5, seed=1).requires_grad_()

    def scored(queries, keys, *weights):
        names = [name for name, _ in scoring.named_parameters()]
        whole = _Whole(scoring)
        renamed = {f"scoring.{name}": w for name, w in zip(names, weights, strict=True)}
        found = torch.func.functional_call(whole, renamed, (queries, keys))
        return found + 0 * (queries.sum() + keys.sum())  # uniform depends on neither

    assert torch.autograd.gradcheck(scored, (queries, keys, *scoring.parameters()))


class _Whole(nn.Module):
    """Projections and scores in one call."""

    def __init__(self, scoring: Scoring) -> None:
        super().__init__()
        self.scoring = scoring

    def forward(self, queries, keys):
        return scores(self.scoring, queries, keys)


@pytest.mark.parametrize("block", [1, 3, 7, 100, None])
def test_attending_in_blocks_is_attending(spec, block):
    scoring = make(spec)
    mask = torch.arange(13) < torch.tensor([[[5]] * 7, [[13]] * 7]).reshape(2, 7, 1)
    mask[1, 3] = False

    def results(attending):
        tensors = [draw(2, n, 5, seed=n).requires_grad_() for n in (7, 13, 11)]
        queries, keys, values = tensors[0], tensors[1], draw(2, 13, 3, seed=4).requires_grad_()
        scoring.zero_grad()
        output = attending(queries, keys, values)
        (output * draw(2, 7, 3, seed=5) + 0 * (queries.sum() + keys.sum())).sum().backward()
        return (
            output,
            queries.grad,
            keys.grad,
            values.grad,
            *(p.grad.clone() for p in scoring.parameters()),
        )

    whole = results(lambda q, k, v: attend(scoring, q, k, v, mask)[0])
    parts = results(lambda q, k, v: attend_in_blocks(scoring, q, k, v, mask, block=block))
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other)


def test_a_scoring_is_built_with_the_parameters_set(spec):
    for parameter in spec.parameters:
        for value in (parameter.default, parameter.low, parameter.high):
            built = spec.create(Sizes(5, 5, 11), {parameter.name: value})
            shown = getattr(built, parameter.name).detach()
            assert float(shown) == pytest.approx(value)
        assert [p.requires_grad for p in built.parameters()] == [True]


def test_a_scoring_is_built_without_memory_too(spec):
    """Checkpoints are compared with a model on the meta device before any weight is read."""
    with torch.device("meta"):
        built = spec.create(Sizes(5, 3, 11))
    real = {name: value.shape for name, value in spec.create(Sizes(5, 3, 11)).state_dict().items()}
    assert {name: value.shape for name, value in built.state_dict().items()} == real


def test_a_scoring_is_a_short_file():
    files = sorted(Path(scorings.__file__).parent.glob("*.py"))
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in files}
    assert len(lengths) >= len(SPECS)
    assert max(lengths.values()) <= 80
