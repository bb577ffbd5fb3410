"""What pages are made of, and the one order in which every page is drawn.

:mod:`~dashboard.ui.page` declares and draws a page; the :mod:`~dashboard.ui.session` is what one
visitor sees on it, with the link that says so. :mod:`~dashboard.ui.fields` and
:mod:`~dashboard.ui.widgets` draw controls, :mod:`~dashboard.ui.jobs` asks the workers,
:mod:`~dashboard.ui.results` gives each answer its place, :mod:`~dashboard.ui.charts` draws it, and
:mod:`~dashboard.ui.shown` notes what was drawn, so that it can be kept. What all visitors share is
the :mod:`~dashboard.ui.workbench`.
"""
