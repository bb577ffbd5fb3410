"""Who may import whom: by reading the sources, and by asking fresh interpreters."""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import attention_plugins

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


# In the dashboard a file's name says where it runs: these in a worker, all others in the page.
IN_WORKER = ("dashboard/**/task*.py", "dashboard/jobs/worker.py")
# A notebook is its own process, in which no page runs.
IN_NOTEBOOK = ("dashboard/notebook/*.py",)
HEAVY = ("torch", "attention_plugins")
# What of these the page may have: it loads nothing else.
LIGHT = ("attention_plugins.marking", "attention_plugins.home")
SCREEN = (
    "streamlit",
    "dashboard.ui",
    "dashboard.app",
    "dashboard.serving",
)
FEATURES = sorted(path.parent.name for path in ROOT.glob("dashboard/features/*/__init__.py"))
# What they are, what they must not import even inside a function, and those excepted.
LAYERS = {
    "plugins stand alone": (
        ("attention_plugins/**/*.py",), ("streamlit", "altair", "pandas", "dashboard"), (),
    ),
    "a model never chooses its scoring": (
        ("attention_plugins/models/**/*.py",), ("attention_plugins.scorings",), (),
    ),
    "the page process is light": (
        ("streamlit_app.py", "dashboard/**/*.py"), HEAVY, (*IN_WORKER, *IN_NOTEBOOK),
    ),
    "nobody takes anything from the notebook's door": (
        ("streamlit_app.py", "dashboard/**/*.py", "attention_plugins/**/*.py"),
        ("dashboard.notebook",), IN_NOTEBOOK,
    ),
    # The worker calls the tasks, and leaves torch and plugins to them.
    "a worker leaves torch to its tasks": (("dashboard/jobs/worker.py",), HEAVY, ()),
    "tasks know no page": (
        ("dashboard/**/task*.py",), (*SCREEN, "altair", "dashboard.charts"), (),
    ),
    "the notebook's door knows no screen": (IN_NOTEBOOK, SCREEN, ()),
    "records depend on nothing but records": (
        ("dashboard/records/*.py",),
        (*SCREEN, "altair", "dashboard.charts", "dashboard.features", "dashboard.jobs",
         "dashboard.links", "dashboard.storage"), (),
    ),
    "links and the store know no worker and no screen": (
        ("dashboard/links/*.py", "dashboard/storage/*.py"),
        (*SCREEN, "altair", "dashboard.charts", "dashboard.features", "dashboard.jobs"), (),
    ),
    "jobs know no screen": (
        ("dashboard/jobs/*.py",), (*SCREEN, "altair", "dashboard.charts", "dashboard.links"), (),
    ),
    "charts are pure": (
        ("dashboard/charts/*.py", "dashboard/features/*/chart*.py"),
        (*SCREEN, "dashboard.jobs", "dashboard.links", "dashboard.storage"), (),
    ),
    "what features share knows no feature": (
        ("dashboard/records/*.py", "dashboard/links/*.py", "dashboard/storage/*.py",
         "dashboard/charts/*.py", "dashboard/ui/*.py", "dashboard/jobs/*.py",
         "dashboard/language/*.py", "dashboard/notebook/*.py", "dashboard/*.py"),
        ("dashboard.features",), (),
    ),
    **{
        f"{name} knows no other feature": (
            (f"dashboard/features/{name}/*.py",),
            tuple(f"dashboard.features.{other}" for other in FEATURES if other != name), (),
        )
        for name in FEATURES
    },
    "nothing is pickled": (
        ("attention_plugins/**/*.py", "dashboard/**/*.py", "streamlit_app.py"),
        ("pickle", "cPickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"), (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", LAYERS)
def test_imports_run_down_the_layers(rule):
    patterns, forbidden, excepted = LAYERS[rule]
    files = sorted({*sources(*patterns)} - {*sources(*excepted)})
    assert files, f"no file matches {patterns}"
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {found.module}"
        for path in files
        for found in imports(path)
        if names(found.module, forbidden) and not names(found.module, LIGHT)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_layers_cover_what_they_name():
    landed = {str(path.relative_to(ROOT)) for path in sources("**/*.py")}
    assert landed >= {
        "streamlit_app.py", "dashboard/app.py", "dashboard/ui/widgets.py",
        "dashboard/ui/session.py", "dashboard/jobs/worker.py", "attention_plugins/registry.py",
        "attention_plugins/models/bahdanau.py", "attention_plugins/models/nadaraya_watson.py",
        "attention_plugins/scorings/scaled_dot.py",
    }  # fmt: skip
    assert len(FEATURES) >= 13
    for name in FEATURES:
        assert {f"dashboard/features/{name}/{file}.py" for file in ("page", "view")} <= landed
    for name in ("regression", "translation", "alignment", "heads", "training", "anatomy"):
        assert f"dashboard/features/{name}/task.py" in landed


RACING = ("filelock", "numpy")
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
        # Sums over many points are NumPy's; torch itself has that loaded by then, too.
        and not (names(found.module, ("numpy",)) and path.parent.name == "sums")
        # Nothing but the command and the page of the race imports what belongs to it.
        and not (names(found.module, RACING) and path.parent.name == "race")
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


# What several questions would each import first, and forks that go on from there, one each.
_FORKING = """
import json, os, sys
before, *questions = json.loads(sys.stdin.read())
exec(before)
for statements in questions:
    if os.fork() == 0:
        for each in statements:
            exec(each)
            print(*sys.modules, flush=True)
        os._exit(0)
    if os.wait()[1]:
        sys.exit(1)
"""


def loaded(*statements: str) -> list[set[str]]:
    """What a fresh interpreter holds after each statement: modules, of ours also submodules."""
    return loaded_each("", statements)[0]


def loaded_each(before: str, *questions: tuple[str, ...]) -> list[list[set[str]]]:
    """The same of several interpreters, each of which began with the statement ``before``."""
    done = subprocess.run(
        [sys.executable, "-c", _FORKING],
        cwd=ROOT,
        input=json.dumps([before, *questions]),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = iter(done.stdout.splitlines())
    held = [[next(lines).split() for _ in question] for question in questions]
    assert not [*lines]
    return [
        [{m for m in line if "." not in m or m.split(".")[0] in PACKAGES} for line in question]
        for question in held
    ]


def test_the_page_process_loads_no_torch_and_no_plugin():
    files = sorted({*sources("dashboard/**/*.py")} - {*sources(*IN_WORKER, *IN_NOTEBOOK)})
    # The painter is a script of its own process.
    dotted = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in files]
    named = [name.removesuffix(".__init__") for name in dotted if not name.endswith(".painter")]
    if importlib.util.find_spec("ray") is None:  # An extra: only a server told to use it loads it.
        named = [name for name in named if not name.startswith("dashboard.jobs.ray_")]
    (modules,) = loaded("\n".join(f"import {name}" for name in named))
    assert {"streamlit", "dashboard.app", "dashboard.features.start.page"} <= modules
    wrong = {m for m in modules if names(m, (*HEAVY, "sklearn", "scipy", "statsmodels"))}
    wrong -= {"attention_plugins", *LIGHT}
    assert not wrong


def test_the_door_of_the_plugins_offers_all_and_loads_torch_when_asked():
    door, asked = loaded(
        "import attention_plugins, attention_plugins.home",
        "import torch, attention_plugins as ours; from attention_plugins import *; "
        "assert {*ours.__all__} <= {*dir(ours)} & {*globals()}; "
        "assert not hasattr(ours, 'nothing'); assert issubclass(Scoring, torch.nn.Module); "
        "assert ours.models.protocols.Batch is ours.Batch",
    )
    assert {m for m in door if names(m, HEAVY)} == {"attention_plugins", "attention_plugins.home"}
    assert "torch" in asked


def test_type_checkers_see_every_name_of_the_door():
    seen = {
        alias.asname: node.module
        for node in tree(ROOT / "attention_plugins/__init__.pyi").body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert len(seen) > 50
    assert seen == attention_plugins._MODULES
    assert sorted(seen) == sorted(attention_plugins.__all__)


def test_a_page_that_keeps_nothing_loads_no_database():
    loading = "import dashboard.app, dashboard.serving, dashboard.features.regression.page"
    page, keeping = loaded(loading, "import dashboard.storage.runs")
    databases = ("sqlalchemy", "fsspec", "psycopg")
    assert not {m for m in page if names(m, databases)}
    # Only an open store needs fsspec, and only PostgreSQL psycopg.
    assert {m for m in keeping if names(m, databases)} == {"sqlalchemy"}


WITH_TORCH = {
    "complexity": (
        "from attention_plugins.complexity import Recurrence, hops\n"
        "hops(Recurrence(2).double(), 3, 2)",
    ),
    "formula": (
        "import torch\nfrom attention_plugins import Sizes\n"
        "from attention_plugins.formula.scoring import spec_of\n"
        "scoring = spec_of('-log(1 + norm(q - k)^p)').create(Sizes(2, 2, 2))\n"
        "scoring(torch.ones(3, 2), torch.zeros(4, 2)).sum().backward()",
    ),
    "contract": (
        "import attention_plugins, attention_plugins.registry, attention_plugins.race.export",
        "import dashboard.jobs.worker, dashboard.features.regression.task",
    ),
    "catalogue": (
        "from dashboard.jobs import tasks\nfrom dashboard.records.request import Request\n"
        "tasks.perform(Request(task='catalogue'), None)",
    ),
}


@pytest.fixture(scope="module")
def with_torch():
    """What an interpreter holds after each statement of these, once it has torch."""
    return dict(zip(WITH_TORCH, loaded_each("import torch", *WITH_TORCH.values()), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("statement", ["complexity", "formula"])
def test_no_computer_algebra_is_loaded_by(statement, with_torch):
    (worker,) = with_torch[statement]
    assert any(names(m, (f"attention_plugins.{statement}",)) for m in worker)
    assert not {m for m in worker if names(m, ("sympy", "mpmath"))}


def test_the_contract_loads_nothing_of_the_dashboard_and_workers_no_streamlit(with_torch):
    contract, worker = with_torch["contract"]
    heavy = (
        "streamlit", "altair", "pandas", "dashboard", "sacrebleu", "pyarrow", "scipy",
        "statsmodels",
    )  # fmt: skip
    assert "attention_plugins.race.export" in contract
    assert not {m for m in contract if names(m, heavy)}
    assert {"torch", "dashboard.features.regression.task"} <= worker
    assert not {m for m in worker if names(m, ("streamlit", "altair"))}


def test_the_catalogue_loads_no_task_but_its_own(with_torch):
    (worker,) = with_torch["catalogue"]
    assert "dashboard.features.training.task_offer" in worker
    features = {m for m in worker if names(m, ("dashboard.features",))}
    assert not {m for m in features if m.endswith(".task")}
    assert not {m for m in worker if names(m, ("pydantic", "PIL", "filelock"))}


def test_the_core_names_no_page():
    """Neither in an import nor in a text that could be imported, but for the table of them."""
    core = {*sources("dashboard/**/*.py")} - {*sources("dashboard/features/**/*.py")}
    named = [
        (path.relative_to(ROOT).as_posix(), node.value)
        for path in sorted(core)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"dashboard\.features[\w.]*", node.value)
    ]
    assert named == [("dashboard/pages.py", "dashboard.features")]


def test_the_core_starts_without_any_page_and_takes_all_through_the_door():
    core, door = loaded(
        "import dashboard.serving, dashboard.app, dashboard.ui.page, dashboard.jobs.tasks, "
        "dashboard.jobs.worker, dashboard.storage.runs",
        "from dashboard.pages import found; assert len(found()) >= 13",
    )
    for modules in (core, door):
        deep = {m for m in modules if re.match(r"dashboard\.features\.\w+\.", m)}
        assert not deep  # the packages themselves are empty
