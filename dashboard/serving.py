"""Serve the dashboard in the browser.

Leads links from the time when *Kernel regression* was the first page to where it is now.

``/?a=gaussian&data=step`` became ``/regression?a=gaussian&data=step``. Such links stand in mails,
in papers and in runs that were kept.
"""

import argparse
import asyncio
import gc
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config, net_util

from dashboard import lighter, logs, previews, servers
from dashboard.asked_uploads import AskedUploads
from dashboard.headers import middleware
from dashboard.links.fields import LETTERS
from dashboard.owners import Owners
from dashboard.settings import settings, variable
from dashboard.sockets import Sockets
from dashboard.ui import live, navigation, upload
from dashboard.ui.owner import run_store
from dashboard.ui.workbench import workbench
from dashboard.unchanged import Unchanged
from dashboard.visitors import everywhere

_SECONDS_BETWEEN_LOOKS = 3.0
_GARBAGE = 10_000  # objects that are made before one looks for those that nobody has

_log = logging.getLogger(__name__)


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Begin the log, start the workers, read what is installed, import the first page.

    At the end the workers are stopped.

    Raises:
        EngineError: the engine that the settings name cannot be used.
        StorageError: a store of runs that the settings name cannot be opened.
    """
    chosen = settings()

    def first() -> None:
        navigation.import_first()
        upload.expire()
        # What is imported stays: to look through it took 0.1 s now and then.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_GARBAGE)

    logs.start(chosen)
    workbench().catalogue()
    workbench().trainings.adopt()
    adopting = asyncio.create_task(_adopt())
    try:
        if chosen.database.get_secret_value() or chosen.blobs:
            run_store()
        threading.Thread(target=first, name="first page", daemon=True).start()
        sys.stdout.write(welcome())
        sys.stdout.flush()
        yield
    finally:
        adopting.cancel()
        # After a signal uvicorn ends the process without calling what waits for its exit.
        await asyncio.to_thread(workbench().close)


async def _adopt() -> None:
    """Look now and then for trainings that wait at a server which is no more."""
    while True:
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        try:
            await asyncio.to_thread(workbench().trainings.adopt, patient=True)
        except Exception:
            _log.exception("trainings that nobody has cannot be looked for")


def welcome() -> str:
    """Where the dashboard can be opened, for whoever starts it; asks nobody on the network."""
    address, port = config.get_option("server.address"), config.get_option("server.port")
    path = config.get_option("server.baseUrlPath").strip("/")
    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    named = {"URL": "localhost" if everywhere() else address}
    if everywhere():
        named["Network URL"] = net_util.get_internal_ip()
    end = f":{port}/{path}\n"
    lines = [f"  {name}: {scheme}://{host}{end}" for name, host in named.items() if host]
    return "\n  Open in the browser, and press Ctrl+C here to stop:\n\n" + "".join(lines) + "\n"


# What a parameter of the page's link begins with: a panel, the problem, what may be set about it.
NAMES = frozenset((*LETTERS, "data", "points", "noise", "queries", "seed", "device"))
_NOW = "regression"


class FormerLinks:
    """Redirects such links; everything else is answered by the ASGI app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with 307, or as the app does."""
        if _is_former(scope):
            # Relative: a proxy may have taken a part of the path away.
            where = f"{_NOW}?{scope['query_string'].decode('latin-1')}"
            await RedirectResponse(where, status_code=307)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_former(scope: Scope) -> bool:
    """Whether the first page is asked for with parameters of the page's that it once was."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    panels = any(name.partition(".")[0] in NAMES for name, _ in query)
    return panels and scope["path"] == (f"/{base}/" if base else "/")


SCRIPT = Path(__file__).with_name("app.py")
_SHIPPED = Path(__file__).with_name("shipped")  # in a wheel


def options() -> dict[str, Any]:
    """What the server's ``st.App`` is made of, besides :data:`SCRIPT`."""
    lighter.begin()
    around = [
        Middleware(Sockets, chosen=settings()), *middleware(), Middleware(FormerLinks),
        Middleware(AskedUploads), Middleware(Owners), Middleware(previews.Previews),
        Middleware(Unchanged),
    ]  # fmt: skip
    chosen: dict[str, Any] = {
        "lifespan": lifespan, "middleware": around, "routes": [*previews.routes(), *live.routes()],
    }  # fmt: skip
    if settings().metrics:
        from dashboard import metrics  # a third of a second to import

        chosen["routes"] += metrics.routes()
    return chosen


def root() -> Path:
    """The folder with ``.streamlit/config.toml``: the checkout's, or one inside the package."""
    return _SHIPPED if _SHIPPED.is_dir() else SCRIPT.parents[1]


def _processes(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= servers.MOST:
        raise argparse.ArgumentTypeError(f"need a number from 1 to {servers.MOST}, got {text!r}")
    return int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``attention-workbench serve``."""
    parser.add_argument(
        "--host", default="localhost", metavar="ADDRESS",
        help="where to listen; 0.0.0.0 for every network of this machine (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=int, default=8501, help="the port to listen on (default: %(default)s)"
    )
    parser.add_argument(
        "--logs", metavar="FOLDER", help="the folder whose logs of trainings are followed"
    )
    parser.add_argument(
        "--processes", type=_processes, default=1, metavar="N",
        help="page servers that share the visitors, behind nginx (default: %(default)s)",
    )  # fmt: skip


def run(given: argparse.Namespace) -> None:
    """Serve until the process is asked to end.

    Streamlit reads its settings beside the script that was started, so this says that it was one
    in :func:`root`. Theirs win over those of the present folder and of the home folder.
    """
    if given.logs:
        os.environ[variable("logs")] = str(Path(given.logs).resolve())
    address = {"server.address": given.host, "server.port": given.port}
    sys.argv = [str(root() / "streamlit_app.py")]
    if given.processes > 1:
        for name, what in address.items():
            config.set_option(name, what)
        sys.exit(servers.run(given, welcome()))
    st.App(SCRIPT, **options()).run(config=address)
