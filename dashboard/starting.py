"""What a server does before its first visitor comes."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from dashboard import logs, navigation
from dashboard.settings import settings
from dashboard.ui.workbench import workbench


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Begin the log, start the workers, read what is installed, import the first page."""
    logs.start(settings())
    workbench().catalogue()
    workbench().trainings.adopt()
    threading.Thread(target=navigation.import_first, name="first page", daemon=True).start()
    yield
