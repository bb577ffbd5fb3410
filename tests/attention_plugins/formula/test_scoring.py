"""Formulas beside the plugins of the same scorings, in models, and within their bounds."""

from __future__ import annotations

import math
import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from attention_plugins import ContractError, Sizes, attend, registry
from attention_plugins.agreement import losses
from attention_plugins.attention import needs_of
from attention_plugins.checking import check_scoring
from attention_plugins.contract import ModelSizes
from attention_plugins.fitting import learned_values
from attention_plugins.formula import FormulaError, scoring, spec_of
from attention_plugins.formula.tree import parts
from attention_plugins.models.protocols import Batch

REGISTRY = registry.load(allow=[])

# The plugin, its parameters, the formula, the parameters in it.
EQUALS = {
    "dot": ({}, "q.k", {}),
    "scaled_dot": ({}, "q @ k.T / sqrt(d)", {}),
    "gaussian": ({"width": 0.7}, "-|q - k|^2 / (2 w^2)", {"w": 0.7}),
    "laplacian": ({"width": 0.7}, "-(q - k).abs().sum(-1) / b", {"b": 0.7}),
    "boxcar": ({"width": 0.9}, "where(|q - k| / √d < 0.9, 0, -inf)", {}),
    "epanechnikov": ({"width": 2.0}, "log(max(1 - |q/√d - k/√d|²/w², 0))", {"w": 2.0}),
    "cosine": ({"scale": 3.0}, "s cos(q, k)", {"s": 3.0}),
    "uniform": ({}, "0", {}),
    "polynomial": ({"degree": 4, "offset": 0.5}, "2 log(((q/√d).k + c)^2)", {"c": 0.5}),
    "rational_quadratic": (
        {"width": 0.7, "alpha": 2.0}, "-a log1p(|q - k|^2 / (2a w^2))", {"a": 2.0, "w": 0.7}
    ),
    "inverse_multiquadric": ({"width": 0.7}, "-log1p(|q - k|^2 / w^2) / 2", {"w": 0.7}),
    "matern": ({"width": 0.7}, "log1p(√3 |q-k|/w) - √3|q-k|/w", {"w": 0.7}),
    "mixture": (
        {"gate": 0.3, "width": 0.7},
        "logaddexp(q.k/√d + log(g), log(1 - g) - |q-k|^2/(2 w^2))", {"g": 0.3, "w": 0.7},
    ),
    "alibi": ({}, "q.k/√d - 2^(-8h/H) |i - j|", {}),
    "kerple_log": ({}, "q.k/√d - r log(1 + s|i - j|)", {"r": 0.4, "s": 0.8}),
}  # fmt: skip


