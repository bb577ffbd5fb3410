from dataclasses import replace

import pytest

from dashboard.features.alignment import view as alignment
from dashboard.features.differences import view as differences
from dashboard.features.heads import view as heads
from dashboard.features.translation import view as translation
from dashboard.links.fits import (
    named,
    reference,
    references,
    resolve,
    translation_request,
    translators,
    untrained,
    usual_corpus,
    usual_panels,
)
from dashboard.records.catalogue import Checkpoint


def test_the_usual_panels_are_two_scorings_and_another_model(catalogue):
    other = replace(catalogue.checkpoints["one"], name="other", model="transformer", scoring="dot")
    scaled = replace(other, name="scaled", scoring="scaled_dot")
    more = replace(catalogue, checkpoints={**catalogue.checkpoints, "o": other, "s": scaled})
    assert usual_panels(more, "tatoeba") == (
        "bahdanau.additive", "bahdanau.scaled_dot", "transformer.scaled_dot",
    )  # fmt: skip
    alone = replace(catalogue, checkpoints={"o": other})
    assert usual_panels(alone, "tatoeba") == ("transformer.dot",)
    assert usual_panels(alone, "phrasebook") == ()


def test_the_corpus_of_most_checkpoints_comes_first(catalogue):
    few = [c for c in catalogue.checkpoints.values() if c.corpus == "tatoeba"][:1]
    twins = [c for c in catalogue.checkpoints.values() if c.corpus == "phrasebook"]
    reordered = replace(catalogue, checkpoints={c.name: c for c in (*few, *twins)})
    assert len(twins) > 1
    assert reordered.corpora() == ("phrasebook", "tatoeba")
    assert usual_corpus(reordered) == "phrasebook"
    assert usual_corpus(replace(catalogue, checkpoints={})) == ""


def test_what_continues_a_text_comes_after_what_translates_and_is_never_usual(catalogue):
    one = catalogue.checkpoints["one"]
    decoder = replace(
        one, name="decoder", corpus="beginnings", card={**one.card, "kind": "decoder"}
    )
    beside = replace(decoder, name="beside", corpus="tatoeba")
    adopted = replace(decoder, name="gpt", card={**decoder.card, "adopted": {"family": "GPT-2"}})
    new = {c.name: c for c in (decoder, beside, adopted)}
    more = replace(catalogue, checkpoints={**new, **catalogue.checkpoints})
    assert more.corpora() == catalogue.corpora()
    for corpus in catalogue.corpora():
        assert translators(more, corpus) == references(catalogue, corpus)
        names = [*references(catalogue, corpus), "decoder", "beside", "gpt"]
        assert [*references(more, corpus)] == names
        assert usual_panels(more, corpus) == usual_panels(catalogue, corpus)
    assert resolve(more, "tatoeba", "decoder") is decoder
    assert more.corpora("decoder") == ("beginnings", "tatoeba")
    assert more.readers("beginnings", "decoder") == [decoder, adopted]
    assert more.usual("tatoeba", "decoder") == [beside]


def test_one_that_reads_pieces_has_its_name_beside_one_that_reads_words(catalogue):
    one = catalogue.checkpoints["one"]
    pieces = replace(one, name="one_in_pieces", card={**one.card, "tokeniser": "pieces"})
    both = replace(catalogue, checkpoints={**catalogue.checkpoints, pieces.name: pieces})
    assert reference(both, one) == "bahdanau.additive"
    assert reference(both, pieces) == "one_in_pieces"
    assert resolve(both, "tatoeba", "bahdanau.additive") is one
    assert resolve(both, "tatoeba", "one_in_pieces") is pieces


def test_a_checkpoint_is_called_by_what_it_is_made_of_unless_another_is_made_alike(catalogue):
    one, twin = catalogue.checkpoints["one"], catalogue.checkpoints["twin_b"]
    assert reference(catalogue, one) == "bahdanau.additive"
    assert reference(catalogue, twin) == "twin_b"
    assert list(references(catalogue, "phrasebook")) == ["twin_a", "twin_b"]
    for name in ("one", "bahdanau.additive"):
        assert resolve(catalogue, "tatoeba", name) is one
        assert named(catalogue, "tatoeba", name) == "bahdanau.additive"
    assert resolve(catalogue, "phrasebook", "one") is None
    assert named(catalogue, "phrasebook", "from.a_friend") == "from.a_friend"
    assert [named(catalogue, "tatoeba", given) for given in ("", "../x", "a.b.c")] == [""] * 3


