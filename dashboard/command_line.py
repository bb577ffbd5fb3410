"""The command ``attention-workbench``: ``serve``, and every command of ``attention_plugins``."""

import argparse
import os
import runpy
import sys
from collections.abc import Sequence

from dashboard import serving

_PROGRAM = "attention-workbench"
_HELP = ("-h", "--help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; without one, or with nothing but options, serve the dashboard.

    Raises:
        SystemExit: another command has ended, or the input was bad (2).
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in _HELP):
        given = ["serve", *given]
    parser = argparse.ArgumentParser(prog=f"{_PROGRAM} serve", description=serving.__doc__)
    serving.add_arguments(parser)
    if given[0] == "serve":
        serving.run(parser.parse_args(given[1:]))
        return 0
    if given[0] in _HELP:
        parser.print_usage()
    # As a program of its own: the dashboard's process imports neither torch nor a plugin.
    sys.argv = [_PROGRAM, *given]
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as for `python -m attention_plugins`
    runpy.run_module("attention_plugins", run_name="__main__")
    return 0
