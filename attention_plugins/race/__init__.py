"""A fair race: which scoring is better at what, by how much, and whether that is chance.

Every contestant is a scoring with a normaliser in a model. On each task all of them get the same
data, the same initial weights but for their own, the same order of batches and the same number of
steps, and choose their learning rate from the same small grid by a part of the data that is never
reported. What is reported is measured on data that nobody learned, over several seeds, and told
apart by paired tests.

``python -m attention_plugins race`` runs one in a folder, which may be stopped and gone on with,
by several processes at once.
"""
