"""What stands beside the code: texts, names and numbers in TOML, and code of browsers."""

import tomllib
from pathlib import Path
from typing import Any


def beside(module: str, name: str) -> dict[str, Any]:
    """What a file of that name holds beside the module whose ``__file__`` is given."""
    return tomllib.loads(read_beside(module, name))


def read_beside(module: str, name: str) -> str:
    """The text of that file."""
    return Path(module).with_name(name).read_text("utf-8")
