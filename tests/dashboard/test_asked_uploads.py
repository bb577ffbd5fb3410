"""A file is taken in only where a page asks for one, and files in memory have a limit."""

import asyncio

import pytest
from starlette.responses import PlainTextResponse
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dashboard import asked_uploads, owners
from dashboard.asked_uploads import AskedUploads, Uploaders
from dashboard.owners import new_cookie, owner_of

MB = 2**20


class Time:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def cookie(tmp_path, monkeypatch):
    monkeypatch.setattr(owners, "home", lambda: tmp_path)
    return new_cookie()


@pytest.fixture
def files(monkeypatch):
    """What Streamlit has in memory."""
    held = MemoryUploadedFileManager("/_stcore/upload_file")

    class Runtime:
        uploaded_file_mgr = held

    monkeypatch.setattr(asked_uploads.runtime, "exists", lambda: True)
    monkeypatch.setattr(asked_uploads.runtime, "get_instance", Runtime)
    return held


@pytest.fixture
def shown(time, cookie):
    """The uploaders of a session that shows one."""
    uploaders = Uploaders(time)
    uploaders.show("here", owner_of({owners.COOKIE: cookie}))
    return uploaders


class Server:
    """Takes files in as Streamlit does; tells how many bytes of bodies were asked for."""

    def __init__(self, files, shown, time, **chosen):
        self._files, self.read = files, 0
        self.app = AskedUploads(self._take, shown, clock=time, **chosen)

    async def _take(self, scope, receive, send):
        body = (await receive())["body"]
        *_, session, name = scope["path"].split("/")
        data = body * self.times
        self._files.add_file(session, UploadedFileRec(name, name, "text/plain", data))
        await PlainTextResponse("", status_code=204)(scope, receive, send)

    def put(self, cookie, size=5, *, session="here", name="a", method="PUT", length=None, wait=0):
        """The status and the text of the answer to an upload of so many bytes."""
        sent, self.times = [], size // 5

        async def receive():
            self.read += size
            await asyncio.sleep(wait)
            return {"type": "http.request", "body": b"bytes"}

        async def send(message):
            sent.append(message)

        headers = [(b"cookie", f"{owners.COOKIE}={cookie}".encode())] if cookie else []
        if length is None:
            headers.append((b"content-length", str(size).encode()))
        path = f"/_stcore/upload_file/{session}/{name}"
        scope = {
            "type": "http", "method": method, "path": path, "headers": headers, "scheme": "http",
            "query_string": b"", "server": ("localhost", 80),
        }  # fmt: skip
        asyncio.run(self.app(scope, receive, send))
        return sent[0]["status"], sent[1]["body"].decode()


@pytest.fixture
def server(files, shown, time):
    return Server(files, shown, time)


def test_a_file_that_a_page_asks_for_is_taken_in(server, cookie):
    assert server.put(cookie) == (204, "")


def test_one_that_none_asks_for_is_refused_before_its_body_is_read(server, cookie):
    for session in ("elsewhere", "heres", ""):
        status, text = server.put(cookie, session=session or "..")
        assert status == 403
        assert "No page of this browser asks for a file" in text
    assert server.read == 0


def test_another_browser_cannot_upload_into_a_session(server, cookie):
    assert server.put(new_cookie())[0] == 403
    assert server.put("")[0] == 403
    assert server.put(cookie[:-1])[0] == 403
    assert server.read == 0


def test_without_owners_a_browser_needs_no_cookie(server, shown, monkeypatch):
    shown.show("nobodys", "")
    assert server.put("", session="nobodys")[0] == 403
    monkeypatch.setenv("ATTENTION_OWNERS", "0")
    assert server.put("", session="nobodys")[0] == 204
    assert server.put("", session="unknown")[0] == 403


def test_what_comes_around_a_file_does_not_make_it_too_large(server, cookie):
    assert server.put(cookie, 50 * MB + 1000)[0] == 204


