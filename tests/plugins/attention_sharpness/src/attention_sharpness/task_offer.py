"""What the task reads: each of these has a slider on the page and a place in its link."""

from attention_plugins.contract import Parameter

OPTIONS = (Parameter(name="temperature", title="Temperature", default=1.0, low=0.1, high=10.0),)
