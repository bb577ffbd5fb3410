"""What the catalogue says of this task: its options."""

from dashboard.jobs.task_offers import offered

(PAIRS,) = OPTIONS = offered(__file__).options
