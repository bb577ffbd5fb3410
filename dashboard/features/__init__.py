"""The table of the workbench's own pages, ``pages.toml``.

Each is named as its folder here, whose ``page.py`` declares ``PAGE``. Nothing outside this folder
imports any of them: they come in through :mod:`dashboard.pages`, as those of packages do.
"""

from dashboard.pages import Entry
from dashboard.records.beside import beside

ENTRIES = {name: Entry(**facts) for name, facts in beside(__file__, "pages.toml").items()}
