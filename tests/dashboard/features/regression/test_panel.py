"""A scoring that is typed on the page *Kernel regression*; computed by the real tasks."""

from __future__ import annotations

import io
import zipfile
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from dashboard.features.regression import task
from dashboard.jobs import task_formula
from dashboard.jobs.backend import Event
from dashboard.records.request import Request, Result
from dashboard.storage import bundle
from dashboard.storage.bundle import Bundle
from dashboard.ui import formulas
from dashboard.ui.formulas import _zipped
from dashboard.ui.owner import run_store

FIELD, CHOICE = "regression-formula-{}", "panel-{}-scoring"
GAUSSIAN = "-|q - k|^2 / (2 w^2)"
OWN_GAUSSIAN = "=-norm(q - k)^2 / (2 * w^2)"


def field(app, letter="a"):
    return app.text_input(FIELD.format(letter))


def wanted(backend):
    """The last request of each scoring."""
    asked = [each for each in backend.submitted.values() if each.task == "regression"]
    return {each.scoring: each for each in asked}


def opens_the_field(app, letter="a"):
    return app.selectbox(CHOICE.format(letter)).set_value("=").run()


def seen(app):
    return "\n".join(one.value for kind in (app.caption, app.text, app.error) for one in kind)


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def copied(app):
    """What the button that copies the link is given to say."""
    (button,) = (one for one in app.get("bidi_component") if "copy-link" in str(one.proto))
    return str(button.proto)


def slider(app, title):
    (found,) = [one for one in app.slider if one.label == title]
    return found


def test_a_typed_formula_is_a_scoring_like_any_other(opened, backend):
    app = opens_the_field(opened("regression", a="uniform", b="laplacian"))
    assert field(app).placeholder == GAUSSIAN
    assert "Type a formula of q and k. The charts below still show Uniform." in seen(app)
    field(app).set_value(GAUSSIAN).run()
    assert not app.exception
    assert link(app) == {"a": OWN_GAUSSIAN, "b": "laplacian"}
    assert r"\frac" in app.latex[0].value
    slider(app, "w").set_value(0.5).run()
    assert dict(wanted(backend)[OWN_GAUSSIAN].parameters)["w"] == 0.5
    assert link(app) == {"a": OWN_GAUSSIAN, "a.w": "0.5", "b": "laplacian"}
    assert field(app).value == GAUSSIAN  # as it was typed


def test_a_slider_of_a_formula_moves_its_curve(backend, opened):
    app = opens_the_field(opened("regression", a="uniform"))
    field(app).set_value(GAUSSIAN).run()
    wide = wanted(backend)[OWN_GAUSSIAN]
    slider(app, "w").set_value(0.2).run()
    narrow = wanted(backend)[OWN_GAUSSIAN]
    curves = [curve(request.scoring, dict(request.parameters)["w"]) for request in (wide, narrow)]
    assert np.abs(curves[0] - curves[1]).max() > 0.1


def test_what_is_wrong_is_said_with_its_place_and_the_panel_stays(opened, backend):
    app = opens_the_field(opened("regression", a="gaussian", b="laplacian"))
    before = len(wanted(backend))
    field(app).set_value("q.k / sqr(d)").run()
    assert "Did you mean sqrt" in app.error[0].value
    (shown,) = [one.value for one in app.code if "sqr" in one.value]
    line, carets = shown.split("\n")
    assert line[carets.index("^") :].startswith("sqr(")
    assert "The charts below still show Gaussian." in seen(app)
    assert link(app)["a"] == "gaussian"
    assert len(wanted(backend)) == before
    field(app).set_value("q.k / sqrt(d)").run()
    assert not app.error
    assert link(app)["a"] == "=dot(q, k) / sqrt(d)"
    field(app).set_value("q.k / sqrt(d").run()
    assert app.error
    assert "still show the last formula that works: `dot(q, k) / sqrt(d)`." in seen(app)
    assert link(app)["a"] == "=dot(q, k) / sqrt(d)"


def test_the_link_of_a_wrong_formula_says_what_it_names_instead(opened, backend):
    app = opens_the_field(opened("regression", a="uniform", b="laplacian"))
    field(app).set_value("q.k / sqrt(d)").run()
    assert "Link copied with" not in copied(app)
    field(app).set_value("q.k / sqrt(d").run()
    assert "Link copied with dot(q, k) / sqrt(d): the typed formula is wrong" in copied(app)
    app.session_state["share"] = True
    assert "names dot(q, k) / sqrt(d): the typed" in seen(app.run()).replace("\\", "")
    field(app).set_value("q.k").run()
    assert "Link copied with" not in copied(app)


