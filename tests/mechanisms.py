"""The mechanisms that come with it, as a table: ``python -m tests.mechanisms`` writes it.

The table is a block of ``.github/docs/mechanisms.md``: of each scoring, normaliser, and whatever
other kind makes attention, its year and its paper, its lines of code, and how many of the
conformance kit's rules it keeps. A record that is registered has its row the next time that it is
written, and until then a test is red.

``python -m tests.mechanisms --differences`` prints the largest differences in double precision, on
models with random weights, of those whose scores follow from positions or from earlier weights,
and of the models, between

* the loss scored at once and word by word, with and without padding, in nats per token;
* attention in blocks and as a whole (scorings);
* what a beam says of a sentence and what forcing its words says, in nats.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch

import attention_plugins
from attention_plugins.agreement import losses
from attention_plugins.attention import Inputs, attend
from attention_plugins.blocks import attend_in_blocks
from attention_plugins.checking import Finding, check
from attention_plugins.contract import ModelSizes, ModelSpec, ScoringSpec, Sizes, Spec
from attention_plugins.decoding import beam, force
from attention_plugins.hookspecs import HOOKS
from attention_plugins.models.protocols import Batch
from attention_plugins.registry import Registry, load
from attention_plugins.text import PAD_ID

DOCUMENT = Path(__file__).parents[1] / ".github" / "docs" / "mechanisms.md"
_PACKAGE = Path(attention_plugins.__file__).parent
# Every other kind makes attention: one that is to come has its rows without a word here.
_NO_MECHANISMS = {"models", "datasets", "tokenisers", "metrics", "translations", "checkpoints"}
_HEAD = ("year", "mechanism", "name", "kind", "lines", "rules kept", "reference")
_SIZES = {
    "transformer": {"hidden": 12, "ffn": 18, "heads": 3, "layers": 2, "dropout": 0.0},
    "bahdanau": {"embed": 9, "hidden": 12, "layers": 1, "dropout": 0.0},
}


class Row(NamedTuple):
    """A mechanism's cells; ``rules`` as ``31 of 31``."""

    year: int
    title: str
    name: str
    kind: str
    lines: int
    rules: str
    reference: str


def main() -> None:
    """Write the table, or print the differences, a row as soon as it is measured."""
    registry = load(allow=[])
    if "--differences" in sys.argv:
        print("record | at once - word by word | blocks | beam")
        for kind in (*kinds(), "models"):
            for name, spec in registry.records[kind].items():
                if found := [*differences(registry, spec)]:
                    said = ("–" if value is None else f"{value:.0e}" for value in found)
                    print(name, *said, sep=" | ", flush=True)
        return
    kept = {
        name: rules_kept(check(kind, spec, expected_failures=waivers(kind).get(name, {})))
        for kind, name, spec in records()
    }
    text = DOCUMENT.read_text("utf-8")
    DOCUMENT.write_text(text.replace(block(text), render(kept)), "utf-8")


def kinds() -> list[str]:
    """The kinds of records that make attention."""
    return [kind for kind in HOOKS if kind not in _NO_MECHANISMS]


@cache
def records() -> list[tuple[str, str, Spec]]:
    """Kind, name and record of every mechanism."""
    registry = load(allow=[])
    return [(k, name, spec) for k in kinds() for name, spec in registry.records[k].items()]


def waivers(kind: str) -> Mapping[str, Mapping[str, str]]:
    """Which rules a kind's built-ins do not keep, by name, with the reasons."""
    return getattr(sys.modules[f"attention_plugins.{kind}"], "ATTENTION_EXPECTED_FAILURES", {})


def rules_kept(findings: Iterable[Finding]) -> str:
    """How many hold without a waiver, of how many that apply."""
    found = [*findings]
    return f"{sum(one.passed and not one.waived for one in found)} of {len(found)}"


def block(text: str) -> str:
    """What is generated of the document."""
    return text[text.index("There are ") : text.index("\n## What they claim")]


