"""The page *Train*: ``page`` draws its controls; ``cards`` one training each.

``curves`` and ``probe`` follow it while it learns. ``task`` trains in a process of its own, as
``task_order`` reads the request; ``task_figures`` measures at the end.
"""