def draw(*shape, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def scores(spec, queries, keys, values=None, heads=1, dtype=torch.float64):
    made = spec.create(Sizes(queries.shape[-1], keys.shape[-1], 7, heads), values).to(dtype)
    if hasattr(made, "log_cost"):  # of KERPLE, whose weights are drawn
        with torch.no_grad():
            made.log_cost.fill_(math.log(0.4))
            made.log_pace.fill_(math.log(0.8))
    projected = made.project_keys(keys)
    return made(
        made.project_queries(queries), projected, **needs_of(made, queries.shape[-2], projected)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [1, 5, 23])
@pytest.mark.parametrize("name", EQUALS)
def test_a_formula_scores_as_the_plugin_does(name, size, dtype):
    plugins, text, typed = EQUALS[name]
    queries, keys = draw(2, 4, 7, size, dtype=dtype), draw(2, 4, 11, size, dtype=dtype, seed=1)
    found = scores(REGISTRY.scoring(f"={text}"), queries, keys, typed, 4, dtype)
    wanted = scores(REGISTRY.scoring(name), queries, keys, plugins, 4, dtype)
    assert found.shape == wanted.shape == (2, 4, 7, 11)
    assert found.isneginf().equal(wanted.isneginf())
    finite = wanted.isfinite()
    assert (found - wanted)[finite].abs().max() <= 1e-6 * max(1.0, wanted[finite].abs().max())


CHECKED = [
    *(text for name, (_, text, _) in EQUALS.items() if name != "mixture"),  # 1 - g may be negative
    "-(q - k).abs().max(-1)", "where(|i - j| <= 3, q.k/√d, -inf)", "q.k / n",
    "-|w q - v k|^2 / d", "tanh(q).k - relu(w|q - k| - 1)", "-m|i - j|",
    "mean(sigmoid(q - k)) + min(q * k) * softplus(h / H)",
]  # fmt: skip


@pytest.mark.parametrize("text", CHECKED)
def test_it_keeps_every_rule_of_the_kit(text):
    findings = check_scoring(spec_of(text))
    assert len(findings) > 20
    assert [finding for finding in findings if not finding.passed] == []


def test_the_kit_finds_what_is_wrong_with_a_formula():
    broken = {f.rule: f.message for f in check_scoring(spec_of("q.k + b")) if not f.passed}
    assert list(broken) == ["every_weight_learns"]


class LargestTensor(TorchDispatchMode):
    largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        for each in found if isinstance(found, tuple | list) else (found,):
            if isinstance(each, torch.Tensor):
                self.largest = max(self.largest, each.untyped_storage().nbytes() // 8)
        return found


@pytest.mark.parametrize(
    "text",
    ["q.k", "sum(w q * k / 2) / d", "(q * k).mean(-1)", "-|q - k|^2", "-sum((q - k)^2)",
     "sum(q * k * |q - k|^2)", "-norm((q - 2k)/w)^2", "cos(q, k)", "-(k - q).square().mean(-1)",
     "q.k * |i - j|"],
)  # fmt: skip
def test_products_and_squared_distances_need_no_vector_for_a_pair(text):
    queries, keys = draw(67, 61), draw(71, 61, seed=1)
    with LargestTensor() as watched:
        scores(spec_of(text), queries, keys)
    assert watched.largest <= 71 * 67


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("text", "by_hand"),
    [
        ("-|q - k|^2", lambda q, k: -(q - k).square().sum(-1)),
        ("-norm((q - 2k)/3)^2", lambda q, k: -((q - 2 * k) / 3).square().sum(-1)),
        ("-sum((-k - 1 + q)^2)", lambda q, k: -(q - k - 1).square().sum(-1)),
        ("dot(-q / 2, k^2)", lambda q, k: (-q / 2 * k.square()).sum(-1)),
        ("|q - k|^3", lambda q, k: (q - k).square().sum(-1) ** 1.5),
        ("sum(q * (q - k))", lambda q, k: (q * (q - k)).sum(-1)),
        ("(q * k).mean(-1)", lambda q, k: (q * k).mean(-1)),
        ("sum((i - j) * q * k)", lambda q, k: (k * q).sum(-1) * -places(q, k)),
        ("sum((-q * k / 3)^2 * j)", lambda q, k: ((q * k / 3).square() * k_places(k)).sum(-1)),
        ("sum((2 (q * k)^2 * q)^2)", lambda q, k: (2 * (q * k).square() * q).square().sum(-1)),
        ("sum((i - k)^2)", lambda q, k: (k - q_places(q)).square().sum(-1)),
        ("sum((q - j)^2)", lambda q, k: (q - k_places(k)).square().sum(-1)),
        ("sum((2 (q - k))^2 / 3)", lambda q, k: (2 * (q - k)).square().sum(-1) / 3),
        ("sum((q * (q - k))^2)", lambda q, k: (q * (q - k)).square().sum(-1)),
        ("sum((q - k)^2^2 / 3)", lambda q, k: (q - k).square().square().sum(-1) / 3),
    ],
)
def test_what_is_computed_otherwise_is_the_same_to_a_millionth(text, by_hand, dtype):
    queries, keys = draw(7, 61, dtype=dtype), draw(11, 61, dtype=dtype, seed=1)
    keys[3] = queries[2]
    found = scores(spec_of(text), queries, keys, dtype=dtype)
    wanted = by_hand(queries[:, None].double(), keys[None].double())
    assert (found - wanted).abs().max() < 1e-6 * wanted.abs().max()


def places(queries, keys):
    return torch.arange(keys.shape[1]) - torch.arange(queries.shape[0])[:, None]


def q_places(queries):
    return torch.arange(queries.shape[0])[:, None, None]


def k_places(keys):
    return torch.arange(keys.shape[1])[:, None]


@pytest.mark.parametrize("inner", ["q * k", "q - k", "w * q * k / d", "(q * k)^2 * (q - k)^2"])
def test_squares_within_squares_do_not_multiply_what_is_computed(inner):
    typed = f"sum(({inner}){'.square()' * 20})"
    formula = scoring.read(typed)
    planned, written = (sum(1 for _ in parts(tree)) for tree in (formula.plan, formula.tree))
    assert planned <= 3 * written
    queries, keys = draw(7, 5).tanh(), draw(11, 5, seed=1).tanh()
    assert scores(spec_of(typed), queries, keys).shape == (7, 11)


def test_a_formula_that_holds_many_vectors_at_once_makes_shorter_ones(monkeypatch):
    """Each operand waits for the one in brackets behind it, so 24 are held, and a sum."""
    nested = "sum(" + "q*k+(" * 23 + "q*k" + ")" * 24
    plain = "sum(q*k + 0)"
    assert (scoring.read(plain).held, scoring.read(nested).held) == (2, 25)
    monkeypatch.setattr(scoring, "AT_ONCE", 11 * 5 * 12)
    queries, keys = draw(13, 5), draw(11, 5, seed=1)
    with Largest() as of_plain:
        scores(spec_of(plain), queries, keys)
    with Largest() as of_nested:
        found = scores(spec_of(nested), queries, keys)
    torch.testing.assert_close(found, 24 * scores(spec_of(plain), queries, keys))
    assert of_nested.together <= 2 * of_plain.together


class Largest(TorchDispatchMode):
    """The most numbers of vectors of pairs that live at once."""

    def __init__(self):
        super().__init__()
        self.together, self._living = 0, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        if isinstance(found, torch.Tensor) and found.dim() == 3:
            self._living.append(weakref.ref(found))
        living = [each for one in self._living if (each := one()) is not None]
        self.together = max(self.together, sum(each.numel() for each in living))
        return found


def test_a_length_is_exact_near_zero():
    queries = draw(5, 61, dtype=torch.float32) + 100
    found = scores(spec_of("-|q - k|"), queries, queries + 1e-3, dtype=torch.float32)
    assert found.diagonal() == pytest.approx(-1e-3 * math.sqrt(61), rel=0.02)
    short, long = torch.full((1, 4), 5e-8), torch.ones(1, 4)  # of length 1e-7, and 1e-6 has none
    assert scores(spec_of("cos(q, k)"), short, long).item() == pytest.approx(0.1)


@pytest.mark.parametrize("text", ["-max(abs(q - k)) - m|i - j|", "sum(tanh(q + k)) * h"])
def test_blocks_of_queries_change_nothing(text, monkeypatch):
    queries, keys = draw(2, 3, 13, 5), draw(2, 3, 11, 5, seed=1)
    whole = scores(spec_of(text), queries, keys, heads=3)
    monkeypatch.setattr(scoring, "AT_ONCE", 2 * 3 * 11 * 5 * 2)
    with LargestTensor() as watched:
        blocks = scores(spec_of(text), queries, keys, heads=3)
    assert blocks.equal(whole)
    assert watched.largest <= 2 * 3 * 13 * 11  # the scores, more than a block's vectors


@pytest.mark.parametrize("at_once", [scoring.AT_ONCE, 1])
def test_half_precision_is_computed_in_single_and_given_back(at_once, monkeypatch):
    monkeypatch.setattr(scoring, "AT_ONCE", at_once)
    queries, keys = draw(7, 61, dtype=torch.bfloat16), draw(11, 61, dtype=torch.bfloat16, seed=1)
    spec = spec_of("-w sum(abs(q - k))")
    found = scores(spec, queries, keys, dtype=torch.bfloat16)
    wanted = scores(spec, queries.float(), keys.float(), dtype=torch.float32)
    torch.testing.assert_close(found, wanted.bfloat16(), rtol=0, atol=0)


def test_too_much_work_is_refused_before_it_is_begun(monkeypatch):
    made = spec_of("-max(abs(q - k))").create(Sizes(64, 64, 1))
    assert (scoring.MOST_KEPT * 4, scoring.MOST_WORK) == (2 << 30, 1 << 35)  # bytes, numbers
    many = torch.zeros(1, 64).expand(16_300, 64)  # 130 numbers of a pair
    with pytest.raises(ContractError, match="take fewer points"):
        made(many, many)
    learning = torch.zeros(2040, 64, requires_grad=True)
    with pytest.raises(ContractError, match="while it learns"):
        made(learning.detach(), learning)
    with pytest.raises(ContractError, match="while it learns"):
        made(learning, learning.detach())
    made(torch.zeros(8, 64, requires_grad=True), torch.zeros(8, 64))
    monkeypatch.setattr(scoring, "MOST_KEPT", 8 * 8 * 131)
    few, learned = torch.zeros(8, 64), spec_of("-w max(abs(q - k))").create(Sizes(64, 64, 1))
    assert learned.numbers_per_pair == 131
    learned(few, few)
    with pytest.raises(
        ContractError, match=r"makes 9,432 numbers of 72 pairs .* may make 8,384 w"
    ):
        learned(torch.zeros(9, 64), few)
    with torch.no_grad():
        learned(torch.zeros(9, 64), few)


def test_it_learns_and_shows_what_it_learned():
    spec = spec_of("-|q - k|^2 / (2 sigma^2) * lambda")
    made = spec.create(Sizes(5, 5, 7), {"lambda": 2.0})
    assert learned_values(made, spec.parameters) == {"sigma": 1.0, "lambda": 2.0}
    made(draw(3, 5).float(), draw(4, 5).float()).sum().backward()
    assert all(weight.grad.abs() > 0 for weight in made.parameters())


def test_a_long_formula_has_a_title_that_is_cut_and_parameters_in_their_order():
    spec = spec_of("w q.k + b |q| - a (|k| + 0.25) + sqrt(d) / 3 - exp(-|q - k|^2)")
    assert [parameter.name for parameter in spec.parameters] == ["w", "b", "a"]
    assert (len(spec.title), spec.title[-1]) == (60, "…")
    assert spec.name.removeprefix("=").startswith(spec.title[:-1])
    just = spec_of("q.k + " + " + ".join(["1.25"] * 6) + " + 1.2525")
    assert (len(just.title), just.title) == (60, just.name[1:])
    with pytest.raises(FormulaError, match="written out it has over 300 characters"):
        spec_of("q.k" + f"+{'σ' * 9}" * 5)


def test_traits_follow_from_what_is_named():
    def traits(text):
        spec = spec_of(text)
        return spec.same_size, spec.tasks, spec.create(Sizes(5, 5, 7)).needs

    everywhere = ("regression", "translation", "encoding")
    assert traits("q.k") == (True, everywhere, ())
    assert traits("|q| - |k|") == (False, everywhere, ())
    assert traits("-|i - j|") == (False, ("translation", "encoding"), ("positions",))
    assert traits("q.k / n") == (True, ("regression", "encoding"), ())
    assert traits("j / n") == (False, ("encoding",), ("positions",))
    for text, few, many in (("q.k", 1, 1), ("-|q - k|^2", 5, 1), ("-max(abs(q - k))", None, None)):
        for size, elements in ((5, few), (23, many)):
            assert spec_of(text).create(Sizes(size, size, 7)).elements_per_pair == elements


@pytest.mark.parametrize("number", range(4))
def test_a_vector_left_over_is_refused_and_says_what_to_do(number):
    text, words = [
        ("q - k", "take its sum"), ("q k", "q.k for their dot product"),
        ("q", "its length"), ("k.T", r"a transposed .* mean \"q\^T k\""),
    ][number]  # fmt: skip
    with pytest.raises(FormulaError, match=words) as caught:
        spec_of(text)
    assert (caught.value.start, caught.value.end) == (0, len(text))


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("q.k + |q|.sum(-1)", (6, 9), "one number already"),
        ("q.k + |q|.max(-1)", (6, 9), "^[^(]* max goes over"),
        ("q.k + norm(i - j)", (11, 16), "abs"),
        ("q.k + ‖i - j‖", (7, 12), "abs"),
        ("2 · q + q.k + dot(d, k)", (18, 19), "dot product is of two vectors"),
        ("q.k / k.T", (6, 9), "transposed"),
        ("i^T k", (0, 3), "only a vector can be transposed"),
        ("q * k.T", (0, 7), 'transposed vector with @; did you mean "q @ k.T"'),
        ("q.T / k", (0, 3), "only in a product"),
        ("|q.T|", (1, 4), "only in a product"),
        ("exp(q.T).k", (4, 7), 'only in a product of two vectors; did you mean "q @ k.T"'),
        ("q.T.T k", (0, 7), "two vectors stand side by side"),
    ],
)
def test_kinds_that_do_not_fit_are_found_at_their_place(text, place, words):
    with pytest.raises(FormulaError, match=words) as caught:
        spec_of(text)
    assert (caught.value.start, caught.value.end) == place


