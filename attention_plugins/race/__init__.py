"""A fair race: which scoring is better at what, by how much, and whether that is chance.

Contestants are scorings with normalisers in models. On each task all get the same data, the same
initial weights but for their own, the same batches and number of steps, and choose their learning
rate from the same small grid by data that are never reported. Those reported nobody learned; over
several seeds contestants are told apart by paired tests. A race lies in a folder, may be stopped
and gone on with, and run by several processes at once: ``python -m attention_plugins race``.
"""
