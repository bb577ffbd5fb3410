"""From an address to a view and back.

A page's view is a record. Each part of it is a field (:mod:`~dashboard.links.fields`), which says
its name in the link, its default and its bounds; :mod:`~dashboard.links.link` reads and writes
all of them. The other modules are fields that several pages share.
"""
