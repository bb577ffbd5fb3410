"""A scoring that is typed on the page *Anatomy*; computed by the real tasks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from attention_plugins.formula import described
from dashboard.charts.live import EXACT

FIELD, CHOICE = "anatomy-formula", "anatomy-scoring"
GAUSSIAN = "=-norm(q - k)^2 / (2 * w^2)"


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def seen(app):
    return "\n".join(one.value for kind in (app.caption, app.text, app.error) for one in kind)


def asked(backend):
    """The last request."""
    return [one for one in backend.submitted.values() if one.task == "anatomy"][-1]


def matrices(app):
    """The numbers of every matrix that is drawn, in page order."""
    found = []
    for chart in app.get("vega_lite_chart"):
        for sent in chart.proto.datasets:
            held = pa.ipc.open_stream(sent.data.data).read_all().to_pydict()
            table = {name.removeprefix(EXACT): values for name, values in held.items()}
            if {"r", "c", "value"} <= table.keys():
                found.append(np.array(table["value"], float).reshape(table["r"][-1] + 1, -1))
    return found


def slider(app, title):
    (found,) = [one for one in app.slider if one.label == title]
    return found


def typed(opened, text, **given):
    app = opened("anatomy", **given)
    app.selectbox(CHOICE).set_value("=").run()
    return app.text_input(FIELD).set_value(text).run()


def test_a_typed_scoring_is_walked_through_like_any_other(opened, backend):
    app = typed(opened, "-|q - k|^2 / (2 w^2)", example="drawn")
    assert not app.exception
    assert link(app)["scoring"] == GAUSSIAN
    assert any(r"\frac" in one.value for one in app.latex)
    slider(app, "w").set_value(0.5).run()
    assert dict(asked(backend).parameters) == {"w": 0.5}
    assert link(app)["scoring.w"] == "0.5"
    mine = matrices(app)
    app.selectbox(CHOICE).set_value("gaussian").run()
    slider(app, "Width").set_value(0.5).run()
    theirs = matrices(app)
    assert len(mine) == len(theirs) > 5
    for own, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(own, other, atol=1e-6)


def test_a_link_with_a_formula_opens_the_same_page(opened, backend):
    given = {"scoring": GAUSSIAN, "scoring__w": "0.5", "part": "landscape"}
    app = opened("anatomy", **given)
    assert not app.exception
    assert app.text_input(FIELD).value == GAUSSIAN[1:]
    assert asked(backend).scoring == GAUSSIAN
    assert dict(asked(backend).parameters) == {"w": 0.5}
    assert link(app)["scoring.w"] == "0.5"


def test_what_is_wrong_is_marked_and_the_walk_stays(opened, backend):
    app = typed(opened, "q.k / sqr(d)", scoring="gaussian")
    assert "Did you mean sqrt" in seen(app)
    (shown,) = [one.value for one in app.code if "sqr" in one.value]
    line, carets = shown.split("\n")
    assert line[carets.index("^") :].startswith("sqr(")
    assert "The charts below still show Gaussian." in seen(app)
    assert asked(backend).scoring == "gaussian"
    assert link(app)["scoring"] == "gaussian"


def test_another_formula_keeps_the_letter_and_another_choice_leaves_it(opened, backend):
    app = opened("anatomy", scoring=GAUSSIAN, scoring__w="0.5")
    app.text_input(FIELD).set_value("-|q - k| / w + c").run()
    assert dict(asked(backend).parameters) == {"c": 1.0, "w": 0.5}
    app.selectbox(CHOICE).set_value("gaussian").run()
    assert not app.exception
    assert link(app).get("scoring") == "gaussian"
    assert FIELD not in [one.key for one in app.text_input]
    assert app.selectbox(CHOICE).options[0] == "Type a formula…"
    assert GAUSSIAN[1:] not in app.selectbox(CHOICE).options


def test_a_formula_of_positions_and_heads_is_walked_through(opened, backend):
    app = typed(opened, "q.k - |i - j| / h", example="heads")
    assert not app.exception
    assert asked(backend).scoring == "=dot(q, k) - abs(i - j) / h"
    assert len(matrices(app)) > 5


def test_the_roots_plots_compare_a_typed_scoring_and_show_its_mathematics(opened, backend):
    app = typed(opened, "q.k / d", part="root")
    assert not app.exception
    assert described("q.k / d")["formula"] in "".join(one.value for one in app.latex)
    assert asked(backend).scoring == "=dot(q, k) / d"
