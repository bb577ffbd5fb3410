import hashlib
import os
import random
import socket
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
        asked = self.headers.get("Range")
        server.asked.append(asked)
        if server.status != 200:
            self.send_error(server.status)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if asked and server.ranges and start >= len(content):
            self.send_error(416)
            return
        if asked and server.ranges:
            self.send_response(206)
            last = f"{len(content) - 1}/{len(content)}"
            self.send_header("Content-Range", f"bytes {start + server.shift}-{last}")
        else:
            start = 0
            self.send_response(200)
        if server.tells_length:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        cut = server.cuts.pop(0) if server.cuts else len(content)
        self.wfile.write(content[start : start + cut])
        if server.silent:
            server.silent.wait(30)

    def log_message(self, *_):
        """Tests print nothing."""


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.content, server.status, server.ranges, server.shift = CONTENT, 200, True, 0
        server.tells_length, server.cuts, server.asked, server.silent = True, [], [], None
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


def test_a_file_arrives_whole_and_is_not_fetched_twice(server, target):
    assert fetch(server.url, target, sha1=SHA1) == target
    assert target.read_bytes() == CONTENT
    assert os.listdir(target.parent) == ["file.zip"]
    fetch(server.url, target, sha1=SHA1)
    assert server.asked == [None]


def test_progress_counts_to_the_whole_size(server, target):
    server.cuts = [100_003]
    seen = []
    fetch(server.url, target, sha1=SHA1, progress=lambda done, total: seen.append((done, total)))
    done = [d for d, _ in seen]
    assert {total for _, total in seen} == {len(CONTENT)}
    assert done == sorted(set(done))
    assert 100_003 in done
    assert done[-1] == len(CONTENT)


def test_a_cut_connection_goes_on_where_it_was_cut(server, target):
    server.cuts = [100_003, 50_021]
    fetch(server.url, target, sha1=SHA1)
    assert target.read_bytes() == CONTENT
    assert server.asked == [None, "bytes=100003-", "bytes=150024-"]


def test_after_too_many_cuts_the_next_call_goes_on(server, target):
    server.cuts = [11, 13, 17, 19]
    with pytest.raises(DownloadError, match=r"was cut 4 times, last at 60 bytes; try again"):
        fetch(server.url, target, sha1=SHA1)
    assert not target.exists()
    fetch(server.url, target, sha1=SHA1)
    assert server.asked[-1] == "bytes=60-"
    assert target.read_bytes() == CONTENT


def test_without_ranges_it_starts_again(server, target):
    server.ranges, server.cuts = False, [200_003, 100_003]
    fetch(server.url, target, sha1=SHA1)
    assert target.read_bytes() == CONTENT
    assert server.asked == [None, "bytes=200003-", "bytes=100003-"]


def test_without_a_length_it_reads_to_the_end(server, target):
    server.tells_length = False
    seen = set()
    fetch(server.url, target, sha1=SHA1, progress=lambda done, total: seen.add(total))
    assert target.read_bytes() == CONTENT
    assert seen == {None}


def test_another_content_is_refused_and_kept_nowhere(server, target):
    server.content = b"<html>Please log in to this network</html>"
    found = hashlib.sha1(server.content).hexdigest()
    with pytest.raises(DownloadError, match=f"{server.url} has SHA-1 {found}, need {SHA1}"):
        fetch(server.url, target, sha1=SHA1)
    assert os.listdir(target.parent) == []
    assert len(server.asked) == 1


@pytest.mark.parametrize("left", [b"x" * 1009, b"x" * 400_009, CONTENT + b"x"])
def test_a_spoilt_part_is_dropped_and_fetched_anew(server, target, left):
    target.parent.mkdir(parents=True)
    target.with_name("file.zip.part").write_bytes(left)
    fetch(server.url, target, sha1=SHA1)
    assert target.read_bytes() == CONTENT
    assert server.asked == [f"bytes={len(left)}-", None]


def test_a_longer_part_is_cut_to_size_when_the_server_starts_again(server, target):
    server.ranges = False
    target.parent.mkdir(parents=True)
    target.with_name("file.zip.part").write_bytes(b"x" * 400_009)
    fetch(server.url, target, sha1=SHA1)
    assert target.read_bytes() == CONTENT


def test_a_whole_part_needs_no_connection(target):
    target.parent.mkdir(parents=True)
    target.with_name("file.zip.part").write_bytes(CONTENT)
    fetch("http://127.0.0.1:9/", target, sha1=SHA1)
    assert target.read_bytes() == CONTENT
    assert os.listdir(target.parent) == ["file.zip"]


def test_another_range_than_asked_is_refused(server, target):
    server.cuts, server.shift = [1009], 7
    with pytest.raises(DownloadError, match="began at byte 1,016, asked for 1,009"):
        fetch(server.url, target, sha1=SHA1)


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
    assert server.asked == [None]
    assert os.listdir(target.parent) == []


def test_no_server_is_one_sentence(target):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/file.zip"
        with pytest.raises(DownloadError) as refusal:
            fetch(url, target, sha1=SHA1)
    assert str(refusal.value) == f"cannot get {url}: Connection refused"


def test_a_silent_server_counts_as_cut(server, target, monkeypatch):
    monkeypatch.setattr(download, "_MOST_CUTS", 1)
    server.cuts, server.silent = [1009], threading.Event()
    began = time.monotonic()
    with pytest.raises(DownloadError, match="was cut 1 times, last at 1,009 bytes"):
        fetch(server.url, target, sha1=SHA1, timeout=0.2)
    assert time.monotonic() - began < 15
    server.silent.set()


def test_an_endless_file_is_stopped(server, target, monkeypatch):
    monkeypatch.setattr(download, "MOST_BYTES", 100_003)
    with pytest.raises(DownloadError, match="has over 100,003 bytes"):
        fetch(server.url, target, sha1=SHA1)
    assert not target.exists()


def test_a_folder_that_cannot_be_made_is_one_sentence(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match=rf"cannot get {server.url}: (Not a dir|File exists)"):
        fetch(server.url, tmp_path / "file" / "file.zip", sha1=SHA1)


def test_whoever_watches_may_stop_it_and_go_on_later(server, target):
    class Stopped(Exception):
        pass

    def stop(done, total):
        raise Stopped

    with pytest.raises(Stopped):
        fetch(server.url, target, sha1=SHA1, progress=stop)
    assert not target.exists()
    fetch(server.url, target, sha1=SHA1)
    assert server.asked[1].startswith("bytes=")
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("left", [b"", b"x" * 1009])
def test_several_may_fetch_one_file_at_a_time(server, target, left):
    target.parent.mkdir(parents=True)
    target.with_name("file.zip.part").write_bytes(left)
    server.cuts = [50_021, 70_001, 30_011]
    errors, seen = [], []

    def watch(done, total):
        seen.append(done)

    def work():
        try:
            fetch(server.url, target, sha1=SHA1, progress=watch)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert max(seen) == len(CONTENT)
    assert target.read_bytes() == CONTENT
    assert os.listdir(target.parent) == ["file.zip"]
    # One of them downloaded while the others waited: three cuts, and a spoilt part once more.
    assert server.asked.count(None) == 1
    assert len(server.asked) == (5 if left else 4)
