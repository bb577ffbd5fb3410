"""The page *Kernel regression*: ``page`` draws the controls of the problem.

``panel`` draws one panel: its scoring, the sliders of its parameters, its charts. ``figures``
draws all panels beside each other. ``task`` computes; ``task_problem`` reads data and uploads.
"""
