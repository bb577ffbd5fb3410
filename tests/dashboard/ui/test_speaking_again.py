"""The language of a run, and of what is made for it elsewhere."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.ui.speaking import preferred


def app():
    from concurrent.futures import ThreadPoolExecutor

    import streamlit as st

    from dashboard.language import gettext
    from dashboard.ui import speaking

    speaking.begin()
    st.session_state["said"] = gettext("Copy link")
    make = speaking.spoken_now(lambda: gettext("Copy link"))
    with ThreadPoolExecutor(1) as elsewhere:
        st.session_state["lent"] = elsewhere.submit(make).result()
        st.session_state["after"] = elsewhere.submit(lambda: gettext("Copy link")).result()


@pytest.mark.parametrize(("lang", "said"), [("zh", "复制链接"), ("en", "Copy link")])
def test_a_link_says_the_language_and_a_file_is_made_in_it(lang, said):
    page = AppTest.from_function(app, default_timeout=120)
    page.query_params["lang"] = lang
    state = page.run().session_state
    assert (state["said"], state["lent"], state["after"]) == (said, said, "Copy link")


def choosing():
    import streamlit as st

    from dashboard.language import gettext
    from dashboard.ui import speaking

    speaking.begin()
    speaking.language_button(lambda: None)
    st.text(gettext("Copy link"))
    st.session_state["link"] = speaking.in_link()


def test_the_button_changes_the_language_again_and_again():
    page = AppTest.from_function(choosing, default_timeout=120)
    page.query_params["lang"] = "zh"
    assert page.run().text[0].value == "复制链接"
    for language, said in [("en", "Copy link"), ("zh", "复制链接"), ("en", "Copy link")]:
        page.button(f"language-{language}").click().run()
        assert page.text[0].value == said
        assert page.session_state["link"] == {"lang": language}
        page.query_params["lang"] = language  # as the page writes it


def test_a_browser_is_understood_by_the_beginning_of_its_locale():
    assert [preferred(each) for each in ("zh-CN", "zh", "de-DE", None)] == ["zh", "zh", "en", "en"]
