from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from support.charts import kernel_tables

from dashboard import language
from dashboard.charts import attention_heatmap, figure, figures, painter, regression_chart
from dashboard.charts.export import ExportError, complete
from dashboard.charts.figure_style import LARGER, SMALLEST, FigureStyle, styled
from dashboard.charts.figures import DPI, Figure, Panel, drawn
from dashboard.charts.frames import MapFrame
from dashboard.charts.head_grid import draw_head_grid, prepare_head_grid
from dashboard.charts.template import PARAMETERS, chart_of, template
from dashboard.features.regression.figures import draw_overlay, prepare_overlay

SVG = "{http://www.w3.org/2000/svg}"
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(5), size=3)
KEYS = ["the", "committee", "decided", "<b>&", "."]
CAPTION = "Three words and “their” weights."


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """A painter of its own would take longer to start than to paint."""
    monkeypatch.setattr(figures, "painted", lambda orders: [painter.paint(o) for o in orders])


def heatmap(vmax=1.0):
    return attention_heatmap(WEIGHTS, ["le", "comité", "<eos>"], KEYS, vmax=vmax)


def panels(count, chart=heatmap):
    return [Panel(charts=[chart()], title=f"Scoring {number}") for number in range(count)]


def opened(svg: bytes):
    return ElementTree.fromstring(svg)


def texts(root):
    """Every text with its size on paper, in pt."""
    found = []

    def walk(element, scale):
        if element.tag == f"{SVG}svg" and element is not root:
            scale *= float(element.get("width")) / float(element.get("viewBox").split()[2])
        if element.tag == f"{SVG}text" and (element.text or "").strip():
            found.append((element.text, scale * float(element.get("font-size").rstrip("px"))))
        for child in element:
            walk(child, scale)

    walk(root, 1.0)
    return found


def places(root):
    """Left, top and width of every picture, in pt."""
    return [tuple(float(one.get(name)) for name in ("x", "y", "width"))
            for one in root.findall(f"{SVG}svg")]  # fmt: skip


@pytest.mark.parametrize(("width", "points"), [("double", 496.1), (8, 226.8)])
def test_a_pdf_has_the_width_of_a_column_and_the_font_in_it(width, points):
    pdf = drawn(Figure(panels=panels(1), caption=CAPTION), FigureStyle(width=width), "pdf")
    (box,) = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert float(box[0]) == pytest.approx(points, abs=0.1)
    assert b"LiberationSans" in pdf


def test_an_svg_and_a_png_have_the_same_size_on_paper():
    wanted = Figure(panels=panels(1), caption=CAPTION)
    svg = opened(drawn(wanted, FigureStyle(), "svg"))
    width, height = (float(svg.get(name).removesuffix("pt")) for name in ("width", "height"))
    with Image.open(io.BytesIO(drawn(wanted, FigureStyle(), "png"))) as png:
        assert png.size == pytest.approx([width * DPI / 72, height * DPI / 72], abs=2)
        assert png.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert width == pytest.approx(8.5 / 2.54 * 72, abs=0.01)


def test_no_text_is_smaller_than_the_size_that_was_asked_for():
    size = 9.0
    curve, points, weights = kernel_tables()
    several = [*panels(1), Panel(charts=[regression_chart(curve, points, weights)])]
    made = drawn(Figure(panels=several, caption=CAPTION), FigureStyle(font_size=size), "svg")
    sizes = [found for _, found in texts(opened(made))]
    assert min(sizes) == pytest.approx(size, rel=1e-3)
    assert max(sizes) < 1.3 * size


def test_a_four_panel_comparison_is_legible_at_eight_centimetres():
    curve, points, weights = kernel_tables()
    several = panels(4, lambda: regression_chart(curve, points, weights))
    root = opened(drawn(Figure(panels=several), FigureStyle(), "svg"))
    assert min(size for _, size in texts(root)) * 8 / 8.5 > 6
    assert len({left for left, *_ in places(root)[:4]}) == 2
    height = float(root.get("height").removesuffix("pt"))
    assert height / 72 * 2.54 < 20  # on one page


@pytest.mark.parametrize(("centimetres", "told"), [(8.0, 0), (17.5, 2)])
def test_the_largest_weight_is_told_over_a_map_only_where_there_is_room(centimetres, told):
    curve, points, weights = kernel_tables()
    several = panels(2, lambda: regression_chart(curve, points, weights))
    style = FigureStyle(width=centimetres, columns=2)
    said = [text for text, _ in texts(opened(drawn(Figure(panels=several), style, "svg")))]
    assert sum(text.startswith("largest ") for text in said) == told
    assert said.count("weights of the training x") == 2
    assert "attention weight" in said  # the scale ends at the largest weight


