"""The user's own file: uploaded once, named by its sha256, remembered by the session."""

import functools
import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import DeletedFile

from dashboard.asked_uploads import uploaders
from dashboard.language import gettext, gettext_noop, translated
from dashboard.links import fits
from dashboard.owners import owner_of
from dashboard.records.beside import beside
from dashboard.records.request import UPLOAD, Request, is_upload
from dashboard.records.text import one_line, without_folders
from dashboard.settings import settings, variable
from dashboard.storage.blobs import Blobs
from dashboard.storage.files import checkpoints_root, home, trainings_root
from dashboard.storage.sweep_clock import SweepClock
from dashboard.storage.table_format import find_format
from dashboard.storage.uploads import Room, Upload, Uploads, name_of, uploads_named_in
from dashboard.ui import owner
from dashboard.ui.owner import run_store
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["upload"]
_FILES_COUNTED = 100
_MB = 2**20
_DAY = 86_400.0  # seconds
_SHOWN = 10  # of the uploads before
_LONGEST_NAME = 80  # characters of a file's


@dataclass(frozen=True)
class Wanted:
    """A kind of file that a page asks for, in English; ``check`` raises ValueError for another.

    ``types`` are the ends of its name; only a file of ``lines`` may have too many of them.
    """

    key: str
    file: str
    heading: str
    explanation: str
    example: str
    unnamed: str
    check: Callable[[bytes], object] = bool
    sample: str = ""
    title: str = gettext_noop("Your data")
    types: Sequence[str] = ("csv", "tsv", "txt")
    lines: bool = True


def _weights(content: bytes) -> None:
    """Refuse what is clearly another file; a worker reads the rest."""
    if not (content.startswith((b"PK", b"\x93NUMPY")) or content[8:9] == b"{"):
        raise ValueError(
            gettext_noop("need weights in a .safetensors, .npy or .npz file; pickles are not read")
        )


_WANTED = beside(__file__, "uploads.toml")
TABLE = Wanted(**_WANTED["table"], check=find_format)
ROWS = Wanted(**_WANTED["rows"], check=functools.partial(find_format, least=0))
SENTENCES, ALIGNED = Wanted(**_WANTED["sentences"]), Wanted(**_WANTED["aligned"])
WEIGHTS = Wanted(**_WANTED["weights"], check=_weights)


def known(data: str, wanted: Wanted = TABLE) -> list[str]:
    """The files this session may choose: those it uploaded, and the one of its link."""
    names = list(_names(wanted))
    return names if data in names or not is_upload(data) else [*names, data]


def rows(data: str) -> int:
    """How many lines an uploaded file has; 0 for a data set and where the file is not here."""
    try:
        return _rows(data) if is_upload(data) else 0
    except (ValueError, OSError):
        return 0


@functools.lru_cache(maxsize=_FILES_COUNTED)
def _rows(data: str) -> int:
    return _lines(Blobs().path(data.removeprefix(UPLOAD)).read_bytes())


def fit_work(request: Request) -> float:
    """What a request of a page that fits curves costs, see :mod:`dashboard.records.request`."""
    return fits.fit_work(request, rows(request.data)) if request.task == fits.TASK else 0.0


def title(data: str, wanted: Wanted = TABLE) -> str:
    """What a file is called: its own name, where it is kept on this server."""
    digest = data.removeprefix(UPLOAD)
    names = _names(wanted)
    if data not in names and (stored := name_of(digest, wanted.key)):
        names[data] = one_line(stored)[:_LONGEST_NAME]
    return names.get(data) or f"{gettext(wanted.unnamed)} {digest[:8]}…"


def any_title(data: str) -> str:
    """What a file of any kind is called: its own name, if this session uploaded it."""
    names = {
        name: words for wanted in (ALIGNED, SENTENCES, ROWS, TABLE, WEIGHTS)
        for name, words in _names(wanted).items()
    }  # fmt: skip
    return names.get(data) or gettext("the file {digest}…", digest=data.removeprefix(UPLOAD)[:8])


