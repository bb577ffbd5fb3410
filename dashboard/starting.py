"""What a server does before its first visitor comes, and after the last one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from dashboard import logs, navigation
from dashboard.settings import settings
from dashboard.ui.run_store import run_store
from dashboard.ui.workbench import workbench


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Begin the log, start the workers, read what is installed, import the first page.

    At the end the workers are stopped.

    Raises:
        EngineError: the engine that the settings name cannot be used.
        StorageError: a store of runs that the settings name cannot be opened.
    """
    chosen = settings()
    logs.start(chosen)
    workbench().catalogue()
    workbench().trainings.adopt()
    try:
        if chosen.database.get_secret_value() or chosen.blobs:
            run_store()
        threading.Thread(target=navigation.import_first, name="first page", daemon=True).start()
        yield
    finally:
        # After a signal uvicorn ends the process without calling what waits for its exit.
        await asyncio.to_thread(workbench().close)
