"""Who may import whom: by reading the sources, and by asking fresh interpreters."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("attention_plugins", "dashboard")


class Import(NamedTuple):
    module: str
    line: int
    at_import: bool  # runs when the file is imported, not inside a function


def sources(*patterns: str) -> list[Path]:
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern)})


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path: Path) -> list[Import]:
    """Every module that a file names; ``from a import b`` gives ``a`` and ``a.b``."""
    found: list[Import] = []

    def visit(node: ast.AST, at_import: bool) -> None:
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, node.lineno, at_import) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(path, node)
            found.append(Import(base, node.lineno, at_import))
            found.extend(Import(f"{base}.{a.name}", node.lineno, at_import) for a in node.names)
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, at_import and not inside)

    visit(tree(path), True)
    return found


def absolute(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = path.relative_to(ROOT).parent.parts
    return ".".join((*package[: len(package) - node.level + 1], *filter(None, [node.module])))


def names(module: str, forbidden: tuple[str, ...]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in forbidden)


# Files, what they must not import even inside a function, and those excepted.
PAGE_PROCESS = (
    "streamlit_app.py", "dashboard/*.py", "dashboard/pages/**/*.py", "dashboard/charts/**/*.py",
    "dashboard/runs/**/*.py", "dashboard/engine/**/*.py",
)  # fmt: skip
HEAVY = ("torch", "attention_plugins", "dashboard.tasks")
PAGES = ("dashboard.pages", "dashboard.app", "dashboard.controls", "dashboard.state")
LAYERS = {
    "plugins stand alone": (
        ("attention_plugins/**/*.py",), ("streamlit", "altair", "pandas", "dashboard"), (),
    ),
    "a model never chooses its scoring": (
        ("attention_plugins/models/**/*.py",), ("attention_plugins.scorings",), (),
    ),
    # The worker is a process of its own. It calls the tasks, and leaves torch and plugins to them.
    "the page process is light": (PAGE_PROCESS, HEAVY, ("dashboard/engine/worker.py",)),
    "a worker leaves torch to its tasks": (
        ("dashboard/engine/worker.py",), ("torch", "attention_plugins"), (),
    ),
    "charts, runs and the engine know no Streamlit": (
        ("dashboard/charts/**/*.py", "dashboard/runs/**/*.py", "dashboard/engine/**/*.py"),
        ("streamlit", *PAGES), (),
    ),
    "tasks know no page": (
        ("dashboard/tasks/**/*.py",),
        ("streamlit", "altair", "dashboard.charts", "dashboard.engine", *PAGES), (),
    ),
    "runs know no engine": (
        ("dashboard/runs/**/*.py",), ("dashboard.engine", "dashboard.charts"), (),
    ),
    "charts know no engine": (("dashboard/charts/**/*.py",), ("dashboard.engine",), ()),
    "nothing is pickled": (
        ("attention_plugins/**/*.py", "dashboard/**/*.py", "streamlit_app.py"),
        ("pickle", "cPickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"), (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", LAYERS)
def test_imports_run_down_the_layers(rule):
    patterns, forbidden, excepted = LAYERS[rule]
    files = [p for p in sources(*patterns) if str(p.relative_to(ROOT)) not in excepted]
    assert files, f"no file matches {patterns}"
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {found.module}"
        for path in files
        for found in imports(path)
        if names(found.module, forbidden)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_layers_cover_what_they_name():
    landed = {str(path.relative_to(ROOT)) for path in sources("**/*.py")}
    assert landed >= {
        "streamlit_app.py", "dashboard/app.py", "dashboard/controls.py", "dashboard/state.py",
        "dashboard/engine/worker.py", "dashboard/tasks/regression.py",
        "dashboard/tasks/translation.py", "attention_plugins/registry.py",
        "attention_plugins/models/bahdanau.py", "attention_plugins/models/nadaraya_watson.py",
        "attention_plugins/scorings/scaled_dot.py",
    }  # fmt: skip
    assert len(sources("dashboard/pages/*.py")) >= 2
    assert len(sources("dashboard/charts/*.py")) >= 2


AT_IMPORT = {"torch", "pluggy", "safetensors", "packaging", "attention_plugins"}


def test_the_contract_needs_few_packages_at_import():
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {found.module}"
        for path in sources("attention_plugins/**/*.py")
        for found in imports(path)
        if found.at_import
        and found.module.split(".")[0] not in AT_IMPORT | sys.stdlib_module_names
        # The command line draws progress bars; torch itself has tqdm loaded by then.
        and not (names(found.module, ("tqdm",)) and path.parent.name == "commands")
    ]
    assert not wrong, "\n".join(wrong)


def banned(code: ast.AST) -> Iterator[tuple[int, str]]:
    """Calls that run foreign code or show foreign markup."""
    for node in ast.walk(code):
        match node:
            case ast.Attribute(value=ast.Name(id="torch"), attr="load" | "save"):
                yield node.lineno, f"torch.{node.attr}"
            case ast.keyword(arg="unsafe_allow_html"):
                yield node.value.lineno, "unsafe_allow_html"
            case ast.keyword(arg="allow_pickle", value=ast.Constant(value=True)):
                yield node.value.lineno, "allow_pickle=True"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="st"), attr="html"), args=[text]):
                if not is_constant(text):
                    yield node.lineno, "st.html on what is no constant"
            case ast.Call(func=ast.Name(id="eval" | "exec")):
                yield node.lineno, node.func.id


def is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def test_no_foreign_code_is_run_and_no_foreign_markup_shown():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} uses {what}"
        for path in sources("attention_plugins/**/*.py", "dashboard/**/*.py", "streamlit_app.py")
        for line, what in banned(tree(path))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "snippet",
    [
        "torch.load(path)", "torch.save(x, path)", "st.markdown(text, unsafe_allow_html=True)",
        "np.load(path, allow_pickle=True)", "st.html(text)", "eval(text)",
    ],
)  # fmt: skip
def test_the_ban_sees_what_it_bans(snippet):
    assert list(banned(ast.parse(snippet)))


def loaded(*statements: str) -> list[set[str]]:
    """What a fresh interpreter holds after each statement: modules, of ours also submodules."""
    code = "\n".join(["import sys", *(f"{each}\nprint(*sys.modules)" for each in statements)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    held = [line.split() for line in done.stdout.splitlines()]
    assert len(held) == len(statements)
    return [{m for m in line if "." not in m or m.split(".")[0] in PACKAGES} for line in held]


def every_module(package: str) -> str:
    """Statements that import a package and all modules directly in it."""
    found = [p.stem for p in sources(f"{package.replace('.', '/')}/*.py") if p.stem != "__init__"]
    return "\n".join(f"import {name}" for name in (package, *(f"{package}.{m}" for m in found)))


def test_the_page_process_loads_no_torch_and_no_plugin():
    statements = ["import dashboard.app, dashboard.controls, dashboard.state"]
    statements += [every_module(f"dashboard.{p}") for p in ("pages", "charts", "runs")]
    (modules,) = loaded("\n".join(statements))
    assert "streamlit" in modules
    wrong = {m for m in modules if names(m, (*HEAVY, "sklearn", "scipy", "statsmodels"))}
    assert not wrong


def test_the_contract_loads_nothing_of_the_dashboard_and_workers_no_streamlit():
    contract, worker = loaded(
        "import attention_plugins, attention_plugins.registry",
        "import dashboard.engine.worker, dashboard.tasks.regression",
    )
    assert "torch" in contract
    heavy = ("streamlit", "altair", "pandas", "dashboard", "sacrebleu", "pyarrow")
    assert not {m for m in contract if names(m, heavy)}
    assert {"torch", "dashboard.tasks.regression"} <= worker
    assert not {m for m in worker if names(m, ("streamlit", "altair"))}
