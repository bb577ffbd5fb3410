"""What the catalogue says of this task: its options, and what is measured."""

from attention_plugins.fitting import FITTING
from dashboard.jobs.task_offers import offered

(LEARN, STANDARDISE), METRICS = offered(__file__)
OPTIONS = (LEARN, STANDARDISE, *FITTING)
