import numpy as np
import pytest
from support.pages import ends_after, live_words, maps

from dashboard import language
from dashboard.jobs.backend import Event


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (*app.markdown, *app.text, *app.caption)
    return "\n".join([*(str(one.value) for one in kinds), *live_words(app)])


def test_the_first_screen_is_a_finished_comparison(opened):
    app = opened("start")
    assert not app.exception
    assert len(app.get("vega_lite_chart")) == 1
    assert "Averaged over x, 5 of 5 points carry 90% of the Gaussian's weight." in words(app)
    assert "average pooling" in words(app)
    assert link(app) == {}
    assert not app.get("skeleton")


def test_the_slider_asks_for_both_kernels_and_the_sentence_says_what_it_did(opened, backend):
    made = backend.wait

    def sharper(job, timeout):
        """The narrow kernel looks at the nearest point alone."""
        event = made(job, timeout)
        if dict(backend.submitted[job].parameters).get("width") == 0.2:
            names = [f"{v}" for v in range(5)]
            event.result.tables["maps"] = maps("pooling", np.eye(5), names, names)
        return event

    backend.wait = sharper
    app = opened("start")
    before = len(backend.submitted)
    app.slider("start-width").set_value(0.2).run()
    assert not app.exception
    asked = [*backend.submitted.values()][before:]
    assert sorted(request.scoring for request in asked) == ["gaussian", "laplacian"]
    assert link(app) == {"width": "0.2"}
    assert "Narrower: averaged over x, 1 of 5 points carry" in words(app)
    assert "down from 5 at width 0.5" in words(app)


def test_the_comparison_is_told_in_chinese(opened, monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    app = opened("start")
    assert not app.exception
    assert "90% 的权重落在 5 个点中的 5 个上" in words(app)
    doors = [one.proto.label for one in app.get("page_link")]
    assert doors == ["上十节短课", "翻译一句话", "用这些曲线继续", "输入公式", "编写插件"]


def test_a_scoring_that_fails_is_named_and_may_be_tried_again(opened, backend):
    backend.failing["laplacian"] = Event(number=3, stage="failed", note="out of memory", facts={})
    app = opened("start")
    assert not app.exception
    assert "out of memory" in words(app)
    assert not app.get("vega_lite_chart")
    del backend.failing["laplacian"]
    app.button("start-chart--retry").click().run()
    assert len(app.get("vega_lite_chart")) == 1


def test_the_chart_waits_for_the_last_scoring(opened, backend):
    backend.unfinished.add("uniform")
    app = opened("start")
    assert not app.exception
    assert not app.get("vega_lite_chart")
    assert len(app.get("skeleton")) == 1
    assert len(app.get("page_link")) == 5  # the doors are open


@pytest.mark.parametrize("looks", [1, 2, 3, 4])
def test_a_scoring_that_ends_while_the_page_is_drawn_leaves_nothing_waiting(
    opened, backend, looks
):
    ends_after(backend, "uniform", looks)
    app = opened("start")
    assert not app.exception
    assert len(app.get("vega_lite_chart")) + len(app.get("skeleton")) == 1
    assert len(app.run().get("vega_lite_chart")) == 1


def test_the_doors_lead_to_what_they_say(opened):
    app = opened("start", width="0.2")
    doors = {one.proto.label: one.proto for one in app.get("page_link")}
    assert [*doors] == [
        "Take ten short lessons",
        "Translate a sentence", "Continue with these curves", "Type a formula", "Write a plugin",
    ]  # fmt: skip
    same = doors["Continue with these curves"]
    assert same.page == "regression"
    assert same.query_string == "a=gaussian&a.width=0.2&b=laplacian&b.width=0.2&c=uniform"


def test_without_kernels_the_doors_stay(opened, backend):
    kept = [one for one in backend.facts["scorings"] if one["name"] != "gaussian"]
    backend.facts["scorings"] = kept
    app = opened("start")
    assert not app.exception
    assert len(app.get("page_link")) == 5
