import errno
import os

import pytest

from dashboard.storage.files import StorageError
from dashboard.storage.training_history import forget_stop, request_stop, requested_stop


@pytest.mark.parametrize("reason", ["pause", "cancel", "remove"])
def test_a_request_is_read_until_it_is_forgotten(tmp_path, reason):
    assert requested_stop(tmp_path) is None
    request_stop(tmp_path, "cancel")
    request_stop(tmp_path, reason)
    assert requested_stop(tmp_path) == reason
    forget_stop(tmp_path)
    assert requested_stop(tmp_path) is None
    forget_stop(tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"shutdown", b"\xff\xfe", b"pause" * 100])
def test_what_is_no_request_is_none(tmp_path, content):
    (tmp_path / "stop").write_bytes(content)
    assert requested_stop(tmp_path) is None


def test_a_pipe_is_no_request_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "stop")
    assert requested_stop(tmp_path) is None


def test_a_full_disk_is_said_and_the_last_request_stays(tmp_path, monkeypatch):
    request_stop(tmp_path, "pause")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left on device; free some space there"):
        request_stop(tmp_path, "cancel")
    assert requested_stop(tmp_path) == "pause"
    assert os.listdir(tmp_path) == ["stop"]


def test_a_training_that_is_gone_cannot_be_stopped(tmp_path):
    with pytest.raises(StorageError, match="cannot write"):
        request_stop(tmp_path / "gone", "pause")
