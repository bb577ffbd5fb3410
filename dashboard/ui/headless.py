"""Draws a page without a browser, as its visitor would see it, for a file of it.

The script that draws pages runs as a session of its own, which nobody looks at. What it needs is
taken from the pool's memory, or computed as for any visitor.
"""

import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from streamlit import runtime
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1.local_script_runner import LocalScriptRunner
from streamlit.util import calc_hash

from dashboard.ui import navigation
from dashboard.ui.speaking import PARAMETER

SEEN = "page as it is seen"  # the key in a session; nothing while the page is not complete
_SCRIPT = Path(__file__).parents[1] / "app.py"
_AGAIN = 0.2  # seconds between two looks at a page that is not complete


def begin() -> None:
    """Have Streamlit's part that pages need, in a process that serves nobody."""
    if not runtime.exists():
        Runtime(
            RuntimeConfig(
                script_path=str(_SCRIPT),
                media_file_storage=MemoryMediaFileStorage("/media"),
                uploaded_file_manager=MemoryUploadedFileManager("/upload"),
            )
        )  # fmt: skip


def drawn(link: str, language: str, patience: float) -> Any:
    """The page of a link, such as ``/regression?a=dot``, as its menu knows it once it is complete.

    None where it is not complete within ``patience`` seconds, or has nothing for a file.
    """
    path, query = urlsplit(link).path.strip("/"), parse_qs(urlsplit(link).query)
    page = path or navigation.installed()[0].path
    state, end = SafeSessionState(SessionState(), lambda: None), time.monotonic() + patience
    while (left := end - time.monotonic()) > 0:
        pages = PagesManager(str(_SCRIPT), ScriptCache(), setup_watcher=False)
        runner = LocalScriptRunner(str(_SCRIPT), state, pages)
        runner.run(
            query_params={**query, PARAMETER: language}, page_hash=calc_hash(page),
            timeout=max(left, 30),
        )  # fmt: skip
        if SEEN in state and state[SEEN] is not None:
            return state[SEEN]
        time.sleep(_AGAIN)
    return None
