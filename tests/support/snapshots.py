"""What is kept of a page or a result, to be compared with what it is later.

A snapshot says nothing of what is right: other tests do. It shows that something has changed which
nobody meant to change, wherever it stands. Where a change is meant, its difference is read, and
``python -m tests.snapshots`` keeps what is seen now.
"""

from __future__ import annotations

import difflib
import json
import lzma
import math
import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest

DIGITS = 6
_DIGEST = re.compile("(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
KEEP = "ATTENTION_KEEP_SNAPSHOTS"
_FRAMES = re.compile("frames/[0-9a-f]{32}")
# What Streamlit counts, hashes or draws for itself, and what stands in files of its own.
_LEFT_OUT = {
    "cssContent", "deferredFileId", "elementId", "formId", "fragmentId", "htmlContent", "id",
    "jsContent", "pageScriptHash", "url", "uuid",
}  # fmt: skip

_FRAMES = re.compile(r"frames/[0-9a-f]{32}")  # their address, which each server signs anew


def page_lines(app: AppTest, own: Mapping[str, str]) -> list[str]:
    """A line for each element of a page in order, what it holds as JSON, then the address.

    Args:
        own: texts of this run alone, such as paths, and what stands for them.
    """
    lines = [_FRAMES.sub("frames/…", line)
             for part in (app.main, app.sidebar) for line in _lines(part, 0)]  # fmt: skip
    for text, name in own.items():
        lines = [line.replace(text, name) for line in lines]
    # Their address holds a secret of the server.
    lines = [_FRAMES.sub("frames/…", line) for line in lines]
    address = {name: app.query_params[name] for name in sorted(app.query_params)}
    return [*lines, f"address {_json(address)}"]


def _lines(block: Any, depth: int) -> Iterator[str]:
    for child in block.children.values():
        facts = "" if child.proto is None else _json(_facts(child.proto))
        yield f"{'  ' * depth}{child.type} {facts}"
        if hasattr(child, "children"):
            yield from _lines(child, depth + 1)


def _facts(proto: Any) -> Any:
    facts = _own(MessageToDict(proto))
    if hasattr(proto, "spec"):
        facts["spec"] = json.loads(proto.spec or "null")
        facts["datasets"] = {each.name: _columns(each.data.data) for each in proto.datasets}
    if str(facts.get("columns", "")).startswith("{"):  # of a table
        facts["columns"] = json.loads(facts["columns"])
    data = getattr(proto, "data", None)
    data = getattr(data, "data", data)
    for name in ("data", "arrowData"):
        if name in facts and isinstance(data, bytes) and data:
            facts[name] = _columns(data)
    if hasattr(proto, "arrow_data") and proto.arrow_data.data:
        facts["arrowData"] = _columns(proto.arrow_data.data)
    return facts


def _own(facts: Any) -> Any:
    if isinstance(facts, dict):
        return {name: _own(fact) for name, fact in facts.items() if name not in _LEFT_OUT}
    return [_own(fact) for fact in facts] if isinstance(facts, list) else facts


def _columns(data: bytes) -> dict[str, list[Any]]:
    return pa.ipc.open_stream(data).read_all().to_pydict()


def result_lines(tables: dict[str, pa.Table], facts: dict[str, Any]) -> list[str]:
    """A line for each column of a result's tables, and for each of its facts."""
    columns = [
        f"{name}.{column} {_json(table[column].to_pylist())}"
        for name, table in sorted(tables.items())
        for column in table.column_names
    ]
    return [*columns, *(f"fact {name} {_json(facts[name])}" for name in sorted(facts))]


def _json(value: Any) -> str:
    return json.dumps(_rounded(value), ensure_ascii=False, sort_keys=True, default=str)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {str(name): _rounded(part) for name, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list | tuple) else value


def compare(path: Path, lines: list[str]) -> None:
    """Fail unless the lines are those that were kept at ``path``, but for :func:`_alike`.

    Where the variable :data:`KEEP` is set, they are kept instead.
    """
    if os.environ.get(KEEP):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9))
        return
    kept = lzma.decompress(path.read_bytes()).decode().split("\n")
    pairs = zip_longest(kept, lines, fillvalue="")
    changed = [pair for pair in pairs if pair[0] != pair[1] and not _alike(*pair)]
    assert not changed, "\n".join(
        [f"{path.stem}: {len(changed)} lines differ; python -m tests.snapshots keeps these"]
        + [line for pair in changed[:5] for line in _difference(*pair)]
    )


def _alike(before: str, after: str) -> bool:
    """Whether two lines differ only by what another processor rounds in another way.

    That is the last digits of numbers, wherever they stand, and digests of results.
    """
    old, new = (_DIGEST.sub("…", line) for line in (before, after))
    pairs = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=False)
    return _NUMBER.split(old) == _NUMBER.split(new) and all(
        math.isclose(float(one), float(other), rel_tol=1e-4, abs_tol=5e-6) for one, other in pairs
    )


def _difference(before: str, after: str) -> list[str]:
    """Both lines around the places where they differ."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False) if (
        len(before) + len(after) < 20_000
    ) else None  # fmt: skip
    if matcher is None:
        start = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        spans = [(start, start + 80, start, start + 80)]
    else:
        spans = [span[1:] for span in matcher.get_opcodes() if span[0] != "equal"]
    return [
        f"  {before[:40]}…\n    {before[max(0, a - 60) : b + 30]}\n"
        f"    {after[max(0, c - 60) : d + 30]}"
        for a, b, c, d in islice(spans, 4)
    ]
