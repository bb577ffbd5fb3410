"""Records the reference measurement anew: ``python -m dashboard.features.complexity.task_record``.

Run it on a machine that does nothing else. It takes two to four minutes and less than 2 GB.
"""

import argparse
import platform
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import torch
from tqdm import tqdm

from attention_plugins.randomness import seeded
from attention_plugins.registry import installed
from dashboard.features.complexity.task import FILE, Recorded, read_reference, write_reference
from dashboard.features.complexity.task_timing import SCORING, Layers, Point, points, reach, timed
from dashboard.jobs.task_process import environment
from dashboard.jobs.tasks import Facts
from dashboard.limits import cores

COMMAND = "python -m dashboard.features.complexity.task_record"
# The series cross the page's own: the other size is the largest of a bare measurement.
_LENGTHS = [2**power for power in range(6, 15)]  # 64 to 16,384
_SIZES = [2**power for power in range(6, 13)]  # 64 to 4,096
_N, _D, _KERNEL = 1024, 256, 3
_ROUNDS, _BUDGET = 15, 150.0  # seconds


class _Bar:
    """Shows on a terminal how far the recording is; nobody stops it but the keyboard."""

    def __init__(self) -> None:
        self._bar = tqdm(total=100, unit="%")

    def report(self, fraction: float, note: str = "", facts: Facts | None = None) -> None:
        """See :class:`dashboard.jobs.tasks.Context`."""
        self._bar.update(round(100 * fraction) - self._bar.n)
        self._bar.set_postfix_str(str(note))

    def stopped(self) -> bool:
        """See :class:`dashboard.jobs.tasks.Context`."""
        return False


def record(of: Sequence[Point], output: Path, threads: int, budget: float = _BUDGET) -> None:
    """Time the points with so many threads of torch, and write the reference."""
    torch.set_num_threads(threads)
    context, began = _Bar(), time.perf_counter()
    with seeded(0):
        layers = Layers(_KERNEL, installed().scoring_factory(SCORING))
        found = timed(of, layers, _ROUNDS, budget, context)
        seen = reach(of, _KERNEL, context)
    recorded = Recorded(
        date=datetime.now(UTC).date().isoformat(),
        processor=f"{platform.machine()} ({torch.backends.cpu.get_cpu_capability()})",
        cores=cores(), command=COMMAND if threads == 1 else f"{COMMAND} --threads {threads}",
    )  # fmt: skip
    facts = {
        "recorded": recorded.model_dump(), "environment": environment(), "kernel": _KERNEL,
        "rounds": found.rounds, "seconds": round(time.perf_counter() - began, 3),
    }  # fmt: skip
    write_reference(output, of, found.seconds, seen, facts)


def main() -> None:
    """Record the reference, and print its exponents."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="of torch (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=FILE, help="default: the shipped file")
    given = parser.parse_args()
    record(points(_LENGTHS, _D, _N, _SIZES), given.output, given.threads)
    for fit in read_reference(given.output).facts["fits"]:
        print(
            f"{fit['layer']:9} over {fit['axis']}: {fit['exponent']:.2f}, last doubling "
            f"{fit['last']:.2f}, counted {fit['counted']:.2f}"
        )


if __name__ == "__main__":
    main()
