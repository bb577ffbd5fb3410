"""Plain data that crosses processes, without Streamlit, torch or plugins.

A page knows what is installed by the :mod:`~dashboard.records.catalogue`, asks with a
:mod:`~dashboard.records.request`, and gets back Arrow tables and facts.
"""