def test_a_long_address_in_the_caption_stays_inside_the_figure():
    address = "https://workbench.example/regression?data=upload%3A" + "b3c02c9d27b5f498" * 8
    style = FigureStyle(width=8.0)
    root = opened(drawn(Figure(panels=panels(1), caption=f"Data. {address}"), style, "svg"))
    lines = [text for text, _ in texts(root) if text in f"Data. {address}"]
    assert "".join(lines).endswith(address)
    widest = max(len(line) for line in lines if "%" not in line) * 0.556  # a digit of Helvetica
    assert widest * style.font_size <= style.points


def test_headings_caption_labels_and_the_colour_scale_are_there():
    root = opened(drawn(Figure(panels=panels(2), caption=CAPTION), FigureStyle(), "svg"))
    said = [text for text, _ in texts(root)]
    assert {"(a) Scoring 0", "(b) Scoring 1", CAPTION, "comité"} <= {*said}
    assert all(said.count(key) == 2 for key in KEYS)
    assert said.count("attention weight") == 1  # for both panels
    assert {"0", "0.5", "1"} <= {*said}


def test_panels_whose_colours_mean_something_else_have_a_scale_each():
    several = [Panel(charts=[heatmap(1.0)]), Panel(charts=[heatmap(0.4)])]
    root = opened(drawn(Figure(panels=several), FigureStyle(), "svg"))
    said = [text for text, _ in texts(root)]
    assert said.count("attention weight") == 2
    assert {"0.4", "1"} <= {*said}
    map_a, scale_a, map_b, scale_b = (left for left, *_ in places(root))
    assert map_a == scale_a < map_b == scale_b


def test_labels_that_do_not_fit_beside_each_other_stand_upright():
    keys = ["i'm", "<eos>", "house", "today", "<unk>"]

    def chart():
        return attention_heatmap(WEIGHTS, list("abc"), keys, cell=44)

    wide, narrow = (
        opened(drawn(Figure(panels=panels(2, chart)), FigureStyle(width=width), "svg"))
        for width in ("double", "single")
    )
    for root in (wide, narrow):
        said = [text for text, _ in texts(root)]
        assert all(said.count(key) == 2 for key in keys)
    turned = [b"rotate" in ElementTree.tostring(root) for root in (wide, narrow)]
    assert turned == [False, True]


@pytest.mark.parametrize("layers", [1, 4])
def test_small_maps_lie_within_a_figure_however_many_layers_they_are_of(layers, painted):
    frames = [
        MapFrame(
            kind="cross", layer=layer, weights=np.broadcast_to(WEIGHTS, (3, *WEIGHTS.shape)),
            query_labels=("le", "comité", "<eos>"), key_labels=tuple(KEYS),
        )
        for layer in range(layers)
    ]  # fmt: skip
    prepared = prepare_head_grid(frames)
    chart = chart_of(draw_head_grid, prepared)
    made = styled(complete(chart), 240, FigureStyle())
    heads = painted(made).items("heads_marks")
    assert len(heads) == 4 * layers
    assert max(one["y"] + one["height"] for one in heads) == pytest.approx(made["height"], abs=2)
    rows = {name: table.to_pylist() for name, table in prepared.sent.items()}
    page = {**template(draw_head_grid, prepared), "datasets": rows}
    (sizes,) = styled(complete(page), 240, FigureStyle())["datasets"][PARAMETERS]
    assert sizes["height"] == made["height"]


def test_the_title_of_a_map_takes_as_many_lines_as_it_needs():
    frame = MapFrame(
        kind="cross", layer=0, weights=np.broadcast_to(WEIGHTS, (3, *WEIGHTS.shape)),
        query_labels=("le", "comité", "<eos>"), key_labels=tuple(KEYS),
    )  # fmt: skip
    grid = complete(chart_of(draw_head_grid, prepare_head_grid([frame])))
    alone = complete(attention_heatmap(WEIGHTS, title="layer 1 · mean of 3 heads, a summary"))
    lines = [*map(texts_of, (grid, alone))]
    assert lines[0] == lines[1]
    assert "".join(lines[0]).replace(" ", "") == "layer1·meanof3heads,asummary"
    assert max(map(len, lines[0])) * 0.5 * 12 * LARGER < 116 / FigureStyle().reduction


def texts_of(spec):
    root = opened(painter.paint({"kind": "svg", "spec": styled(spec, 116, FigureStyle())}))
    title = next(one for one in root.iter() if "role-title-text" in one.get("class", ""))
    return [one.text for one in title.iter() if (one.text or "").strip()]


