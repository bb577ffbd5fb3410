"""Who a visitor is costs a run one question, and a server one look at its secrets."""

from types import SimpleNamespace

import pytest

from dashboard.ui import owner
from dashboard.visitors import Browser

READING = SimpleNamespace(to_dict=dict)


class Server:
    """Stands for Streamlit's runtime."""


@pytest.fixture
def run(monkeypatch):
    """``run(token=True)``: a run that asks five times who it serves; how often each was read."""
    read = {"secrets": 0, "cookies": 0}

    def reads(what):
        def to_dict():
            read[what] += 1
            return {}

        return SimpleNamespace(to_dict=to_dict)

    context = SimpleNamespace(cookies=reads("cookies"), headers=READING, ip_address="192.0.2.1")
    state = {}
    shown = SimpleNamespace(user=reads("secrets"), context=context, session_state=state)
    runs = SimpleNamespace(exists=lambda: True, get_instance=Server)
    for name, value in {"st": shown, "runtime": runs, "_SERVER": Server}.items():
        monkeypatch.setattr(owner, name, value)
    owner._logins.cache_clear()

    def make(context=None, **admitted):
        of_run = context or SimpleNamespace(session_id="tab", user_info={})
        monkeypatch.setattr(owner, "get_script_run_ctx", lambda: of_run)
        state.update({owner._ADMITTED: admitted.get("token", False)})
        roles = {owner.visitor().role for _ in range(5)}
        assert len(roles) == 1
        return roles.pop(), dict(read)

    yield make
    owner._logins.cache_clear()


def test_a_run_reads_a_browser_once_and_no_run_after_the_first_the_secrets(run):
    assert run() == ("author", {"secrets": 1, "cookies": 1})
    assert run() == ("author", {"secrets": 1, "cookies": 2})


def test_who_gave_the_token_is_known_at_once(run):
    same = SimpleNamespace(session_id="tab", user_info={})
    assert [run(same, token=given)[0] for given in (False, True, False)] == [
        "author", "administrator", "author",
    ]  # fmt: skip


def test_another_setting_counts_at_once(run, monkeypatch):
    same = SimpleNamespace(session_id="tab", user_info={})
    run(same)
    monkeypatch.setenv("ATTENTION_CLASSROOM", "1")
    assert owner.visitor().classroom


@pytest.fixture
def gives(monkeypatch):
    """``gives(token, address)``: what somebody there is told; ``gives.admitted`` once it is right.

    All give their tokens at one moment.
    """
    state, wrong = {}, owner.WrongTokens(lambda: 1000.0)
    monkeypatch.setattr(owner, "_wrong_tokens", lambda: wrong)
    monkeypatch.setattr(owner, "st", SimpleNamespace(session_state=state))
    monkeypatch.setenv("ATTENTION_ADMINISTRATOR_TOKEN", "a long one that nobody guesses")

    def give(token, address="192.0.2.1"):
        monkeypatch.setattr(owner, "_browser", lambda: Browser(session="tab", address=address))
        said = owner.give_token(token)
        give.admitted = state.get(owner._ADMITTED, False)
        return said

    return give


def test_after_the_right_token_no_guess_is_remembered(gives):
    assert (gives("a long one that nobody guesses"), gives.admitted) == ("", True)
    assert (gives("wrong"), gives.admitted) == ("This is not the token.", False)
    assert gives("a long one that nobody guesses") == (
        "Wrong tokens came from your network; try again in 2 s."
    )


def test_a_house_guesses_together_and_another_by_itself(gives):
    assert gives("wrong", "2001:db8:1:2::3") == "This is not the token."
    assert "try again" in gives("wrong", "2001:db8:1:2::4")
    assert gives("wrong", "2001:db8:1:3::3") == "This is not the token."


def test_where_no_token_is_set_none_is_right(gives, monkeypatch):
    monkeypatch.delenv("ATTENTION_ADMINISTRATOR_TOKEN")
    assert (gives(""), gives.admitted) == ("This is not the token.", False)


def test_where_one_can_log_in_the_claims_are_read(run, monkeypatch):
    monkeypatch.setattr(owner.st.user, "to_dict", lambda: {"is_logged_in": False})
    monkeypatch.setenv("ATTENTION_LOGINS", "@school.example")
    assert run()[0] == "visitor"
