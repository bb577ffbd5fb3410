"""``python -m attention_plugins COMMAND``: see :mod:`attention_plugins.commands`."""

import sys
from pathlib import Path

from attention_plugins.commands import PROGRAM, main

if __name__ == "__main__":
    started = Path(sys.argv[0]).name
    sys.exit(main(program=PROGRAM if started == "__main__.py" else started))
