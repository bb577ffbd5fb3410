"""Charts of results: pure functions, data in, ``alt.Chart`` out.

They need pandas, numpy, pyarrow and altair, no server: any notebook can call them.

In: :func:`maps` decodes a result's table ``maps`` into :class:`MapFrame`; the tables ``curve``,
``points`` and ``history`` are taken as they are, as Arrow tables or data frames.

Out: :func:`attention_heatmap`, :func:`difference_heatmap`, :func:`head_grid`,
:func:`regression_chart`, :func:`loss_chart`, :func:`weights_legend`; ``help`` tells their options.

Panels that stand side by side share ``vmax`` (:func:`top_weight` finds it, 1.0 suits words) and
the room for labels (the largest :func:`label_room`), and take their colour from
``PANEL_COLOURS``. Equal arguments give equal specifications, so that these can be cached.

On a page: ``st.altair_chart(chart)`` with its defaults. A chart of one map or curve fills the
column's width, a grid of heads has the size it needs. Colours of text, background and ramps are
those of the page's theme. Elsewhere :func:`standalone` gives a chart these, light or dark, and
``figure(chart, "norms.pdf")`` makes one for a paper.
"""

from dashboard.charts.cells import TALLEST
from dashboard.charts.figures import figure
from dashboard.charts.frames import MapFrame, map_names, maps, top_weight, usual_map
from dashboard.charts.head_grid import grid_height, head_grid
from dashboard.charts.heatmap import attention_heatmap, difference_heatmap, label_room
from dashboard.charts.labels import goes_on
from dashboard.charts.legend import weights_legend
from dashboard.charts.regression import regression_chart
from dashboard.charts.series import loss_chart
from dashboard.charts.theme import PANEL_COLOURS, standalone

__all__ = [
    "PANEL_COLOURS", "TALLEST", "MapFrame", "attention_heatmap", "difference_heatmap", "figure",
    "goes_on", "grid_height", "head_grid", "label_room", "loss_chart", "map_names", "maps",
    "regression_chart", "standalone", "top_weight", "usual_map", "weights_legend",
]  # fmt: skip
