from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import pytest
import streamlit as st

from dashboard.records.request import Request, Result
from dashboard.ui import upload
from dashboard.ui.citation import bibtex
from dashboard.ui.figure_parts import FigurePanel, FigurePart, Made, caption

DAY = date(2026, 3, 5)
LINK = "https://example.org/?a=gaussian&b.width=2"
FACTS = {"environment": {"torch": "2.13.0", "commit": "abc1234"}}


@pytest.fixture
def made(catalogue):
    request = Request.make(
        "regression", model="nadaraya_watson", scoring="gaussian", data="sine", seed=3
    )
    results = [(request, Result(facts=FACTS)), (replace(request, seed=1), Result(facts=FACTS))]
    cited = {
        name: replace(entry, reference=f"Nobody 1999, On {name}")
        for name, entry in catalogue.scorings.items()
    }
    known = replace(catalogue, scorings=cited)
    return Made(title="Kernel regression", link=LINK, results=results, catalogue=known)


def part(*said):
    panels = tuple(FigurePanel(charts=("x",), title=words, said=words) for words in said)
    return FigurePart(title="All panels", panels=panels)


def test_a_caption_says_what_is_seen_and_how_to_see_it_again(made):
    words = caption(made, part("Gaussian, width 2", "Uniform"))
    title = made.catalogue.datasets["sine"].short_title
    assert words.startswith("Kernel regression. (a) Gaussian, width 2. (b) Uniform. ")
    assert f"Data: {title}. Seed: 1, 3. " in words
    assert "(commit abc1234) and torch 2.13.0." in words
    assert words.endswith(LINK)
    later = (replace(made.results[0][0], seed=12), Result(facts={"environment": {"torch": "9"}}))
    more = caption(replace(made, results=[*made.results, later]), part("Uniform"))
    assert "Seed: 1, 3, 12. " in more
    assert "torch 2.13.0." in more  # the first result's
    alone = caption(made, part("Curve of panel a: Gaussian"))
    assert alone.startswith("Kernel regression: Curve of panel a: Gaussian. Data")


def test_a_caption_names_the_settings_of_the_data_that_all_results_have(made):
    request, result = made.results[0]

    def words(*options):
        results = [(replace(request, options=one), result) for one in options]
        return caption(replace(made, results=results), part("A curve."))

    few = (("data.noise", 0.2), ("data.points", 20))
    assert "Data: Sine (points 20, noise 0.2). " in words(few)
    assert "Data: Sine (points 20). " in words(few, (("data.noise", 0.3), ("data.points", 20)))
    assert "Data: Sine. " in words(few, ())


def test_a_caption_calls_a_model_no_data(made):
    request, result = made.results[0]
    known = replace(made.catalogue, checkpoints={"m": SimpleNamespace(title="Decoder on pairs")})
    shown = [(replace(request, data=data), result) for data in ("m", "m", "sine")]
    words = caption(replace(made, catalogue=known, results=shown), part("A map."))
    assert "Model: Decoder on pairs. Data: Sine" in words


def test_a_caption_says_no_seed_of_a_record_and_calls_its_folder_no_data(made):
    request, _ = made.results[0]
    held = replace(request, data="my-dot-q-k"), Result(facts={**FACTS, "recorded": True})
    words = caption(replace(made, results=[held]), part("Differences."))
    assert "Differences. Computed with" in words
    words = caption(replace(made, results=[held, (request, Result())]), part("Differences."))
    assert "my-dot" not in words
    assert "Seed: 3. Computed with" in words


def test_a_caption_has_the_key_of_marks_and_no_address_that_others_cannot_follow(made):
    panels = (FigurePanel(charts=("x",), said="A curve", marks=("Dashed: truth.",)),)
    local = replace(made, link="http://127.0.0.1:8501/regression?a=gaussian")
    words = caption(local, FigurePart(title="x", panels=panels))
    assert "A curve. Dashed: truth. Data: " in words
    assert "http" not in words
    text = bibtex(local, None, DAY)
    assert "http" not in text
    assert "Settings: regression?a=gaussian" in text


def test_a_caption_names_a_file_of_any_kind_as_its_visitor_does(made, monkeypatch):
    table, other = f"upload:{'a' * 64}", f"upload:{'b' * 64}"
    names = {f"{upload.TABLE.key} names": {table: "heights.csv"}}
    monkeypatch.setattr(st, "session_state", names)
    request, result = made.results[0]
    shown = [(replace(request, data=data), result) for data in (table, other)]
    words = caption(replace(made, results=shown), part("A curve."))
    assert "Data: heights.csv, the file bbbbbbbb…. " in words


