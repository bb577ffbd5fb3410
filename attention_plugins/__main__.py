"""``python -m attention_plugins COMMAND``: see :mod:`attention_plugins.commands`."""

import sys

from attention_plugins.commands import main

if __name__ == "__main__":
    sys.exit(main())
