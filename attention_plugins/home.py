"""Where checkpoints lie: the shipped ones, and what this user downloads, trains and keeps.

The page process reads its data folder by this module, too, so it imports nothing else of ours.
"""

import os
import stat
from pathlib import Path

_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its writer


def read_bounded(path: Path, most: int) -> bytes:
    """Return the content of a regular file; links to one are followed.

    Args:
        most: bytes that it may have.

    Raises:
        FileNotFoundError: there is none.
        OSError: it is a pipe, a device or a folder, is larger, or cannot be read.
    """
    with open(path, "rb", opener=lambda at, flags: os.open(at, flags | _WITHOUT_WAITING)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is a pipe or a device; need a regular file")
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(f"{path.name} is larger than {most:,} bytes")
    return data


def write_whole(path: Path, payload: bytes) -> None:
    """Write a whole file, or leave what is there."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with scratch.open("wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


VARIABLE = "ATTENTION_WORKBENCH_HOME"
_PACKAGED = Path(__file__).parent / "trained"  # in a wheel
SHIPPED = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parents[1] / "trained"


def home() -> Path:
    """``$ATTENTION_WORKBENCH_HOME``, or ``attention-workbench`` in the user's data folder.

    On Linux the data folder is ``$XDG_DATA_HOME`` where that is an absolute path, else
    ``~/.local/share``; on other systems it is where they keep such data.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    from platformdirs import user_data_path

    return user_data_path("attention-workbench", appauthor=False)


def is_shipped(folder: Path) -> bool:
    """Whether a checkpoint's folder came with the workbench."""
    return folder.resolve().is_relative_to(SHIPPED.resolve())
