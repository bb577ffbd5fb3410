"""The picture of a run where its link is shared."""

from __future__ import annotations

import io

import altair as alt
import pytest
from PIL import Image, ImageColor

from dashboard.charts import figures as module
from dashboard.charts import theme
from dashboard.charts.figures import HEIGHT, MOST, WIDTH, Titled, preview

_FILE = io.BytesIO()
Image.new("RGB", (7, 5)).save(_FILE, "PNG")
PNG = _FILE.getvalue()
RED, BLUE = "#d02020", "#2020d0"


def block(colour, width=300, height=200):
    """A chart that is one block of a colour."""
    data = alt.Data(values=[{"x": 0, "y": 0}])
    mark = alt.Chart(data).mark_rect(color=colour, width=width, height=height)
    return mark.encode(x=alt.X("x:Q", axis=None), y=alt.Y("y:Q", axis=None)).properties(
        width=width, height=height
    )


class Painter:
    """Stands for the painter: pictures of the sizes that it is given, and what it was asked."""

    def __init__(self, *sizes):
        self.sizes, self.orders = sizes, []

    def __call__(self, orders, *, patience):
        self.orders += orders
        if orders[0]["kind"] == "print":
            return [PNG]
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}"/>'
        return [svg.format(*size).encode() for size in self.sizes]


@pytest.fixture
def drawn(monkeypatch):
    """``drawn(sizes)``: the pictures' places in the drawing, and its lines of text."""

    def draw(*sizes, titles=None, heading="Kernel regression"):
        found = {}

        def drawing(size, placed, lines, fonts, unit):
            found.update(size=size, placed=[*placed], lines=[*lines])
            return "<svg/>"

        monkeypatch.setattr(module, "painted", Painter(*sizes))
        monkeypatch.setattr(module.figure_style, "drawing", drawing)
        names = titles or ["" for _ in sizes]
        preview([Titled(name, block(RED)) for name in names], heading)
        return found

    return draw


@pytest.mark.slow
def test_the_charts_stand_beside_each_other_on_light_ground():
    made = preview([Titled("Red", block(RED)), Titled("Blue", block(BLUE))], "Two blocks")
    with Image.open(io.BytesIO(made)) as opened:
        assert opened.format == "PNG"
        picture = opened.convert("RGB")
    assert picture.size == (WIDTH, HEIGHT)
    for place, colour in (
        ((2, 2), theme.BACKGROUND["light"]),
        ((WIDTH // 4, HEIGHT // 2), RED),
        ((3 * WIDTH // 4, HEIGHT // 2), BLUE),
    ):
        wanted = ImageColor.getrgb(colour)
        assert all(abs(a - b) <= 2 for a, b in zip(picture.getpixel(place), wanted, strict=True))


@pytest.mark.parametrize(
    ("sizes", "columns"),
    [
        ([(900, 300)], 1), ([(400, 400)] * 2, 2), ([(900, 150)] * 3, 1), ([(300, 500)] * 4, 4),
        ([(500, 240)] * 4, 2),
    ],
)  # fmt: skip
def test_all_is_in_as_many_columns_as_make_it_largest(drawn, sizes, columns):
    placed = drawn(*sizes)["placed"]
    assert len({one.x for one in placed}) == columns
    for one in placed:
        assert one.x >= 0
        assert one.x + one.picture.width * one.scale <= WIDTH
        assert one.y > 80  # below the heading
        assert one.y + one.picture.height * one.scale <= HEIGHT
    for one in placed:
        for other in placed:
            apart = abs(one.x - other.x) >= one.picture.width * one.scale
            below = abs(one.y - other.y) >= one.picture.height * one.scale
            assert one is other or apart or below


def test_titles_stand_over_their_charts_and_are_cut_where_they_are_too_long(drawn):
    found = drawn((400, 400), (400, 400), titles=["Gaussian kernel", "no end of words " * 20])
    heading, first, second = found["lines"]
    assert (heading.text, first.text) == ("Kernel regression", "Gaussian kernel")
    assert second.text.endswith(" …")
    assert len(second.text) < 60
    for line, picture in zip((first, second), found["placed"], strict=True):
        assert line.y <= picture.y
        assert line.x <= picture.x + 1


def test_no_more_charts_are_drawn_than_can_be_seen(drawn):
    assert len(drawn(*[(300, 300)] * MOST, titles=["one"] * (MOST + 3))["placed"]) == MOST


def test_a_picture_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one chart"):
        preview([], "Nothing")
