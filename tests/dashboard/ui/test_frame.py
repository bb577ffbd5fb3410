import pytest
import streamlit as st

from dashboard.ui import frame


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ((), "Heads · Attention Workbench"),
        (("Dot product", "Cosine"), "Dot product, Cosine · Heads · Attention Workbench"),
        (("Dot product", "Dot product"), "Dot product · Heads · Attention Workbench"),
        (("a" * 40, "b" * 40), f"{'a' * 40}, {'b' * 17}… · Heads · Attention Workbench"),
        (("a" * 58, "b"), f"{'a' * 58}, b"[:58] + "… · Heads · Attention Workbench"),
    ],
)
def test_a_tab_is_named_by_what_its_page_shows(monkeypatch, shown, wanted):
    named = []
    monkeypatch.setattr(st, "set_page_config", lambda **given: named.append(given))
    frame.name_tab("Heads", shown)
    assert named == [{"page_title": wanted}]
