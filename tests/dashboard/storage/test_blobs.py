import errno
import hashlib
import os
import threading
import time

import pytest
from support.disks import NEEDS_PROC, Disk
from support.hostile import UNIX, at_once, lay

from dashboard.storage.blobs import Blobs
from dashboard.storage.files import StorageError, home
from dashboard.storage.uploads import Room, Upload, Uploads

ROOM = Room(owner=1, address=1, total=9)


@pytest.fixture
def blobs(tmp_path):
    return Blobs(tmp_path, largest=101, total=211)


def names(root):
    return sorted(path.name for path in (root / "blobs").iterdir())


def test_put_gives_the_sha256_and_path_leads_to_the_same_bytes(blobs):
    data = b"x,y\n1,2\n\x00\xff"
    digest = blobs.put(data)
    assert digest == hashlib.sha256(data).hexdigest()
    assert blobs.path(digest).read_bytes() == data


def test_equal_bytes_are_kept_once(blobs, tmp_path):
    assert blobs.put(b"same") == blobs.put(b"same")
    assert len(names(tmp_path)) == 1


@pytest.mark.parametrize("damage", [b"", b"half", b"sane"])
def test_a_damaged_file_is_written_anew(blobs, tmp_path, damage):
    digest = blobs.put(b"same")
    (tmp_path / "blobs" / digest).write_bytes(damage)
    assert blobs.put(b"same") == digest
    assert blobs.path(digest).read_bytes() == b"same"
    assert len(names(tmp_path)) == 1


def test_a_file_that_is_removed_is_gone(blobs, tmp_path):
    digest = blobs.put(b"same")
    for name in (digest, digest, "../x", ""):
        blobs.remove(name)
    assert names(tmp_path) == []


def test_another_store_with_the_same_root_sees_the_file(blobs, tmp_path):
    digest = blobs.put(b"shared")
    assert Blobs(tmp_path).path(digest).read_bytes() == b"shared"


def test_a_file_over_the_cap_is_refused_and_leaves_nothing(blobs, tmp_path):
    blobs.put(b"a" * 101)
    with pytest.raises(ValueError, match=r"need a file of at most .* MB, got"):
        blobs.put(b"b" * 102)
    assert len(names(tmp_path)) == 1


@pytest.mark.parametrize(
    "digest", ["", "abc", "../" * 21 + "a", "A" * 64, "a" * 63 + "/", "a" * 64 + "\n", "a" * 65]
)
def test_what_is_no_digest_never_becomes_a_path(blobs, digest):
    with pytest.raises(ValueError, match="need the 64 hexadecimal digits"):
        blobs.path(digest)


def test_a_missing_file_says_what_to_do(blobs):
    with pytest.raises(ValueError, match=r"^the uploaded file aaaaaaaaaaaa… .* upload it again$"):
        blobs.path("a" * 64)


def put_long_ago(blobs, root, data, owner="", seconds=7200):
    """A file that was last used so long ago, among the uploads of an owner if one is named."""
    digest = blobs.put(data)
    past = time.time() - seconds
    os.utime(root / "blobs" / digest, (past, past))
    if owner:
        Uploads(owner, root).add(
            Upload(digest, "a.csv", "table", len(data)), Room(owner=1, address=1, total=9)
        )
    return digest


def test_one_visitors_files_never_give_way_to_anothers(blobs, tmp_path):
    ada = put_long_ago(blobs, tmp_path, b"a" * 97, "ada")
    blobs.put(b"e" * 97)
    Uploads("eve", tmp_path).add(
        Upload("e" * 64, "e.csv", "table", 97), Room(owner=1, address=1, total=9)
    )
    with pytest.raises(ValueError, match=r"^no room: all visitors' files .* remove one of yours"):
        blobs.put(b"f" * 97)
    assert len(names(tmp_path)) == 2
    assert blobs.path(ada).read_bytes() == b"a" * 97
    Uploads("ada", tmp_path).remove(ada)
    blobs.remove(ada)
    blobs.put(b"f" * 97)


def test_what_nobody_has_any_more_makes_room_the_longest_unused_first(blobs, tmp_path):
    first = put_long_ago(blobs, tmp_path, b"a" * 97, seconds=9000)
    second = put_long_ago(blobs, tmp_path, b"b" * 97)
    blobs.path(first)  # used: it may be what somebody looks at just now
    third = blobs.put(b"c" * 97)
    assert names(tmp_path) == sorted([first, third])
    with pytest.raises(ValueError, match="upload it again"):
        blobs.path(second)
    with pytest.raises(ValueError, match="no room"):
        blobs.put(b"d" * 97)


def test_no_more_goes_than_is_in_the_way(blobs, tmp_path):
    first = put_long_ago(blobs, tmp_path, b"a" * 97, seconds=9000)
    second = put_long_ago(blobs, tmp_path, b"b" * 97)
    third = blobs.put(b"c" * 97)
    assert names(tmp_path) == sorted([second, third])
    assert blobs.put(b"a" * 97) == first
    assert names(tmp_path) == sorted([first, third])


