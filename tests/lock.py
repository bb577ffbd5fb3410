"""Locks what the server installs, by version and sha256, and lists it as an SBOM (CycloneDX).

    python -m pip install uv cyclonedx-bom && python -m tests.lock

Writes ``.github/requirements.lock`` and ``.github/sbom.cdx.json`` from ``requirements.txt`` and
the extras of the image. torch is not in the lock: which of its builds is installed, and with which
libraries for GPUs, depends on the machine. Its version is that of ``requirements.txt``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / ".github" / "requirements.lock"
SBOM = ROOT / ".github" / "sbom.cdx.json"
EXTRAS = ("login", "postgresql")
# They come with the build of torch, and so does torch itself.
_OF_TORCH = re.compile(r"(torch|triton|nvidia-[\w-]+|cuda-[\w-]+)==")


def _lock() -> None:
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    said = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "compile", "requirements.txt", "pyproject.toml",
         *extras, "--universal", "--python-version", "3.11", "--generate-hashes",
         "--no-annotate", "--no-header", "--quiet"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    entries = re.split(r"^(?=\w)", said, flags=re.MULTILINE)
    LOCK.write_text("".join(e for e in entries if not _OF_TORCH.match(e)), "utf-8")


def _sbom(folder: Path) -> None:
    """List the packages of an environment that has nothing but what is locked, and torch."""
    venv.create(folder, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip"]
    torch = re.search(r"^torch==(.+)$", (ROOT / "requirements.txt").read_text("utf-8"), re.M)
    assert torch, "requirements.txt does not pin torch"
    subprocess.run([*pip, "install", "--quiet", torch[0]], check=True)
    subprocess.run([*pip, "install", "--quiet", "--require-hashes", "-r", LOCK], check=True)
    subprocess.run([*pip, "uninstall", "--quiet", "--yes", "pip"], check=True)
    said = subprocess.run(
        [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible",
         "--pyproject", ROOT / "pyproject.toml", folder / "bin" / "python"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    # Without the name of the build that this machine happens to have: 2.13.0+cpu.
    bill = json.loads(re.sub(rf"({re.escape(torch[1])})(\+|%2B)\w+", r"\1", said))
    for component in [bill["metadata"]["component"], *bill["components"]]:
        component.pop("externalReferences", None)
    bill["metadata"].pop("tools", None)
    SBOM.write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n", "utf-8")


def main() -> None:
    """Write both files."""
    _lock()
    with tempfile.TemporaryDirectory() as folder:
        _sbom(Path(folder))


if __name__ == "__main__":
    main()
