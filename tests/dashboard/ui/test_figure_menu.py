from __future__ import annotations

import pytest
import streamlit

from dashboard.charts import figures
from dashboard.ui.owner import run_store

LINK = {"a": "gaussian", "a__width": "0.5", "b": "uniform"}


@pytest.fixture
def downloads(monkeypatch):
    """What is offered, by the file's name: a function that makes the file."""
    offered = {}
    draw = streamlit.download_button

    def keep(label, data, file_name, **more):
        offered[file_name] = data
        return draw(label, data, file_name=file_name, **more)

    monkeypatch.setattr(streamlit, "download_button", keep)
    return offered


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are asked for: what, in which style, as which kind of file."""
    asked = []

    def draw(*figure):
        asked.append(figure)
        return b"the file"

    monkeypatch.setattr(figures, "drawn", draw)
    return asked


@pytest.fixture
def menu(opened):
    def new(page="regression", **link):
        app = opened(page, **link)
        app.session_state["page-figure"] = True
        return app.run()

    return new


def test_nothing_is_drawn_before_a_file_is_asked_for(opened, menu, downloads, drawn):
    opened("regression", **LINK)
    assert not downloads
    menu(**LINK)
    assert [*downloads] == [
        f"kernel-regression-all-panels-8.5cm.{kind}" for kind in ("pdf", "svg", "png")
    ] + ["kernel-regression-all-panels.bib"]
    assert drawn == []


def test_the_comparison_is_drawn_with_its_panels_and_its_caption(menu, downloads, drawn):
    menu(**LINK)
    assert downloads["kernel-regression-all-panels-8.5cm.pdf"]() == b"the file"
    ((figure, style, kind),) = drawn
    assert (kind, style.width, style.font_size) == ("pdf", "single", 7.0)
    assert [panel.title for panel in figure.panels] == ["Gaussian", "Uniform"]
    specs = [chart for panel in figure.panels for chart in panel.charts]
    assert all(isinstance(rows, list) for spec in specs for rows in spec["datasets"].values())
    begins = "Kernel regression: Curve and weights. (a) Gaussian, width 0.5. (b) Uniform. "
    assert figure.caption.startswith(begins)
    assert "Dashed: the truth; rings: the training points. Data: " in figure.caption
    assert "http" not in figure.caption  # a local address


def test_a_reader_chooses_chart_width_size_columns_and_whether_there_is_a_caption(
    menu, downloads, drawn
):
    app = menu(**LINK)
    app.selectbox("page-figure-columns").set_value(1)
    app.number_input("page-figure-size").set_value(9.0)
    app.checkbox("page-figure-caption").uncheck()
    app.selectbox("page-figure-width").set_value("other").run()
    app.number_input("page-figure-cm").set_value(12.5).run()
    downloads["kernel-regression-all-panels-12.5cm.svg"]()
    ((figure, style, kind),) = drawn
    assert (style.centimetres, style.font_size, style.columns, kind) == (12.5, 9.0, 1, "svg")
    assert figure.caption == ""
    parts = app.selectbox("page-figure-part")
    overlay = next(one for one in parts.options if one.startswith("Side by side"))
    parts.select(overlay).run()
    assert not app.exception
    assert "page-figure-columns" not in {one.key for one in app.selectbox}, "of one panel"
    name = next(name for name in downloads if "side-by-side" in name and name.endswith("png"))
    downloads[name]()
    assert len(drawn[-1][0].panels) == 1


def test_the_caption_can_be_copied_and_bibtex_downloaded(menu, downloads):
    app = menu(**LINK)
    (words,) = [one.value for one in app.code if one.value.startswith("Kernel regression:")]
    assert "Attention Workbench" in words
    text = downloads["kernel-regression-all-panels.bib"]().decode()
    assert "@software{attention-workbench," in text
    assert "a.width=0.5" in text


@pytest.mark.parametrize("page", ["translation", "positions", "norms"])
def test_every_page_with_charts_has_the_menu(page, menu, downloads):
    app = menu(page)
    assert not app.exception
    assert any(name.endswith(".pdf") for name in downloads)


def test_a_kept_run_has_figures_under_its_own_name_and_link(
    opened, menu, downloads, drawn, tmp_path, monkeypatch
):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr("dashboard.ui.page_menu.preview", lambda charts, heading: b"")
    app = opened("regression", **LINK)
    app.session_state["page-keep"] = True
    app.run().text_input("page-keep-name").set_value("Wide against narrow").run()
    app.button("page-keep-now").click().run()
    (kept,) = run_store().all()
    assert not menu("runs", id=kept.id).exception
    downloads["wide-against-narrow-all-panels-8.5cm.pdf"]()
    ((figure, *_),) = drawn
    assert [panel.title for panel in figure.panels] == ["Gaussian", "Uniform"]
    assert figure.caption.startswith("Wide against narrow: Curve and weights. (a) Gaussian, ")
    assert f"Settings: id={kept.id}" in downloads["wide-against-narrow-all-panels.bib"]().decode()
