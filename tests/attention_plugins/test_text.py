from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_plugins.text import (
    BOS_ID,
    ENGLISH,
    EOS,
    EOS_ID,
    FRENCH,
    PAD,
    PAD_ID,
    RESERVED,
    UNK,
    UNK_ID,
    Spacing,
    Vocabulary,
    copies,
    detokenise,
    normalise,
    pad,
    spacing_of,
    tokenise_clitics,
    tokenise_words,
    truncate,
)

NARROW, NO_BREAK, THIN = "\u202f", "\u00a0", "\u2009"


@pytest.mark.parametrize("space", [NARROW, NO_BREAK, THIN, " ", "\t", "  \n "])
def test_every_space_is_one_space(space):
    assert normalise(f" Ça{space}va{space}! ") == "ça va !"


def test_the_typographic_apostrophe_is_the_plain_one():
    assert normalise("L’eau, c’est \ufeffbon") == "l'eau, c'est bon"


def test_accents_typed_apart_are_composed():
    assert tokenise_clitics("Cafe\u0301 a\u0300 l\u2019Ouest") == ["café", "à", "l'", "ouest"]


@pytest.mark.parametrize("text", ["x² ½ … ﬁn № ª ™", "ｆｕｌｌ", "①"])
def test_characters_that_only_resemble_others_stay_what_they_are(text):
    """Compatibility forms (NFKC) would write x2, 1⁄2 and three full stops."""
    assert normalise(text) == text.lower()


def textbook(text):
    """d2l.ai, section 9.5, letter by letter."""
    text = text.replace(NARROW, " ").replace(NO_BREAK, " ").lower()
    spaced = "".join(
        " " + c if i > 0 and c in ",.!?" and text[i - 1] != " " else c for i, c in enumerate(text)
    )
    return [token for token in spaced.split(" ") if token]


@pytest.mark.parametrize(
    "text",
    [
        "Go.", "Va !", f"Au feu{NARROW}!", f"Ça alors{NO_BREAK}!", "I'm home.", "Hi", "!",
        "wait!?", "well...", "3.5, or 4,000?", "a.b", "  two  spaces .",
        "l'eau n'est-elle pas là?", "",
    ],
)  # fmt: skip
def test_words_are_the_textbooks(text):
    assert tokenise_words(text) == textbook(text)


@given(st.text(alphabet="aB'é .,!?-3", max_size=20))
def test_words_are_the_textbooks_for_any_text(text):
    assert tokenise_words(text) == textbook(text)


@pytest.mark.parametrize("space", [NARROW, NO_BREAK, THIN])
def test_words_part_from_punctuation_behind_french_spaces(space):
    assert tokenise_words(f"Vraiment{space}? Oui{space}!") == ["vraiment", "?", "oui", "!"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("L'eau n'est-elle pas là ?", "l' eau n' est -elle pas là ?"),
        ("J’ai faim.", "j' ai faim ."),
        ("Qu'est-ce que c'est ?", "qu' est -ce que c' est ?"),
        ("Y a-t-il quelqu'un ?", "y a -t-il quelqu' un ?"),
        ("Dis-le-moi !", "dis -le -moi !"),
        ("Aujourd'hui, peut-être.", "aujourd'hui , peut-être ."),
        ("I'm home.", "i 'm home ."),
        ("They're late, aren't they?", "they 're late , are n't they ?"),
        ("I don't; he'll go.", "i do n't ; he 'll go ."),
        ("At five o'clock.", "at five o'clock ."),
        ("Tom's 3.5 and 4,000...", "tom 's 3.5 and 4,000 ..."),
        ("Wait!?", "wait ! ?"),
        ("(Go) “on”: now", "( go ) “ on ” : now"),
        ("", ""),
    ],
)
def test_clitics_are_split(text, tokens):
    assert tokenise_clitics(text) == tokens.split()


SPLIT = {"words": tokenise_words, "clitics": tokenise_clitics}


@pytest.mark.parametrize("name", SPLIT)
@given(text=st.text(max_size=30))
def test_tokens_are_never_empty_and_hold_no_space(name, text):
    tokens = SPLIT[name](text)
    assert all(token and not any(c.isspace() for c in token) for token in tokens)


@given(st.text(alphabet="abcdefghijklmé '-.,!?", max_size=30))
def test_splitting_loses_no_letter(text):
    kept = "".join(c for c in normalise(text) if c.isalpha())
    for tokenise in SPLIT.values():
        assert "".join(c for c in "".join(tokenise(text)) if c.isalpha()) == kept


