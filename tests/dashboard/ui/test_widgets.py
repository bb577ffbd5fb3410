import re

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from support import crowd

from dashboard.records.parameter import Parameter
from dashboard.records.text import can_be_set
from dashboard.ui.widgets import draw_parameter, plain


def widgets(spec, value, fresh):
    import streamlit as st

    from dashboard.ui.widgets import draw_parameter

    st.text(repr(draw_parameter(spec, value, "it", fresh)))


def drawn(spec, value):
    app = AppTest.from_function(widgets, args=(spec, value, False), default_timeout=30).run()
    assert not app.exception
    return app


def test_every_type_of_parameter_has_its_widget():
    number = drawn(Parameter(name="n", title="N", default=1.0, low=0.0, high=2.0, step=0.5), 1.5)
    assert number.slider("it").value == 1.5
    assert (number.slider("it").min, number.slider("it").max) == (0.0, 2.0)
    assert number.slider("it").step == 0.5
    whole = drawn(Parameter(name="n", title="N", default=3, low=1, high=7, unit="steps"), 5)
    assert whole.slider("it").value == 5
    assert whole.slider("it").label == "N (steps)"
    assert drawn(Parameter(name="n", title="N", default=False), True).toggle("it").value is True
    choice = drawn(Parameter(name="n", title="N", default="x", choices=("x", "y")), "y")
    assert choice.selectbox("it").value == "y"


def test_the_words_of_a_switch_are_not_cut_by_the_width_of_a_field(monkeypatch):
    given = []
    monkeypatch.setattr(st, "toggle", lambda *_, **how: given.append(how) or True)
    switch = Parameter(name="n", title="Read both ways", default=False)
    assert draw_parameter(switch, True, "it", False, width=130)
    assert "width" not in given[0]


def test_a_range_finer_than_a_slider_gets_a_field():
    app = drawn(Parameter(name="n", title="N", default=0, low=0, high=9999, step=1), 17)
    assert app.number_input("it").value == 17


def test_a_fraction_keeps_no_dust():
    app = drawn(
        Parameter(name="n", title="N", default=0.1, low=0.0, high=1.0, step=0.1), 0.1 + 0.2
    )
    assert app.text[0].value == "0.3"


def test_a_widget_keeps_what_the_user_set_until_the_view_is_fresh():
    spec = Parameter(name="n", title="N", default=1, low=0, high=9)
    app = drawn(spec, 4)
    app.slider("it").set_value(7).run()
    assert app.text[0].value == "7"
    app = AppTest.from_function(widgets, args=(spec, 4, True), default_timeout=30)
    app.session_state["it"] = 7
    assert app.run().text[0].value == "4"


@pytest.mark.parametrize(("high", "kept"), [(5, "5"), (8, "7"), (12, "7")])
def test_a_number_outlives_its_bounds_and_stays_within_new_ones(high, kept):
    def page():
        import streamlit as st

        from dashboard.records.parameter import Parameter
        from dashboard.ui.widgets import draw_parameter

        high = st.number_input("High", value=9)
        spec = Parameter(name="n", title="N", default=1, low=1, high=high)
        view = st.session_state.get("view", 3)
        st.session_state["view"] = draw_parameter(spec, view, "it", fresh=False)
        st.text(st.session_state["view"])

    app = AppTest.from_function(page, default_timeout=30).run()
    app.slider("it").set_value(7).run()
    assert app.text[0].value == "7"
    app.number_input[0].set_value(high).run()
    assert not app.exception
    assert app.text[0].value == kept
    app.slider("it").set_value(2).run()
    assert app.text[0].value == "2"


@pytest.mark.parametrize(
    "text",
    ["![x](http://e/x.png)", "<img src=x>", "$x$", ":red[x]", ":material/home:", "`x`", "**x**",
     "[a](b)", "a_b_", "# x", "~~x~~", "| a |", "&amp;"],
)  # fmt: skip
def test_no_character_of_a_strangers_text_is_markdown(text):
    escaped = plain(text)
    assert escaped.replace("\\", "").replace("\u2060", "") == text
    marks = [i for i, c in enumerate(escaped) if c in "!\"#$&'()*+,-./:;<=>?@[]^_`{|}~"]
    assert all(escaped[i - 1] == "\\" for i in marks)


@pytest.mark.parametrize(
    "text", ["see https://a.org/x", "www.a.org", "somebody@a.org", "WWW.a.org"]
)
def test_no_address_in_a_strangers_text_is_made_a_link(text):
    seen = plain(text).replace("\\", "")
    assert not re.search(r"https?://[-.\w]|www\.|[-.\w+]@[-\w]+\.", seen, re.IGNORECASE)


@pytest.mark.parametrize("label", ["Held-out sentences", "Source: English", "x, the model's"])
def test_a_name_that_a_screen_reader_speaks_holds_no_backslash(label):
    assert plain(label) == label


def _boxes():
    import streamlit as st

    from dashboard.ui.widgets import choose

    titles = {"a": "Bahdanau", "b": "Bahdanau", "c": "Transformer"}
    st.text(choose("Model", [*titles], "a", "box", False, format_func=titles.__getitem__))


def test_of_equal_titles_each_has_its_name_so_that_the_meant_one_is_chosen():
    app = AppTest.from_function(_boxes, default_timeout=30).run()
    (box,) = app.selectbox
    assert box.options == ["Bahdanau (a)", "Bahdanau (b)", "Transformer"]
    for name in "abc":
        assert box.set_value(name).run().text[0].value == name


def test_lines_become_one_line():
    assert plain("a\n\n# b\t c") == r"a \# b c"


def formulas(latex):
    from dashboard.ui.widgets import formula

    formula(latex)


@pytest.mark.parametrize(
    "latex",
    [
        r"\rule{100000em}{1em}", r"x\kern99999pt y", r"\hskip 10 em", r"\\[1000ex]",
        "\\rule{100000\nem}{1em}", r"\genfrac{}{}{999in}{}{a}{b}", r"\raisebox{12cm}{x}",
        r"\def\a{xxxx}\a\a", r"\newcommand{\a}{x}", r"\gdef\a{x}", r"\let\a=b",
        "x" * 501, "a$b", "`c`", r"\mkern 18000mu", r"\rule{00000100.5em}{1em}",
    ],
)  # fmt: skip
def test_a_formula_that_would_take_the_page_is_shown_as_its_source(latex):
    app = AppTest.from_function(formulas, args=(latex,), default_timeout=30).run()
    assert not app.exception
    assert not app.latex
    assert app.text[0].value == latex[:500]


def test_formulas_as_they_are_written_are_set():
    found = {
        record["formula"]
        for kind in ("scorings", "normalisers", "datasets")
        for record in crowd.built_in()[kind]
        if record.get("formula")
    }
    assert len(found) > 40
    assert [latex for latex in found if not can_be_set(latex)] == []
    for latex in (r"a\hspace{1em}b", r"\\[2pt]", r"100 e m", r"12\,\mathrm{pt}", r"2^{64}"):
        assert can_be_set(latex)
    app = AppTest.from_function(formulas, args=("q k",), default_timeout=30).run()
    assert app.latex[0].value == "$$\nq k\n$$"
