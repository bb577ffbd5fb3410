"""The page *Server* for those who see, who make, and who run it."""

from types import SimpleNamespace

import pytest

from dashboard.features.server import page
from dashboard.records.request import Request
from dashboard.records.training import Training
from dashboard.ui import owner, workbench
from dashboard.visitors import Visitor

TOKEN = "a token of some length"


@pytest.fixture
def known(monkeypatch):
    """``known("author")``: what the visitor is from now on, unless the token was given."""

    def become(role, **more):
        def visitor():
            given = owner.st.session_state.get(owner._ADMITTED)
            return Visitor(owner="ada", role="administrator" if given else role, **more)

        monkeypatch.setattr(owner, "visitor", visitor)

    return become


def words(app):
    return "\n".join(str(one.value) for one in (*app.markdown, *app.caption, *app.text))


def tables(app):
    return [table.value for table in app.dataframe]


@pytest.mark.parametrize("role", ["visitor", "author"])
def test_who_does_not_run_it_sees_who_they_are_and_nothing_of_others(opened, known, role):
    known(role)
    app = opened("server")
    assert f"You are: {role}" in words(app)
    assert tables(app) == []
    assert not app.text_input


def test_who_runs_it_sees_the_work_of_all(opened, known, monkeypatch):
    known("administrator")
    made = [
        Training(
            id=f"{n}" * 32, request=Request.make("training"), created=n, state="queued", note="",
            owner=who, facts={"title": f"training {n}"},
        )
        for n, who in enumerate(["ada", "login-0123456789", ""])
    ]  # fmt: skip
    monkeypatch.setattr(workbench.workbench().trainings, "list", lambda: made)
    app = opened("server")
    assert not app.exception
    work, trainings, *_ = tables(app)
    assert work.to_dict("list") == {
        "Computation": ["regression with dot", "a *slow* one"], "Sessions": [1, 3],
        "Runs for": ["7 s", "waits"],
    }  # fmt: skip
    assert list(trainings["Owner"]) == ["you", "01234567", "this machine"]
    assert [*trainings["State"]] == ["queued"] * 3
    assert "None." not in words(app)
    made.clear()
    assert "None." in words(opened("server"))
    assert "1 of 2 workers busy, 1 waiting, 2 sessions" in words(app)


def test_settings_are_shown_and_secrets_are_not(opened, known, monkeypatch):
    known("administrator")
    monkeypatch.setenv("ATTENTION_ADMINISTRATOR_TOKEN", TOKEN)
    monkeypatch.setenv("ATTENTION_DATA_ROWS", "4321")
    app = opened("server")
    found = app.table[0].value
    values = dict(zip(found["Variable"], found["Value"], strict=True))
    assert values["`ATTENTION_DATA_ROWS`"] == "4321"
    assert values["`ATTENTION_ADMINISTRATOR_TOKEN`"] == "set"
    assert values["`ATTENTION_COOKIE_SECRET`"] == "not set"
    assert TOKEN not in found.to_string()
    assert values["`ATTENTION_SILENCE_LIMIT`"] == ""
    assert not app.text_input, "who administers needs no token"


def test_the_disk_is_counted_by_folder(opened, known, monkeypatch, tmp_path):
    known("administrator")
    (tmp_path / "blobs" / "deep").mkdir(parents=True)
    for name, size in (("blobs/one", 2**20), ("blobs/deep/two", 2**21)):
        (tmp_path / name).write_bytes(bytes(size))
    (tmp_path / "blobs" / "link").symlink_to(tmp_path / "blobs" / "one")
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    (found,) = [one for one in tables(opened("server")) if "Folder" in one]
    rows = {row["Folder"]: (row["Files"], row["MB"]) for row in found.to_dict("records")}
    assert rows["blobs"] == (2, 3.0)


def given(app, token):
    """The page after a token was given."""
    (field,) = app.text_input
    (button,) = [one for one in app.button if one.label == "Administer this server"]
    field.set_value(token)
    return button.click().run()


def test_who_guesses_waits_longer_each_time_and_others_do_not():
    now, waited = [0.0], []
    wrong = owner.WrongTokens(clock=lambda: now[0])
    for _ in range(8):
        assert wrong.guess("192.0.2.1") == 0
        waited.append(wrong.guess("192.0.2.1"))
        assert wrong.guess("192.0.2.1") == waited[-1]  # asking again makes it no longer
        now[0] += waited[-1]
    assert waited == [2, 4, 8, 16, 32, 60, 60, 60]
    assert wrong.guess("192.0.2.2") == 0
    wrong.forget("192.0.2.1")
    assert wrong.guess("192.0.2.1") == 0
    now[0] += 3601
    wrong.guess("192.0.2.3")
    assert [*wrong._guesses] == ["192.0.2.3"]


def test_the_token_makes_an_administrator_and_a_wrong_one_does_not(
    opened, known, monkeypatch, caplog
):
    now = [0.0]
    known("author")
    monkeypatch.setenv("ATTENTION_ADMINISTRATOR_TOKEN", TOKEN)
    wrong = owner.WrongTokens(clock=lambda: now[0])
    monkeypatch.setattr(owner, "_wrong_tokens", lambda: wrong)
    app = opened("server")
    app = given(app, "another token of length")
    assert "This is not the token." in words(app)
    assert "You are: author" in words(app)
    assert "a wrong administrator's token from this machine" in caplog.text
    assert "another token" not in caplog.text
    app = given(app, TOKEN)
    assert "try again in 2 s" in words(app)
    assert "You are: author" in words(app)
    now[0] = 2.0
    app = given(app, TOKEN)
    assert "You are: administrator" in words(app)
    assert not app.text_input


def test_who_logged_in_without_being_named_is_told_whom_to_ask(opened, known):
    asks = "ask who runs this server to name your e-mail address"
    for role, told in (("visitor", True), ("author", False)):
        known(role, logged_in=True)
        assert (asks in words(opened("server"))) == told


@pytest.mark.parametrize(
    ("user", "said", "label", "act"),
    [
        ({}, [], "", ""),
        ({"is_logged_in": False}, [], "Log in", "login"),
        ({"is_logged_in": True, "email": "a@b.org", "name": "Ada"}, ["a@b.org"], "Log out",
         "logout"),
        ({"is_logged_in": True, "name": "Ada"}, ["Ada"], "Log out", "logout"),
    ],
)  # fmt: skip
def test_a_login_is_offered_where_there_is_one_and_says_who_is_inside(
    monkeypatch, user, said, label, act
):
    texts, buttons = [], []
    monkeypatch.setattr(page, "st", SimpleNamespace(
        user=SimpleNamespace(to_dict=lambda: user), text=texts.append, login="login",
        logout="logout", button=lambda label, **given: buttons.append((label, given["on_click"])),
    ))  # fmt: skip
    page._login()
    assert texts == said
    assert buttons == [(label, act)] * bool(label)


def test_in_a_classroom_nobody_is_said_to_make_anything(opened, known):
    known("author", classroom=True)
    said = words(opened("server"))
    assert "You are: visitor" in said
    assert "Training, uploading and keeping are switched off on this server." in said
    assert "You may train" not in said
