"""The package that a formula becomes: it is installed, checked, and scores as the formula does."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch
from support.installing import install

from attention_plugins import ContractError, Sizes
from attention_plugins.attention import needs_of
from attention_plugins.checking import check_scoring
from attention_plugins.formula import FormulaError, package_of, spec_of

TEXTS = [
    "q.k", "q @ k.T / sqrt(d)", "-|q - k|^2 / (2 σ^2)", "-(q - k).abs().sum(-1) / b",
    "where(|q - k| / √d < 0.9, 0, -inf)", "log(max(1 - |q/√d - k/√d|²/w², 0))", "s cos(q, k)", "0",
    "norm(k) / (2 norm(k) + 1) * i", "log1p(√3 |q - k|/w) - √3|q - k|/w",
    "q.k/√d - 2^(-8h/H) |i - j|",
    "logaddexp(q.k/√d, -λ|q - k|^2)", "where(|i - j| <= 3, q.k/√d, -inf)", "q.k / n",
    "tanh(q).k - relu(w|q - k| - 1)", "mean(sigmoid(q - k)) + min(q * k) * softplus(h / H)",
    "(i q).(j k) / (1 + i + j)", "(q/(1 + |q|)).k", "sum((i - j) * q * k * h)",
    "q.k ** 3 * e^(-1)",
    "2^-(sqrt(d)) * q.k + (1 < 2) * exp(pi)", "(q.k > 0) / 3",
    "max(abs(q - k)^1.5, tanh(j) * q).sum() * 1e-3", "sum(tanh(q - k)) - |q - k|^2",
]  # fmt: skip


def module_of(text, folder, name="typed"):
    path = folder / f"{name}.py"
    path.write_text(package_of(text, name)[f"src/{name}.py"], "utf-8")
    spec = importlib.util.spec_from_file_location(f"packaged_{folder.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scores(spec, queries, keys, heads):
    made = spec.create(Sizes(queries.shape[-1], keys.shape[-1], 7, heads)).double()
    with torch.no_grad():
        for number, weight in enumerate(made.parameters()):
            weight.fill_(0.5 + number)
    return made(queries, keys, **needs_of(made, queries.shape[-2], keys))


@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("text", TEXTS)
def test_its_scores_and_traits_are_the_formulas(text, heads, tmp_path):
    generator = torch.Generator().manual_seed(5)
    queries, keys = (
        torch.randn(*((2, heads, n, 5) if heads > 1 else (2, n, 5)), generator=generator).double()
        for n in (7, 11)
    )
    packaged, typed = module_of(text, tmp_path).score, spec_of(text)
    found, wanted = (scores(spec, queries, keys, heads) for spec in (packaged, typed))
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    for trait in ("formula", "parameters", "same_size", "tasks"):
        assert getattr(packaged, trait) == getattr(typed, trait)
    own, other = (spec.create(Sizes(5, 5, 7, heads)) for spec in (packaged, typed))
    assert own.needs == other.needs
    assert own.elements_per_pair == other.elements_per_pair


def test_a_vector_that_is_too_short_has_no_direction_there_either(tmp_path):
    short, long = torch.full((1, 4), 5e-8).double(), torch.ones(1, 4).double()
    found = scores(module_of("cos(q, k)", tmp_path).score, short, long, 1)
    assert found.item() == pytest.approx(0.1)


# What is typed, and the number that it is for queries of length 3.
VALUES = {
    "2^3^2": 512, "(2^3)^2": 64, "2^-1^2": 0.5, "-2^2": -4, "(-2)^2": 4, "2*3^2": 18, "2^2(3)": 12,
    "8 - 4 - 2": 2, "8 - (4 - 2)": 6, "8/4/2": 1, "8/(4/2)": 4, "8/4*2": 4, "-8/4/2": -1,
    "8 - 4/2": 6, "2 - -3": 5, "8/-4": -2, "√4^2": 4, "√4*9": 18, "√(4*9)": 6, "1/2 * 4": 2,
    "(3 - 2 < 2) - 1": 0, "3 < 2": 0, "2 < 3": 1, "3 <= 3": 1, "3 >= 4": 0, "3 == 3": 1,
    "3 != 3": 0, "3 >= 3": 1, "3 > 3": 0, "3 < 3": 0,
    "where(2 > 3, 5, 7)": 7, "where(-2, 5, 7)": 5,
    "atan(1) - pi/4": 0, "sin(pi/2)": 1, "cos(pi)": -1, "min(2, 5) - max(2, 5)": -3, "2^9^0.5": 8,
    "|q|^0.5^2": 3**0.25, "|q|^2^-1": 3**0.5, "|q|^-1": 1 / 3, "-|q|^-0.5": -(3**-0.5),
    **{f"|q|^{power}": 3.0**power for power in (-2, -1.5, -0.5, 0, 0.5, 1, 1.5, 2, 3)},
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_operators_associate_and_bind_by_value(text, value, tmp_path):
    queries, keys = torch.tensor([[1.0, 2, 2], [-2, 1, -2]]), torch.ones(5, 3)
    for spec in (spec_of(text), module_of(text, tmp_path).score):
        found = scores(spec, queries.double(), keys.double(), 1)
        torch.testing.assert_close(found, torch.full((2, 5), float(value)).double())


@pytest.mark.parametrize(
    "text",
    ["sum(tanh(q - k) * h)", "sum(tanh(q + k) ^ 2 / (h + i))", "max(sin(q - k) - h * j)",
     "sum(abs(q - k)^h)", "sum(tanh(q - k) * (i - j) / n)"],
)  # fmt: skip
def test_a_number_of_each_head_or_pair_meets_every_feature(text, tmp_path):
    generator = torch.Generator().manual_seed(5)
    queries, keys = (torch.randn(2, 3, n, 5, generator=generator).double() for n in (7, 11))
    found, wanted = (
        scores(spec, queries, keys, 3) for spec in (module_of(text, tmp_path).score, spec_of(text))
    )
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("x", [1e-12, 1e-6, 0.5, 3.0])
@pytest.mark.parametrize(
    ("text", "by_hand"),
    [("log(x)", torch.log), ("log1p(x - 1)", torch.log), ("sqrt(x)", torch.sqrt)],
)
def test_functions_with_an_edge_are_exact_up_to_it(text, by_hand, x, tmp_path):
    typed = text.replace("x", f"{x:.17f}")
    queries, keys = torch.ones(2, 3).double(), torch.ones(5, 3).double()
    for spec in (spec_of(typed), module_of(typed, tmp_path).score):
        found = scores(spec, queries, keys, 1)
        wanted = by_hand(torch.tensor(x).double()).expand(2, 5)
        torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize(
    "text", [text for text in TEXTS if not text.startswith(("norm", "2^-(s"))]
)
def test_it_keeps_every_rule_that_the_formula_keeps(text, tmp_path):
    failed = {f.rule for f in check_scoring(module_of(text, tmp_path).score) if not f.passed}
    if failed:  # then, and only then, is the formula itself asked
        assert not failed & {f.rule for f in check_scoring(spec_of(text)) if f.passed}


def run(*words, site, folder):
    """A command where the package is installed, and the JSON that it prints."""
    places = os.pathsep.join((str(site), str(Path(__file__).parents[3])))
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": places}, timeout=120,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.slow
def test_installed_it_is_offered_and_passes_check(tmp_path):
    text = "-(q - k).abs().max(-1) - m|i - j|"
    files = package_of(text, "typed-chebyshev")
    assert list(files) == ["pyproject.toml", "README.md", "test_typed_chebyshev.py",
                           "src/typed_chebyshev.py"]  # fmt: skip
    project = tomllib.loads(files["pyproject.toml"])["project"]
    announced = project["entry-points"]["attention_plugins"]
    assert announced == {"typed_chebyshev": "typed_chebyshev"}
    install(tmp_path, project["name"], files["src/typed_chebyshev.py"], project["version"])
    main = ("-m", "attention_plugins")
    listed = run(*main, "list", "--json", site=tmp_path, folder=tmp_path)
    assert listed["scorings"]["typed_chebyshev"]["plugin"] == "typed-chebyshev"
    found = run(*main, "check", "typed-chebyshev", "--json", site=tmp_path, folder=tmp_path)
    assert found["passed"]
    assert len(found["records"][0]["findings"]) > 20


@pytest.mark.slow
def test_its_own_test_passes(tmp_path):
    (tmp_path / "src").mkdir()
    for name, text in package_of("q.k / sqrt(d)", "typed-dot").items():
        (tmp_path / name).write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_typed_dot.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.parametrize("name", ["=q.k", "../up", "class", "json", "9lives", "a" * 41, ""])
def test_what_cannot_be_a_package_is_refused(name):
    with pytest.raises(ContractError, match="name"):
        package_of("q.k", name)


def test_what_is_no_formula_is_no_package():
    with pytest.raises(FormulaError):
        package_of("q.k +", "mine")
