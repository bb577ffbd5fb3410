"""What stands as a table beside the code: texts, names and numbers in TOML."""

import tomllib
from pathlib import Path
from typing import Any


def beside(module: str, name: str) -> dict[str, Any]:
    """What a file of that name holds beside the module whose ``__file__`` is given."""
    return tomllib.loads(Path(module).with_name(name).read_text("utf-8"))
