"""The archives that others install, and the dashboard where nothing else of it is there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from support.server import Visit, serving
from support.wheel import ROOT, environment, install, plain, run

pytestmark = pytest.mark.slow

TRAINED = (
    "bahdanau-additive-phrasebook", "decoder-scaled-dot-phrasebook",
    "transformer-scaled-dot-phrasebook",
)  # fmt: skip
SETTINGS = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))
RACES = ("race", "race-phrasebook", "race-mqar", "race-twice")
SWAPS = ("swaps",)


def tracked(folder: str) -> set[str]:
    command = ["git", "ls-files", "-z", folder]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return {name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def archives(tmp_path_factory) -> Path:
    """The folder of the source archive, and of the wheel that is built from it alone."""
    out = tmp_path_factory.mktemp("archives")
    run(
        sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, folder=out
    )  # fmt: skip
    return out


@pytest.fixture(scope="module")
def package(archives) -> Path:
    (found,) = archives.glob("*.whl")
    return found


def inside(package: Path) -> set[str]:
    with zipfile.ZipFile(package) as opened:
        return {name for name in opened.namelist() if ".dist-info/" not in name}


def test_an_index_would_take_both(archives):
    assert len([*archives.iterdir()]) == 2
    said = run(
        sys.executable, "-m", "twine", "--no-color", "check", "--strict", *archives.iterdir(),
        folder=archives,
    )  # fmt: skip
    assert said.count("PASSED") == 2


def test_the_wheel_holds_the_packages_the_settings_three_trained_models_and_the_races(package):
    data = {"dashboard/shipped/.streamlit/config.toml"}
    for names, files in (
        (TRAINED, ("card.json", "model.safetensors")),
        (RACES, ("outcomes.jsonl", "race.json")),
        (SWAPS, ("aren-transliteration.jsonl", "gpt-nano-sort.jsonl", "stories260K.jsonl")),
    ):
        data |= {f"attention_plugins/trained/{n}/{file}" for n in names for file in files}
    assert inside(package) == tracked("attention_plugins") | tracked("dashboard") | data
    assert package.stat().st_size < 12_000_000


def test_the_source_archive_holds_no_tests_and_no_other_models(archives):
    (source,) = archives.glob("*.tar.gz")
    with tarfile.open(source) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    shipped = {name.split("/")[1] for name in names if name.startswith("trained/")}
    assert shipped == {*TRAINED, *RACES, *SWAPS}
    assert ".streamlit/config.toml" in names
    assert names >= tracked(".github/docs") | tracked(".github/pictures") | {"CITATION.cff"}
    assert not {name for name in names if name.startswith("tests/")}


def test_an_editable_install_holds_no_copies(tmp_path):
    code = "import sys; from hatchling.build import build_editable; build_editable(sys.argv[1])"
    run(sys.executable, "-c", code, tmp_path, folder=ROOT)
    (made,) = tmp_path.iterdir()
    assert inside(made) == {"_attention_workbench.pth"}


@pytest.fixture(scope="module")
def programs(package, tmp_path_factory) -> Path:
    """The programs of an environment that has the wheel, and does not see the checkout."""
    return environment(tmp_path_factory.mktemp("environment") / "venv", package)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory) -> Path:
    """A folder that anybody may be in, with modules and settings of its own."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("dashboard", "attention_plugins", "queue"):
        (folder / f"{name}.py").write_text("raise ImportError('not this one')", "utf-8")
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit/config.toml").write_text("[runner]\npostScriptGC = true\n", "utf-8")
    return folder


def test_nothing_of_the_checkout_is_seen(programs, elsewhere):
    names = ("attention_plugins", "dashboard")
    code = f"import {', '.join(names)}; print({', '.join(f'{name}.__file__' for name in names)})"
    found = run(programs / "python", "-P", "-c", code, folder=elsewhere).split()
    assert [Path(path).is_relative_to(programs.parent) for path in found] == [True, True]


def test_it_serves_the_finished_comparison_with_its_theme(programs, elsewhere, tmp_path):
    command = [programs / "attention-workbench", "--port", "{port}"]
    own = {"HOME": str(tmp_path), "ATTENTION_WORKBENCH_HOME": str(tmp_path / "data")}
    with serving(command, elsewhere, plain(own)) as server:
        with Visit(server) as visit:
            visit.until(charts=1)
            sent = visit.session
        with Visit(server, page="translation") as visit:
            visit.until(charts=2)
        log = server.log.read_text()
    assert "Traceback" not in log
    assert not sent.config.gather_usage_stats
    assert sent.custom_theme.light.primary_color == SETTINGS["theme"]["light"]["primaryColor"]
    assert (
        list(sent.custom_theme.chart_categorical_colors)
        == (SETTINGS["theme"]["chartCategoricalColors"])
    )


def test_every_command_is_there(programs, elsewhere):
    workbench = programs / "attention-workbench"
    said = run(workbench, "--help", folder=elsewhere)
    names = ("serve", "list", "new", "check", "train", "evaluate", "translate", "adopt")
    assert [name for name in names if name not in said.split()] == []
    listed = json.loads(run(workbench, "list", "--json", folder=elsewhere))
    assert [failure for failure in listed["failures"] if failure["distribution"]] == []
    assert {name.replace("-", "_") for name in TRAINED} <= {*listed["checkpoints"]}


def test_a_shipped_model_translates(programs, elsewhere):
    code = "from attention_plugins.home import SHIPPED; print(SHIPPED)"
    shipped = run(programs / "python", "-P", "-c", code, folder=elsewhere).strip()
    assert Path(shipped).is_relative_to(programs.parent)
    for name in TRAINED:
        continues = name.startswith("decoder")
        text, said = (
            ("do you want to", "go to the movies?")
            if continues
            else ("i am here .", "je suis ici.")
        )
        words = ("translate", "--checkpoint", f"{shipped}/{name}", text)
        assert run(programs / "attention-workbench", *words, folder=elsewhere) == f"{said}\n"


def test_a_third_partys_package_is_found_beside_it(programs, elsewhere, tmp_path):
    """It depends on ``attention-workbench``, which pip finds nowhere but in this environment."""
    source = shutil.copytree(ROOT / "tests/plugins/attention_student_t", tmp_path / "student")
    install(programs / "python", source)
    listed = run(programs / "attention-workbench", "list", "--json", folder=elsewhere)
    assert json.loads(listed)["scorings"]["student_t"]["plugin"] == "attention-student-t"