def test_names_inside_one_panel_do_not_meet_those_of_another():
    chart = (
        alt.Chart(pd.DataFrame({"x": [0, 1], "y": [0, 9]}))
        .mark_line(clip=True)
        .encode(x="x:Q", y=alt.Y("y:Q", scale=alt.Scale(domain=[0, 5])))
    )
    svg = drawn(
        Figure(panels=[Panel(charts=[chart]), Panel(charts=[chart])]), FigureStyle(), "svg"
    )
    names = re.findall(rb'\bid="([^"]+)"', svg)
    used = re.findall(rb"url\(#([^)]+)\)", svg)
    assert len(names) == len({*names}) >= 2
    assert {*used} == {*names}


@pytest.mark.parametrize(
    ("style", "columns"),
    [
        (FigureStyle(), 2),
        (FigureStyle(width="double"), 4),
        (FigureStyle(columns=1), 1),
        (FigureStyle(columns=9), 4),
    ],
)
def test_panels_stand_beside_each_other_as_far_as_they_fit(style, columns, monkeypatch):
    picture = (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="99" height="50" viewBox="0 0 99 50"/>'
    )
    monkeypatch.setattr(figures, "painted", lambda orders: [picture] * len(orders))
    curve, points, weights = kernel_tables()
    several = panels(4, lambda: regression_chart(curve, points, weights))
    found = places(opened(drawn(Figure(panels=several), style, "svg")))[:4]
    assert len({left for left, *_ in found}) == columns
    assert all(left + width <= style.points + 0.01 for left, _, width in found)


def test_a_chart_of_a_page_is_drawn_as_the_chart_of_a_notebook():
    curve, points, _ = kernel_tables()
    prepared = prepare_overlay({"a": curve}, points, colours={"a": "#123456"})
    rows = {name: table.to_pylist() for name, table in prepared.sent.items()}
    page = {**template(draw_overlay, prepared), "datasets": rows}
    assert b"#123456" in drawn(Figure(panels=[Panel(charts=[page])]), FigureStyle(), "svg")


def test_one_line_writes_a_file_from_python(tmp_path):
    path = figure(heatmap(), tmp_path / "norms.pdf", width="single", caption=CAPTION)
    assert path.read_bytes().startswith(b"%PDF")
    two = figure({"Additive": heatmap(), "Dot": heatmap()}, str(tmp_path / "two.SVG"))
    assert b"(b) Dot" in two.read_bytes()
    figure([heatmap(), heatmap()], tmp_path / "list.svg")
    figure(heatmap().to_dict(), tmp_path / "specification.svg")
    assert len([*tmp_path.iterdir()]) == 4


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"width": "treble"}, "'single' or 'double'"),
        ({"width": 2}, "from 4 to 40 cm, got 2"),
        ({"font_size": SMALLEST - 1}, "font size from 5 to 16 pt, got 4"),
        ({"columns": -1}, "got columns=-1"),
    ],
)
def test_a_style_out_of_bounds_is_refused_with_what_would_be_right(wrong, reason, tmp_path):
    with pytest.raises(ValueError, match=reason):
        figure(heatmap(), tmp_path / "x.pdf", **wrong)


def test_another_kind_of_file_or_nothing_to_draw_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"\.pdf, \.svg, \.png, got 'docx'"):
        figure(heatmap(), tmp_path / "x.docx")
    with pytest.raises(ValueError, match="at least one chart"):
        figure([], tmp_path / "x.pdf")
    with pytest.raises(ExportError, match=r"evil\.example"):
        figure({"mark": "point", "data": {"url": "http://evil.example/x"}}, tmp_path / "x.pdf")


def test_the_data_of_a_chart_stay_as_they_are():
    spec = figures.complete(heatmap())
    before = str(spec)
    made = styled(spec, 120, FigureStyle())
    assert str(spec) == before
    assert made["datasets"] == spec["datasets"]
    assert made["width"] == pytest.approx(120 / FigureStyle().reduction)


def test_a_figure_in_chinese_is_set_in_a_family_with_its_characters(monkeypatch):
    assert FigureStyle().fonts.startswith("Liberation Sans, ")
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    assert FigureStyle().fonts.startswith("Noto Sans CJK SC, ")
    assert FigureStyle().fonts.endswith(", Liberation Sans, Arial, Helvetica, sans-serif")
    assert FigureStyle(font="Times").fonts.startswith("Times, Noto Sans CJK SC, ")
