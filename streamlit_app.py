"""Starts the dashboard: ``streamlit run streamlit_app.py``."""

from dashboard.app import main

main()
