"""Every ratio by one command: ``python -m tests.benchmarks``, from the project's root.

Ours beside the textbook's formulation and beside other libraries, in turn in one process, or
beside a small Streamlit app on the same server; medians and the fastest of several rounds. Where
a library or a browser is missing, its rows say so and are left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import torch

from tests.benchmarks.rows import Row

sys.path.append(str(Path(__file__).parents[1]))  # what pytest is told: tests/support imports so

# In the order in which they run; each module has rows(quick) -> Iterator[Row].
PARTS = (
    "attention", "training", "recalling", "decoding", "regression", "page", "painting",
    "following", "loading", "footprint", "sessions", "large_maps", "model_watch", "logging",
    "bertviz",
)  # fmt: skip


def main() -> None:
    """Measure, print each row when it is there, and write JSON where asked to."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART",
                        help=f"some of {', '.join(PARTS)}")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds")
    parser.add_argument("--json", type=Path, help="write the rows to this file too")
    parser.add_argument("--threads", type=int, default=1, help="of torch (1)")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    facts = machine() | {"threads": given.threads, "quick": given.quick}
    print(" · ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
    print("| work | ours | against | theirs | times faster | |\n|---|---|---|---|---|---|")
    found = []
    for part in given.only:
        for row in measured(part, given.quick):
            found.append({"part": part, **asdict(row), "ratio": row.ratio})
            print(line(row), flush=True)
    if given.json:
        given.json.write_text(json.dumps({"machine": facts, "rows": found}, indent=1) + "\n")


def measured(part: str, quick: bool) -> Iterator[Row]:
    """A part's rows; why there are none goes to standard error."""
    try:
        module = importlib.import_module(f"tests.benchmarks.{part}")
        yield from module.rows(quick)
    except ImportError as error:
        print(f"{part}: left out, {error}", file=sys.stderr)


def machine() -> dict[str, object]:
    """What the figures were measured on and of."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    device = "no GPU"
    if torch.cuda.is_available():
        device = torch.cuda.get_device_name()
    return {
        "commit": commit.stdout.strip() or "unknown", "cores": os.cpu_count(),
        "processor": platform.processor() or platform.machine(), "device": device,
        "torch": torch.__version__, "python": platform.python_version(),
    }  # fmt: skip


def line(row: Row) -> str:
    """The row in Markdown."""
    ours, theirs = _figure(row.ours, row.unit), _figure(row.theirs, row.unit)
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    return f"| {row.work} | {ours} | {row.against} | {theirs} | {ratio} | {row.note} |"


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == "s" and value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} {unit}"


if __name__ == "__main__":
    main()