@pytest.mark.parametrize("kind", ["bahdanau", "transformer"])
@pytest.mark.parametrize(
    "text", ["q.k/√d - m|i - j|", "-max(abs(q - k)) * (1 + (j < i)) / h", "where(j > i, -1, q.k)"]
)
def test_the_loss_at_once_is_that_word_by_word(text, kind):
    torch.manual_seed(3)
    spec = REGISTRY.model(kind)
    offered = {parameter.name for parameter in spec.parameters}
    small = {"embed": 8, "hidden": 8, "layers": 1, "heads": 2, "ffn": 16, "dropout": 0.0}
    values = {name: value for name, value in small.items() if name in offered}
    model = spec.create(spec_of(text).factory(), ModelSizes(13, 17), values).eval()
    lengths = torch.tensor([7, 4])
    source, target = (torch.randint(4, 13, (2, 7)) for _ in range(2))
    batch = Batch(source, lengths, target, torch.tensor([7, 5]))
    source[1, 4:], target[1, 5:] = 0, 0
    assert losses(model, batch).agree


def test_queries_that_come_one_by_one_are_counted():
    made = spec_of("-|i - j|").create(Sizes(5, 5, 7))
    queries, keys, values = draw(2, 3, 5).float(), draw(2, 4, 5).float(), draw(2, 4, 3).float()
    together = attend(made, queries, keys, values)[0]
    alone = [attend(made, queries[:, n : n + 1], keys, values, first=n)[0] for n in range(3)]
    torch.testing.assert_close(torch.cat(alone, dim=1), together)


def test_constants_that_grow_beyond_all_bounds_are_arithmetic():
    queries, keys = draw(3, 5), draw(4, 5, seed=1)
    assert scores(spec_of("9^9^9^9 - q.k"), queries, keys).isposinf().all()
    assert scores(spec_of("q.k / 0"), queries, keys).isinf().all()
    assert scores(spec_of("1"), queries, keys).is_contiguous()  # each may be changed alone


@pytest.mark.parametrize("text", ["log(1 - |q - k|^2)", "log1p(-|q - k|^2)"])
def test_a_logarithm_of_nothing_rules_a_key_out_without_a_slope(text):
    queries, keys = draw(3, 5), draw(4, 5, seed=1)
    keys[0] = queries[0]
    queries[1], keys[1] = torch.zeros(5), torch.eye(5)[0]  # exactly 1 apart
    queries.requires_grad_()
    found = scores(spec_of(text), queries, keys)
    assert found[0, 0] == 0.0
    assert found[1, 1].isneginf()
    assert found[2].isneginf().any()
    found.masked_fill(found.isneginf(), 0.0).sum().backward()
    assert queries.grad.isfinite().all()
