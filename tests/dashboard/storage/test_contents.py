from __future__ import annotations

import hashlib
import os
import secrets
import sys
import threading
import time
from datetime import UTC, datetime

import pytest

from dashboard.storage.blobs import Contents, _written
from dashboard.storage.files import StorageError


@pytest.fixture(params=["a folder", "memory", "file:"])
def contents(request, tmp_path):
    if request.param == "memory":
        return Contents(f"memory://contents-{secrets.token_hex(4)}/runs")
    folder = tmp_path / "not" / "there yet"
    return Contents(str(folder) if request.param == "a folder" else folder.as_uri())


def names(contents):
    return {name for name, _ in contents.names()}


def test_what_is_stored_is_read_again_by_its_sha256(contents):
    data = b"x,y\n1,2\n\x00\xff"
    assert names(contents) == set()
    digest = contents.put(data)
    assert digest == hashlib.sha256(data).hexdigest()
    assert contents.read(digest) == data
    assert contents.has(digest)
    assert names(contents) == {digest}
    ((_, when),) = contents.names()
    assert abs(when - time.time()) < 60


def test_a_folder_among_them_is_no_file(contents):
    digest = contents.put(b"data")
    contents._files.makedirs("runs/below")
    assert names(contents) == {digest}


def test_equal_bytes_are_stored_once_and_not_written_again(contents, monkeypatch):
    digest = contents.put(b"same")
    monkeypatch.setattr("dashboard.storage.blobs.files.replace", None)
    monkeypatch.setattr(type(contents._files), "pipe_file", None)
    assert contents.put(b"same") == digest
    assert names(contents) == {digest}


@pytest.mark.parametrize("damage", [b"", b"half", b"sane"])
def test_a_damaged_file_is_refused_and_written_anew(contents, damage):
    digest = contents.put(b"same")
    contents._files.pipe_file(digest, damage)
    with pytest.raises(StorageError, match="changed in its store"):
        contents.read(digest)
    assert contents.put(b"same") == digest
    assert contents.read(digest) == b"same"


def test_a_file_that_is_removed_is_gone(contents):
    digest = contents.put(b"same")
    for _ in range(2):
        contents.remove(digest)
    assert not contents.has(digest)
    assert names(contents) == set()
    with pytest.raises(StorageError, match="missing"):
        contents.read(digest)


def test_no_name_leads_out_of_a_folder(tmp_path):
    (tmp_path / "secret").write_text("secret")
    contents = Contents(str(tmp_path / "a" / "b"))
    for name in ("../../secret", "../" * 20 + "etc/passwd"):
        for action in (contents.read, contents.remove, contents.has):
            with pytest.raises(StorageError, match=r"escapes|need the 64 hexadecimal digits"):
                action(name)
    assert (tmp_path / "secret").read_text() == "secret"


@pytest.mark.parametrize("location", ["nowhere9://bucket", "s3://bucket/runs"])
def test_a_store_that_cannot_be_reached_from_here_is_said(location, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(StorageError, match="ATTENTION_BLOBS: need a folder, or the URL"):
        Contents(location)


@pytest.mark.parametrize("action", ["put", "read", "names", "has"])
def test_an_error_of_the_store_is_one_sentence(contents, monkeypatch, action):
    digest = contents.put(b"data")

    def fail(*_, **__):
        raise RuntimeError("the bucket\nis gone")

    for name in ("info", "cat_file", "ls", "exists"):
        monkeypatch.setattr(type(contents._files), name, fail)
    for name in ("read_bounded", "replace"):
        monkeypatch.setattr(f"dashboard.storage.blobs.files.{name}", fail)
    act = {
        "put": lambda: contents.put(b"other"), "read": lambda: contents.read(digest),
        "names": lambda: list(contents.names()), "has": lambda: contents.has(digest),
    }[action]  # fmt: skip
    with pytest.raises(StorageError, match=r"^cannot \w+ the files of runs: the bucket is gone$"):
        act()


def test_a_folder_that_cannot_be_written_is_said_without_its_path(tmp_path, caplog):
    (tmp_path / "file").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match=r"^cannot write the data folder: .*ATTENTION") as said:
        Contents(str(tmp_path / "file")).put(b"data")
    assert str(tmp_path) not in str(said.value)
    assert str(tmp_path / "file") in caplog.text  # for whoever runs the server


def test_writers_at_once_never_show_half_a_file(tmp_path):
    data = os.urandom(1_000_003)
    digest = hashlib.sha256(data).hexdigest()
    writers = [
        threading.Thread(target=lambda: Contents(str(tmp_path)).put(data)) for _ in range(5)
    ]
    for writer in writers:
        writer.start()
    path = tmp_path / digest
    while any(writer.is_alive() for writer in writers):
        assert not path.exists() or path.stat().st_size == len(data)
    assert path.read_bytes() == data
    assert names(Contents(str(tmp_path))) == {digest}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.timeout(30)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path):
    contents = Contents(str(tmp_path))
    digest = contents.put(b"data")
    (tmp_path / digest).unlink()
    os.mkfifo(tmp_path / digest)
    with pytest.raises(StorageError, match="is a pipe or a device"):
        contents.read(digest)
    contents.put(b"data")
    assert contents.read(digest) == b"data"


@pytest.mark.skipif(os.name != "posix", reason="POSIX modes")
def test_files_are_private(tmp_path):
    contents = Contents(str(tmp_path / "folder"))
    path = tmp_path / "folder" / contents.put(b"private")
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "info",
    [
        {"mtime": 1e9}, {"LastModified": datetime.fromtimestamp(1e9, UTC)},
        {"updated": "2001-09-09T01:46:40Z"},
        {"created": datetime.fromtimestamp(1e9, UTC).replace(tzinfo=None)},
    ],
)  # fmt: skip
def test_the_age_of_a_file_is_read_as_its_store_says_it(info):
    assert _written(info) == 1e9


def test_a_file_whose_age_is_not_said_is_new():
    assert _written({"name": "x"}) == pytest.approx(time.time(), abs=60)
