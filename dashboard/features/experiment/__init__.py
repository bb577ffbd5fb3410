"""The page *Experiment*: ``setup`` draws its controls, ``page`` the rest.

``cells`` finds the runs; ``table``, ``seeds`` and ``maps`` show them, with what ``task`` says of
all seeds together.
"""
