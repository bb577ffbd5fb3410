import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.features.heads.view import (
    LINK as PAGE_LINK,
)
from dashboard.features.heads.view import default_view, requests
from dashboard.links.fits import resolve, translation_request

LINK = {
    "a": "bahdanau.bilinear", "text": "go .", "target": "va !", "off": "cross.1.all,encoder.2.3",
    "uniform": "decoder.1.1", "pin": "cross.2.1:3>0", "kind": "all", "sort": "entropy",
    "only": "distance<0.05", "map": "2.mean", "shows": "norms", "patch": "encoder.1.2",
    "other": "stop !",
}  # fmt: skip


def test_the_bare_link_is_a_transformer_where_there_is_one(catalogue):
    view, problems = PAGE_LINK.parse({}, catalogue)
    assert (view, problems) == (default_view(catalogue), [])
    assert view.checkpoint == "bahdanau.additive"
    assert PAGE_LINK.format(view, catalogue) == {}


def test_a_link_comes_back_as_it_was(catalogue):
    view, problems = PAGE_LINK.parse(LINK, catalogue)
    assert problems == []
    assert PAGE_LINK.format(view, catalogue) == LINK


def test_requests_are_those_of_the_translation_page_until_something_is_changed(catalogue):
    view, _ = PAGE_LINK.parse({"text": "go .", "corpus": "tatoeba"}, catalogue)
    checkpoint = resolve(catalogue, view.corpus, view.checkpoint)
    there = translation_request(checkpoint, text="go .")
    asked = requests(view, checkpoint)
    assert asked.unchanged == asked.changed == asked.map == asked.changed_map == there
    view, _ = PAGE_LINK.parse(LINK, catalogue)
    changed = requests(view, checkpoint).changed
    assert dict(changed.options)["changes"] == (
        "off:cross.1.all off:encoder.2.3 uniform:decoder.1.1 pin:cross.2.1:3>0 patch:encoder.1.2"
    )
    assert dict(changed.options)["other"] == "stop !"
    assert "measure" not in dict(changed.options)
    maps = requests(view, checkpoint)[-2:]
    assert [dict(one.options)["measure"] for one in maps] == ["norms", "norms"]
    assert [dict(one.options).get("changes") for one in maps] == [
        None, dict(changed.options)["changes"],
    ]  # fmt: skip
    heads = requests(view, checkpoint).figures
    assert (heads.task, dict(heads.options)) == ("heads", {"text": "go .", "target": "va !"})


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"off": "cross.2.3,<b>"}, "off=‘<b>’: need off of a head such as cross.2.3"),
        ({"pin": "cross.2.3"}, "pin=‘cross.2.3’: need pin of a head"),
        ({"kind": "pooling"}, "kind=‘pooling’: need one of cross, encoder, decoder, all"),
        ({"sort": "name"}, "sort=‘name’: need one of leave_one_out"),
        ({"only": "entropy=1"}, "only=‘entropy=1’: need finding, changed, or a figure"),
        ({"only": "entropy>9999999"}, "only=‘entropy>9999999’"),
        ({"patch": "cross.2.3:1>0"}, "patch=‘cross.2.3:1>0’: need patch of a head such as"),
        ({"shows": "entropy"}, "shows=‘entropy’: need one of weights, norms, gradient, rollout"),
        ({"map": "0.1"}, "map=‘0.1’: need a layer and a head"),
        ({"a": "%"}, "a=‘%’: need model.scoring such as bahdanau.additive, so"),
        ({"beam": "5"}, "unknown parameter ‘beam’"),
        ({"off": ",".join(f"cross.{i}.{j}" for i in range(1, 17) for j in range(1, 17))},
         "256 changes to heads; the first 200 are used"),
    ],
)  # fmt: skip
def test_what_a_link_must_not_say_is_named(catalogue, link, sentence):
    _, problems = PAGE_LINK.parse(link, catalogue)
    assert [problem for problem in problems if problem.startswith(sentence)]


def test_a_figure_of_a_link_that_was_shared_before_keeps_its_meaning(catalogue):
    link = {"sort": "stuckness", "only": "stuckness>0.5"}
    view, problems = PAGE_LINK.parse(link, catalogue)
    assert problems == []
    assert (view.sort, str(view.only)) == ("concentration", "concentration>0.5")
    assert PAGE_LINK.parse(PAGE_LINK.format(view, catalogue), catalogue) == (view, [])


PARTS = st.text("crosencdall.0123456789:>,<-%", max_size=25)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from((*LINK, "corpus", "x")), PARTS | st.sampled_from(
    ["cross.1.2,cross.2.all", "encoder.3.1:2>11", "entropy>-0.000000001", "changed", "2.3"]
)))  # fmt: skip
def test_any_link_gives_a_view_that_its_own_link_restores(catalogue, query):
    view, _ = PAGE_LINK.parse(query, catalogue)
    assert PAGE_LINK.parse(PAGE_LINK.format(view, catalogue), catalogue) == (view, [])
