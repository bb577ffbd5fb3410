"""The language of a visitor: of the link, of their choice, or of the browser."""

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import language
from dashboard.ui import speaking
from dashboard.ui.session import asked_for


def page():
    """A page that says which language it is drawn in, and how it would be linked to."""
    import streamlit as st

    from dashboard import language
    from dashboard.ui import speaking

    speaking.begin()
    st.text(language.current())
    st.text(speaking.in_link())
    st.text(speaking.problem())
    st.session_state["remembering"] = speaking.to_remember()["language"]
    speaking.language_button(lambda: st.session_state.update(changed=True))

    @st.fragment
    def part():
        st.text(language.current())
        st.button("again", key="again")

    part()


@pytest.fixture(autouse=True)
def spoken_before():
    """The language is found as before, once a test is over."""
    before = language._spoken
    yield
    language.follow(before)


@pytest.fixture
def visit(monkeypatch):
    """Open the page with a link's language and a browser's."""

    def open_page(asked=None, locale="en-GB", chosen=None):
        cookies = {speaking.COOKIE: chosen} if chosen else {}
        context = {"locale": locale, "cookies": cookies}
        monkeypatch.setattr(speaking.st, "context", type("Context", (), context))
        app = AppTest.from_function(page)
        if asked is not None:
            app.query_params["lang"] = asked
        return app.run()

    return open_page


def texts(app):
    return [each.value for each in app.text]


def remembering(app):
    return app.session_state["remembering"]


def test_the_browser_decides_where_nobody_else_does(visit):
    assert texts(visit()) == ["en", "{}", "", "en"]
    assert texts(visit(locale="zh-CN")) == ["zh", "{}", "", "zh"]


@pytest.mark.parametrize(
    ("locale", "spoken"),
    [("zh", "zh"), ("zh-Hans-CN", "zh"), ("ZH-tw", "zh"), ("fr", "en"), ("", "en"), (None, "en")],
)
def test_what_a_browser_asks_for_is_matched_by_its_language(locale, spoken):
    assert speaking.preferred(locale) == spoken


def test_a_choice_of_a_visit_before_decides_over_the_browser(visit):
    assert texts(visit(chosen="zh"))[:2] == ["zh", "{}"]
    assert texts(visit(locale="zh-CN", chosen="en"))[:2] == ["en", "{}"]
    assert texts(visit(locale="zh-CN", chosen="xx"))[0] == "zh"


def test_a_link_decides_over_a_choice_of_a_visit_before(visit):
    assert texts(visit("en", chosen="zh"))[:2] == ["en", "{'lang': 'en'}"]


def test_the_browser_is_to_remember_what_was_picked_and_not_what_a_link_says(visit):
    app = visit("zh")
    assert remembering(app) == ""
    app.button(key="language-en").click().run()
    assert remembering(app) == "en"
    app.button(key="language-zh").click().run()
    assert remembering(app) == "zh"


def test_a_link_decides_over_the_browser(visit):
    assert texts(visit("zh"))[:2] == ["zh", "{'lang': 'zh'}"]
    assert texts(visit("en", locale="zh-CN"))[:2] == ["en", "{'lang': 'en'}"]


def test_a_language_that_is_not_spoken_here_is_said(visit):
    spoken, link, problem, _ = texts(visit("fr"))
    assert (spoken, link) == ("en", "{}")
    assert problem == "lang=‘fr’: need one of en, zh, so English is used"


def test_a_button_switches_and_the_link_follows(visit):
    app = visit("zh")
    button = app.button[0]
    assert button.label == "English"
    button.click().run()
    assert texts(app) == ["en", "{'lang': 'en'}", "", "en"]
    assert app.session_state["changed"]
    assert [each.label for each in app.button] == ["简体中文", "again"]


def test_the_button_changes_the_language_again_and_again(visit):
    app = visit("zh")
    for spoken in ("en", "zh", "en"):
        app.button(f"language-{spoken}").click().run()
        assert texts(app)[:2] == [spoken, f"{{'lang': '{spoken}'}}"]
        app.query_params["lang"] = spoken  # as the page writes it


def test_the_choice_stays_while_the_address_still_names_the_other(visit):
    app = visit("zh")
    app.button[0].click().run()
    assert app.query_params["lang"] == "zh"
    assert texts(app.run())[0] == "en"


def test_a_part_that_is_drawn_by_itself_speaks_as_its_page(visit):
    app = visit(locale="zh-CN")
    app.button(key="again").click().run()
    assert texts(app)[-1] == "zh"


def test_pages_do_not_see_the_language_among_their_parameters(monkeypatch):
    class Query(dict):
        def get_all(self, key):
            return [self[key]]

    monkeypatch.setattr("streamlit.query_params", Query(lang="zh", a="x"))
    assert asked_for() == {"a": ["x"]}


def lender():
    """A page that has a text made in another thread, with its language and without."""
    from concurrent.futures import ThreadPoolExecutor

    import streamlit as st

    from dashboard.language import gettext
    from dashboard.ui import speaking

    speaking.begin()
    make = speaking.spoken_now(lambda: gettext("Copy link"))
    with ThreadPoolExecutor(1) as elsewhere:
        st.text(elsewhere.submit(make).result())
        st.text(elsewhere.submit(lambda: gettext("Copy link")).result())


@pytest.mark.parametrize(("lang", "said"), [("zh", "复制链接"), ("en", "Copy link")])
def test_a_file_is_made_in_the_language_of_its_page(lang, said):
    app = AppTest.from_function(lender, default_timeout=120)
    app.query_params["lang"] = lang
    assert texts(app.run()) == [said, "Copy link"]
