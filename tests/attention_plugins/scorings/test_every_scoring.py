"""What holds for every built-in scoring, whatever its formula."""

from __future__ import annotations

import ast
from pathlib import Path

import mechanisms
import pytest
import torch

from attention_plugins import Scoring, ScoringSpec, Sizes, attend, scorings
from attention_plugins.attention import Inputs
from attention_plugins.blocks import attend_in_blocks
from attention_plugins.checking import check_scoring

SPECS = {spec.name: spec for spec in scorings.attention_scorings()}
# These may look nowhere, equal keys or not.
NOWHERE = ("learned_sinks", "lsh")
ORDERLESS = [
    name
    for name, spec in SPECS.items()
    if not spec.create(Sizes(5, 5, 11)).needs and name not in NOWHERE
]

# A tap never asks a scoring with memory for blocks.


@pytest.fixture(params=SPECS)
def spec(request) -> ScoringSpec:
    return SPECS[request.param]


def make(spec: ScoringSpec, query=5, key=5, value=3, dtype=torch.float64) -> Scoring:
    torch.manual_seed(7)
    return spec.create(Sizes(query, key, 11, value=value)).to(dtype)


def draw(*shape, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def test_all_are_there():
    assert list(SPECS) == [
        "scaled_dot", "dot", "additive", "mlp", "bilinear", "cosine", "gaussian", "laplacian",
        "uniform", "alibi", "fire", "kerple_log", "kerple_power", "local_monotonic",
        "local_predicted", "rope", "xpos", "shaw", "swin_v2", "t5_bias", "transformer_xl",
        "synthesizer_dense", "synthesizer_random", "talking_heads", "learned_sinks", "lsh",
        "hyperbolic", "matern", "inverse_multiquadric",
        "rational_quadratic", "polynomial", "epanechnikov", "boxcar", "low_rank_bilinear",
        "biaffine", "learned_metric", "linear_attention", "performer", "mixture", "combination",
        "coverage",
        "location_sensitive", "monotonic", "forward_attention", "cosformer",
    ]  # fmt: skip


def test_it_keeps_every_rule_of_the_kit(spec):
    findings = check_scoring(spec)
    assert [finding for finding in findings if not finding.passed] == []
    assert mechanisms.rules_kept(findings) == mechanisms.table()[spec.name].rules


def test_every_record_explains_itself(spec):
    assert spec.description.endswith(".")
    assert all(parameter.help for parameter in spec.parameters)
    for parameter in (each for each in spec.parameters if each.name == "width"):
        wide = spec.name in ("epanechnikov", "boxcar")
        assert parameter.default == (2.0 if wide else 1.0)
        assert parameter.learnable == (spec.name != "boxcar")


@pytest.mark.parametrize("query_size", [2, 20])
@pytest.mark.parametrize("spec", ORDERLESS, indirect=True)
def test_equal_keys_pool_the_allowed_values_alike(spec, query_size):
    """The worked example of d2l.ai, section 10.3: equal keys, so only the lengths matter."""
    keys = torch.ones(2, 10, 2)
    values = torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    queries = draw(2, 1, query_size, dtype=torch.float32) / 4  # keys are in every window
    scoring = make(spec, query=query_size, key=2, value=4, dtype=torch.float32)
    output, weights = attend(scoring, queries, keys, values, torch.tensor([2, 6]))
    expected = torch.tensor([[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]])
    torch.testing.assert_close(output, expected, atol=5e-5, rtol=0)
    torch.testing.assert_close(weights[0, 0], torch.tensor([0.5] * 2 + [0.0] * 8))
    torch.testing.assert_close(weights[1, 0], torch.tensor([1 / 6] * 6 + [0.0] * 4))


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
    parts = results(lambda q, k, v: attend_in_blocks(Inputs(scoring, q, k, v, mask), block=block))
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other)


def test_a_scoring_is_short():
    """No class, function or record of a scoring is longer than a screen."""
    files = sorted(Path(scorings.__file__).parent.glob("*.py"))
    parts = [part for path in files for part in ast.parse(path.read_text("utf-8")).body]
    assert sum(isinstance(part, ast.ClassDef) for part in parts) > 20
    assert max((part.end_lineno or 0) - part.lineno for part in parts) < 45


# Standard deviations of what is drawn, for 90 queries' and 60 keys' features and 50 hidden units:
# uniform within 1/sqrt(inputs) as torch's linear layers, Glorot's, or the scoring's own.
DRAWN = {
    ("additive", "from_query.weight"): (1 / 90 / 3) ** 0.5,
    ("additive", "from_key.weight"): (1 / 60 / 3) ** 0.5,
    ("bilinear", "from_key.weight"): 1 / (90 * 60) ** 0.5,
    ("biaffine", "from_key.weight"): 1 / (91 * 60) ** 0.5,
    ("low_rank_bilinear", "from_query.weight"): 1 / 90**0.5,
    ("low_rank_bilinear", "from_key.weight"): 1 / (60 * 4) ** 0.5,
    ("transformer_xl", "from_place"): 1 / 60**0.5,
    ("synthesizer_dense", "rise"): 1 / 60**0.5,
    ("synthesizer_dense", "fall"): 1 / 60**0.5,
    ("synthesizer_random", "table"): 1.0,
    ("shaw", "keys_table"): (2 / (9 + 60)) ** 0.5,
    ("shaw", "values_table"): (2 / (9 + 30)) ** 0.5,
}


@pytest.mark.parametrize(("name", "weight"), DRAWN)
def test_what_is_drawn_starts_at_its_size(name, weight):
    found = []
    size = 60 if SPECS[name].same_size else 90
    for seed in range(8):
        torch.manual_seed(seed)
        scoring = SPECS[name].create(Sizes(size, 60, 50, value=30, heads=4))
        found.append(dict(scoring.named_parameters())[weight].detach())
    assert torch.stack(found).std().item() == pytest.approx(DRAWN[name, weight], rel=0.05)
