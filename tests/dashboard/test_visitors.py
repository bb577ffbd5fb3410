"""Who a visitor is, and what they may do."""

import pytest

from dashboard import visitors
from dashboard.owners import COOKIE, new_cookie, owner_of
from dashboard.settings import settings
from dashboard.visitors import Browser, NotAllowed, from_this_machine, identify

HERE = {"host": "localhost:8501", "origin": "http://localhost:8501"}
AWAY = {"host": "a.example", "origin": "https://a.example"}


@pytest.mark.parametrize(("address", "link", "given"), [
    ("0.0.0.0", "http://localhost:8501/a?b=1", "http://10.0.0.9:8501/a?b=1"),
    ("", "https://[::1]/a", "https://10.0.0.9/a"),
    ("127.0.0.1", "http://localhost:8501/a", "http://localhost:8501/a"),
    ("0.0.0.0", "http://a.example:8501/a", "http://a.example:8501/a"),
])  # fmt: skip
def test_a_link_for_others_names_the_machine_where_it_can_be_reached(
    monkeypatch, address, link, given
):
    monkeypatch.setattr(visitors.net_util, "get_internal_ip", lambda: "10.0.0.9")
    monkeypatch.setattr(visitors.config, "get_option", {"server.address": address}.get)
    assert visitors.for_others(link) == given


@pytest.fixture(autouse=True)
def _own_secret(monkeypatch):
    monkeypatch.setenv("ATTENTION_COOKIE_SECRET", "not the one of a real server")


@pytest.fixture
def known():
    """``known(local=True, ..., classroom=True)``: the visitor; settings by their names."""

    def make(*, local=False, headers=None, cookies=None, user=None, token=False, **chosen):
        browser = Browser(
            session="tab", local=local, headers=headers or (HERE if local else AWAY),
            cookies=cookies or {}, user=user, token=token,
        )  # fmt: skip
        return identify(browser, settings(**chosen))

    return make


def test_the_user_of_this_machine_owns_what_was_there_before_and_administers(known):
    found = known(local=True)
    assert (found.owner, found.administers, found.makes) == ("", True, True)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "127.0.0.1:8501"}, {"host": "[::1]:8501", "origin": "http://[::1]:8501"}, HERE,
    ],
)  # fmt: skip
def test_names_of_this_machine(headers):
    assert from_this_machine(Browser(session="", local=True, headers=headers))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "a.example"},
        {"host": "localhost.a.example"},
        {"host": "localhost:8501", "origin": "https://a.example"},
        {"host": "localhost:8501", "origin": "null"},
        {"host": "localhost:8501", "origin": "http://[localhost"},
        *[
            {**HERE, name: "203.0.113.7"}
            for name in ("x-forwarded-for", "x-forwarded-host", "forwarded", "via", "x-real-ip")
        ],
    ],
)
def test_what_a_proxy_on_this_machine_passes_on_does_not_come_from_it(headers):
    assert not from_this_machine(Browser(session="", local=True, headers=headers))


def test_headers_alone_do_not_make_anybody_local(known):
    assert not known(local=False, headers=HERE).administers


def test_trust_in_this_machine_can_be_switched_off(known):
    found = known(local=True, trust_local=False)
    assert (found.administers, found.owner != "") == (False, True)


def test_a_browser_is_known_by_its_cookie(known):
    cookie = new_cookie()
    found = known(cookies={COOKIE: cookie})
    assert (found.owner, found.role) == (owner_of({COOKIE: cookie}), "author")


@pytest.mark.parametrize("cookies", [{}, {COOKIE: f"{'0' * 32}.forged"}])
def test_without_a_valid_cookie_one_is_known_for_the_session_only(known, cookies):
    found = known(cookies=cookies)
    assert found.owner.startswith("session-")
    assert "0" * 32 not in found.owner
    assert found.makes


def test_where_all_share_everything_nobody_is_told_apart(known):
    found = known(cookies={COOKIE: new_cookie()}, owners=False)
    assert (found.owner, found.role) == ("", "author")


ADA = {
    "is_logged_in": True,
    "iss": "https://id.example",
    "sub": "7",
    "email": "Ada@School.example",
}


