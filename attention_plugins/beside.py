"""What stands as a table beside the code: texts, names and numbers in TOML."""

import functools
import tomllib
from pathlib import Path
from typing import Any


@functools.cache
def beside(module: str, name: str) -> dict[str, Any]:
    """What a file of that name holds beside the module whose ``__file__`` is given."""
    return tomllib.loads(Path(module).with_name(name).read_text("utf-8"))


def row(module: str, name: str) -> dict[str, Any]:
    """What ``records.toml`` beside the module says of a record of that name, lists as tuples."""
    facts = beside(module, "records.toml")[name]
    held = {key: tuple(each) if isinstance(each, list) else each for key, each in facts.items()}
    return {"name": name, **held}
