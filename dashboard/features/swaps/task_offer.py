"""What the catalogue says of this task: its options, and the results that are shipped."""

from attention_plugins.contract import Parameter
from attention_plugins.price.store import shipped
from dashboard.jobs.task_offers import offered

OPTIONS = offered(__file__).OPTIONS
if names := tuple(shipped()):
    OPTIONS += (
        Parameter(name="shipped", title="Shipped results", default=names[0], choices=names),
    )
