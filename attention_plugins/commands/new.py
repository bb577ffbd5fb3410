"""Write the folder of a new plugin: a scoring that works, its test, and how to install it."""

import argparse
import importlib.util
import keyword
import shlex
import sys
from importlib import metadata
from pathlib import Path

from attention_plugins.commands.common import show
from attention_plugins.contract import ContractError
from attention_plugins.discovery import DISTRIBUTION
from attention_plugins.registry import installed
from attention_plugins.scaffold import MODULE, Names, filled, names_of


def run(given: argparse.Namespace) -> None:
    """Write the package, and say what to do with it."""
    names = _names(given.name)
    folder = given.into / names.distribution
    files = _write(folder, names)
    path = shlex.quote(str(folder))
    # Where the workbench runs from its source folder, pip would look for it on the network.
    alone = "" if _is_installed(DISTRIBUTION) else "--no-deps "
    commands = [
        f"python -m attention_plugins check {path}",
        f"python -m pip install {alone}-e {path}",
    ]
    show(
        given,
        {"folder": str(folder), "files": files, "next": commands},
        [
            f"{folder}: {', '.join(files)}",
            f"Change the formula in {folder / MODULE.format(module=names.module)}. Then:",
            *(f"  {command}" for command in commands),
            "It is then in every list of scorings; on a page that is open, press Reload plugins.",
        ],
    )


def _names(given: str) -> Names:
    """The names of a package; :class:`ContractError` where they are bad, or something has one."""
    names = names_of(given)
    distribution, module, _ = names
    registry = installed()
    if module in registry.scorings:
        owner = registry.provider("scorings", module).distribution
        raise ContractError(
            f"there is a scoring {module!r} already, of {owner}; take another name"
        )
    is_module = module in sys.stdlib_module_names or importlib.util.find_spec(module) is not None
    if keyword.iskeyword(module) or is_module or _is_installed(distribution):
        raise ContractError(
            f"{given!r} is a word, a module or a distribution of this Python already; take "
            f"another name, such as {distribution}-scoring"
        )
    return names


def _is_installed(distribution: str) -> bool:
    try:
        return bool(metadata.version(distribution))
    except metadata.PackageNotFoundError:
        return False


def _write(folder: Path, names: Names) -> list[str]:
    files = filled(names, {}, "module.py.txt")
    try:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    except FileExistsError:
        raise ContractError(
            f"{folder} is there already; take another name, or another folder with --into"
        ) from None
    except OSError as error:
        raise ContractError(f"cannot write {folder}: {error.strerror}") from None
    return list(files)
