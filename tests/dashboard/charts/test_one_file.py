from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
from html.parser import HTMLParser

import altair as alt
import numpy as np
import pyarrow as pa
import pytest

from dashboard.charts import attention_heatmap, export, one_file
from dashboard.charts.one_file import Edition, katex, written

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)><!--<b>&\u2028"
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(5), size=3)


class Tags(HTMLParser):
    """The tags of a file with their attributes, and what stands in its scripts."""

    def __init__(self, file: bytes) -> None:
        super().__init__()
        self.tags, self.scripts, self.attributes, self._inside = [], [], {}, False
        self.feed(file.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.setdefault(tag, []).append(dict(attrs))
        self._inside = tag == "script"
        if self._inside:
            self.scripts.append("")

    def handle_data(self, data):
        if self._inside:
            self.scripts[-1] += data

    def handle_endtag(self, tag):
        self._inside = False

    @property
    def content(self):
        return json.loads(self.scripts[0])

    @property
    def policy(self):
        return next(one["content"] for one in self.attributes["meta"] if "http-equiv" in one)


def file(vega="/* draws */", **more):
    return written({"en": Edition(title="A page", **more)}, vega)


def text(words, kind="markdown"):
    return {"kind": kind, "text": words}


def test_no_text_becomes_a_tag():
    table = pa.table({HOSTILE: [HOSTILE]})
    spec = attention_heatmap(WEIGHTS, ["je", "suis", HOSTILE], list("abcde")).to_dict()
    seen = [text(HOSTILE), {"kind": "setting", "label": HOSTILE, "value": HOSTILE}]
    plain = Tags(file())
    made = written(
        {"en": Edition(title=HOSTILE, note=HOSTILE, link=HOSTILE, seen=seen,
                       charts={"a": spec}, tables={"t": table}, pictures={"b": HOSTILE})},
        "/* draws */",
    )  # fmt: skip
    assert Tags(made).tags == plain.tags
    assert "img" not in plain.tags
    assert "<!--<" not in made.decode()
    (edition,) = Tags(made).content["editions"].values()
    assert edition["title"] == edition["note"] == edition["seen"][0]["text"] == HOSTILE
    assert edition["tables"]["t"]["rows"] == [[HOSTILE]]


def test_the_policy_knows_every_script_and_lets_nothing_else_run_or_load():
    tags = Tags(file(seen=[text("$x$")]))
    rules = dict(rule.strip().split(" ", 1) for rule in tags.policy.split(";"))
    allowed = [
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in tags.scripts[1:]
    ]
    assert rules["script-src"].split() == allowed
    assert len(allowed) == 3
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    assert not [each for each in tags.attributes["script"] if "src" in each]
    assert "link" not in tags.tags


@pytest.mark.parametrize("script", ["a</SCRIPT >b", "a<!--b"])
def test_a_script_that_could_end_early_is_refused(script):
    with pytest.raises(ValueError, match="cannot stand"):
        file(vega=script)


def test_formulas_bring_the_script_of_the_pages_and_other_pages_do_not():
    """Streamlit ships it in one file that needs no other."""
    assert "globalThis.katex=" in katex()
    assert not re.search(r"\b(import|export)\s*[{*]", katex())
    spec = alt.Chart(alt.sequence(0, 3)).mark_point().to_dict()
    assert len(Tags(file(charts={"a": spec})).scripts) == 3
    for seen in ([text("x", "latex")], [text("with $x$")]):
        assert len(Tags(file(seen=seen)).scripts) == 4


def test_each_table_stands_in_it_once_and_no_number_is_lost():
    rows = [{"x": 0.1 + 0.2, "y": None}, {"x": 1e-30, "y": "é"}]
    spec = {"mark": "point", "data": {"name": "rows"}, "datasets": {"rows": rows}}
    made = written(
        {name: Edition(title="A", charts={"a": spec, "b": spec}) for name in ("en", "zh")}, ""
    )
    content = Tags(made).content
    assert content["sets"] == [{"x": [0.1 + 0.2, 1e-30], "y": [None, "é"]}]
    numbers = [
        chart["datasets"]["rows"]
        for edition in content["editions"].values()
        for chart in edition["charts"].values()
    ]
    assert numbers == [0, 0, 0, 0]
    assert spec["datasets"] == {"rows": rows}


def test_rows_with_other_fields_stay_rows():
    assert one_file._columns([{"x": 1}, {"y": 2}]) == [{"x": 1}, {"y": 2}]
    assert one_file._columns([1, 2]) == [1, 2]
    assert one_file._columns([]) == []


def test_a_long_table_is_cut_and_says_so():
    long = pa.table({"n": range(one_file._MOST_ROWS + 1)})
    told = Tags(file(tables={"a": long, "b": long.slice(1)})).content["editions"]["en"]["tables"]
    assert len(told["a"]["rows"]) == len(told["b"]["rows"]) == one_file._MOST_ROWS
    assert told["a"]["left"] == "The first 1,000 of 1,001 rows."
    assert told["b"]["left"] == ""


def test_what_is_no_number_is_empty():
    rows = pa.table({"n": [math.nan, math.inf, 1.5]})
    told = Tags(file(tables={"a": rows})).content["editions"]["en"]["tables"]["a"]
    assert told["rows"] == [[None], [None], [1.5]]


def test_its_own_words_are_in_the_language_of_each_edition():
    made = written({name: Edition(title="A") for name in ("en", "zh")}, "")
    found = Tags(made).content["editions"]
    assert found["en"]["words"]["inWords"] == "In words"
    assert found["zh"]["words"]["inWords"] == "文字说明"
    assert found["en"]["words"]["colon"] == ": "
    assert found["zh"]["words"]["colon"] == "："
    assert found["zh"]["tag"] == "zh-Hans"
    assert found["zh"]["name"] == "简体中文"


@pytest.mark.slow
def test_equal_pages_give_equal_bytes():
    spec = attention_heatmap(WEIGHTS, list("abc"), list("abcde"))
    assert export.html(spec, "A map") == export.html(spec.to_dict(), "A map")


def slider(words, tables=None, seed=0):
    frames = {"positions": [0, 1], "wide": False, "tables": tables or {"chart": {}}}
    packed = gzip.compress(json.dumps({**frames, "words": {"a": words}}).encode())
    return {"low": 0, "high": 1, "step": 0.1, "at": 0.5, "of": f"x{seed}", "frames": packed}


def test_frames_stand_in_it_once_for_all_languages_and_words_in_each():
    def named(*words):
        return {
            "chart": {"points": {"x": [[1], [2]]}, "parameters": {"names": [[w] for w in words]}}
        }

    own = {"en": ("one", "two"), "zh": ("一", "二")}
    sliders = {each: [slider([*words], named(*words))] for each, words in own.items()}
    made = written(
        {"en": Edition(title="A", sliders=sliders["en"], follows={3: {"slider": 0}}),
         "zh": Edition(title="A", sliders=sliders["zh"])},
        "",
    )  # fmt: skip
    tags = Tags(made)
    (frames,) = tags.content["frames"]
    held = json.loads(gzip.decompress(base64.b64decode(frames)))
    shared = {"chart": {"points": {"x": [[1], [2]]}}}
    assert held == {"positions": [0, 1], "wide": False, "tables": shared}
    found = tags.content["editions"]
    for language, words in own.items():
        (one,) = found[language]["sliders"]
        assert (one["frames"], one["words"], one["of"]) == (0, {"a": [*words]}, "x0")
        assert one["values"] == {"chart": named(*words)["chart"]["parameters"]}
    assert found["en"]["follows"] == {"3": {"slider": 0}}
    (live,) = (script for script in tags.scripts if "globalThis.live =" in script)
    assert "export" not in live.partition("*/")[2].replace("exports", "")


def test_a_slider_for_whose_frames_there_is_no_room_is_left_out(monkeypatch):
    monkeypatch.setattr(one_file, "_MOST_FRAMES", 200)
    noise = np.random.default_rng(0).random(100).tolist()
    sliders = [slider([], {"a": noise}), slider([], seed=1)]
    made = Tags(file(sliders=sliders)).content
    large, small = made["editions"]["en"]["sliders"]
    assert large == {"frames": None}
    assert (small["frames"], small["of"]) == (0, "x1")
    assert len(made["frames"]) == 1


def test_a_page_without_sliders_has_no_script_of_theirs():
    assert not any("globalThis.live" in script for script in Tags(file()).scripts)
