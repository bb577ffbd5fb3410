from __future__ import annotations

import pytest

from dashboard.storage.seen import Chart, Group, Text, Value
from dashboard.ui.figure_parts import LEGEND, figure_parts


def chart(name, alt=""):
    return Chart(name=name, alt=alt or f"{name}: as lines. Point at it.")


def panel(letter, *charts, title="", **settings):
    values = [Value(kind="setting", label=label, value=value) for label, value in settings.items()]
    return Group(letter=letter, title=title or f"Scoring {letter}", blocks=(*values, *charts))


def named(parts):
    return {part.title: [panel.charts for panel in part.panels] for part in parts}


def heading(text):
    return Text(kind="heading", text=text)


def test_panels_and_sections_come_before_single_charts():
    page = Group(
        blocks=(
            chart(f"{LEGEND}-0-to-1", "Colours from weight 0 to 1"),
            Group(layout="grid", blocks=(panel("a", chart("one")), panel("b", chart("two")))),
            heading(r"Side by side\, all"),
            chart("three"),
            heading("Seeds"),
            Group(layout="row", blocks=(Group(blocks=(chart("four"),)), chart("five"))),
        )
    )
    assert named(figure_parts(page)) == {
        "All panels": [("one",), ("two",)],
        "Seeds": [("four",), ("five",)],
        "All charts": [("one",), ("two",), ("three",), ("four",), ("five",)],
        "one: as lines": [("one",)],
        "two: as lines": [("two",)],
        "Side by side, all: three: as lines": [("three",)],
        "Seeds: four: as lines": [("four",)],
        "Seeds: five: as lines": [("five",)],
    }


def test_charts_of_a_panel_stay_together_or_stand_beside_their_like():
    def both(letter):
        return panel(letter, chart(f"c{letter}", f"Curve of panel {letter}"),
                     chart(f"l{letter}", f"Loss of panel {letter}"))  # fmt: skip

    parts = figure_parts(Group(blocks=(both("a"), both("b"))))
    assert {name: it for name, it in named(parts).items() if name.startswith("All")} == {
        "All panels": [("ca", "la"), ("cb", "lb")],
        "All panels: Curve": [("ca",), ("cb",)],
        "All panels: Loss": [("la",), ("lb",)],
    }


def test_a_panel_is_said_with_its_settings_and_a_chart_without_how_to_use_it():
    blocks = (panel("a", chart("one"), width="2", learn="on"), panel("b", chart("two")))
    both, first, _ = figure_parts(Group(blocks=blocks))
    assert [one.title for one in both.panels] == ["Scoring a", "Scoring b"]
    assert both.panels[0].said == "Scoring a, width 2, learn on"
    assert first.panels[0].said == "one: as lines: Scoring a, width 2, learn on"
    loss = Value(kind="metric", label="Loss", value="0.3")
    many = panel("a", chart("one"), b="1", c="2", d="3", e="4", f="5")
    both = figure_parts(Group(blocks=(many, panel("b", loss, chart("two"), g="6"))))[0]
    assert [one.said for one in both.panels] == ["Scoring a, b 1, c 2, d 3, e 4", "Scoring b, g 6"]


def test_sections_stand_in_the_order_of_the_page_and_groups_within_a_panel_are_the_panels():
    def section(name):
        return heading(name), chart(f"{name.lower()}-1"), chart(f"{name.lower()}-2")

    page = Group(blocks=(*section("Seeds"), *section("Costs")))
    assert [*named(figure_parts(page))][:2] == ["Seeds", "Costs"]
    inner = Group(layout="row", blocks=(chart("one"), chart("two")))
    page = Group(blocks=(panel("a", inner), panel("b", chart("three"))))
    assert named(figure_parts(page))["All panels"] == [("one", "two"), ("three",)]


def test_what_a_page_says_of_a_panel_and_of_marks_stands_in_the_caption():
    def of(letter):
        drawn = Chart(name=f"c{letter}", alt=f"Curve of panel {letter}", marks="Dashed: truth.")
        own = panel(letter, drawn, width="2")
        return own.model_copy(update={"said": f"Kernel {letter}, learned"})

    both, first, _ = figure_parts(Group(blocks=(of("a"), of("b"))))
    assert [one.said for one in both.panels] == ["Kernel a, learned", "Kernel b, learned"]
    assert (both.shown, both.marks) == ("Curve", ("Dashed: truth.",))
    assert first.panels[0].said == "Curve: Kernel a, learned"
    assert first.marks == ("Dashed: truth.",)


def test_a_letter_alone_is_no_comparison():
    page = Group(blocks=(panel("b", heading("Runs"), chart("one"), chart("two")),))
    (runs, *alone) = figure_parts(page)
    assert (runs.title, [one.title for one in runs.panels]) == ("Runs", ["one", "two"])
    assert [part.panels[0].said for part in alone] == ["one: as lines", "two: as lines"]


def test_switches_that_are_off_are_not_said():
    page = Group(blocks=(panel("a", chart("one"), learn="off", average="on"),))
    (part,) = figure_parts(page)
    assert part.panels[0].said == "one: as lines"
    both = Group(blocks=(*page.blocks, panel("b", chart("two"), learn="off", width="3")))
    assert [one.said for one in figure_parts(both)[0].panels] == [
        "Scoring a, average on", "Scoring b, width 3",
    ]  # fmt: skip


@pytest.mark.usefixtures("chinese")
def test_charts_of_a_chinese_page_stand_beside_their_like():
    page = Group(
        blocks=tuple(
            panel(
                letter,
                chart(f"map-{letter}", f"面板 {letter} 的注意力：纵向为查询。最大的权重为 1。"),
                chart(f"loss-{letter}", f"面板 {letter} 的学习曲线：按步。"),
            )
            for letter in "ab"
        )
    )
    assert [*named(figure_parts(page))][:3] == [
        "所有面板",
        "所有面板：注意力",
        "所有面板：学习曲线",
    ]
