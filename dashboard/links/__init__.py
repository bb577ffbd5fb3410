"""From an address to a view and back.

A page's view is a record. Each part of it is a field (:mod:`~dashboard.links.fields`);
:mod:`~dashboard.links.link` reads and writes all of them. The rest are fields of several pages.
"""
