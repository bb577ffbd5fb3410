"""What workers compute for fixed requests is what they computed when it was last looked at."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import torch
from support.snapshots import compare, result_lines

from attention_plugins import Sizes, as_mask, attend
from attention_plugins.registry import installed
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request

HERE = Path(__file__).parent / "snapshots"
_SMALL = {"data.points": 17, "data.queries": 11}
_VARYING = ("environment", "plugin", "plugins", "seconds", "torch", "work_seconds", "card")
FORMULAS = (
    "q @ k", "dot(q, k) / sqrt(d)", "-w |q - k|^2", "-(q - k).abs().max(-1)", "q.k",
    "2^3^2 * dot(q, k)", "|q - k|^-0.5", "cos(q, k)", "exp(-|q - k|^2 / (2 w^2))",
    "-log(1 + |q - k|)", "min(q, k).sum(-1)", "tanh(dot(q, k))", "w dot(q, k) + b",
    "dot(q, k) if |q| > 1 else 0", "(i - j)^2", "-|i - j|", "sigmoid(dot(q, k))",
    "relu(dot(q, k))^2", "1/0", "q + k", "dot(q", "foo(q, k)", "q k", "", "dot(q, k",
    "max(dot(q, k), 0)", "dot(q, k) * 1e400", "norm(q - k, 1)", "-norm(q - k)", "sqrt(|q - k|)",
    "a b c", "dot(q, k) > 0", "1 < dot(q, k) < 2", "-3 - -2 * dot(q, k)",
    "w_1 dot(q, k) - w_2 |q - k|",
)  # fmt: skip


class Silent:
    """A context that nobody watches."""

    def report(self, fraction, note="", facts=None):
        pass

    def stopped(self):
        return False


def lines_of(name: str, **given) -> list[str]:
    """What comes of a request, or why it was refused, each line under the request's name."""
    try:
        result = perform(Request.make(device="cpu", **given), Silent())
    except ValueError as error:
        return [f"{name} refused: {error}"]
    facts = {key: fact for key, fact in result.facts.items() if key not in _VARYING}
    return [f"{name}/{line}" for line in result_lines(result.tables, facts)]


def regression(name: str, scoring: str = "gaussian", data: str = "", **options) -> list[str]:
    return lines_of(
        name, task="regression", scoring=scoring, data=data, options=_SMALL | options, seed=5
    )


def scorings() -> list[str]:
    return [line for name in sorted(installed().scorings) for line in regression(name, name)]


def attending() -> list[str]:
    """Output and weights of two heads, in two batches of which one ends early."""
    registry, lines = installed(), []
    drawn = torch.Generator().manual_seed(3)
    queries, keys, values = (
        torch.randn(2, 2, n, 4, generator=drawn, dtype=torch.float64) for n in (5, 7, 7)
    )
    lengths = torch.tensor([7, 3])
    mask = as_mask(lengths, torch.Size((2, 1, 1, 7)))
    names = [(name, "") for name in sorted(registry.scorings)]
    names += [("dot", name) for name in sorted(registry.normalisers)]
    for scoring, normaliser in names:
        factory = registry.scoring_factory(scoring, {}, normaliser, {})
        torch.manual_seed(7)
        made = factory(Sizes(4, 4, 6, value=4, heads=2)).double().eval()
        output, weights = attend(made, queries, keys, values, mask)
        tables = {"made": pa.table({"output": output.ravel().tolist()}),
                  "weights": pa.table({"weights": weights.ravel().tolist()})}  # fmt: skip
        lines += [f"{scoring} {normaliser}/{line}" for line in result_lines(tables, {})]
    return lines


def data_sets() -> list[str]:
    named = [name for name, spec in installed().datasets.items() if spec.task == "regression"]
    return [line for name in sorted(named) for line in regression(name, data=name)]


def normalisers() -> list[str]:
    names = sorted(installed().normalisers)
    return [line for name in names for line in regression(name, "laplacian", normaliser=name)]


def learned() -> list[str]:
    names = ("gaussian", "additive", "bilinear", "=-w |q - k|")
    asked = {"learn": True, "epochs": 7}
    return [line for name in names for line in regression(name, name, **asked)]


def formulas() -> list[str]:
    asked = [(text, {"text": text}) for text in FORMULAS]
    return [
        line for text, options in asked for line in lines_of(text, task="formula", options=options)
    ]


def models() -> list[str]:
    names = ("bahdanau_additive_phrasebook", "transformer_scaled_dot_phrasebook")
    said = {"text": "he left .", "target": "il est parti ."}
    pair = {"map": "1.1", "other": names[1], "other_map": "2.mean"}
    asked = (
        ("translation", {"text": "i'm home ."}), ("translation", said),
        ("translation", {"text": "we won zebra !", "beam": 3}),
        ("translation", said | {"changes": "off:cross.1.1 pin:cross.1.1:2>0"}),
        ("differences", said | pair | {"kind": "cross"}), ("heads", said),
        ("alignment", {"corpus": "phrasebook", "pairs": 7}),
        ("alignment", {"corpus": "phrasebook", "pair": 2}),
    )  # fmt: skip
    return [
        line
        for name in names
        for task, options in asked
        for line in lines_of(f"{name} {task} {options}", task=task, data=name, options=options)
    ]


GROUPS = (scorings, attending, data_sets, normalisers, learned, formulas, models)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_a_result_is_what_it_was(group):
    compare(HERE / f"results-{group.__name__}.xz", group())
