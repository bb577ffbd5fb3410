import hashlib
import os
import random
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from attention_plugins import download
from attention_plugins.download import DownloadError, fetch

CONTENT = random.Random(7).randbytes(300_007)
SHA1 = hashlib.sha1(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves ``server.content``; ``server.cuts`` says after how many bytes to hang up."""

    def do_GET(self):
        server, content = self.server, self.server.content
        server.asked.append(self.path)
        if server.status != 200:
            self.send_error(server.status)
            return
        self.send_response(200)
        if server.tells_length:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        cut = server.cuts.pop(0) if server.cuts else len(content)
        self.wfile.write(content[:cut])
        if server.silent:
            server.silent.wait(30)

    def log_message(self, *_):
        """Tests print nothing."""


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.content, server.status, server.tells_length = CONTENT, 200, True
        server.cuts, server.asked, server.silent = [], [], None
        server.url = f"http://127.0.0.1:{server.server_port}/file.zip"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def target(tmp_path):
    return tmp_path / "new" / "folder" / "file.zip"


def left(target):
    """What lies in the folder, but for the lock."""
    return sorted(set(os.listdir(target.parent)) - {"file.zip.lock"})


def test_a_file_arrives_whole_and_is_not_fetched_twice(server, target, capfd):
    assert fetch(server.url, target, sha1=SHA1) == target
    assert target.read_bytes() == CONTENT
    assert left(target) == ["file.zip"]
    fetch(server.url, target, sha1=SHA1)
    assert server.asked == ["/file.zip"]
    assert capfd.readouterr() == ("", "")


def test_others_may_read_it_as_any_file(server, target):
    fetch(server.url, target, sha1=SHA1)
    (target.parent / "plain").touch()
    assert target.stat().st_mode == (target.parent / "plain").stat().st_mode


def test_what_is_there_needs_no_library(target, monkeypatch):
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT)
    for name in ("pooch", "filelock"):
        monkeypatch.setitem(sys.modules, name, None)
    assert fetch("http://127.0.0.1:9/", target, sha1=SHA1) == target
    assert os.listdir(target.parent) == ["file.zip"]


def test_progress_counts_to_the_whole_size(server, target):
    seen = []
    fetch(server.url, target, sha1=SHA1, progress=lambda done, total: seen.append((done, total)))
    done = [d for d, _ in seen]
    assert {total for _, total in seen} == {len(CONTENT)}
    assert done == sorted(set(done))
    assert len(done) > 3
    assert done[-1] == len(CONTENT)


def test_a_cut_connection_is_one_sentence_and_leaves_nothing(server, target):
    server.cuts = [100_003]
    with pytest.raises(DownloadError) as refusal:
        fetch(server.url, target, sha1=SHA1)
    assert str(refusal.value) == (
        f"cannot get {server.url}: IncompleteRead(100003 bytes read, 200004 more expected); "
        "nothing was kept, try again"
    )
    assert left(target) == []
    fetch(server.url, target, sha1=SHA1)
    assert target.read_bytes() == CONTENT


def test_without_a_length_it_reads_to_the_end(server, target):
    server.tells_length = False
    seen = []
    fetch(server.url, target, sha1=SHA1, progress=lambda done, total: seen.append((done, total)))
    assert target.read_bytes() == CONTENT
    assert {total for _, total in seen} == {None}
    assert seen[-1][0] == len(CONTENT)


def test_without_a_length_a_cut_shows_in_the_hash(server, target):
    server.tells_length, server.cuts = False, [100_003]
    with pytest.raises(DownloadError, match=f"expected sha1:{SHA1} but got "):
        fetch(server.url, target, sha1=SHA1)
    assert left(target) == []


def test_another_content_is_refused_and_kept_nowhere(server, target):
    server.content = b"<html>Please log in to this network</html>"
    found = hashlib.sha1(server.content).hexdigest()
    with pytest.raises(DownloadError) as refusal:
        fetch(server.url, target, sha1=SHA1)
    assert str(refusal.value) == (
        f"{server.url}: SHA1 hash of downloaded file (file.zip) does not match the known hash: "
        f"expected sha1:{SHA1} but got {found}; "
        "nothing was kept, try again"
    )
    assert left(target) == []
    assert len(server.asked) == 1


def test_a_file_of_another_content_is_never_overwritten(server, target):
    target.parent.mkdir(parents=True)
    target.write_bytes(b"mine")
    with pytest.raises(DownloadError, match=r"file\.zip has SHA-1 .*; move it away"):
        fetch(server.url, target, sha1=SHA1)
    assert target.read_bytes() == b"mine"
    assert server.asked == []


@pytest.mark.parametrize("status", [403, 404, 416, 500])
def test_an_error_of_the_server_is_named_and_not_repeated(server, target, status):
    server.status = status
    with pytest.raises(DownloadError, match=rf"{server.url} answered {status} \w+"):
        fetch(server.url, target, sha1=SHA1)
    assert len(server.asked) == 1
    assert left(target) == []


def test_no_server_is_one_sentence(target):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/file.zip"
        with pytest.raises(DownloadError) as refusal:
            fetch(url, target, sha1=SHA1)
    expected = f"cannot get {url}: Connection refused; nothing was kept, try again"
    assert str(refusal.value) == expected


def test_no_address_is_one_sentence(target):
    with pytest.raises(
        DownloadError, match=r"^cannot get file\.zip: Invalid URL 'file\.zip': .*$"
    ):
        fetch("file.zip", target, sha1=SHA1)


def test_a_silent_server_counts_as_cut(server, target):
    server.cuts, server.silent = [1009], threading.Event()
    began = time.monotonic()
    with pytest.raises(DownloadError, match=f"cannot get {server.url}: timed out; .* try again"):
        fetch(server.url, target, sha1=SHA1, timeout=0.2)
    assert time.monotonic() - began < 15
    server.silent.set()


def test_an_endless_file_is_stopped(server, target, monkeypatch):
    monkeypatch.setattr(download, "MOST_BYTES", 100_003)
    with pytest.raises(DownloadError, match="has over 100,003 bytes"):
        fetch(server.url, target, sha1=SHA1)
    assert left(target) == []


def test_a_folder_that_cannot_be_made_is_one_sentence(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match=rf"cannot get {server.url}: (Not a dir|File exists)"):
        fetch(server.url, tmp_path / "file" / "file.zip", sha1=SHA1)


def test_whoever_watches_may_stop_it(server, target):
    class Stopped(Exception):
        pass

    def stop(done, total):
        raise Stopped

    with pytest.raises(Stopped):
        fetch(server.url, target, sha1=SHA1, progress=stop)
    assert left(target) == []
    fetch(server.url, target, sha1=SHA1)
    assert target.read_bytes() == CONTENT


def test_several_may_fetch_one_file_at_a_time(server, target):
    errors = []

    def work():
        try:
            fetch(server.url, target, sha1=SHA1, progress=lambda done, total: time.sleep(0.01))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert target.read_bytes() == CONTENT
    assert left(target) == ["file.zip"]
    assert len(server.asked) == 1  # one of them downloaded while the others waited