@pytest.mark.parametrize(
    ("user", "chosen", "role"),
    [
        ({"is_logged_in": False}, {}, "visitor"),
        ({}, {}, "visitor"),
        (ADA, {}, "author"),
        (ADA, {"logins": "eve@school.example"}, "visitor"),
        (ADA, {"logins": "eve@school.example ada@school.example"}, "author"),
        (ADA, {"logins": "@school.example"}, "author"),
        (ADA, {"logins": "@example"}, "visitor"),
        ({**ADA, "email": '"a@b"@school.example'}, {"logins": "@school.example"}, "author"),
        (ADA, {"logins": "x@a.example", "administrators": "ada@school.example"}, "administrator"),
        ({**ADA, "email_verified": False}, {"administrators": "ada@school.example"}, "visitor"),
        ({**ADA, "email": ""}, {"logins": "@school.example"}, "visitor"),
    ],
)
def test_who_has_logged_in_is_what_the_settings_say(known, user, chosen, role):
    assert known(user=user, **chosen).role == role


def test_a_login_is_one_owner_on_every_browser_and_another_for_every_issuer(known):
    first = known(user=ADA, cookies={COOKIE: new_cookie()})
    assert first.owner == known(user=ADA).owner
    assert first.owner != known(user={**ADA, "sub": "8"}).owner
    assert first.owner != known(user={**ADA, "iss": "https://other.example"}).owner


def test_the_browsers_of_one_house_have_one_address_which_nobody_can_read(known):
    def address(given, **chosen):
        browser = Browser(session="tab", address=given, headers=AWAY)
        return identify(browser, settings(**chosen)).address

    house = [address(f"2001:db8:1:2::{host}") for host in (3, 4)]
    others = [address("2001:db8:1:3::3"), address("192.0.2.1"), address("192.0.2.2")]
    assert house[0] == house[1]
    assert len({*house, *others}) == 4
    assert not any("192" in one or "2001" in one for one in (*house, *others))
    assert address("") == address("192.0.2.1", owners=False) == ""


def test_a_login_counts_where_all_share_everything_too(known):
    assert known(user={"is_logged_in": False}, owners=False).role == "visitor"
    assert (known(user=ADA, owners=False).role, known(user=ADA, owners=False).owner) == (
        "author", "",
    )  # fmt: skip


def test_where_one_can_log_in_this_machine_is_not_trusted(known):
    assert known(local=True, user={"is_logged_in": False}).role == "visitor"


def test_the_token_makes_an_administrator_who_keeps_what_is_theirs(known):
    cookie = {COOKIE: new_cookie()}
    assert known(cookies=cookie, token=True).administers
    assert known(cookies=cookie, token=True).owner == known(cookies=cookie).owner
    assert known(owners=False, token=True).administers


def test_a_refusal_says_what_would_let_one(known):
    with pytest.raises(NotAllowed, match=r"^Training is for those who have logged in"):
        known(user={"is_logged_in": False}).see_that_it_makes("Training")
    with pytest.raises(NotAllowed, match=r"whom ATTENTION_LOGINS of this server names"):
        known(user=ADA, logins="eve@school.example").see_that_it_makes("Training")


def test_in_a_classroom_only_an_administrator_makes_anything(known):
    student, teacher = known(classroom=True), known(local=True, classroom=True)
    assert (student.makes, teacher.makes) == (False, True)
    with pytest.raises(NotAllowed, match=r"^Training is switched off on this server$"):
        student.see_that_it_makes("Training")
    with pytest.raises(NotAllowed, match="switched off"):
        student.see_that_it_owns(student.owner, "this")
    teacher.see_that_it_makes("Training")


def test_only_the_owner_and_an_administrator_change_something(known):
    ada, eve = (known(cookies={COOKIE: new_cookie()}) for _ in range(2))
    ada.see_that_it_owns(ada.owner, "this training")
    known(local=True).see_that_it_owns(ada.owner, "this training")
    with pytest.raises(NotAllowed, match=r"^this training belongs to somebody else"):
        eve.see_that_it_owns(ada.owner, "this training")
    with pytest.raises(NotAllowed, match=r"^Reloading is for administrators"):
        ada.see_that_it_administers("Reloading")
