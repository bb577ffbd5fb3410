"""Serve the dashboard in the browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from dashboard import previews
from dashboard.asked_uploads import AskedUploads
from dashboard.former_links import FormerLinks
from dashboard.headers import middleware
from dashboard.owners import Owners
from dashboard.settings import settings
from dashboard.sockets import Sockets
from dashboard.starting import lifespan

SCRIPT = Path(__file__).with_name("app.py")
_SHIPPED = Path(__file__).with_name("shipped")  # in a wheel


def options() -> dict[str, Any]:
    """What the server's ``st.App`` is made of, besides :data:`SCRIPT`."""
    around = [
        Middleware(Sockets, chosen=settings()), *middleware(), Middleware(FormerLinks),
        Middleware(AskedUploads), Middleware(Owners), Middleware(previews.Previews),
    ]  # fmt: skip
    chosen: dict[str, Any] = {
        "lifespan": lifespan, "middleware": around, "routes": previews.routes(),
    }  # fmt: skip
    if settings().metrics:
        from dashboard import metrics  # a third of a second to import

        chosen["routes"] += metrics.routes()
    return chosen


def root() -> Path:
    """The folder with ``.streamlit/config.toml``: the checkout's, or one inside the package."""
    return _SHIPPED if _SHIPPED.is_dir() else SCRIPT.parents[1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``attention-workbench serve``."""
    parser.add_argument(
        "--host", default="localhost", metavar="ADDRESS",
        help="where to listen; 0.0.0.0 for every network of this machine (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=int, default=8501, help="the port to listen on (default: %(default)s)"
    )


def run(given: argparse.Namespace) -> None:
    """Serve until the process is asked to end.

    Streamlit reads its settings beside the script that was started, so this says that it was one
    in :func:`root`. Theirs win over those of the present folder and of the home folder.
    """
    app = st.App(SCRIPT, **options())
    sys.argv = [str(root() / "streamlit_app.py")]
    app.run(config={"server.address": given.host, "server.port": given.port})
