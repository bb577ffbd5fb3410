"""The command ``attention-workbench``: ``serve``, and every command of ``attention_plugins``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from dashboard import serving

_PROGRAM = "attention-workbench"
_HELP = ("-h", "--help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; without one, or with nothing but options, serve the dashboard.

    A server's process loads neither torch nor plugins, so the other commands are imported late.

    Args:
        arguments: the command's name and what follows it; else those of this process.

    Returns:
        The exit code: 2 on bad input.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in _HELP):
        given = ["serve", *given]
    if given[0] == "serve":
        parser = argparse.ArgumentParser(prog=f"{_PROGRAM} serve", description=serving.__doc__)
        serving.add_arguments(parser)
        serving.run(parser.parse_args(given[1:]))
        return 0
    from attention_plugins import commands

    return commands.main(given, program=_PROGRAM, more={"serve": serving})
