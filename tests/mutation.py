"""Mutation testing: ``python -m tests.mutation``, from the project's root, by hand or by night.

Cosmic Ray (``python -m pip install cosmic-ray``) changes one operator, number, name or word of the
code at a time, in a copy of the working tree, and the tests that know the changed module are run.
A mutant that no test notices has survived: either a test is missing, or the change means the same.

Results are kept in ``.mutation``, a file for each module and its tests as they are now; so a run
goes on where the last one stopped, and only what changed is tried again. ``--sample 30`` tries 30
mutants of each group, drawn by ``--seed``.
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkItem, WorkResult

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".mutation"
GROUPS = {
    "attention_plugins": ("attention_plugins/**/*.py",),
    "tasks": ("dashboard/**/task*.py",),
    "charts": ("dashboard/charts/*.py", "dashboard/features/*/chart*.py"),
    "links": ("dashboard/links/*.py", "dashboard/features/*/view.py"),
}
# Text from which new plugins are made.
LEFT_OUT = ("attention_plugins/templates/",)
SECONDS = 600  # for the tests of one mutant; more is taken for an endless loop, and noticed


def main() -> None:
    """Try mutants, name those that survive, and print each group's score."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("paths", nargs="*", help="modules to change; all groups otherwise")
    parser.add_argument("--sample", type=int, help="mutants of each group; all otherwise")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--report", action="store_true", help="try nothing, show what is known")
    given = parser.parse_args()
    groups = {"given": [ROOT / path for path in given.paths]} if given.paths else modules()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        if not given.report:
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".mutation"))
        for name, files in groups.items():
            counts = Counter[str]()
            for module, session, item in drawn(files, given.sample, given.seed):
                known = dict(session.results).get(item.job_id)
                if known is None and not given.report:
                    known = tried(copy, module, item.mutations[0])
                    session.set_result(item.job_id, known)
                outcome = "" if known is None else known.test_outcome
                counts[str(getattr(outcome, "value", outcome))] += 1
                if known is not None and outcome == TestOutcome.SURVIVED:
                    print(changed(module, item.mutations[0], known), flush=True)
            found = counts["killed"] + counts["survived"]
            print(f"{name}: {counts['killed']} of {found} mutants noticed", flush=True)


def modules() -> dict[str, list[Path]]:
    """Each group's files."""
    return {
        name: sorted(
            path
            for pattern in patterns
            for path in ROOT.glob(pattern)
            if not str(path.relative_to(ROOT)).startswith(LEFT_OUT)
        )
        for name, patterns in GROUPS.items()
    }


def drawn(
    files: list[Path], sample: int | None, seed: int
) -> Iterator[tuple[Path, WorkDB, WorkItem]]:
    """Mutants of the files, with the session that keeps their results."""
    sessions = {path: session_of(path) for path in files}
    found = [(path, item) for path, session in sessions.items() for item in session.work_items]
    found.sort(key=lambda one: (str(one[0]), repr(one[1].mutations)))
    if sample is not None and sample < len(found):
        found = random.Random(seed).sample(found, sample)
    for path, item in found:
        yield path, sessions[path], item


def session_of(path: Path) -> WorkDB:
    """The file of results of a module and its tests as they are now."""
    KEPT.mkdir(exist_ok=True)
    read = [path, *tests_of(path)]
    state = hashlib.sha256(b"\0".join(each.read_bytes() for each in read)).hexdigest()[:12]
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    file = KEPT / f"{name}.{state}.sqlite"
    if file.exists():
        return WorkDB(file, WorkDB.Mode.open)
    for old in KEPT.glob(f"{name}.*.sqlite"):
        old.unlink()
    made = WorkDB(file, WorkDB.Mode.create)
    init([path], made, {})
    meant = [item for item in made.work_items if means_something(path, item.mutations[0])]
    made.clear()
    made.add_work_items(meant)
    return made


def means_something(path: Path, mutation: MutationSpec) -> bool:
    """Whether the change is not in an annotation, which nothing evaluates."""
    return not any(start <= mutation.start_pos < end for start, end in _annotations(path))


@functools.cache
def _annotations(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    parts = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
    return [
        ((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset))
        for part in parts
        if part is not None
    ]


def tests_of(path: Path) -> list[Path]:
    """The module's own tests, then others that name it, or else those of its folder."""
    inner = path.relative_to(ROOT).with_suffix("")
    folder = ROOT / "tests" / inner.parent
    mirror = folder / f"test_{inner.name.removeprefix('chart_')}.py"
    dotted = ".".join(inner.parts)
    every = sorted((ROOT / "tests").rglob("test_*.py"))
    others = [test for test in every if test != mirror and dotted in _imported(test)]
    found = [mirror, *others] if mirror.exists() else others
    # A module that no test names is tested through its package.
    while not found:
        found, folder = sorted(folder.glob("test_*.py")), folder.parent
    return found


@functools.cache
def _imported(test: Path) -> frozenset[str]:
    """The modules that a test imports, and what it imports from them."""
    found = set[str]()
    for node in ast.walk(ast.parse(test.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}", *(f"{node.module}.{each.name}" for each in node.names)}
    return frozenset(found)


def tried(copy: Path, path: Path, mutation: MutationSpec) -> WorkResult:
    """Whether the tests of the module notice the change, made in the copy."""
    tests = [str(test.relative_to(ROOT)) for test in tests_of(path)]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    there = MutationSpec(
        module_path=copy / path.relative_to(ROOT), operator_name=mutation.operator_name,
        occurrence=mutation.occurrence, start_pos=mutation.start_pos, end_pos=mutation.end_pos,
        operator_args=mutation.operator_args,
    )  # fmt: skip
    os.environ["PYTHONPATH"] = str(copy)
    before = Path.cwd()
    os.chdir(copy)
    try:
        _passes(command)
        return mutate_and_test([there], " ".join(command), SECONDS)
    finally:
        os.chdir(before)


_passed: set[tuple[str, ...]] = set()


def _passes(command: list[str]) -> None:
    """Raise where tests fail without any change: they would notice everything."""
    if tuple(command) not in _passed:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"these tests fail without a change:\n{done.stdout[-2000:]}")
        _passed.add(tuple(command))


def changed(path: Path, mutation: MutationSpec, result: WorkResult) -> str:
    """One line on a survivor: where, and what it was changed to."""
    lines = (result.diff or "").splitlines()
    new = next((line[1:].strip() for line in lines if line[:1] == "+" and line[:3] != "+++"), "")
    return f"{path.relative_to(ROOT)}:{mutation.start_pos[0]} survived: {new}"


if __name__ == "__main__":
    main()
