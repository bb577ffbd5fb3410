from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.features.alignment import view
from dashboard.features.alignment.view import LINK, alignment_request, default_view
from dashboard.records.catalogue import Checkpoint, Entry

KEYS = (
    "a", "b", "b.map", "corpus", "gold", "source", "target", "links", "count", "pair", "order",
    "device", "x",
)  # fmt: skip
FILE = f"upload:{'0a' * 32}"


@pytest.fixture(scope="module")
def offered(catalogue):
    """The catalogue with two data sets that have gold alignments."""
    gold = {
        name: Entry(name=name, title=name, task="translation", aligned=True)
        for name in ("phrasebook", "links")
    }
    return replace(catalogue, datasets={**catalogue.datasets, **gold})


def test_a_link_holds_panels_corpus_count_pair_and_order(offered):
    link = {
        "a": "bahdanau.additive", "b": "bahdanau.bilinear", "b.map": "1.2", "corpus": "tatoeba",
        "gold": "links", "count": "997", "pair": "17", "order": "worst", "device": "cpu",
    }  # fmt: skip
    view, problems = LINK.parse(link, offered)
    assert problems == []
    assert LINK.format(view, offered) == link
    assert (view.panels, view.selected) == (
        ("bahdanau.additive", "bahdanau.bilinear"),
        ("", "1.2"),
    )
    assert (view.gold, view.count, view.pair, view.order) == ("links", 997, 17, "worst")


def test_the_bare_link_takes_models_of_a_corpus_with_gold(offered):
    view, problems = LINK.parse({}, offered)
    assert problems == []
    assert (view.corpus, view.gold, view.panels) == (
        "phrasebook", "phrasebook", ("twin_a", "twin_b"),
    )  # fmt: skip
    assert LINK.format(view, offered) == {}
    elsewhere = default_view(offered, "tatoeba")
    assert (elsewhere.gold, len(elsewhere.panels)) == ("phrasebook", 3)


def test_without_any_gold_one_pair_by_hand_is_shown(catalogue):
    view = default_view(catalogue)
    assert (view.corpus, view.gold, view.links) == ("tatoeba", "own", "0-0 1-1 2-2 2-3 3-4")


def test_a_pair_by_hand_travels_in_the_link(offered):
    # From an address comes another object than the name in the code.
    link = {"gold": "".join("own"), "source": "Go.", "target": "Va !", "links": "0-0 1?1"}
    view, problems = LINK.parse(link, offered)
    assert problems == []
    assert LINK.format(view, offered) == link
    (checkpoint,) = (c for c in offered.checkpoints.values() if c.name == "twin_a")
    request = alignment_request(view, checkpoint, [checkpoint])
    assert dict(request.options) == {
        "corpus": "own", "source": "Go.", "target": "Va !", "links": "0-0 1?1",
    }  # fmt: skip
    # What is not used is not kept: equal pages have equal links.
    assert LINK.parse({"gold": "own", "pair": "3"}, offered)[0].pair == 1


def test_what_is_not_offered_is_named(offered):
    link = {"gold": "tatoeba", "order": "up", "count": "0", "pair": "-3", "source": "unused"}
    view, problems = LINK.parse(link, offered)
    assert (view.gold, view.order, view.count, view.pair) == ("phrasebook", "number", 1, 1)
    assert [p.split("=")[0] for p in problems[:-1]] == ["gold", "count", "pair", "order"]
    assert "gold=‘tatoeba’: need one of phrasebook, links, own, so phrasebook is used" in problems
    assert problems[-1] == "unknown parameter ‘source’: ignored"
    assert LINK.parse({"gold": FILE}, offered)[0].gold == FILE
    assert LINK.parse({"gold": "upload:../x"}, offered)[0].gold == "phrasebook"


def learned(name, **corpus):
    card = {
        "corpus": {"sha256": "s", "pairs": 20, "held_out_sources": 3, "split_seed": 0} | corpus
    }
    return Checkpoint(
        name=name, title=name, model="m", scoring="s", corpus="phrasebook", card=card
    )


def test_all_panels_are_judged_by_pairs_that_none_of_them_learned(offered):
    view = default_view(offered)
    same, twin = learned("same"), learned("twin")
    other, another = learned("other", pairs=7), learned("another", pairs=7)

    def options(checkpoint, beside, pair=0):
        return dict(alignment_request(view, checkpoint, beside, pair).options)

    alone = options(same, [same])
    assert alone == {"corpus": "phrasebook", "others": "", "pairs": 200}
    # Models that learned the same sentences change nothing for each other.
    assert options(same, [same, twin]) == alone
    assert options(same, [twin, other, same, another])["others"] == "other"
    assert options(other, [twin, other, same, another])["others"] == "twin"
    # The pair that is shown does not depend on how many are scored.
    shown = alignment_request(view, same, [same], 17)
    assert shown == alignment_request(replace(view, count=5), same, [same], 17)
    assert (shown.data, dict(shown.options)["pair"]) == ("same", 17)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), st.text(max_size=8) | st.integers().map(str)))
def test_any_link_gives_a_view_that_its_own_link_restores(offered, query):
    view, _ = LINK.parse(query, offered)
    assert LINK.parse(LINK.format(view, offered), offered) == (view, [])


def test_models_of_one_file_that_held_out_others_of_its_sentences_learned_other_parts(offered):
    one, other = learned("one"), learned("other", split_seed=1)
    asked = alignment_request(replace(default_view(offered), device="cpu"), one, [one, other])
    assert (asked.device, dict(asked.options)["others"]) == ("cpu", "other")


def test_the_usual_gold_is_that_of_the_corpus_and_the_usual_panels_are_two(offered, monkeypatch):
    assert view._usual_gold(offered, "links") == "links"
    assert view._usual_gold(offered, "tatoeba") == "phrasebook"
    monkeypatch.setattr(view, "usual_panels", lambda *_: ("x",))
    monkeypatch.setattr(view, "reference", lambda _, name: name)
    known = SimpleNamespace(usual=lambda _: ["x", "y", "z"])
    assert view._usual_panels(known, "links") == ("x", "y")
