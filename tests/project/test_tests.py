"""Every test can fail, and every benchmark can begin.

A test can that asserts, expects an error, or calls a helper that does; a benchmark can where what
it imports is there.
"""

import ast
import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Of pytest, numpy, torch and Playwright, which raise where something is not so.
OUTSIDE = {
    "raises", "warns", "fail", "assert_close", "assert_allclose", "assert_array_equal",
    "assert_array_almost_equal", "expect", "wait_for", "wait_for_function", "wait_for_selector",
}  # fmt: skip
PRODUCT = ("attention_plugins", "dashboard")
# A rule of the conformance kit, as packages call it.
KIT = {"rule"}


def functions():
    """``(file, function)`` of everything under ``tests``, templates for plugins included."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path.relative_to(ROOT), node


def called(call):
    """The last part of the name of what is called."""
    return getattr(call.func, "attr", None) or getattr(call.func, "id", "")


def can_fail(function, helpers):
    return any(
        isinstance(node, ast.Assert | ast.Raise)
        or (isinstance(node, ast.Call) and called(node) in helpers)
        for node in ast.walk(function)
    )


def helpers_that_can_fail(found):
    """Names of helpers that assert, or that call one that does."""
    known, before = OUTSIDE | KIT, 0
    while len(known) > before:
        before = len(known)
        known |= {
            node.name
            for _, node in found
            if not node.name.startswith("test_") and can_fail(node, known)
        }
    return known


def test_every_test_can_fail():
    found = list(functions())
    helpers = helpers_that_can_fail(found)
    tests = [(path, node) for path, node in found if node.name.startswith("test_")]
    assert len(tests) > 1000
    idle = [
        f"{path}:{node.lineno} {node.name}" for path, node in tests if not can_fail(node, helpers)
    ]
    assert not idle, "these tests assert nothing:\n" + "\n".join(idle)


def test_a_test_that_asserts_nothing_is_found():
    idle, asserting = ast.parse("def a():\n    b()\n\ndef c():\n    assert b()").body
    assert not can_fail(idle, OUTSIDE)
    assert can_fail(asserting, OUTSIDE)


def imported(path):
    """What a file of the benchmarks takes from the product: module and name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PRODUCT):
            yield from ((node.module, alias.name) for alias in node.names)


def test_what_the_benchmarks_import_is_there():
    """They run by hand alone: one of them asked for a function that was long gone."""
    wanted = {one for path in (ROOT / "tests/benchmarks").glob("*.py") for one in imported(path)}
    assert len(wanted) > 50
    gone = [(module, name) for module, name in wanted if not there(module, name)]
    assert gone == []


def there(module, name):
    found = importlib.import_module(module)
    whole = hasattr(found, "__path__") and importlib.util.find_spec(f"{module}.{name}")
    return hasattr(found, name) or whole