def button(use: Callable[[str], None], wanted: Wanted = TABLE) -> None:
    """Asks for a file; ``use`` gets ``upload:<sha256>`` of one that was just taken in."""
    if not owner.visitor().makes:
        return
    opened = st.popover(
        gettext(wanted.title), icon=":material/upload_file:", key=f"{wanted.key} popover",
        on_change="rerun",
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        st.markdown(f"**{gettext(wanted.heading)}**")
        st.caption(gettext(wanted.explanation))
        st.code(wanted.example, language=None)
        if wanted.sample:
            st.download_button(
                gettext("Download a sample file"),
                Path(__file__).with_name(wanted.sample).read_bytes(), file_name=wanted.sample,
                mime="text/csv", icon=":material/download:",
                type="tertiary", on_click="ignore", key=f"{wanted.key} sample",
            )  # fmt: skip
        uploader(
            gettext(wanted.file), key=wanted.key, types=wanted.types,
            megabytes=settings().upload_megabytes, take=functools.partial(_take, use, wanted),
        )  # fmt: skip
        if problem := st.session_state.get(f"{wanted.key} problem"):
            st.text(problem)
        st.caption(plain(gettext(_SAID["kept"])))
        _earlier(use, wanted)


def uploader(
    label: str, *, key: str, types: Sequence[str], megabytes: int, take: Callable[[], None]
) -> None:
    """Ask for a file. The server takes in none for which no page asks by this.

    Args:
        key: of the widget, under which the session has the file, or None once it is removed.
        types: the ends of names.
        take: called when there is another file, or none any more.
    """
    context = get_script_run_ctx()
    if context is not None:
        uploaders().show(context.session_id, owner_of(st.context.cookies.to_dict()))

    def changed() -> None:
        if not isinstance(st.session_state[key], DeletedFile):  # it was read, and then forgotten
            take()

    st.file_uploader(
        label, type=types, key=key, max_upload_size=megabytes, on_change=changed,
        label_visibility="collapsed",
    )  # fmt: skip


def _take(use: Callable[[str], None], wanted: Wanted) -> None:
    file = st.session_state[wanted.key]
    st.session_state.pop(f"{wanted.key} problem", None)
    if file is None:
        return
    try:
        content = file.getvalue()
        wanted.check(content)
        data = _stored(file.name, content, wanted)
    except (ValueError, OSError) as error:
        st.session_state[f"{wanted.key} problem"] = (
            f"{file.name}: {translated(without_folders(str(error)))}"
        )
        return
    _chosen(use, wanted, data, file.name)


def _stored(name: str, content: bytes, wanted: Wanted) -> str:
    """Take a file in, as one of the visitor's; ``upload:<sha256>``.

    ValueError: the visitor may not upload, a limit of this server, or it cannot be stored.
    """
    owner.visitor().see_that_it_makes(gettext_noop("Uploading"))
    most, found = settings().data_rows, _lines(content)
    if wanted.lines and found > most:
        raise ValueError(
            gettext(_SAID["lines"], most=most, setting=variable("data_rows"), found=found)
        )
    expire()
    digest, chosen = hashlib.sha256(content).hexdigest(), settings()
    new = Upload(digest, name, wanted.key, len(content), address=owner.visitor().address)
    uploads = Uploads(owner.owner())
    room = Room(
        owner=chosen.uploads_megabytes, address=chosen.uploads_address_megabytes,
        total=chosen.uploads_total_megabytes,
    )  # fmt: skip
    uploads.add(new, room)
    try:
        largest, total = chosen.upload_megabytes * _MB, chosen.uploads_total_megabytes * _MB
        return UPLOAD + Blobs(largest=largest, total=total).put(content)
    except ValueError:
        uploads.remove(digest)
        raise


def expire() -> None:
    """Remove uploads that nobody has used for long; what fails is left for the next time."""
    if days := settings().upload_days:
        with suppress(ValueError, OSError):
            roots = trainings_root(), checkpoints_root()
            Blobs().expire(
                _clock(home()).now() - days * _DAY,
                lambda: run_store().uploads().union(*map(uploads_named_in, roots)),
            )


@functools.cache
def _clock(root: Path) -> SweepClock:
    return SweepClock(root / "uploads.clock", Blobs(root).newest)


def _earlier(use: Callable[[str], None], wanted: Wanted) -> None:
    def again(one: Upload) -> None:
        _chosen(use, wanted, UPLOAD + one.digest, one.name)

    for one in Uploads(owner.owner()).list(wanted.key)[:_SHOWN]:
        key = f"{wanted.key} {one.digest[:8]}"
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
            st.text(one.name)
            st.button(gettext("Use"), type="tertiary", key=f"{key} use", on_click=again,
                      args=(one,))  # fmt: skip
            st.button(gettext("Remove"), type="tertiary", key=f"{key} remove", on_click=_remove,
                      args=(one,))  # fmt: skip


def _remove(one: Upload) -> None:
    with suppress(ValueError, OSError):
        if Uploads(owner.owner()).remove(one.digest):
            Blobs().remove(one.digest)


def _chosen(use: Callable[[str], None], wanted: Wanted, data: str, name: str) -> None:
    _names(wanted)[data] = name
    st.session_state[f"{wanted.key} popover"] = False  # so that what is made of it is seen
    use(data)


def _lines(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n"))


def _names(wanted: Wanted) -> dict[str, str]:
    return st.session_state.setdefault(f"{wanted.key} names", {})
