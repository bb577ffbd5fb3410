"""English–French sentence pairs of Tatoeba, in the selection and format of d2l.ai."""

import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from attention_plugins.beside import row
from attention_plugins.contract import ContractError, DatasetSpec, Parameter, Scalar, SentencePair
from attention_plugins.datasets.parallel import EVERYDAY, MOST_LINES, read_pairs
from attention_plugins.download import DownloadError, Progress, fetch
from attention_plugins.home import home
from attention_plugins.marking import gettext_noop

ADDRESS = "http://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip"
SHA1 = "94646ad1522d915e7b0f9296181140edcf86a4f5"
MEMBER = "fra-eng/fra.txt"
VARIABLE = "ATTENTION_TATOEBA"

MOST_UNPACKED = 200_000_000

_NEED = gettext_noop(f"need a zip or a folder with {MEMBER} in it")
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x41

PAIRS = Parameter(
    name="pairs", title="Sentence pairs", default=0, low=0, high=MOST_LINES,
    help="How many pairs from the start of the file, the shortest sentences first; 0 is all.",
)  # fmt: skip


def load_pairs(
    path: Path | None = None, *, limit: int | None = None, progress: Progress | None = None,
) -> list[SentencePair]:  # fmt: skip
    """The pairs, from the first place that is given or holds them.

    1. ``path``, then ``$ATTENTION_TATOEBA``: a zip with ``fra-eng/fra.txt`` in it, or a folder
       with ``fra-eng/fra.txt`` or ``fra.txt``; whatever selection of Tatoeba it holds.
    2. ``corpora/fra-eng.zip`` in :func:`~attention_plugins.home.home`, which must be d2l.ai's by
       its SHA-1; it is downloaded there if missing.

    The first ``limit`` pairs, or all; for ``progress`` see
    :func:`~attention_plugins.download.fetch`. ContractError: nothing at the place given, no such
    zip, a bad line, or no download.
    """
    given = path or os.environ.get(VARIABLE)
    folder = Path(given).expanduser() if given else _downloaded(progress)
    if not folder.is_dir():
        return _from_zip(folder, limit)
    for inner in (MEMBER, Path(MEMBER).name):
        if (folder / inner).is_file():
            return read_pairs(folder / inner, limit=limit)
    raise ContractError(f"found no {Path(MEMBER).name} in {folder}; {_NEED}")


def is_here() -> bool:
    """Whether :func:`load_pairs` has a place to read from without a download."""
    return bool(os.environ.get(VARIABLE)) or _target().is_file()


def _target() -> Path:
    return home() / "corpora" / "fra-eng.zip"


def _downloaded(progress: Progress | None) -> Path:
    target = _target()
    try:
        return fetch(ADDRESS, target, sha1=SHA1, progress=progress)
    except DownloadError as error:
        raise ContractError(
            f"no Tatoeba corpus: {error}; or put d2l.ai's fra-eng.zip at {target}, "
            f"or set {VARIABLE} to a zip or folder of your own"
        ) from error


def _from_zip(path: Path, limit: int | None) -> list[SentencePair]:
    """Read in memory, never unpacked, so that no name in the zip can point anywhere."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(_member(archive, path)) as stream:
            return read_pairs(stream, limit=limit)
    except ContractError:
        raise
    # zipfile meets damage with any of these; a name that is no UTF-8 is a ValueError.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise ContractError(f"{path} is no sound zip file ({error}); {_NEED}") from error
    except OSError as error:
        raise ContractError(f"cannot read {path}: {error.strerror or error}; {_NEED}") from error


def _member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    try:
        member = archive.getinfo(MEMBER)
    except KeyError:
        raise ContractError(f"found no {MEMBER} in {path}; {_NEED}") from None
    if member.file_size > MOST_UNPACKED:
        raise ContractError(
            f"{MEMBER} in {path} unpacks to {member.file_size:,} bytes; "
            f"need at most {MOST_UNPACKED:,}"
        )
    if member.flag_bits & _ENCRYPTED or member.compress_type not in _PLAIN:
        raise ContractError(
            f"{MEMBER} in {path} is encrypted or not packed by deflate; need a plain zip"
        )
    return member


def _load(parameters: Mapping[str, Scalar], seed: int) -> list[SentencePair]:
    count = int(parameters[PAIRS.name])
    if count == 1:
        raise ContractError(f"need 0 (all) or 2 <= {PAIRS.name}, got 1 (field {PAIRS.title!r})")
    return load_pairs(limit=count or None)


TATOEBA = DatasetSpec(
    load=_load, parameters=(PAIRS,), examples=EVERYDAY, **row(__file__, "tatoeba"),
)  # fmt: skip
