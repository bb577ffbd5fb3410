"""Attention Workbench's plugin contract: write a scoring once, see it in every model."""

import ast
import importlib
import os
import sys
from pathlib import Path

# A command's threads sleep while they wait: spinning, they would take each other's time on busy
# cores. torch reads this when it is imported. While Python looks for a program to run by -m, that
# is its name; whoever else imports this package keeps the policy of the process.
if sys.argv[:1] == ["-m"]:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# The module of each public name. It is imported when the name is first asked for, and not with
# this package: pages take what is light from its modules and load no torch.
_MODULES = {
    name.name: str(line.module)
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for name in line.names
}
__all__ = [*_MODULES]  # noqa: PLE0604  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    # Plugins may also reach a module as an attribute: when all was loaded here, that worked.
    if name in {module.split(".")[1] for module in _MODULES.values()}:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
