"""The workbench as others get it: its archives, and an environment with nothing but its wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """What a command printed; it must succeed, and knows nothing of the checkout."""
    done = subprocess.run(
        command, cwd=folder, env=plain(environment),
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def plain(more: dict[str, str] | None = None) -> dict[str, str]:
    """This process's variables without those by which it finds the checkout."""
    ours = ("PYTHONPATH", "VIRTUAL_ENV")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith(("ATTENTION_", "STREAMLIT_", "COV_"))
    }
    return {**kept, **(more or {})}


def checkout(names: list[str], folder: Path) -> Path:
    """A copy of these files of the checkout."""
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def environment(folder: Path, *packages: Path) -> Path:
    """A virtual environment with these packages; its folder of programs.

    What they need comes from the environment that runs the tests, so that nothing is downloaded.
    Its installed packages are seen, but not the ``.pth`` files of its editable installs.
    """
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    own = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    there = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (own / "needed.pth").write_text("\n".join(there), "utf-8")
    for package in packages:
        # Another version of it may be installed where the tests run.
        install(python, package, "--ignore-installed", "--no-deps")
    return programs


def install(python: Path, package: Path, *options: str) -> None:
    """Install one package, offline: what it depends on must be there."""
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index",
        "--no-build-isolation", *options, package, folder=python.parent,
    )  # fmt: skip
