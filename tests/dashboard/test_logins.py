"""Logins by a provider that really runs: who may do what, and what belongs to whom."""

import asyncio
import time
from contextlib import ExitStack, closing

import pytest
from support.provider import browser, log_in, provider, write_secrets
from support.serving import ROOT, served
from support.visiting import Visit

pytestmark = pytest.mark.slow
APP = ROOT / "streamlit_app.py"
PATIENCE = 60.0  # seconds
USERS = [
    {"sub": "ada", "email": "ada@school.example"},
    {"sub": "bob", "email": "Bob@School.example", "email_verified": True},
    {"sub": "eve", "email": "eve@elsewhere.example"},
    {"sub": "mallory", "email": "mallory@school.example", "email_verified": False},
    {"sub": "head", "email": "head@college.example"},
]


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    """A server that lets a school's members make things, and its head administer it."""
    home = tmp_path_factory.mktemp("school")
    variables = {
        "ATTENTION_LOGINS": "@school.example",
        "ATTENTION_ADMINISTRATORS": "head@college.example",
    }
    with provider(*USERS) as address:
        write_secrets(home, address)
        with served(APP, home, **variables) as server:
            yield server.url


async def press_log_in(url, client):
    """Press *Log in* on the page Server; return where that leads."""
    async with Visit(url, dict(client.cookies)) as visit:
        await visit.show("server")
        assert "**You are: visitor**" in visit.texts()
        await visit.press("server-login")
        return visit.sent_to


@pytest.fixture
def stranger(school):
    """``stranger()``: a browser that has opened the first page, and nothing else."""
    with ExitStack() as clients:
        yield lambda: clients.enter_context(closing(browser(school)))


@pytest.fixture
def member(school, stranger):
    """``member("ada")``: the browser of somebody who has logged in."""

    def new(subject):
        client = stranger()
        back = log_in(client, asyncio.run(press_log_in(school, client)), subject)
        assert (back.status_code, str(back.url)) == (200, f"{school}/")
        return client

    return new


def visiting(url, client, look):
    """What ``look(visit)`` finds in a new tab of that browser."""

    async def happens():
        async with Visit(url, dict(client.cookies)) as visit:
            return await look(visit)

    return asyncio.run(happens())


async def whoever(visit):
    """What the page Server says of its reader."""
    await visit.show("server")
    return " | ".join(visit.texts())


async def owned(visit):
    """The names of what can be changed on the pages Train and Runs."""
    await visit.show("train")
    found = [key for key in visit.buttons() if key.endswith(("-cancel", "-remove"))]
    await visit.show("runs")
    return found + [key for key in visit.buttons() if "-run-" in key and key.endswith("-open")]


async def start_training(visit):
    await visit.open("train", "scorings=dot&epochs=1000&pairs=500")
    await visit.press("train-start")
    end = time.monotonic() + PATIENCE
    while not (found := [key for key in visit.buttons() if key.endswith("-cancel")]):
        assert time.monotonic() < end, visit.texts()
        await asyncio.sleep(0.2)
        await visit.run()
    return found[0].split("-training-", 1)[1].removesuffix("-cancel")


async def cancel(visit, id):
    await visit.show("train")
    await visit.press(f"training-{id}-cancel")


def test_who_has_not_logged_in_may_only_look_though_on_the_servers_own_machine(school, stranger):
    client = stranger()

    async def look(visit):
        await visit.open("train", "")
        assert not any(key.endswith("train-start") for key in visit.buttons())
        assert any("Training is for those who have logged in" in text for text in visit.texts())
        await visit.open("", "a=gaussian&a.width=0.5")
        assert visit.errors() == []
        return visit.tables()

    assert visiting(school, client, look)
    assert "**You are: visitor**" in visiting(school, client, whoever)


@pytest.mark.parametrize(
    ("subject", "role", "shown"),
    [
        ("ada", "author", "ada@school.example"),
        ("bob", "author", "Bob@School.example"),
        ("eve", "visitor", "ask who runs this server to name your e-mail address"),
        ("mallory", "visitor", "ask who runs this server to name your e-mail address"),
        ("head", "administrator", "head@college.example"),
        ("somebody that it never heard of", "visitor", "name your e-mail address"),
    ],
)
def test_a_login_gives_the_role_that_the_settings_say(school, member, subject, role, shown):
    said = visiting(school, member(subject), whoever)
    assert f"**You are: {role}**" in said
    assert shown in said


def test_who_is_not_named_reads_but_makes_nothing(school, member):
    async def look(visit):
        await visit.open("train", "scorings=dot")
        assert not any(key.endswith("train-start") for key in visit.buttons())
        return " ".join(visit.texts()).replace("\\", "")

    assert "for those whom ATTENTION_LOGINS" in visiting(school, member("eve"), look)


def test_each_owns_what_they_make_on_every_browser_and_the_administrator_stops_it(school, member):
    ada, bob = member("ada"), member("bob")
    try:
        id = visiting(school, ada, start_training)
        assert any(id in key for key in visiting(school, ada, owned))
        assert visiting(school, bob, owned) == []
        elsewhere = member("ada")
        assert any(id in key for key in visiting(school, elsewhere, owned))
        with pytest.raises(LookupError):
            visiting(school, bob, lambda visit: cancel(visit, id))

        async def follow_the_link(visit):
            await visit.show("train", f"show={id}")
            assert any("badge" in text and "-width" not in text for text in visit.texts())
            return [key for key in visit.buttons() if key.endswith(("-cancel", "-pause"))]

        assert visiting(school, bob, follow_the_link) == []
    finally:
        visiting(school, member("head"), lambda visit: cancel(visit, id))


def test_the_administrator_alone_sees_the_servers_work_and_may_reload_its_plugins(school, member):
    async def look(visit):
        await visit.show("server")
        tables = len(visit.tables())
        await visit.show("plugins")
        return tables, any("reload" in key.lower() for key in visit.buttons())

    seen = {who: visiting(school, member(who), look) for who in ("ada", "head")}
    assert seen["ada"] == (0, False)
    assert seen["head"][0] >= 1
    assert seen["head"][1]


def test_who_logs_out_is_a_visitor_again(school, member):
    client = member("ada")

    async def press(visit):
        await visit.show("server")
        await visit.press("server-logout")
        return visit.sent_to

    client.get(visiting(school, client, press)).raise_for_status()
    assert "**You are: visitor**" in visiting(school, client, whoever)
    assert visiting(school, client, owned) == []


def test_a_cookie_that_the_server_did_not_sign_is_nobodys(school, member):
    client = member("head")
    value = client.cookies["_streamlit_user"]
    client.cookies.set("_streamlit_user", value[:-3] + "000", domain="127.0.0.1")
    assert "**You are: visitor**" in visiting(school, client, whoever)


def test_under_another_name_than_that_of_the_redirect_nobody_has_logged_in(school, member):
    client = member("head")
    elsewhere = school.replace("127.0.0.1", "localhost")
    assert "**You are: visitor**" in visiting(elsewhere, client, whoever)
