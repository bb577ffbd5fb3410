"""The page *Differences*: ``page`` has controls and panels, ``pair`` the two that are compared.

``task`` compares maps; ``chart_linked`` and its layers draw them so that rows move together.
"""
