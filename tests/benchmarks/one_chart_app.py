"""A slider and a chart, as plain Streamlit has them: what pages are measured against."""

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

width = st.slider("Width", 0.05, 5.0, 1.0, 0.05)
x = np.sort(np.random.default_rng(0).uniform(0, 5, 50))
y = 2 * np.sin(x) + x**0.8
queries = np.linspace(0, 5, 50)
weights = np.exp(-(((queries[:, None] - x) / width) ** 2) / 2)
curve = pd.DataFrame({"x": queries, "y": weights @ y / weights.sum(axis=1)})
st.altair_chart(alt.Chart(curve).mark_line().encode(x="x", y="y"))