def test_why_a_checkpoint_is_not_here(catalogue):
    assert "no checkpoint ‘opus’ of the corpus ‘tatoeba’" in untrained(
        catalogue, "tatoeba", "opus"
    )
    assert "Model ‘cnn’ is not installed" in untrained(catalogue, "tatoeba", "cnn.additive")
    assert "Scoring ‘entmax’ is not" in untrained(catalogue, "tatoeba", "bahdanau.entmax")
    assert untrained(catalogue, "tatoeba", "bahdanau.odd") == (
        "Bahdanau with Odd has not been trained on ‘tatoeba’ here."
    )


def test_a_corpus_is_called_by_its_title_where_a_data_set_has_its_name(catalogue):
    sine = catalogue.datasets["sine"]
    pairs = replace(sine, name="tatoeba", title="Tatoeba pairs (2024)", task="translation")
    known = replace(catalogue, datasets={**catalogue.datasets, "tatoeba": pairs})
    assert known.corpus_title("tatoeba") == "Tatoeba pairs"
    assert known.corpus_title("of_my_own") == "of_my_own"
    assert "on ‘Tatoeba pairs’ here" in untrained(known, "tatoeba", "bahdanau.odd")


def test_a_request_without_changes_is_that_of_a_page_that_knows_of_none(catalogue):
    one = catalogue.checkpoints["one"]
    plain = translation_request(one, text="go .", target="va !", beam=3, device="cpu")
    assert (plain.task, plain.data, plain.device) == ("translation", "one", "cpu")
    assert dict(plain.options) == {"text": "go .", "target": "va !", "beam": 3}
    changed = translation_request(one, text="go .", changes="off:cross.1.1")
    assert dict(changed.options)["changes"] == "off:cross.1.1"


def test_a_checkpoint_with_a_typed_scoring_is_called_by_its_name(catalogue):
    typed = replace(catalogue.checkpoints["one"], name="typed", scoring="=q.k / 2.5")
    more = replace(catalogue, checkpoints={**catalogue.checkpoints, "typed": typed})
    assert reference(more, typed) == "typed"
    assert resolve(more, "tatoeba", "typed") is typed


BARE = {
    "translation": translation.default_view, "differences": differences.default_view,
    "alignment": alignment.default_view, "heads": heads.default_view,
}  # fmt: skip


@pytest.mark.parametrize("page", BARE)
def test_what_a_server_keeps_changes_no_bare_address_and_no_shipped_name(catalogue, page):
    one = catalogue.checkpoints["one"]
    facts = {"name": "kept", "card": one.card, "plugin": {"built_in": False}}
    twin = Checkpoint.of(facts)
    better = replace(twin, name="better", model="transformer", scoring="scaled_dot")
    many = [replace(twin, name=f"mine{n}", corpus="mine", scoring=f"s{n}") for n in range(7)]
    first = {each.name: each for each in (twin, better, *many)}
    kept = replace(catalogue, checkpoints={**first, **catalogue.checkpoints})
    assert BARE[page](kept) == BARE[page](catalogue)
    assert reference(kept, one) == reference(catalogue, one) == "bahdanau.additive"
    assert reference(kept, twin) == "kept"
    assert resolve(kept, "tatoeba", "bahdanau.additive") == one
    assert kept.corpora()[-1] == "mine"
    assert usual_panels(kept, "mine") == ("mine0", "mine1", "mine2")


def test_a_link_to_a_kept_model_means_it_when_another_like_it_is_kept(catalogue):
    card = catalogue.checkpoints["one"].card
    first = Checkpoint.of({"name": "first", "card": card, "plugin": {"built_in": False}})
    first = replace(first, corpus="mine")
    second = replace(first, name="second")
    alone = replace(catalogue, checkpoints={"first": first})
    both = replace(catalogue, checkpoints={"first": first, "second": second})
    for known in (alone, both):
        assert reference(known, first) == "first"
        assert resolve(known, "mine", "first") == first
    assert resolve(alone, "mine", "bahdanau.additive") == first, "as former links call it"
    assert resolve(both, "mine", "bahdanau.additive") is None
