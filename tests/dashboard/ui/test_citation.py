from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from attention_plugins.registry import load
from dashboard.ui import citation
from dashboard.ui.citation import Cited

DAY = date(2026, 3, 5)
HOSTILE = 'a\\b {c} $d& #e_f %g ~h ^i\n@misc{x, title = "j"}'


def fields(entry: str) -> dict[str, str]:
    """The fields of one entry, whose braces must match."""
    head, *lines, end = entry.strip().splitlines()
    assert re.fullmatch(r"@[a-z]+\{[a-zA-Z0-9-]+,", head)
    assert end == "}"
    found = dict(line.strip().removesuffix("},").split(" = {", 1) for line in lines)
    for held in found.values():
        bare = re.sub(r"\\[{}]", "", held)
        assert bare.count("{") == bare.count("}")
    return found


def one(reference: str, title: str = "Additive") -> dict[str, str]:
    (entry,) = citation.cited([Cited(kind="scoring", title=title, reference=reference)])
    return fields(entry)


def test_the_workbench_is_cited_as_its_citation_file_says():
    said = Path(__file__).parents[3].joinpath("CITATION.cff").read_text("utf-8")
    assert f'\ntitle: "{citation.TITLE}"\n' in said
    assert f'- name: "{citation.AUTHORS}"' in said
    held = fields(citation.software("0.1.0", DAY, "abc_1"))
    assert held["title"] == "{Attention Workbench}"
    assert (held["version"], held["year"]) == ("0.1.0", "2026")
    assert held["note"] == r"Commit abc\_1"
    assert "note" not in fields(citation.software("0.1.0", DAY))


def test_letters_of_formulas_are_set_by_every_tex():
    link = "https://example.org/?a=gaussian"
    held = fields(citation.shown("Gaussian kernel, σ = −2·Δ", link, "ab12", DAY, "With λ‖x‖."))
    assert held["title"] == r"{Gaussian kernel, $\sigma$ = $-$2$\cdot$$\Delta$}"
    assert held["note"] == r"With $\lambda$$\|$x$\|$."


def test_a_bare_page_of_this_machine_has_no_settings_to_say():
    held = fields(citation.shown("Start", "http://localhost:8501/start", "ab12", DAY, "With it."))
    assert held["note"] == "With it."


def test_what_a_page_shows_has_its_link_and_its_day():
    link = "https://example.org/?a=gaussian&b.width=50%25&c={}"
    held = fields(citation.shown("Kernel regression", link, "ab12", DAY, "With torch 2.13"))
    assert held["howpublished"] == (
        r"\url{https://example.org/?a=gaussian&b.width=50%25&c=%7B%7D}"
    )
    assert (held["year"], held["month"], held["note"]) == ("2026", "mar", "With torch 2.13")


@pytest.mark.parametrize(
    "host",
    [
        "localhost:8501",
        "127.0.0.1:8501",
        "[::1]:8501",
        "192.168.0.7",
        "gpu-7",
        "m.local",
        "m.localhost",
    ],
)
def test_an_address_that_others_cannot_follow_gives_way_to_its_settings(host):
    link = f"http://{host}/regression?a=gaussian&a.width=0.5"
    held = fields(citation.shown("Kernel regression", link, "ab12", DAY, "With torch 2.13."))
    assert "howpublished" not in held
    note = r"With torch 2.13. Settings: regression?a=gaussian\&a.width=0.5"
    assert held["note"] == note
    bare = fields(citation.shown("Start", f"http://{host}/", "ab12", DAY, "With torch 2.13."))
    assert bare["note"] == "With torch 2.13."


def test_texts_of_strangers_stay_texts():
    entry = citation.shown(HOSTILE, HOSTILE, "k", DAY, HOSTILE)
    assert entry.count("\n@") == 0
    assert r"a\textbackslash{}b \{c\} \$d\& \#e\_f \%g" in fields(entry)["title"]
    assert fields(citation.model("a b/ü", HOSTILE, HOSTILE))["title"]


