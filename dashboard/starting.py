"""What a server does before its first visitor comes, and after the last one."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from streamlit import config, net_util

from dashboard import logs, navigation
from dashboard.settings import settings
from dashboard.ui import upload
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
        threading.Thread(target=_first, name="first page", daemon=True).start()
        sys.stdout.write(welcome())
        sys.stdout.flush()
        yield
    finally:
        # After a signal uvicorn ends the process without calling what waits for its exit.
        await asyncio.to_thread(workbench().close)


def _first() -> None:
    navigation.import_first()
    upload.expire()


def welcome() -> str:
    """Where the dashboard can be opened, for whoever starts it; asks nobody on the network."""
    address, port = config.get_option("server.address"), config.get_option("server.port")
    path = config.get_option("server.baseUrlPath").strip("/")
    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    everywhere = address in (None, "", "0.0.0.0", "::")  # nosec B104
    named = {"URL": "localhost" if everywhere else address}
    if everywhere:
        named["Network URL"] = net_util.get_internal_ip()
    lines = [
        f"  {name}: {scheme}://{host}:{port}/{path}\n" for name, host in named.items() if host
    ]
    return "\n  The dashboard is open in the browser at\n\n" + "".join(lines) + "\n"
