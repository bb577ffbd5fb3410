"""The cookie that makes a browser an owner."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from http.cookies import SimpleCookie

import pytest
from starlette.responses import PlainTextResponse

import streamlit_app
from dashboard import owners
from dashboard.owners import COOKIE, Owners, new_cookie, owner_of


@pytest.fixture(autouse=True)
def _own_secret(monkeypatch):
    monkeypatch.setenv("ATTENTION_COOKIE_SECRET", "not the one of a real server")


def set_cookie(*, scheme="http", method="GET", accept="text/html,*/*", **headers):
    """The cookie that a page is answered with, as a morsel; None without one."""
    sent = []

    async def receive():
        return {"type": "http.request"}

    async def send(message):
        sent.append(message)

    given = {"accept": accept, "host": "a.example", **headers}
    scope = {
        "type": "http", "method": method, "path": "/train", "scheme": scheme, "query_string": b"",
        "headers": [(n.replace("_", "-").encode(), v.encode()) for n, v in given.items()],
    }  # fmt: skip
    asyncio.run(Owners(PlainTextResponse("a page"))(scope, receive, send))
    found = [value for name, value in sent[0]["headers"] if name == b"set-cookie"]
    return SimpleCookie(found[0].decode())[COOKIE] if found else None


def test_a_new_browser_gets_an_owner_that_no_script_can_read():
    cookie = set_cookie()
    assert len(owner_of({COOKIE: cookie.value})) == 32
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "lax", "/")
    assert cookie["secure"] == ""
    assert int(cookie["max-age"]) > 300 * 24 * 3600


@pytest.mark.parametrize("how", [{"scheme": "https"}, {"x_forwarded_proto": "https, http"}])
def test_over_https_the_cookie_is_secure(how):
    assert set_cookie(**how)["secure"]


def test_every_browser_is_another_owner():
    ids = {owner_of({COOKIE: new_cookie()}) for _ in range(20)}
    assert len(ids) == 20


def test_a_known_browser_keeps_its_owner():
    assert set_cookie(cookie=f"{COOKIE}={new_cookie()}") is None


def forged():
    id, _, signature = new_cookie().rpartition(".")
    return [
        "", "0" * 32, f"{'0' * 32}.{signature}", f"{id}.{signature[:-1]}", f"{id}.", id, "é.é",
        owners._signer().sign("../../etc").decode(),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(8))
def test_a_forged_cookie_is_nobodys_and_is_replaced(number):
    value = forged()[number]
    assert owner_of({COOKIE: value}) == ""
    if value.isascii():
        assert owner_of({COOKIE: set_cookie(cookie=f"{COOKIE}={value}").value})


def test_another_secret_makes_other_cookies(monkeypatch):
    value = new_cookie()
    monkeypatch.setenv("ATTENTION_COOKIE_SECRET", "another one, of another server")
    assert owner_of({COOKIE: value}) == ""


def test_without_a_secret_there_is_a_private_one_in_the_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_COOKIE_SECRET", "")
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    value = new_cookie()
    (file,) = tmp_path.glob("*.key")
    assert file.stat().st_mode & 0o777 == 0o600
    owners._own_key.cache_clear()  # as another server over the same folder
    assert owner_of({COOKIE: value})


def test_servers_that_start_at_once_have_one_secret_though_the_last_one_crashed(tmp_path):
    (tmp_path / "owners.key").touch()  # by a server that lost its power just then
    made = owners._own_key.__wrapped__
    with ThreadPoolExecutor(7) as threads:
        keys = {*threads.map(made, [tmp_path] * 23)}
    assert keys == {(tmp_path / "owners.key").read_bytes()}
    (key,) = keys
    assert len(key) == 32


def test_a_folder_that_cannot_be_written_still_has_owners(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("ATTENTION_COOKIE_SECRET", "")
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(blocked))
    assert owner_of({COOKIE: new_cookie()})


@pytest.mark.parametrize("other", [{"accept": "*/*"}, {"method": "POST"}])
def test_what_is_no_page_gets_none(other):
    assert set_cookie(**other) is None


def test_where_all_share_everything_there_is_none(monkeypatch):
    monkeypatch.setenv("ATTENTION_OWNERS", "0")
    assert set_cookie() is None


def test_the_server_uses_it():
    assert Owners in [each.cls for each in streamlit_app.app._user_middleware]