def table() -> dict[str, Row]:
    """The document's rows by name, as they were last written."""
    rows = re.findall(r"^\| (\d{4}) \| (.+) \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    found = {}
    for year, rest in rows:
        title, name, kind, count, rules, reference = rest.split(" | ")
        name = name.strip("`")
        found[name] = Row(int(year), title, name, kind, int(count), rules, reference)
    return found


def render(kept: Mapping[str, str]) -> str:
    """The generated block; ``kept``: each one's cell of the rules."""
    rows = sorted(
        Row(year_of(spec), spec.title, name, HOOKS[kind].noun, lines(kind, name), kept[name],
            spec.reference)
        for kind, name, spec in records()
    )  # fmt: skip
    count = Counter(row.kind for row in rows)
    kinds_said = " and ".join(f"{number} {noun}s" for noun, number in count.items())
    out = [f"There are {len(rows)}: {kinds_said}.", "", _line(_HEAD), _line("---" for _ in _HEAD)]
    out += [_line(row._replace(name=f"`{row.name}`")) for row in rows]
    for kind in kinds():
        for name, each in waivers(kind).items():
            said = (f"`{name}` does not keep `{rule}`: {why}." for rule, why in each.items())
            out += ["", *said]
    return "\n".join(out) + "\n"


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def year_of(spec: Spec) -> int:
    """The first year that its reference names."""
    found = re.search(r"\b(?:19|20)\d\d\b", spec.reference)
    if not found:
        raise LookupError(f"the reference of {spec.name} names no year")
    return int(found[0])


def lines(kind: str, name: str) -> int:
    """Of the record and of all in its file that it is made of, blank lines between them not."""
    module = load(allow=[]).provider(kind, name).module
    start, parts = next(
        (part, parts) for parts in _files(module) for part in parts if _record_of(part) == name
    )
    known = {name: part for part in parts for name in _defined(part)}
    found, asked = {start}, [start]
    while asked:
        names = {n.id for n in ast.walk(asked.pop()) if isinstance(n, ast.Name)}
        new = {known[name] for name in names & known.keys()} - found
        found |= new
        asked += new
    return sum(_length(part) for part in found) + _lines_beside(module, name)


def _lines_beside(module: str, name: str) -> int:
    """Of the record's table beside the module, if it has one there."""
    table = _PACKAGE.parent.joinpath(*module.split("."), "records.toml")
    text = table.read_text("utf-8") if table.exists() else ""
    found = re.findall(rf"^\[{name}[.\]].*\n(?:.+\n)*", text, re.MULTILINE)
    return sum(one.count("\n") for one in found)


@cache
def _files(module: str) -> list[list[ast.stmt]]:
    """What stands in each file of the package that provides a kind."""
    folder = _PACKAGE.parent.joinpath(*module.split("."))
    return [ast.parse(path.read_text("utf-8")).body for path in sorted(folder.glob("*.py"))]


def _record_of(part: ast.stmt) -> object:
    """The name of the record that a statement makes: ``X = Spec(name=...)`` or a decorator.

    ``**row(__file__, name)`` names it too.
    """
    call = part.value if isinstance(part, ast.Assign) else None
    if isinstance(part, ast.FunctionDef) and part.decorator_list:
        call = part.decorator_list[0]
    if not isinstance(call, ast.Call):
        return None
    words = {word.arg: word.value for word in call.keywords}
    row = words.get(None)
    in_row = row.args[1:2] if isinstance(row, ast.Call) else []
    own = call.args[:1] if isinstance(part, ast.FunctionDef) else []
    named = next(iter([words["name"]] if "name" in words else [*in_row, *own]), None)
    return named.value if isinstance(named, ast.Constant) else None


def _defined(part: ast.stmt) -> list[str]:
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        return [part.name]
    targets = part.targets if isinstance(part, ast.Assign) else []
    return [n.id for one in targets for n in ast.walk(one) if isinstance(n, ast.Name)]


def _length(part: ast.stmt) -> int:
    decorated = getattr(part, "decorator_list", [])
    first = min([part.lineno, *(one.lineno for one in decorated)])
    return (part.end_lineno or first) - first + 1


def differences(registry: Registry, spec: Spec) -> Iterator[float | None]:
    """At once against word by word, blocks against the whole, beam against forced."""
    if isinstance(spec, ScoringSpec) and spec.create(Sizes(5, 5, 5)).needs:
        hosts = {"transformer": spec, "bahdanau": spec}
        models = [_model(registry.model(name), one) for name, one in hosts.items()]
        yield max(losses(model, batch()).spread for model in models)
        yield _blocks(spec)
        yield max(map(_beam, models))
    elif isinstance(spec, ModelSpec) and spec.task == "translation":
        names = ("scaled_dot", "additive", "rope", "coverage")
        models = [_model(spec, registry.scoring(name)) for name in names]
        yield max(losses(model, batch()).spread for model in models)
        yield None
        yield max(map(_beam, models))


def batch() -> Batch:
    """Three pairs with padding on both sides, targets longer than their sources."""
    torch.manual_seed(7)
    source, target = torch.randint(4, 19, (3, 7)), torch.randint(4, 13, (3, 9))
    source_lengths, target_lengths = torch.tensor([7, 3, 1]), torch.tensor([4, 9, 6])
    for tokens, lengths in ((source, source_lengths), (target, target_lengths)):
        for row, length in zip(tokens, lengths, strict=True):
            row[length:] = PAD_ID
    return Batch(source, source_lengths, target, target_lengths)


def _model(spec: ModelSpec, scoring: ScoringSpec) -> torch.nn.Module:
    """In double precision, with weights at random, those that begin at 0 too."""
    torch.manual_seed(5)
    known = {parameter.name for parameter in spec.parameters}
    wanted = _SIZES["bahdanau" if "embed" in known else "transformer"]
    values = {name: value for name, value in wanted.items() if name in known}
    model = spec.create(scoring.factory(), ModelSizes(19, 13), values).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.2)
    return model


def _blocks(spec: ScoringSpec) -> float:
    scoring = spec.create(Sizes(5, 5, 5, heads=2, value=3)).double()
    torch.manual_seed(3)
    queries, keys, values = (
        torch.randn(2, 2, n, d, dtype=torch.float64) for n, d in ((7, 5), (13, 5), (13, 3))
    )
    mask = torch.arange(13) < 9
    whole, _ = attend(scoring, queries, keys, values, mask)
    parts = attend_in_blocks(Inputs(scoring, queries, keys, values, mask), block=3)
    return (whole - parts).abs().max().item()


def _beam(model: torch.nn.Module) -> float:
    """Of the best hypotheses of three sentences."""
    known, worst = batch(), 0.0
    found = beam(model, known.source, known.source_lengths, width=3, limit=7)
    for row, hypotheses in enumerate(found):
        one = slice(row, row + 1)
        for hypothesis in hypotheses:
            forced, _ = force(
                model, known.source[one], known.source_lengths[one],
                torch.tensor([hypothesis.ids]),
            )  # fmt: skip
            worst = max(worst, abs(float(forced.sum()) - hypothesis.log_probability))
    return worst


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
