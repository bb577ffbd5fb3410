"""The command line. Bad input ends with exit code 2 and one line that says what would be right."""

import argparse
import sys
from collections.abc import Mapping, Sequence

from attention_plugins.commands import adopt, common, evaluate, packages, race, swap, train
from attention_plugins.contract import ContractError

PROGRAM = "python -m attention_plugins"

_COMMANDS = {
    "list": packages.list_installed, "new": packages.new, "check": packages.check,
    "train": train.run, "evaluate": evaluate.run, "translate": evaluate.translate,
    "race": race.run, "swap": swap.run, "adopt": adopt.run,
}  # fmt: skip
_COMPUTING = ("train", "evaluate", "translate", "race", "swap")


def main(
    arguments: Sequence[str] | None = None, *, program: str = PROGRAM,
    elsewhere: Mapping[str, str] | None = None,
) -> int:  # fmt: skip
    """Run the command that the arguments, or those of this process, begin with.

    Args:
        elsewhere: what the help says of commands that the program runs by itself, by their names.

    Returns:
        0, or 1 where a check failed, or 2 on bad input, or 130 when interrupted.
    """
    parser = argparse.ArgumentParser(
        prog=program,
        description="Scorings, models and corpora of Attention Workbench from the command line.",
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in (elsewhere or {}).items():
        subparsers.add_parser(name, help=summary)
    for name, command in _COMMANDS.items():
        summary = (command.__doc__ or name).splitlines()[0]
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        computed = getattr(sys.modules[command.__module__], "COMPUTED", {})
        common.add_arguments(subparser, name, computed)
        if name in _COMPUTING:
            common.add_arguments(subparser, "computing", {})
        subparser.add_argument("--json", action="store_true", help="print the result as JSON")
    given = parser.parse_args(arguments)
    try:
        return _COMMANDS[given.command](given) or 0
    except (ContractError, FloatingPointError) as error:
        print(f"{parser.prog} {given.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