def test_what_is_typed_is_explained_while_it_is_typed(opened, backend):
    app = opens_the_field(opened("regression", a="uniform"))
    assert field(app).proto.live_debounce_ms == 300
    field(app).set_value("-|q - k| / w").run()
    told = seen(app).replace("\\", "")
    assert "q is the point to predict at, k is a training point. It gives a score for each" in told
    assert "q = 1 scores -1 for k = 0, 0 for k = 1" in told
    field(app).set_value("|k|").run()
    assert "It gives a score for each key, alike for all queries" in seen(app).replace("\\", "")
    field(app).set_value("3").run()
    assert "It gives one score for all" in seen(app).replace("\\", "")


def test_the_last_word_is_completed_by_a_button(opened, backend):
    app = opens_the_field(opened("regression", a="uniform"))
    field(app).set_value("q.k / sq").run()
    assert app.error  # it is no formula yet
    offered = [one.label for one in app.button if str(one.key).startswith("regression-formula-a-")]
    assert offered == ["sqrt", "square"]
    app.button("regression-formula-a-sqrt").click().run()
    assert field(app).value == "q.k / sqrt("
    field(app).set_value("q.k / sqrt(d)").run()
    assert link(app)["a"] == "=dot(q, k) / sqrt(d)"
    assert not [one for one in app.button if str(one.key).startswith("regression-formula-a-")]


def test_two_formulas_stand_beside_an_installed_scoring(opened, backend):
    given = {"a": OWN_GAUSSIAN, "a__w": "0.5", "b": "=-w |q - k|", "c": "laplacian"}
    app = opened("regression", **given)
    assert not app.exception
    assert {OWN_GAUSSIAN, "=-w * norm(q - k)", "laplacian"} == wanted(backend).keys()
    assert dict(wanted(backend)[OWN_GAUSSIAN].parameters)["w"] == 0.5
    assert dict(wanted(backend)["=-w * norm(q - k)"].parameters)["w"] == 1.0
    assert [field(app, letter).value for letter in "ab"] == [
        OWN_GAUSSIAN[1:], "-w * norm(q - k)",
    ]  # fmt: skip
    (titles,) = [table.value["Panel"].tolist() for table in app.dataframe]
    assert titles == [
        "a: −norm(q − k)^2 / (2 * w^2)", "b: −w * norm(q − k)", "c: Laplacian",
    ]  # fmt: skip


def test_another_formula_keeps_the_value_of_a_letter_that_both_have(opened, backend):
    app = opened("regression", a=OWN_GAUSSIAN, a__w="0.5")
    field(app).set_value("-|q - k| / w + c").run()
    found = dict(wanted(backend)["=-norm(q - k) / w + c"].parameters)
    assert (found["w"], found["c"]) == (0.5, 1.0)


def test_another_choice_leaves_the_formula(opened, backend):
    app = opened("regression", a=OWN_GAUSSIAN)
    app.selectbox(CHOICE.format("a")).set_value("laplacian").run()
    assert link(app) == {"a": "laplacian"}
    assert not app.text_input


def test_other_panels_do_not_offer_a_formula_that_is_typed(opened, backend):
    app = opened("regression", a=OWN_GAUSSIAN, b="laplacian")
    assert OWN_GAUSSIAN[1:] not in app.selectbox(CHOICE.format("b")).options
    assert app.selectbox(CHOICE.format("b")).options[0] == "Type a formula…"


def test_a_link_with_a_bad_formula_says_what_is_wrong(opened, backend):
    app = opened("regression", a="=q.k / sqr(d)", b="laplacian")
    assert link(app) == {"a": "gaussian", "b": "laplacian"}
    assert "character 7" in seen(app)
    assert "sqrt" in seen(app)


def test_nothing_learns_by_itself_that_a_link_with_a_formula_asks_for(opened, backend):
    given = {"a__learn": "1", "a__epochs": "2000", "points": "500"}
    app = opened("regression", a=OWN_GAUSSIAN, **given)
    assert not wanted(backend)
    assert app.button("begin-held")


def test_a_page_waits_for_the_formula_of_its_link_and_then_reads_it(opened, backend):
    backend.unfinished = {"formula"}
    app = opened("regression", a=OWN_GAUSSIAN, a__w="0.5")
    assert "Reading the formula" in seen(app)
    assert not wanted(backend)
    backend.unfinished = set()
    app.run()
    assert dict(wanted(backend)[OWN_GAUSSIAN].parameters)["w"] == 0.5