@pytest.mark.parametrize(
    "text",
    [
        "l'eau n'est-elle pas là ?", "y a-t-il quelqu'un ?", "dis-le-moi !", "j'ai faim.",
        "oui, vraiment ; merci !", "aujourd'hui, c'est fini...", "va (vite).",
    ],
)  # fmt: skip
def test_french_comes_back_as_it_is_written(text):
    assert detokenise(tokenise_clitics(text), FRENCH) == text


@pytest.mark.parametrize(
    "text",
    [
        "i'm home.", "aren't they late?", "tom's here: look!", "he'll go, won't he?",
        "the boys' toys.", "it costs 4,000 (or 3.5%)...", "rock 'n' roll",
    ],
)  # fmt: skip
def test_english_comes_back_as_it_is_written(text):
    assert detokenise(tokenise_clitics(text)) == text


@pytest.mark.parametrize(
    ("sentences", "spacing"),
    [
        (["Va !", "Où\u202f?", "J'ai faim ; l'eau : là."], FRENCH),
        (["Go!", "Where?", "The boys' toys; don't: no.", "It's Tom's."], ENGLISH),
        (["Va !", "Go!", "Va\u00a0!", "Wer?"], Spacing("!", False)),
        (["Ici", "!", ""], ENGLISH),
    ],
)
def test_spacing_is_that_of_most_sentences(sentences, spacing):
    assert spacing_of(sentences) == spacing


def test_nothing_detokenises_to_nothing():
    assert detokenise([]) == ""


SENTENCES = [["b", "a"], ["c", "a", "b"], ["b", "d"], [EOS, "c"]]


def test_tokens_are_numbered_by_frequency_then_by_first_occurrence():
    vocabulary = Vocabulary.count(SENTENCES)
    assert vocabulary.tokens == (*RESERVED, "b", "a", "c", "d")
    assert vocabulary.ids(["b", "d", "a"]) == [4, 7, 5]
    assert len(vocabulary) == 8


def test_rare_tokens_are_unknown():
    vocabulary = Vocabulary.count(SENTENCES, min_frequency=3)
    assert vocabulary.tokens == (*RESERVED, "b")
    assert vocabulary.ids(["b", "a", "never seen"]) == [4, UNK_ID, UNK_ID]
    assert "b" in vocabulary
    assert "a" not in vocabulary


def test_numbers_and_tokens_are_each_others_inverse():
    vocabulary = Vocabulary.count(SENTENCES)
    ids = list(range(len(RESERVED), len(vocabulary)))
    assert vocabulary.ids(vocabulary.words(ids)) == ids
    assert vocabulary.words([UNK_ID, PAD_ID, BOS_ID, EOS_ID]) == [UNK, PAD, "<bos>", EOS]


def test_a_word_that_looks_reserved_is_not_counted_twice():
    assert Vocabulary.count([["<pad>", "a"], ["<pad>"]]).tokens == (*RESERVED, "a")


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["a", "b"], "starts with <unk>, <pad>, <bos>, <eos>; got .*'a', 'b'"),
        ([PAD, UNK, "<bos>", EOS], "starts with <unk>, <pad>"),
        ([*RESERVED, "a", "b", "a"], "each token once; 'a' occurs twice"),
        ([], "starts with"),
    ],
)
def test_a_vocabulary_that_cannot_be_is_refused(tokens, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary(tokens)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (2, [11, EOS_ID]),
        (3, [11, 12, EOS_ID]),
        (4, [11, 12, 13, EOS_ID]),
        (10, [11, 12, 13, EOS_ID]),
    ],
)
def test_a_cut_sentence_still_ends(limit, expected):
    assert truncate([11, 12, 13], limit) == expected


def test_rows_are_padded_on_the_right_to_the_longest():
    rows = [[11, 12, EOS_ID], [EOS_ID], [11, EOS_ID]]
    assert pad(rows) == [[11, 12, EOS_ID], [EOS_ID, PAD_ID, PAD_ID], [11, EOS_ID, PAD_ID]]
    assert rows[1] == [EOS_ID]
    assert pad([]) == []


def test_reserved_tokens_in_a_text_are_unknown_words():
    vocabulary = Vocabulary.count([["a", "b"]])
    assert vocabulary.ids(["a", "<eos>", "<pad>", "b"]) == [4, UNK_ID, UNK_ID, 5]
    assert "<eos>" in vocabulary


def test_the_same_word_of_the_other_side_is_found_whatever_its_number():
    source = Vocabulary((*RESERVED, "a", "b", "c"))
    target = Vocabulary((*RESERVED, "c", "d", "a"))
    assert copies(source, target) == (0, 1, 2, 3, 6, UNK_ID, 4)
