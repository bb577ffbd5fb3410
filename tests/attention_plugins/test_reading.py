"""What others laid down is read only where it is a file, and only so far."""

import pytest
from support.hostile import KINDS, UNIX, at_once, lay

from attention_plugins.home import read_bounded


def test_a_file_is_read_whole_up_to_the_limit(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"seven b")
    assert read_bounded(path, 7) == b"seven b"
    with pytest.raises(OSError, match="larger than 6 bytes"):
        read_bounded(path, 6)


@UNIX
def test_a_link_to_a_file_is_followed(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert read_bounded(tmp_path / "link", 1) == b"x"


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="gone"):
        read_bounded(tmp_path / "gone", 1)
    with pytest.raises(OSError, match=str(tmp_path).replace("\\", ".")):
        read_bounded(tmp_path, 1)


@UNIX
@pytest.mark.parametrize("kind", KINDS)
def test_a_pipe_a_device_or_a_giant_is_refused_at_once(tmp_path, kind):
    lay(tmp_path / "it", kind)
    said = "larger than 1,000 bytes" if kind == "gigabytes" else "need a regular file"
    with pytest.raises(OSError, match=said):
        at_once(read_bounded, tmp_path / "it", 1000)
