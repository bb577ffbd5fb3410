"""A page as what its HTML file shows: noted, kept as a run, or drawn without a browser."""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from streamlit import runtime
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1.local_script_runner import LocalScriptRunner
from streamlit.util import calc_hash

from dashboard.charts.image import data_address
from dashboard.charts.one_file import Edition
from dashboard.storage.page_run import PageRun
from dashboard.storage.seen import whole
from dashboard.ui import navigation
from dashboard.ui.shown import Record
from dashboard.ui.speaking import PARAMETER


def edition(page: PageRun, link: str, *, foreign: bool = False) -> Edition:
    """The page for an HTML file; of a ``foreign`` one pictures and plain texts alone."""
    blocks = page.seen.model_dump(mode="json")["blocks"]
    shown = Edition(title=page.name, note=page.note, link=link, seen=blocks, tables=page.tables)
    if not foreign:
        return replace(shown, charts=page.charts)
    pictures = {name.removesuffix(".png"): data_address(held)
                for name, held in page.pictures.items() if name.endswith(".png")}  # fmt: skip
    return replace(shown, seen=[*map(_as_text, blocks)], pictures=pictures)


def followed(record: Record) -> dict[str, Any]:
    """What an :class:`Edition` has of sliders, whose frames are computed now.

    A slider whose frames cannot be made is shown as a setting.
    """
    follows: dict[int, Mapping[str, str | int]] = {}
    sliders: list[Mapping[str, Any]] = []
    for number, block in enumerate(whole(record.seen.blocks)):
        kind, name = record.moved.get(id(block), ("", ""))
        if kind == "words":
            follows[number] = {"words": name}
        elif found := record.sliders.get(name):
            with suppress(ValueError):
                sliders.append({**found._asdict(), "frames": found.frames()})
                follows[number] = {"slider": len(sliders) - 1}
    return {"follows": follows, "sliders": sliders}


def _as_text(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stranger's block, whose Markdown and formulas are not read."""
    if "blocks" in block:
        return {**block, "blocks": [*map(_as_text, block["blocks"])]}
    if block["kind"] == "metric":
        return {**block, "kind": "setting"}
    return {**block, "kind": "text"} if "text" in block else block


SEEN = "page as it is seen"  # the key in a session; nothing while the page is not complete
_SCRIPT = Path(__file__).parents[1] / "app.py"
_AGAIN = 0.2  # seconds between two looks at a page that is not complete


def begin() -> None:
    """Have Streamlit's part that pages need, in a process that serves nobody."""
    if not runtime.exists():
        runtime.Runtime(runtime.RuntimeConfig(
            script_path=str(_SCRIPT), media_file_storage=MemoryMediaFileStorage("/media"),
            uploaded_file_manager=MemoryUploadedFileManager("/upload"),
        ))  # fmt: skip


def drawn(link: str, language: str, patience: float) -> Any:
    """The page of a link, such as ``/regression?a=dot``, as its menu knows it once it is complete.

    The script that draws pages runs as a session of its own, which nobody looks at. What it needs
    is taken from the pool's memory, or computed as for any visitor.

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
