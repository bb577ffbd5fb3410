"""Maps of a notebook: what is drawn, tabled and written is what was watched."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import altair as alt
import pytest
import torch

import attention_plugins
from attention_plugins import record
from dashboard.charts.frames import maps as frames_of
from dashboard.charts.run_charts import check_drawable, run_charts
from dashboard.notebook import AttentionMaps, maps, watch
from dashboard.notebook.maps import Explanation
from dashboard.storage import page_run


@pytest.fixture(scope="module")
def seen():
    """Of 2 inputs, 3 heads, 5 queries and 7 keys; then of 5 and 5."""
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({
        "cross": torch.nn.MultiheadAttention(6, 3, batch_first=True),
        "own": torch.nn.MultiheadAttention(6, 3, batch_first=True),
    })  # fmt: skip
    queries, keys = torch.randn(2, 5, 6), torch.randn(2, 7, 6)
    with watch(model) as seen:
        model["own"](queries, queries, queries)
        model["cross"](queries, keys, keys)
        model["cross"](queries, keys, keys)
    return seen


def test_a_watch_gives_what_the_watch_of_the_plugins_gives(seen):
    assert [(one.name, one.call) for one in seen.maps] == [("own", 0), ("cross", 0), ("cross", 1)]
    assert isinstance(seen.maps, attention_plugins.AttentionMaps)
    assert str(seen).startswith("3 maps of 2 modules")
    assert seen.unseen == ()
    with pytest.raises(TypeError, match=r"need a torch\.nn\.Module, got str"):
        watch("bert")


def test_a_table_has_a_row_for_each_weight(seen):
    table = seen.to_pandas()
    assert len(table) == 2 * 3 * 5 * (5 + 7 + 7)
    one = table.query("map == 'cross' and call == 1 and batch == 1 and head == 2").reset_index()
    weights = seen.maps[2].weights[1, 2]
    assert one["weight"].tolist() == weights.flatten().tolist()
    row = one.iloc[7 + 4]
    columns = ["query", "key", "query_position", "key_position"]
    assert row[columns].tolist() == ["1", "4", 1, 4]
    labelled = seen.maps.named("own").labelled([*"abcab"])[0].to_pandas()
    assert labelled["key"].tolist()[:5] == [*"abcab"]
    assert labelled["query"].tolist()[5:10] == ["b"] * 5
    assert AttentionMaps().to_pandas().columns.tolist() == table.columns.tolist()


def test_chosen_heads_and_rows_keep_their_numbers():
    model = torch.nn.MultiheadAttention(6, 3)
    with watch(model, heads=[2, 0], rows=[4, 1]) as seen:
        model(*[torch.randn(5, 6)] * 3)
    table = seen.to_pandas()
    assert table["head"].unique().tolist() == [2, 0]
    assert table["query_position"].unique().tolist() == [4, 1]
    assert table["query"].unique().tolist() == ["4", "1"]
    assert seen.maps[0].plot().to_dict()["title"]["text"] == ", head 3, 1"
    drawn = seen.maps[0].plot(head=0).to_dict()
    (rows,) = drawn["datasets"].values()
    wanted = seen.maps[0].weights[0, 1].flatten().tolist()
    assert [row["value"] for row in rows] == pytest.approx(wanted, abs=1e-4)
    with pytest.raises(IndexError, match=r"has the heads \[2, 0\], not 1"):
        seen.maps[0].plot(head=1)


def test_the_chart_of_all_holds_the_maps_of_the_last_ones_kind(seen, survives):
    names = ["encoder.0", "decoder.0", "decoder.0.cross", "encoder.1", "decoder.1.cross"]
    several = AttentionMaps.of({name: [[[0.5, 0.5]] * 2] for name in names})
    (rows,) = (r for r in several.plot().to_dict()["datasets"].values() if "map" in r[0])
    assert [row["map"] for row in rows] == ["1.1", "2.1"]
    chart = survives(lambda: seen.plot(vmax=0.5))
    # Twice a mean and three heads, of seven keys.
    texts = [rows for rows in chart["datasets"].values() if "weights" in rows[0]]
    assert [len(rows) for rows in texts] == [2 * (1 + 3)]
    assert all(len(row["weights"]) == 2 * 5 * 7 for row in texts[0])
    own = survives(lambda: seen.maps.named("own").plot(batch=1, scheme="dark"))
    assert own["config"]["background"] == "#12161c"
    with pytest.raises(ValueError, match="there are no maps to draw"):
        AttentionMaps().plot()


def titles(chart):
    spec = chart.to_dict()
    names = next(each["value"] for each in spec["params"] if each["name"] == "names")
    return names[0].partition(" ·")[0], spec["title"]["subtitle"]


@pytest.mark.parametrize(
    ("names", "layer", "title"),
    [
        (["encoder.layer.1.attention.self"], "layer 2", "encoder.layer.1.attention.self"),
        (["h.2.attn", "h.5.attn"], "layer 3", "h.*.attn"),
        (["h.2.attn", "h.2.attn"], "layer 1", "h.2.attn"),  # two calls
        (["stage.3.block.0", "stage.3.block.1"], "layer 1", "stage.*.block.*"),
        (["own"], "layer 1", "own"),
    ],
)
def test_layers_have_the_numbers_of_their_modules_and_the_title_their_name(names, layer, title):
    one = torch.full((1, 1, 2, 2), 0.5)
    several = AttentionMaps(attention_plugins.AttentionMaps.of([one[0]])[0] for _ in names)
    named = AttentionMaps(
        replace(each, name=name) for each, name in zip(several, names, strict=True)
    )
    assert titles(named.plot()) == (layer, title)


def test_heads_count_from_one_in_every_chart(seen):
    (rows,) = seen.maps[0].plot().to_dict()["datasets"].values()
    assert {row["head"] for row in rows} == {1, 2, 3}
    assert seen.maps[0].plot(0).to_dict()["title"]["text"] == "own, head 1"


def test_a_chart_is_of_the_head_and_the_input_and_in_the_looks_that_are_asked_for(seen):
    own = seen.maps.named("own").labelled([*"abcde"])[0]
    chart = own.plot(2, batch=1, scheme="dark", title="mine", signed=True).to_dict()
    (rows,) = chart["datasets"].values()
    wanted = own.weights[1, 2].flatten().tolist()
    assert [row["value"] for row in rows] == pytest.approx(wanted, abs=1e-4)
    assert (chart["title"]["text"], chart["config"]["background"]) == ("mine", "#12161c")
    labels = {each["name"]: each["value"] for each in chart["params"] if "value" in each}
    assert labels["queries"] == labels["keys"] == [*"abcde"]


def test_what_a_causal_mask_hides_is_hatched():
    causal = AttentionMaps.of([[[1.0, 0.0], [0.5, 0.5]]])
    (rows,) = causal[0].plot().to_dict()["datasets"].values()
    assert [row["value"] for row in rows] == [1, None, 0.5, 0.5]
    (texts,) = (r for r in causal.plot().to_dict()["datasets"].values() if "weights" in r[0])
    others = AttentionMaps.of([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]])
    (plain,) = (r for r in others.plot().to_dict()["datasets"].values() if "weights" in r[0])
    assert texts[0]["weights"][2:4] not in (text["weights"][2:4] for text in plain)
    (rows,) = others[0].plot(0).to_dict()["datasets"].values()
    assert [row["value"] for row in rows] == [1, 0, 0, 1]  # another head looks ahead


def test_a_table_begins_with_what_is_asked_for(seen):
    assert seen.to_pandas().columns.tolist()[:3] == ["query", "key", "weight"]


def test_labels_in_a_table_keep_their_order_and_weights_in_half_precision_are_told():
    halves = torch.tensor([[[0.75, 0.25]]], dtype=torch.bfloat16)
    table = AttentionMaps.of(halves, ["je"], ["i", "am"]).to_pandas()
    assert table["weight"].tolist() == [0.75, 0.25]
    assert table["key"].cat.categories.tolist() == ["i", "am"]


def test_a_file_for_runs_holds_every_map_of_every_input(seen, tmp_path):
    seen.save(tmp_path / "look.zip")
    (panel,) = page_run.read((tmp_path / "look.zip").read_bytes()).panels
    frames = frames_of(panel.result.tables["maps"])
    assert len(run_charts(panel.result)) == len(frames)
    check_drawable(panel.result)
    assert [(one.kind, one.layer) for one in frames] == [
        ("own", 0), ("own 1", 0), ("cross", 0), ("cross 1", 0), ("cross", 1), ("cross 1", 1),
    ]  # fmt: skip
    assert frames[3].weights.tolist() == seen.maps[1].weights[1].tolist()


def test_a_file_for_runs_says_which_weights_may_be_negative(seen, tmp_path):
    doubled = replace(seen.maps[0], signed=True, weights=2 * seen.maps[0].weights)  # sums of 2
    AttentionMaps([doubled, seen.maps[1]]).save(tmp_path / "look.zip")
    (panel,) = page_run.read((tmp_path / "look.zip").read_bytes()).panels
    assert panel.result.tables["maps"]["signed"].to_pylist() == [True, True, False, False]


def test_an_explanation_has_what_the_translator_told():
    one = record.AttentionMap(
        site=record.Site("cross", 1), weights=torch.tensor([[[-0.5, 1.5]]]), query_labels=("je",),
        key_labels=("zebra", "<eos>"), normalised=False, signed=True,
    )  # fmt: skip
    found = Explanation(
        record.Translation(
            text="je", tokens=("je",), log_probabilities=(-0.5,), source_tokens=one.key_labels,
            unknown=("zebra",), maps=(one,),
        )
    )  # fmt: skip
    assert (found.log_probabilities, found.unknown) == ((-0.5,), ("zebra",))
    assert [(each.name, each.signed) for each in found.maps] == [("decoder.1.cross", True)]


def test_a_file_of_maps_is_read_again(seen, tmp_path):
    path = tmp_path / "look.safetensors"
    seen.save(path)
    again = AttentionMaps.load(path)
    assert type(again) is type(again[:1]) is AttentionMaps
    assert again.to_pandas().equals(seen.to_pandas())


@pytest.mark.parametrize("name", ["look.html", "look"])
def test_other_files_are_refused(seen, tmp_path, name):
    with pytest.raises(ValueError, match=r"need a file that ends in \.safetensors or \.zip"):
        seen.save(tmp_path / name)
    with pytest.raises(ValueError, match="there are no maps to save"):
        AttentionMaps().save(tmp_path / "look.zip")


def test_the_chart_is_of_the_input_that_is_asked_for(seen):
    charts = [seen.plot(batch=batch).to_json() for batch in (0, 1)]
    assert charts[0] == seen.plot().to_json() != charts[1]
    with pytest.raises(IndexError):
        seen.plot(batch=2)


def test_a_table_that_would_not_fit_is_refused(monkeypatch, seen):
    monkeypatch.setattr(maps, "MOST_ROWS", 570)
    assert len(seen.to_pandas()) == 570
    monkeypatch.setattr(maps, "MOST_ROWS", 100)
    with pytest.raises(ValueError, match="need at most 100 weights for a table, got 570"):
        seen.to_pandas()


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])  # none, and one in a terminal
def test_outside_of_notebooks_a_chart_opens_in_the_browser(monkeypatch, tmp_path, seen, shell):
    opened, saved = [], []
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(maps.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    monkeypatch.setattr(maps.webbrowser, "open", opened.append)
    # Vega itself would be written into the file, which takes two seconds.
    monkeypatch.setattr(alt.LayerChart, "save", lambda *given, **more: saved.append((given, more)))
    seen.show()
    (((chart, path), more),) = saved
    assert chart.to_dict() == seen.plot().to_dict()
    assert more == {"inline": True}
    assert opened == [path.as_uri()] == [(tmp_path / "chart.html").as_uri()]


def test_in_a_notebook_a_chart_is_displayed(monkeypatch, seen):
    displayed = []
    shell = SimpleNamespace(kernel=object())
    python = SimpleNamespace(
        get_ipython=lambda: shell, display=SimpleNamespace(display=displayed.append)
    )
    monkeypatch.setitem(sys.modules, "IPython", python)
    seen.show()
    assert [each.to_dict() for each in displayed] == [seen.plot().to_dict()]
