"""What the catalogue says of this task: its options."""

from dashboard.jobs.task_offers import offered

OPTIONS = offered(__file__).options