def test_a_file_that_is_too_large_or_of_unknown_size_is_refused_unread(server, cookie):
    assert server.put(cookie, 51 * MB)[0] == 413
    assert server.put(cookie, 50 * MB)[0] == 204
    read = server.read
    assert server.put(cookie, length="")[0] == 411
    assert server.read == read


def test_a_page_that_is_drawn_without_an_uploader_takes_none_a_minute_later(
    server, shown, cookie, time
):
    shown.redraw("here")
    time.now += 59
    assert server.put(cookie)[0] == 204  # it was on its way
    shown.redraw("here")  # nor now: whoever draws it for hours takes no longer
    time.now += 2
    assert server.put(cookie)[0] == 403


def test_one_that_is_drawn_again_takes_files_for_as_long_as_it_is_open(
    server, shown, cookie, time
):
    shown.redraw("here")
    shown.show("here", owner_of({owners.COOKIE: cookie}))
    time.now += 3600
    assert server.put(cookie)[0] == 204


def test_sessions_that_are_gone_are_forgotten(shown, time):
    for each in range(50):
        shown.show(f"gone {each}", "")
        shown.redraw(f"gone {each}")
    time.now += 61
    shown.redraw("here")
    assert len(shown._until) == 1


def test_a_session_has_two_files_in_memory_at_most(server, files, cookie):
    for name in "abcde":
        assert server.put(cookie, name=name)[0] == 204
    assert [*files.file_storage["here"]] == ["d", "e"]


def test_all_sessions_together_hold_four_of_the_largest_files(server, files, shown, cookie, time):
    owner = owner_of({owners.COOKIE: cookie})
    for session in "abcdef":
        shown.show(session, owner)
    answers = [server.put(cookie, 50 * MB, session=session) for session in "abcde"]
    assert [status for status, _ in answers] == [204] * 4 + [503]
    assert "try again in a minute" in answers[-1][1]
    assert server.put(cookie, 1000, session="f")[0] == 204  # small ones still have room
    time.now += 61  # their pages have read them
    assert server.put(cookie, 50 * MB, session="e")[0] == 204
    held = {each: sum(len(one.data) for one in of.values())
            for each, of in files.file_storage.items()}  # fmt: skip
    assert sum(held.values()) <= 200 * MB
    assert held["a"] == 0


def test_what_came_last_stays_in_memory(server, files, shown, cookie, time):
    owner = owner_of({owners.COOKIE: cookie})
    for session in "abcad":  # the first comes once more
        shown.show(session, owner)
        time.now += 1
        assert server.put(cookie, 50 * MB, session=session)[0] == 204
    time.now += 61
    shown.show("e", owner)
    assert server.put(cookie, 50 * MB, session="e")[0] == 204
    assert [session for session in "abcde" if files.get_files(session, ["a"])] == [*"acde"]


def test_what_is_no_longer_in_memory_is_not_remembered(server, files, cookie):
    for name in "ab":
        server.put(cookie, name=name)
    files.remove_session_files("here")
    server.put(cookie, name="c")
    server.put(cookie, name="d")
    assert {name for _, name in server.app._came} == {"c", "d"}


def test_two_files_of_one_page_do_not_come_at_once(server, cookie):
    server.app._coming["here"] = 5
    status, text = server.put(cookie)
    assert (status, server.read) == (409, 0)
    assert "still coming" in text
    del server.app._coming["here"]
    assert server.put(cookie)[0] == 204


def test_a_run_may_be_imported_where_uploads_are_smaller(server, cookie, monkeypatch):
    monkeypatch.setenv("ATTENTION_UPLOAD_MEGABYTES", "1")
    assert server.put(cookie, 20 * MB)[0] == 204
    assert server.put(cookie, 21 * MB)[0] == 413


def test_a_file_that_does_not_come_is_given_up(files, shown, time, cookie):
    server = Server(files, shown, time, patience=0.05)
    assert server.put(cookie, wait=5)[0] == 408
    assert server.put(cookie)[0] == 204  # and is in nobody's way


def test_other_requests_are_left_alone(server):
    assert server.put("", method="DELETE", session="any")[0] == 204
