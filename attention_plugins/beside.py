"""What stands as a table beside the code: texts, names and numbers in TOML."""

import functools
import tomllib
from pathlib import Path
from typing import Any

from attention_plugins.contract.parameters import Parameter, parameters_of


@functools.cache
def beside(module: str, name: str) -> dict[str, Any]:
    """What a file of that name holds beside the module whose ``__file__`` is given."""
    return tomllib.loads(Path(module).with_name(name).read_text("utf-8"))


def row(module: str, name: str, *shared: Parameter, own_first: bool = False) -> dict[str, Any]:
    """What ``records.toml`` beside the module says of a record of that name, as it takes it.

    Its parameters come behind those that it has in common with others, unless its ``own_first``.
    A formula may fill several lines, which are joined.
    """
    held = {"name": name, **beside(module, "records.toml")[name]}
    for key, each in held.items():
        if isinstance(each, list):
            held[key] = tuple(each)
    if "formula" in held:
        held["formula"] = held["formula"].replace("\n", "")
    own = parameters_of(held.get("parameters", {}))
    parameters = (*own, *shared) if own_first else (*shared, *own)
    return {**held, "parameters": parameters} if parameters else held
