"""Starts the dashboard: ``streamlit run streamlit_app.py``."""

import streamlit as st

from dashboard.serving import SCRIPT, options

app = st.App(SCRIPT, **options())
