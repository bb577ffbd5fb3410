"""Starts the dashboard: ``streamlit run streamlit_app.py``."""

import streamlit as st
from starlette.middleware import Middleware

from dashboard.headers import middleware
from dashboard.owners import Owners
from dashboard.starting import lifespan

app = st.App("dashboard/app.py", lifespan=lifespan, middleware=[*middleware(), Middleware(Owners)])