def test_a_file_that_is_uploaded_again_is_as_if_new(blobs, tmp_path):
    first = put_long_ago(blobs, tmp_path, b"a" * 97)
    second = put_long_ago(blobs, tmp_path, b"b" * 97)
    before = blobs.newest()
    blobs.put(b"a" * 97)
    assert blobs.newest() > before + 7000
    blobs.put(b"c" * 97)
    assert first in names(tmp_path)
    assert second not in names(tmp_path)


def test_an_abandoned_unfinished_file_is_removed_a_fresh_one_stays(blobs, tmp_path):
    blobs.put(b"first")
    old, fresh = tmp_path / "blobs" / ".old", tmp_path / "blobs" / ".fresh"
    for path in (old, fresh):
        path.write_bytes(b"half")
    past = time.time() - 7200
    os.utime(old, (past, past))
    blobs.put(b"second")
    assert not old.exists()
    assert fresh.exists()


def test_a_write_that_fails_leaves_nothing(blobs, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageError, match=r"no space left on device; free some space there"):
        blobs.put(b"data")
    assert names(tmp_path) == []


@NEEDS_PROC
def test_power_may_be_lost_at_any_moment(tmp_path, monkeypatch):
    (root := tmp_path / "home").mkdir()
    disk, data, said = Disk(root, monkeypatch), [b"a" * 97, b"b" * 89], {}
    for number, content in enumerate(data):
        digest = hashlib.sha256(content).hexdigest()
        Uploads("ada", root).add(
            Upload(digest, f"{number}.csv", "table", len(content)),
            Room(owner=1, address=1, total=9),
        )
        assert Blobs(root).put(content) == digest
        said[disk.cut()] = number + 1
    monkeypatch.undo()
    for step in disk.steps:
        kept = list((step / "blobs").glob("[0-9a-f]*"))
        assert all(path.read_bytes() in data for path in kept)
        if step in said:
            assert len(kept) == len(Uploads("ada", step).list()) == said[step]
            again = [Blobs(step).put(content) for content in data]
            assert [Blobs(step).path(digest).read_bytes() for digest in again] == data


def test_writers_at_once_never_show_half_a_file(tmp_path):
    data = os.urandom(1_000_003)
    digest = hashlib.sha256(data).hexdigest()
    writers = [threading.Thread(target=lambda: Blobs(tmp_path).put(data)) for _ in range(5)]
    for writer in writers:
        writer.start()
    path = tmp_path / "blobs" / digest
    while any(writer.is_alive() for writer in writers):
        assert not path.exists() or path.stat().st_size == len(data)
    assert path.read_bytes() == data


@pytest.mark.skipif(os.name != "posix", reason="POSIX modes")
def test_uploads_are_private(blobs):
    path = blobs.path(blobs.put(b"private"))
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_the_root_comes_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "kept"))
    assert home() == tmp_path / "kept"
    digest = Blobs().put(b"data")
    assert (tmp_path / "kept" / "blobs" / digest).exists()
    monkeypatch.delenv("ATTENTION_WORKBENCH_HOME")
    assert home().name == "attention-workbench"


@UNIX
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_not_stored(blobs, tmp_path, kind):
    digest = blobs.put(b"same")
    lay(tmp_path / "blobs" / digest, kind)
    with pytest.raises(ValueError, match="is not kept here"):
        at_once(blobs.path, digest)


def test_what_nobody_used_for_long_expires_but_what_is_needed_stays(tmp_path):
    blobs, room = Blobs(tmp_path), Room(owner=9, address=9, total=9)
    old, needed, used = digests = [blobs.put(text) for text in (b"old", b"needed", b"used")]
    for owner in ("ada", ""):
        for digest in digests:
            Uploads(owner, tmp_path).add(Upload(digest, "a.csv", "table", 3), room)
    for digest in digests:
        os.utime(tmp_path / "blobs" / digest, (1000.0, 1000.0))
    blobs.path(used)
    assert blobs.expire(2000.0, lambda: {needed}) == 1
    with pytest.raises(ValueError, match="expired because nobody used it"):
        blobs.path(old)
    for owner in ("ada", ""):
        assert {one.digest for one in Uploads(owner, tmp_path).list()} == {needed, used}
    assert blobs.path(needed).read_bytes() == b"needed"
    assert Blobs(tmp_path / "none").expire(2000.0, set) == 0
    assert Blobs(tmp_path / "none").newest() is None


def test_nothing_expires_while_it_is_not_known_what_is_needed(tmp_path):
    blobs = Blobs(tmp_path)
    os.utime(tmp_path / "blobs" / blobs.put(b"old"), (1000.0, 1000.0))

    def unknown():
        raise StorageError("no database")

    with pytest.raises(StorageError):
        blobs.expire(2000.0, unknown)
    assert blobs.newest() == 1000.0
