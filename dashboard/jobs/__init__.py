"""Jobs: a queue, workers in processes of their own, and events for the sessions that wait.

A session submits a request to the :mod:`~dashboard.jobs.pool` and gets a job. The
:mod:`~dashboard.jobs.scheduler` joins equal requests, and :mod:`~dashboard.jobs.fair_queue`
decides which is next; the :mod:`~dashboard.jobs.supervisor` holds crews of workers, of which one
serves while the next gets ready. An :mod:`~dashboard.jobs.engine` starts them, here or elsewhere.
In a process of its own the :mod:`~dashboard.jobs.worker` finds the task in
:mod:`~dashboard.jobs.tasks`; only it and the modules ``task_*`` import torch or plugins.
:mod:`~dashboard.jobs.trainings` come with a pool of their own.
"""