def test_while_a_formula_is_being_read_the_panel_stays(opened, backend):
    app = opens_the_field(opened("regression", a="gaussian", b="laplacian"))
    backend.unfinished = {"formula"}
    field(app).set_value(GAUSSIAN).run()
    assert "Reading the formula" in seen(app)
    assert link(app) == {"a": "gaussian", "b": "laplacian"}
    backend.unfinished = set()
    app.run()
    assert link(app)["a"] == OWN_GAUSSIAN


def test_a_worker_that_fails_is_said_at_the_field(opened, backend):
    app = opens_the_field(opened("regression", a="gaussian"))
    backend.failing = {"formula": Event(number=2, stage="failed", note="the worker died")}
    field(app).set_value(GAUSSIAN).run()
    assert "The worker died" in app.error[0].value


def test_the_package_is_a_zip_of_its_files():
    files = {"one.py": "x = 1\n", "README.md": "é"}
    with zipfile.ZipFile(io.BytesIO(_zipped(files))) as packed:
        assert {name: packed.read(name).decode() for name in packed.namelist()} == files


def packed(app):
    """The button that downloads the package of panel a."""
    (button,) = [one for one in app.get("download_button") if one.proto.id.endswith("a-package")]
    return button.proto


def test_the_package_has_a_name_of_ones_own_or_the_formulas(opened, backend):
    app = opened("regression", a=OWN_GAUSSIAN, b="laplacian")
    name = app.text_input("panel-a-package-called")
    assert name.placeholder.startswith("formula_")
    assert not packed(app).disabled
    assert not [one for one in wanted(backend) if one == "name"]
    name.set_value("My  first_Kernel").run()
    assert not app.exception
    request = backend.submitted[max(backend.submitted)]
    assert dict(request.options) == {"text": OWN_GAUSSIAN[1:], "name": "My first_Kernel"}
    assert not packed(app).disabled
    assert not app.error
    app.text_input("panel-a-package-called").set_value("9 lives").run()
    assert packed(app).disabled
    assert "lives" in app.error[0].value
    app.text_input("panel-a-package-called").set_value("").run()
    assert not packed(app).disabled


def test_the_longest_formula_is_kept_and_exported(opened, backend, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr("dashboard.ui.page_menu.preview", lambda charts, heading: b"")
    longest = "=" + " + ".join(["dot(q, k)"] * 25)
    assert 295 < len(longest) <= 301
    app = opened("regression", a=longest, b="laplacian")
    app.session_state["page-keep"] = True
    app.run()
    app.button("page-keep-now").click().run()
    assert not app.exception
    (kept,) = run_store().all()
    assert parse_qs(urlsplit(kept.link).query)["a"] == [longest]
    request = wanted(backend)[longest]
    made = Bundle(request=request, result=Result(), title=f"Kernel regression, {longest[1:]}")
    assert bundle.read(bundle.write(made)).request == request


class Context:
    def report(self, *given):
        pass

    def stopped(self):
        return False


def curve(scoring, w):
    name = "width" if scoring == "gaussian" else "w"
    request = Request.make("regression", scoring=scoring, parameters={name: w})
    made = task.perform(request, Context())
    return made.tables["curve"]["prediction"].to_numpy()


@pytest.mark.parametrize("text", [GAUSSIAN, "-(q - k).square().sum(-1) / (2 w**2)"])
def test_another_spelling_of_a_built_in_gives_its_curve(text):
    facts = task_formula.perform(Request.make("formula", options={"text": text}), None).facts
    np.testing.assert_allclose(curve(facts["name"], 0.3), curve("gaussian", 0.3), atol=1e-6)


def test_a_formula_that_takes_too_long_to_read_is_stopped_and_said(opened, backend):
    backend.failing["formula"] = Event(number=2, stage="failed", facts={"time_limit": 5.0})
    app = opened("regression", a="=q.k / sqrt(d)")
    assert "reading it took too long" in seen(app).replace("\\", "")
    limits = {
        backend.time_limits[job] for job, r in backend.submitted.items() if r.task == "formula"
    }
    assert limits == {formulas.MOST_SECONDS}
    assert all(limit is None for job, limit in backend.time_limits.items()
               if backend.submitted[job].task == "regression")  # fmt: skip
