"""The workbench in a notebook: ten names, each with an example in its documentation.

No server is needed. Whatever is drawn is an Altair chart: the last line of a cell shows it, and
its ``save`` writes HTML, PNG or SVG.
"""

from attention_plugins.contract import scoring
from dashboard.charts import attention_heatmap, figure
from dashboard.notebook.maps import AttentionMaps, watch
from dashboard.notebook.models import fit, load, offered, race, train

__all__ = [
    "AttentionMaps", "attention_heatmap", "figure", "fit", "load", "offered", "race", "scoring",
    "train", "watch",
]  # fmt: skip
