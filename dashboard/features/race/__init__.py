"""The page *Race*: ``page`` puts together all that is drawn.

``grid`` is the matrix of all tasks, ``table`` the standings of one, ``figures`` its charts,
``close`` two contestants. ``task`` makes their numbers in a worker; ``bringing`` and
``task_import`` take in a race.
"""
