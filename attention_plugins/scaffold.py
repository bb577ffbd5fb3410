"""The files of a new plugin's package, filled in from templates."""

from collections.abc import Mapping
from importlib import resources
from string import Template
from typing import NamedTuple

from packaging.utils import InvalidName, canonicalize_name

from attention_plugins.contract import CONTRACT_VERSION, ContractError
from attention_plugins.contract.parameters import check_name

# Where its module is: not beside the folder's name. A folder without __init__.py is a package too,
# and where module and folder have one name, whoever works beside the folder would import that.
MODULE = "src/{module}.py"
# What every package of a scoring has besides its module, and from which template.
_FILES = {
    "pyproject.toml": "pyproject.toml.txt", "README.md": "README.md.txt",
    "test_{module}.py": "test.py.txt",
}  # fmt: skip


class Names(NamedTuple):
    """One name as a distribution's, as a module's and a scoring's, and as a reader's."""

    distribution: str
    module: str
    title: str


def names_of(given: str) -> Names:
    """The names of a package; ContractError if it is none for a package or a scoring."""
    try:
        distribution = canonicalize_name(given, validate=True)
    except InvalidName:
        raise ContractError(
            f"need a package's name of letters, digits and hyphens, such as my-scoring; "
            f"got {given!r}"
        ) from None
    module = distribution.replace("-", "_")
    check_name("scoring", module)
    return Names(distribution, module, distribution.replace("-", " ").capitalize())


def filled(names: Names, filling: Mapping[str, str], module: str) -> dict[str, str]:
    """The text of every file of a package of a scoring, its module from the template given."""
    templates = resources.files("attention_plugins") / "templates" / "scoring"
    known = {**names._asdict(), "contract": ".".join(map(str, CONTRACT_VERSION)), **filling}
    return {
        name.format(module=names.module): Template(
            (templates / template).read_text("utf-8")
        ).substitute(known)
        for name, template in {**_FILES, MODULE: module}.items()
    }
