"""``python -m attention_plugins list | new | check | train | evaluate | translate | adopt``."""

from __future__ import annotations

import sys

from attention_plugins.commands import main

if __name__ == "__main__":
    sys.exit(main())