@pytest.mark.parametrize(
    ("reference", "author", "title", "note"),
    [
        ("Bahdanau, Cho & Bengio 2014, Neural translation, section 3.1",
         "Bahdanau and Cho and Bengio", "Neural translation", "Scoring Additive: section 3.1"),
        ("Xu et al. 2015, Show, attend and sing", "Xu and others", "Show, attend and sing",
         "Scoring Additive"),
    ],
)  # fmt: skip
def test_a_reference_becomes_authors_year_and_title(reference, author, title, note):
    held = one(reference)
    assert (held["author"], held["title"], held["note"]) == (author, f"{{{title}}}", note)


def test_a_reference_in_other_words_is_cited_as_it_stands():
    assert one("Nadaraya (1964), my own thesis")["title"] == "{Nadaraya (1964), my own thesis}"
    assert [
        *citation.cited([Cited(kind="model", title="x", reference="Attention Workbench")])
    ] == []
    assert [*citation.cited([Cited(kind="model", title="x", reference="")])] == []


def test_a_work_that_several_cite_has_one_entry_and_two_works_have_two_names():
    entries = [
        *citation.cited(
            [
                Cited(kind="scoring", title="Dot", reference="Luong 2015, Attention, section 3"),
                Cited(kind="model", title="RNN", reference="Luong 2015, Attention, section 4"),
                Cited(kind="model", title="Old", reference="Luong 2015, Before; Cho 2014, GRU"),
            ]
        )
    ]
    assert fields(entries[0])["note"] == "Scoring Dot: section 3; Model RNN: section 4"
    names = [re.match(r"@misc\{(.+),", entry)[1] for entry in entries]
    assert names == ["luong2015", "luong2015-1", "cho2014"]


# No works of others: a grammar, and a selection of sentences with their sources and licence.
DESCRIBED = {"phrasebook", "tatoeba", "beginnings"}


def test_a_known_work_has_full_names_and_where_it_appeared():
    reference = "Vaswani et al. 2017, Attention is all you need, section 3.2.1"
    (entry,) = citation.cited([Cited(kind="scoring", title="Dot", reference=reference)])
    assert entry.startswith("@inproceedings{vaswani2017,\n")
    held = fields(entry)
    assert held["author"].startswith("Ashish Vaswani and Noam Shazeer and ")
    assert held["booktitle"] == "Advances in Neural Information Processing Systems 30"
    assert held["note"] == "Scoring Dot: section 3.2.1"
    assert one("Ada 2017, Attention is all you need")["author"] == "Ada"


# A model card, and an essay on a web page.
NOWHERE = {"gpt-oss-120b & gpt-oss-20b model card, the paragraph on attention",
           "Attention is off by one"}  # fmt: skip


def test_the_works_that_built_ins_cite_are_known_with_the_same_authors():
    unused = {*citation._WORKS}
    for kind in ("scorings", "normalisers", "models", "datasets"):
        for spec in getattr(load(allow=[]), kind).values():
            for work, _ in citation._works(Cited(kind=kind, title="", reference=spec.reference)):
                if "author" not in work or work["title"] in NOWHERE:
                    continue
                unused -= {work["title"]}
                known = citation._WORKS[work["title"]]
                assert sum(name in citation._KIND_BY for name in known) == 1
                *named, last = work["author"].split(" and ")
                full = known["author"].split(" and ")
                named += [last] if last != "others" else []
                assert len(named) == len(full) or (last == "others" and len(named) < len(full))
                for short, long in zip(named, full, strict=False):
                    assert long.endswith(short), work["title"]
    assert not unused


@pytest.mark.parametrize("kind", ["scorings", "normalisers", "models", "datasets"])
def test_every_work_that_built_ins_cite_has_authors_a_year_and_a_title(kind):
    for name, spec in getattr(load(allow=[]), kind).items():
        if name in DESCRIBED:
            continue
        things = [Cited(kind=kind, title=spec.title, reference=spec.reference)]
        for entry in citation.cited(things):
            assert all(f"  {field} = {{" in entry for field in ("author", "title", "year")), name
