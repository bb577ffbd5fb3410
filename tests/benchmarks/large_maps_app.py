"""Charts of many weights, one variant a page: run by large_maps.py, not by itself."""

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from streamlit.dataframe_util import convert_anything_to_arrow_bytes

from dashboard.charts import MapFrame
from dashboard.charts.head_grid import draw_head_grid, prepare_head_grid
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.template import template
from dashboard.charts.theme import sequential

LAYERS, HEADS, WORDS, LARGE = 6, 8, 60, 500
DRAWINGS = 2

alt.data_transformers.disable_max_rows()


def weights(seed, *shape):
    return np.random.default_rng(seed).dirichlet(np.full(shape[-1], 0.1), size=shape[:-1])


def as_rects(seed):
    """All cells one by one, as every charting library draws them."""
    head, row, column = np.indices((LAYERS * HEADS, WORDS, WORDS)).reshape(3, -1)
    across, down = (WORDS + 2) * (head % HEADS) + column, (WORDS + 2) * (head // HEADS) + row
    # Numbers as short as they can be, since this is what everything else is measured against.
    cells = {"x": across, "x2": across + 1, "y": -down, "y2": -down - 1}
    rows = pd.DataFrame(cells).astype("int16")
    rows["value"] = weights(seed, LAYERS * HEADS, WORDS, WORDS).ravel().astype("float32")
    shades = alt.Color("value:Q", scale=sequential(1.0), legend=None)
    drawn = alt.Chart(alt.NamedData("cells"), width=1300, height=960).mark_rect()
    made = drawn.encode(x="x:Q", x2="x2", y="y:Q", y2="y2", color=shades)
    canvas = {"usermeta": {"embedOptions": {"renderer": "canvas"}}}
    return made.to_dict(validate=False) | canvas | {"datasets": {"cells": rows}}


def as_grid(seed):
    """One map in cells, all heads as pictures."""
    words = tuple(f"word{n}" for n in range(WORDS))
    frames = [
        MapFrame(kind="encoder", layer=layer, weights=weights(seed + layer, HEADS, WORDS, WORDS),
                 query_labels=words, key_labels=words)
        for layer in range(LAYERS)
    ]  # fmt: skip
    return filled(draw_head_grid, prepare_head_grid(frames, cell=12, chosen="6.1"))


def as_one_map(seed):
    return filled(draw_heatmap, prepare_heatmap(weights(seed, LARGE, LARGE)))


def filled(draw, prepared):
    """As on a page, where another result changes the data of a chart that stays."""
    return {**template(draw, prepared), "datasets": prepared.sent}


VARIANTS = {"rects": as_rects, "grid": as_grid, "large": as_one_map}


@st.cache_resource(show_spinner=False)
def spec(variant, seed):
    made = VARIANTS[variant](seed)
    # As Arrow, the fastest way to a page.
    sets = made["datasets"].items()
    return made | {"datasets": {n: convert_anything_to_arrow_bytes(rows) for n, rows in sets}}


chosen = st.query_params.get("variant", "grid")
for seed in range(DRAWINGS):  # before the clock starts: a page keeps its finished charts too
    spec(chosen, seed)
st.session_state.setdefault("drawing", 0)
if st.button("Next", key="next"):
    st.session_state["drawing"] = (st.session_state["drawing"] + 1) % DRAWINGS
st.vega_lite_chart(spec(chosen, st.session_state["drawing"]), width="stretch")
