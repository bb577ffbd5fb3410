"""The anatomy's tensors, against torch's own attention and plain numpy."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import multi_head_attention_forward, scaled_dot_product_attention

from attention_plugins import Sizes, attend, hookimpl, registry, scoring
from dashboard.features.anatomy import tensors
from dashboard.features.anatomy.chart import stages
from dashboard.features.anatomy.examples import EXAMPLES
from dashboard.features.anatomy.task import DIMENSIONS
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request, Result

SIZES = {"q": (2, 3, 7), "k": (2, 5, 7), "v": (2, 5, 11)}


class Watch:
    """A context that keeps what it is told."""

    def report(self, fraction, note="", facts=None):
        assert 0 <= fraction <= 1

    def stopped(self):
        return False


def draw(*shape, seed=0):
    numbers = np.random.default_rng(seed).normal(size=shape)
    return np.vectorize(tensors.rounded)(numbers)


def walk(scored="scaled_dot", *, model="", seed=0, parameters=None, sizes=None, **options):
    inputs = {
        name: draw(*shape, seed=i) for i, (name, shape) in enumerate((sizes or SIZES).items())
    }
    request = Request.make(
        "anatomy", scoring=scored, model=model, seed=seed, parameters=parameters or {},
        options={**{name: tensors.write(part) for name, part in inputs.items()}, **options},
    )  # fmt: skip
    result = Result.from_bytes(perform(request, Watch()).to_bytes())
    found = {name: stage.values for name, stage in stages(result.tables["stages"]).items()}
    return inputs, found, result.facts


def as_torch(parts):
    return [torch.tensor(part) for part in parts]


@pytest.mark.parametrize(("lengths", "valid"), [
    ("2,4", [[2, 2, 2], [4, 4, 4]]), ("1,2,3/4,5,9", [[1, 2, 3], [4, 5, 9]]), ("", [[5] * 3] * 2),
])  # fmt: skip
def test_a_step_is_torchs_attention(lengths, valid):
    inputs, found, facts = walk(lengths=lengths)
    q, k, v = as_torch(inputs.values())
    allowed = torch.arange(5) < torch.tensor(valid)[..., None]
    expected = scaled_dot_product_attention(q, k, v, allowed)
    np.testing.assert_allclose(found["pooled"], expected, rtol=1e-12)
    np.testing.assert_allclose(found["scores"], q @ k.mT / math.sqrt(7), rtol=1e-12)
    assert (found["allowed"] == allowed.numpy()).all()
    assert (found["weights"][~allowed.numpy()] == 0).all()
    assert facts["finite"] is facts["as_they_are"] is True


@pytest.mark.parametrize("scored", registry.installed().scorings)
def test_every_scoring_goes_the_same_way_as_in_the_models(scored):
    inputs, found, _ = walk(scored, lengths="2,4", hidden=13, seed=3)
    q, k, v = as_torch(inputs.values())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        built = registry.installed().scoring(scored).create(Sizes(7, 7, 13, value=v.shape[-1]))
        torch.set_default_dtype(before)
    output, weights = attend(built, q, k, v, torch.tensor([2, 4]))
    np.testing.assert_allclose(found["weights"], weights.detach(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found["pooled"], output.detach(), rtol=1e-12)
    np.testing.assert_allclose(found["projected_k"], built.project_keys(k).detach())


def test_the_additive_sums_are_traced():
    _, found, facts = walk("additive", hidden=13)
    assert facts["as_they_are"] is False
    assert found["features"].shape == (2, 3, 5, 13)
    sums = found["projected_q"][:, :, None] + found["projected_k"][:, None]
    np.testing.assert_allclose(found["sums"], sums)
    np.testing.assert_allclose(found["features"], np.tanh(sums))
    np.testing.assert_allclose(found["scores"], np.tanh(sums) @ found["vector"])


def test_heads_are_torchs_multi_head_attention():
    sizes = {"q": (2, 4, 9), "k": (2, 5, 9), "v": (2, 5, 9)}
    inputs, found, _ = walk(sizes=sizes, lengths="3,2", heads=3, hidden=9)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = [torch.nn.Linear(9, 9, bias=False, dtype=torch.float64) for _ in range(4)]
    for name, layer in zip("qkv", layers, strict=False):
        projected = layer(torch.tensor(inputs[name])).detach()
        np.testing.assert_allclose(found[f"linear_{name}"], projected)
    q, k, v = as_torch(found[f"linear_{name}"] for name in "qkv")
    padding = torch.arange(5) >= torch.tensor([[3], [2]])
    eye = torch.eye(9, dtype=torch.float64)
    joined, maps = multi_head_attention_forward(
        *(part.transpose(0, 1) for part in (q, k, v)), 9, 3, torch.cat([eye] * 3), None, None,
        None, False, 0.0, eye, None, key_padding_mask=padding, average_attn_weights=False,
        training=False,
    )  # fmt: skip
    np.testing.assert_allclose(found["weights"], maps, atol=1e-9)
    np.testing.assert_allclose(found["merged"], joined.transpose(0, 1), atol=1e-9)
    assert found["split_q"].shape == (2, 3, 4, 3)
    np.testing.assert_array_equal(found["split_q"][1, 2, 3], found["linear_q"][1, 3, 6:])
    np.testing.assert_array_equal(found["merged"][1, 3, 6:], found["pooled"][1, 2, 3])
    mixed = layers[3](torch.tensor(found["merged"])).detach()
    np.testing.assert_allclose(found["mixed"], mixed)


def test_self_attention_of_five_heads_is_torchs():
    """The example of the section: one sequence as queries, keys and values, 100 numbers, 5 heads.

    Of ones, as it has them, and of numbers that tell positions and heads apart.
    """
    example = EXAMPLES["self_heads"]
    shapes = {name: example.sizes.of(name) for name in "qkv"}
    assert set(shapes.values()) == {(2, 4, 100)}
    assert (example.heads, example.hidden, example.lengths) == (5, 100, "3,2")
    x = draw(2, 4, 100)
    for sequence in (np.ones((2, 4, 100)), x):
        text = tensors.write(sequence)
        request = Request.make(
            "anatomy", scoring=example.scoring,
            options={"q": text, "k": text, "v": text, "lengths": "3,2", "heads": 5, "hidden": 100},
        )  # fmt: skip
        found = {
            name: stage.values
            for name, stage in stages(perform(request, Watch()).tables["stages"]).items()
        }
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            layers = [torch.nn.Linear(100, 100, bias=False, dtype=torch.float64) for _ in "qkvo"]
        theirs = torch.nn.MultiheadAttention(100, 5, bias=False, batch_first=True).double()
        with torch.no_grad():
            theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers[:3]]))
            theirs.out_proj.weight.copy_(layers[3].weight)
            own = torch.tensor(sequence)
            padding = torch.arange(4) >= torch.tensor([[3], [2]])
            output, weights = theirs(
                own, own, own, key_padding_mask=padding, average_attn_weights=False
            )
        assert found["mixed"].shape == (2, 4, 100)
        np.testing.assert_allclose(found["mixed"], output, atol=1e-9)
        np.testing.assert_allclose(found["weights"], weights, atol=1e-9)


def test_dropout_keeps_the_mean_and_is_the_seeds():
    _, found, _ = walk(dropout=0.4, seed=5)
    weights, dropped = found["weights"], found["dropped"]
    kept = dropped != 0
    assert 0 < kept.mean() < 1
    np.testing.assert_allclose(dropped[kept], weights[kept] / 0.6)
    np.testing.assert_array_equal(walk(dropout=0.4, seed=5)[1]["dropped"], dropped)
    assert not np.array_equal(walk(dropout=0.4, seed=6)[1]["dropped"], dropped)
    np.testing.assert_array_equal(walk()[1]["dropped"], weights)


def test_the_self_attention_of_padded_sentences():
    """Three sentences of 7, 10 and 4 words of 100 numbers, projected to 8, never scaled."""
    inputs, found, facts = walk(
        "dot", model="self_attention", sizes={"q": (3, 10, 100)}, lengths="7,10,4", hidden=8
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = [torch.nn.Linear(100, 8, bias=False, dtype=torch.float64) for _ in range(3)]
    q, k, v = (layer(torch.tensor(inputs["q"])).detach() for layer in layers)
    for name, part in zip("qkv", (q, k, v), strict=True):
        np.testing.assert_allclose(found[f"model_{name}"], part)
    allowed = torch.arange(10) < torch.tensor([7, 10, 4])[:, None, None]
    expected = scaled_dot_product_attention(q, k, v, allowed, scale=1.0)
    np.testing.assert_allclose(found["pooled"], expected)
    np.testing.assert_allclose(found["encoded"], found["pooled"], rtol=1e-12, atol=1e-14)
    assert (found["weights"][2, :, 4:] == 0).all()
    assert facts["attends"] == 1


def test_without_lengths_a_model_sees_all():
    _, found, _ = walk("dot", model="self_attention", sizes={"q": (2, 3, 5)}, hidden=7)
    assert found["allowed"].all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lengths": "1"}, "lengths: need a length per batch row"),
        ({"q": "1,2/3"}, "q: need 2 rows of 2 numbers"),
        ({"q": "1,2"}, "need q, k and v of one batch"),
        ({"dropout": 1.5}, r"need 0 <= dropout <= 0.9, got 1.5 \(field 'Dropout'\)"),
        ({"heads": 3, "hidden": 8}, "need heads that divide the hidden size 8, got 3"),
        ({"heads": "many"}, "need heads to be a number, got 'many'"),
        ({"part": "tail"}, "no part 'tail'; there are step, mask, root, landscape"),
        ({"zzz": 1}, "no option 'zzz'; offered: q, k, v"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    inputs = {name: tensors.write(draw(*shape)) for name, shape in SIZES.items()}
    request = Request.make("anatomy", scoring="scaled_dot", options={**inputs, **given})
    with pytest.raises(ValueError, match=said):
        perform(request, Watch())


def test_a_model_of_another_task_is_refused():
    with pytest.raises(ValueError, match="'bahdanau' is for translation; need one for encoding"):
        walk(model="bahdanau", sizes={"q": (2, 3, 5)})


class Strange:
    """A plugin whose scoring gives one score too many, and one that gives no numbers."""

    @hookimpl
    def attention_scorings(self):
        @scoring("wide", formula="1")
        def wide(queries, keys):
            return (queries @ keys.mT).repeat(1, 1, 2)

        @scoring("lost", formula="1")
        def lost(queries, keys):
            return (queries @ keys.mT) * math.nan

        yield wide
        yield lost


@pytest.fixture
def strangers(monkeypatch):
    found = {spec.name: spec for spec in Strange().attention_scorings()}
    known = registry.load(allow=[])
    records = {**known.records, "scorings": {**known.scorings, **found}}
    merged = registry.Registry(records=records)
    monkeypatch.setattr("attention_plugins.registry.installed", lambda: merged)


def test_a_strangers_scoring_is_told_its_shape(strangers):
    with pytest.raises(ValueError, match=r"scores of shape \(2, 3, 5\), got \(2, 3, 10\)"):
        walk("wide")


def test_numbers_that_are_not_finite_are_said_to_be(strangers):
    assert walk("lost")[2]["finite"] is False


SCORES = draw(2, 2, 5)


@pytest.mark.parametrize(("lengths", "valid"), [
    ("2,3", [[2, 2], [3, 3]]), ("1,3/0,4", [[1, 3], [0, 4]]),
])  # fmt: skip
def test_the_masked_softmax_and_its_wrong_ways(lengths, valid):
    options = {"part": "mask", "scores": tensors.write(SCORES), "lengths": lengths}
    result = perform(Request.make("anatomy", options=options), Watch())
    found = {name: stage.values for name, stage in stages(result.tables["stages"]).items()}
    allowed = np.arange(5) < np.array(valid)[..., None]
    exp = np.exp(SCORES) * allowed
    total = exp.sum(-1, keepdims=True)
    right = np.divide(exp, total, out=np.zeros_like(exp), where=total > 0)
    np.testing.assert_allclose(found["weights"], right)
    wrong = np.exp(SCORES * allowed)
    wrong /= wrong.sum(-1, keepdims=True)
    np.testing.assert_allclose(found["wrong"], wrong)
    np.testing.assert_allclose(result.facts["leak"], (wrong * ~allowed).sum(-1).ravel())
    np.testing.assert_array_equal(found["scores"], SCORES)
    np.testing.assert_array_equal(found["callers"], SCORES * allowed)
    again = np.exp(SCORES) / np.exp(SCORES).sum(-1, keepdims=True)
    np.testing.assert_allclose(found["again"], again)
    assert np.abs(found["again_wrong"] - again).max() > 0.05


def test_the_textbooks_masked_softmax():
    scores = "0.0343,0.083,0.2883,0.7795/0.6423,0.1566,0.5636,0.0877"
    options = {"part": "mask", "scores": f"{scores}:{scores}", "lengths": "2,3"}
    result = perform(Request.make("anatomy", options=options), Watch())
    weights = stages(result.tables["stages"])["weights"].values
    ratio = math.exp(0.083 - 0.0343)
    np.testing.assert_allclose(weights[0, 0], [1 / (1 + ratio), ratio / (1 + ratio), 0, 0])
    assert (weights[1, :, 3] == 0).all()


def test_the_root_keeps_the_variance_at_one():
    request = Request.make("anatomy", scoring="cosine", options={"part": "root", "count": 16})
    table = perform(request, Watch()).tables["spread"].to_pandas()
    assert set(table["scoring"]) == {"dot", "scaled_dot", "cosine"}
    without, with_root, cosine = (
        table[table["scoring"] == name].set_index("d") for name in ("dot", "scaled_dot", "cosine")
    )
    assert tuple(without.index) == DIMENSIONS
    np.testing.assert_allclose(without["variance"], DIMENSIONS, rtol=0.12)
    np.testing.assert_allclose(with_root["variance"], 1.0, rtol=0.12)
    assert without.loc[512, "largest"] > 0.9 > 0.35 > with_root["largest"].max()
    assert without.loc[512, "entropy"] < 0.3 < 2 < with_root["entropy"].min() < math.log(16)
    assert cosine.loc[512, "variance"] < 0.01
    assert cosine.loc[512, "entropy"] == pytest.approx(math.log(16), abs=0.01)  # of 16 keys


@pytest.mark.parametrize(("scored", "formula"), [
    ("dot", lambda x, y: x * 1.5 - y * 0.5),
    ("gaussian", lambda x, y: -((x - 1.5) ** 2 + (y + 0.5) ** 2) / 2),
])  # fmt: skip
def test_a_landscape_is_its_formula(scored, formula):
    options = {"part": "landscape", "x": 1.5, "y": -0.5}
    request = Request.make("anatomy", scoring=scored, options=options)
    table = perform(request, Watch()).tables["landscape"].to_pandas()
    expected = formula(table["x"], table["y"])
    np.testing.assert_allclose(table["score"], expected, atol=1e-12)
    np.testing.assert_allclose(table["weight"], np.exp(expected) / np.exp(expected).sum())
    assert (table["x"].min(), table["x"].max(), len(table)) == (-3, 3, 41 * 41)


def test_weights_are_those_of_the_chosen_normaliser():
    _, found, facts = walk(lengths="2,4", normaliser="sigmoid")
    allowed = np.arange(5) < np.array([2, 4])[:, None, None]
    counts = allowed.sum(axis=-1, keepdims=True)  # Ramapuram et al. 2024: sigmoid(s - log n)
    expected = np.where(allowed, 1 / (1 + counts * np.exp(-found["scores"])), 0)
    np.testing.assert_allclose(found["weights"], expected, atol=1e-12)
    assert facts["sums_to_one"] is False


def test_scores_of_minus_infinity_rule_keys_out_and_are_no_error():
    _, found, facts = walk("epanechnikov", parameters={"width": 1.0}, normaliser="sparsemax")
    out = np.isneginf(found["scores"])
    assert out.any()
    assert not out.all()
    assert (found["weights"][out] == 0).all()
    assert facts["finite"] is True
    assert facts["sums_to_one"] is True


def test_other_scores_that_are_not_finite_are_still_an_error(monkeypatch):
    @scoring("broken", formula="0", title="Broken")
    def broken(queries, keys):
        return queries.sum(-1, keepdim=True) * keys.sum(-1)[..., None, :] * math.nan

    installed = registry.installed()
    records = {**installed.records, "scorings": {**installed.scorings, "broken": broken}}
    monkeypatch.setattr(registry, "installed", lambda: replace(installed, records=records))
    assert walk("broken")[2]["finite"] is False


def test_a_landscape_by_another_normaliser():
    def plane(**options):
        request = Request.make(
            "anatomy",
            scoring="epanechnikov",
            options={"part": "landscape", "x": 0.0, "y": 0.0, **options},
        )
        return perform(request, Watch()).tables["landscape"].to_pandas()  # fmt: skip

    usual, sparse = plane(), plane(normaliser="hard")
    assert np.isneginf(usual["score"]).any()
    assert (usual["weight"][np.isneginf(usual["score"])] == 0).all()
    assert sparse["weight"].max() == 1.0
    assert sparse["weight"].sum() == 1.0
    assert usual["weight"].max() < 0.1


def test_given_matrices_make_queries_keys_and_values_of_one_sequence():
    x, w = draw(2, 3, 7), {name: draw(1, 7, 5, seed=i) for i, name in enumerate("qkv")}
    given = {f"w_{name}": tensors.write(part) for name, part in w.items()}
    request = Request.make("anatomy", scoring="dot", options={"q": tensors.write(x), **given})
    result = perform(request, Watch())
    found = {name: each.values for name, each in stages(result.tables["stages"]).items()}
    for name in "qkv":
        np.testing.assert_allclose(found[f"model_{name}"], x @ w[name][0])
    q, k, v = (found[f"model_{name}"] for name in "qkv")
    np.testing.assert_allclose(found["pooled"], found["weights"] @ v)
    np.testing.assert_allclose(found["scores"], q @ k.swapaxes(1, 2))
    assert result.facts["needs"] == []


@pytest.mark.parametrize(
    ("w", "wrong"), [("1,2/3,4", r"\(7, h\).*\(2, 2\)"), ("", "need numbers for w_v")]
)
def test_matrices_of_another_shape_are_refused(w, wrong):
    given = {f"w_{name}": tensors.write(draw(1, 7, 5)) for name in "qk"}
    options = {"q": tensors.write(draw(1, 3, 7)), **given, "w_v": w}
    with pytest.raises(ValueError, match=wrong):
        perform(Request.make("anatomy", scoring="dot", options=options), Watch())
