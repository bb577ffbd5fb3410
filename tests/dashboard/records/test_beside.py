"""Tables beside the code."""

from __future__ import annotations

from dashboard.records.beside import beside


def test_a_table_is_read_beside_its_module_in_the_order_of_the_file(tmp_path):
    (tmp_path / "figures.toml").write_text('[b]\ntitle = "√d"\n[a]\nlow = 1.5\n', "utf-8")
    held = beside(str(tmp_path / "page.py"), "figures.toml")
    assert [*held.items()] == [("b", {"title": "√d"}), ("a", {"low": 1.5})]
