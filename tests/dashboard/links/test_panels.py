from dataclasses import replace
from types import SimpleNamespace

from dashboard.links.link import Link
from dashboard.links.panels import (
    CheckpointLetters,
    PanelsField,
    Reading,
    SelectedField,
    checkpoints_of,
    corpus,
    kind,
    one_kind,
    query,
    selected_maps,
    text,
    with_map,
    with_maps,
    with_panels,
    without_panel,
)

PANELS = PanelsField(name="panels")
LINK = Link(
    default=lambda catalogue: Reading(panels=()),
    fields=(
        corpus(),
        PANELS,
        CheckpointLetters(panels=PANELS),
        text(""),
        kind(),
        SelectedField(name="selected", panels=PANELS),
    ),
)
VIEW = Reading(panels=("bahdanau.additive", "x.y", "bahdanau.bilinear"), corpus="tatoeba")


def test_the_maps_of_panels_are_written_in_one_way():
    assert with_maps(VIEW, ["", "2.3", "", "9.9"]).selected == ("", "2.3")
    assert with_maps(VIEW, ["", ""]).selected == ()
    view = with_map(with_map(VIEW, "c", "1.1"), "b", "2.mean")
    assert selected_maps(view) == {"a": "", "b": "2.mean", "c": "1.1"}
    assert with_map(with_map(view, "c", ""), "b", "").selected == ()


def test_a_panel_that_goes_takes_its_map_along():
    view = without_panel(with_maps(VIEW, ["1.1", "2.2", "3.3"]), "b")
    assert view.panels == ("bahdanau.additive", "bahdanau.bilinear")
    assert selected_maps(view) == {"a": "1.1", "c": "3.3"}
    added = with_panels(view, {**view.by_letter, view.free_letter: "transformer.dot"})
    assert added.by_letter == {
        "a": "bahdanau.additive", "b": "transformer.dot", "c": "bahdanau.bilinear",
    }  # fmt: skip
    assert selected_maps(added) == {"a": "1.1", "b": "", "c": "3.3"}
    assert (view.letters, added.letters) == ("ac", "")


def test_letters_stay_where_the_link_says_so(catalogue):
    link = {"b": "bahdanau.additive", "d": "bahdanau.bilinear", "panels": "bd", "d.map": "2.1"}
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert selected_maps(view) == {"b": "", "d": "2.1"}
    assert [*checkpoints_of(view, catalogue)] == ["b", "d"]
    assert LINK.format(view, catalogue) == link
    assert query(view)["panels"] == "bd"


def test_letters_that_are_not_those_of_the_link_are_refused(catalogue):
    link = {"b": "bahdanau.additive", "d": "bahdanau.bilinear", "panels": "bc"}
    view, problems = LINK.parse(link, catalogue)
    assert [*view.by_letter] == ["a", "b"]
    assert problems == ["panels=‘bc’: need the letters of the panels in this link, so ab is used"]


def test_a_letter_goes_with_the_panel_that_is_refused(catalogue):
    given = {"b": "bahdanau.additive", "c": "%", "d": "bahdanau.bilinear", "panels": "bcd"}
    view, problems = LINK.parse(given, catalogue)
    assert len(problems) == 1
    assert view.by_letter == {"b": "bahdanau.additive", "d": "bahdanau.bilinear"}


def test_the_usual_panels_under_other_letters_are_written(catalogue):
    usual, _ = LINK.parse({}, catalogue)
    letters = "bcd"[: len(usual.panels)]
    moved = usual.with_panels(dict(zip(letters, usual.panels, strict=True)))
    assert LINK.parse(LINK.format(moved, catalogue), catalogue) == (moved, [])
    assert moved.letters == letters


def test_checkpoints_are_found_for_the_panels_that_have_one(catalogue):
    here = checkpoints_of(VIEW, catalogue)
    assert {letter: one.name for letter, one in here.items()} == {"a": "one", "c": "three"}


def test_maps_follow_the_letters_of_the_link_not_those_of_the_page(catalogue):
    given = {"b": "bahdanau.additive", "d": "bahdanau.bilinear", "d.map": "2.1", "b.map": "0.1"}
    view, problems = LINK.parse(given, catalogue)
    assert view.panels == ("bahdanau.additive", "bahdanau.bilinear")
    assert view.selected == ("", "2.1")
    assert problems == ["b.map=‘0.1’: need a layer and a head such as 2.3 or 2.mean; ignored"]
    assert LINK.format(view, catalogue) == {
        "a": "bahdanau.additive", "b": "bahdanau.bilinear", "b.map": "2.1",
    }  # fmt: skip


def test_a_map_of_a_panel_that_is_refused_is_refused_too(catalogue):
    given = {"a": "bahdanau.additive", "b": "%", "b.map": "2.1"}
    view, problems = LINK.parse(given, catalogue)
    assert (view.panels, view.selected) == (("bahdanau.additive",), ())
    assert len(problems) == 2
    assert problems[-1] == "unknown parameter ‘b.map’: ignored"


def test_another_page_reads_the_same_from_a_query(catalogue):
    view = with_maps(Reading(panels=VIEW.panels, corpus="tatoeba", text="go .", kind="encoder"),
                     ["", "2.3"])  # fmt: skip
    again, problems = LINK.parse(query(view), catalogue)
    assert (again, problems) == (view, [])
    assert "target" not in query(view)
    assert query(replace(view, target="va !"))["target"] == "va !"


def test_where_no_panel_can_be_shown_the_usual_ones_are(catalogue):
    usual, _ = LINK.parse({}, catalogue)
    view, problems = LINK.parse({"a": "%", "b": "%"}, catalogue)
    assert (view.panels, len(problems)) == (usual.panels, 2)


def test_models_of_one_kind_are_named_unless_they_translate():
    kinds = {"a": "decoder", "b": "decoder", "c": "encoder", "d": "encoder-decoder"}
    made = {name: SimpleNamespace(kind=kind) for name, kind in kinds.items()}
    for names, said in (("ab", "decoder"), ("c", "encoder"), ("ac", ""), ("d", ""), ("", "")):
        assert one_kind([made[name] for name in names]) == said
