"""The command ``attention-workbench``: its own commands, and those of ``attention_plugins``."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from dashboard import serving

_PROGRAM = "attention-workbench"
_HELP = ("-h", "--help")
_PUBLISH = "Write pages as HTML files that need no server, with an index."
_SERVE = "Serve the dashboard in the browser until Ctrl+C."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; without one, or with nothing but options, serve the dashboard.

    SystemExit: another command has ended, or the input was bad (2).
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in _HELP):
        given = ["serve", *given]
    parser = argparse.ArgumentParser(prog=f"{_PROGRAM} serve", description=_SERVE)
    serving.add_arguments(parser)
    if given[0] == "serve":
        serving.run(parser.parse_args(given[1:]))
        return 0
    if given[0] == "publish":
        from dashboard import publish  # with all that pages are drawn with

        parser = argparse.ArgumentParser(prog=f"{_PROGRAM} publish", description=_PUBLISH)
        publish.add_arguments(parser)
        return publish.run(parser.parse_args(given[1:]))
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as for `python -m attention_plugins`
    # Imported here alone: a process that serves the dashboard has neither torch nor a plugin.
    commands = import_module("attention_plugins.commands")
    elsewhere = {"serve": f"{_SERVE} What runs where no command is given.", "publish": _PUBLISH}
    sys.exit(commands.main(given, program=_PROGRAM, elsewhere=elsewhere))


if __name__ == "__main__":
    sys.exit(main())
