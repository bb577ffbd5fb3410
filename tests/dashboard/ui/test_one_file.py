from __future__ import annotations

import pyarrow as pa

from dashboard.storage.page_run import PageRun
from dashboard.storage.seen import Chart, Group, Table, Text, Value, whole
from dashboard.ui import shown
from dashboard.ui.one_file import edition, followed
from dashboard.ui.shown import Slider

SEEN = Group(
    blocks=(
        Text(kind="heading", text="**A**"),
        Group(
            letter="a", title="*one*",
            blocks=(Text(kind="latex", text="x^2"), Value(kind="metric", label="*n*", value="1")),
        ),
        Chart(name="curve", alt="A curve"),
        Table(name="rows"),
    )
)  # fmt: skip
PAGE = PageRun(
    panels=(), name="<b>", note="a note", seen=SEEN,
    charts={"curve": {"mark": "point"}}, tables={"rows": pa.table({"n": [1]})},
    pictures={"curve.png": b"\x89PNG", "curve.svg": b"<svg/>"},
)  # fmt: skip


def test_a_page_of_our_own_has_its_charts_and_its_markdown():
    made = edition(PAGE, "https://lab.example/regression")
    assert made.charts == PAGE.charts
    assert made.pictures == {}
    assert [block["kind"] for block in made.seen] == ["heading", "group", "chart", "table"]
    assert made.link == "https://lab.example/regression"


def test_of_a_stranger_s_page_nothing_is_read_or_run():
    made = edition(PAGE, "", foreign=True)
    assert made.charts == {}
    assert made.pictures == {"curve": "data:image/png;base64,iVBORw=="}
    heading, group, _, table = made.seen
    assert (heading["kind"], heading["text"]) == ("text", "**A**")
    assert [block["kind"] for block in group["blocks"]] == ["text", "setting"]
    assert table == SEEN.blocks[3].model_dump(mode="json")
    assert made.tables == PAGE.tables


def test_blocks_that_move_are_known_by_their_place():
    def broken():
        raise ValueError

    with shown.recording() as record:
        shown.container()
        with shown.container():
            shown.setting("plain", 1)
            shown.setting("width", 0.5, "key-a")
            shown.note_text("an error of 1", follows="panel a")
            shown.setting("none", 2, "key-b")
            shown.setting("lost", 3, "key-c")
    record.sliders["key-a"] = Slider(0, 1, 0.1, 0.5, "a", lambda: b"frames")
    record.sliders["key-c"] = Slider(0, 1, 0.1, 0.5, "c", broken)
    made = followed(record)
    blocks = [*whole(record.seen.blocks)]
    assert {blocks[n].kind: what for n, what in made["follows"].items()} == {
        "setting": {"slider": 0}, "text": {"words": "panel a"},
    }  # fmt: skip
    (number,) = (n for n, what in made["follows"].items() if "slider" in what)
    assert blocks[number].label == "width"
    (slider,) = made["sliders"]
    assert (slider["of"], slider["frames"]) == ("a", b"frames")
