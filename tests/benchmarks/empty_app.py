"""Nothing but a chart that never changes: what a first load is measured against."""

import altair as alt
import pandas as pd
import streamlit as st

st.altair_chart(
    alt.Chart(pd.DataFrame({"x": [0, 1], "y": [0, 1]})).mark_line().encode(x="x", y="y")
)