def test_a_caption_leaves_out_what_is_not_known_and_links_that_fill_it(made):
    bare = replace(made, results=[], link=f"{LINK}&text={'x' * 600}")
    words = caption(bare, part("A curve."))
    assert "Data" not in words
    assert "Seed" not in words
    assert "torch" not in words
    assert "http" not in words
    assert "A curve. Computed with Attention Workbench" in words


def test_bibtex_names_the_workbench_the_page_and_what_its_plugins_cite(made):
    text = bibtex(made, part("Gaussian", "Uniform"), DAY)
    assert text.count("@software{attention-workbench,") == 1
    assert "title = {{Kernel regression: Gaussian; Uniform}}" in text
    assert rf"howpublished = {{\url{{{LINK}}}}}" in text
    assert "month = {mar}" in text
    assert "note = {Commit abc1234}" in text
    scoring = made.catalogue.scorings["gaussian"]
    assert text.count("On gaussian") == 1
    assert f"note = {{Scoring {scoring.short_title}}}" in text
    assert "On uniform" not in text
    twice = bibtex(replace(made, link=f"{LINK}&c=uniform"), part("Uniform", "Uniform"), DAY)
    assert "title = {{Kernel regression: Uniform}}" in twice
    keys = {re.search(r"\{attention-workbench-(\w{8}),", one)[1] for one in (text, twice)}
    assert len(keys) == 2  # two links are two entries of one paper


def with_references(made):
    """With a work for every data set and normaliser."""
    known = {
        kind: {
            name: replace(entry, title=f"{name} (short)", reference=f"Nobody 1999, On {name}")
            for name, entry in getattr(made.catalogue, kind).items()
        }
        for kind in ("datasets", "normalisers")
    }
    return replace(made, catalogue=replace(made.catalogue, **known))


def test_bibtex_cites_the_data_set_and_the_normaliser_that_were_asked_for(made):
    request, result = made.results[0]
    asked = replace(request, options=(("normaliser", "entmax"),))
    text = bibtex(replace(with_references(made), results=[(asked, result)]), None, DAY)
    for title, note in (("On sine", "Data set sine"), ("On entmax", "Normaliser entmax")):
        assert f"title = {{{{{title}}}}}" in text
        assert f"note = {{{note}}}" in text


def test_a_checkpoint_has_an_entry_and_the_works_behind_it_too(made):
    (name, checkpoint), *_ = made.catalogue.checkpoints.items()
    request = Request.make("translation", data=name)
    text = bibtex(replace(made, results=[(request, Result())]), None, DAY)
    assert "Trained on" in text or "revision" in text
    assert f"On {checkpoint.scoring}" in text
    assert "title = {{Kernel regression}}" in text
    known = with_references(made)

    def entries(**card):
        more = replace(checkpoint, card={**checkpoint.card, **card}, corpus="sine")
        held = replace(known.catalogue, checkpoints={name: more})
        return bibtex(replace(known, catalogue=held, results=[(request, Result())]), None, DAY)

    text = entries(normaliser="entmax", corpus={"sha256": "ab12"})
    assert "On entmax" in text
    assert "On sine" in text
    assert "note = {Trained on sine, sha256 ab12}" in text
    adopted = {"family": "Marian", "repository": "a/b", "revision": "0123"}
    assert "note = {a/b, revision 0123}" in entries(adopted=adopted)


def test_a_long_title_is_cut(made):
    text = bibtex(made, part("x" * 300, "y"), DAY)
    assert f"{{{{Kernel regression: {'x' * 180}…}}}}" in text


@pytest.mark.usefixtures("chinese")
def test_a_chinese_page_has_a_chinese_caption_and_english_bibtex(made):
    sine = replace(made.catalogue.datasets["sine"], title="正弦")
    data = {**made.catalogue.datasets, "sine": sine}
    scoring = replace(made.catalogue.scorings["gaussian"], title="高斯核")
    told = replace(
        made.catalogue, datasets=data, scorings={**made.catalogue.scorings, "gaussian": scoring}
    )
    page = replace(
        made, title="核回归", catalogue=told, english="Kernel regression", installed=made.catalogue
    )
    words = caption(page, part("高斯核", "平均汇聚"))
    assert words.startswith("核回归。(a) 高斯核。(b) 平均汇聚。数据：正弦。随机种子：")
    assert "（提交 abc1234）" in words
    text = bibtex(page, part("高斯核", "平均汇聚"), DAY)
    assert "title = {{Kernel regression}}" in text
    assert "高斯核" not in text
