import io
import json
import random
import tracemalloc

import pytest

from attention_plugins.checkpoints import SHIPPED
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.datasets import parallel
from attention_plugins.datasets.parallel import (
    EVERYDAY,
    LONGEST_SIDE,
    fingerprint,
    numbered,
    read_pairs,
    references,
    split_by_source,
)
from attention_plugins.registry import installed

TEXT = "Go.\tVa !\nI'm home.\tJe suis chez moi.\nWho?\tQui\u202f?\n"
PAIRS = [
    SentencePair("Go.", "Va !"),
    SentencePair("I'm home.", "Je suis chez moi."),
    SentencePair("Who?", "Qui\u202f?"),
]


def test_path_bytes_text_stream_and_byte_stream_give_the_same_pairs(tmp_path):
    path = tmp_path / "small.tsv"
    path.write_bytes(TEXT.encode())
    assert read_pairs(path) == PAIRS
    assert read_pairs(TEXT.encode()) == PAIRS
    assert read_pairs(io.StringIO(TEXT)) == PAIRS
    with path.open(encoding="ascii") as wrongly_opened, path.open("rb") as stream:
        assert read_pairs(wrongly_opened) == PAIRS
        assert read_pairs(stream) == PAIRS
        assert not stream.closed


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\n\n \t\n").encode(),
        TEXT.replace("\n", "\tCC-BY 2.0 (France) #1 (A) & #2 (B)\n").encode(),
        TEXT.removesuffix("\n").encode(),
        TEXT.replace("\t", " \t\u00a0").encode(),
    ],
    ids=["mark", "crlf", "empty lines", "third column", "no last line end", "spaces"],
)
def test_what_editors_and_exports_add_is_no_part_of_a_pair(data):
    assert read_pairs(data) == PAIRS


def test_only_as_many_pairs_as_asked_are_read():
    stream = io.BytesIO(TEXT.encode() + b"\xff no line that anybody should read")
    assert read_pairs(stream, limit=3) == PAIRS
    stream.seek(0)
    assert read_pairs(stream, limit=2) == PAIRS[:2]


LINE = b"a\tb\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (LINE + b"a b\n", "line 2 of the file has one column; need source<TAB>target"),
        (LINE + b"\n \tb\n", "line 3 of the file has an empty source; need source<TAB>target"),
        (LINE + b"a\t\n", "line 2 of the file has an empty target; need source<TAB>target"),
        (
            LINE + b"a" * 10_000 + b"\tb\n",
            "line 2 of the file has a source of 10,000 characters; need at most 1,000",
        ),
        (
            LINE + b"a\t" + "é".encode() * 1001 + b"\n",
            "line 2 of the file has a target of 1,001 characters; need at most 1,000",
        ),
        (
            LINE + b"a" * 100_000,
            "line 2 of the file has over 65,536 bytes; need lines that end with LF or CRLF and "
            "at most 1,000 characters a side",
        ),
        (
            LINE + b"a\tgar\xe7on\n",
            "line 2 of the file is not UTF-8 at byte 9 of the file (0xe7); save the file as UTF-8",
        ),
        (
            TEXT.encode("utf-16"),
            "line 1 of the file is not UTF-8 at byte 0 of the file (0xff); save the file as UTF-8",
        ),
        (
            TEXT.encode("utf-16-le"),
            "line 1 of the file has a NUL byte in it; "
            "need UTF-8 text whose lines end with LF or CRLF",
        ),
        (
            b"a\tb\rc\td\r",
            "line 1 of the file has a carriage return in it; "
            "need UTF-8 text whose lines end with LF or CRLF",
        ),
        (
            LINE,
            "need at least 2 sentence pairs in the file, one a line as source<TAB>target; found 1",
        ),
        (
            b"\n \n\t\n\n",
            "need at least 2 sentence pairs in the file, one a line as source<TAB>target; found 0",
        ),
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_what_would_be_right(data, message):
    with pytest.raises(ContractError) as refusal:
        read_pairs(data)
    assert str(refusal.value) == message


def test_a_text_stream_with_half_a_surrogate_is_refused():
    with pytest.raises(ContractError, match=r"line 2 of the file is not UTF-8 at byte 7 "):
        read_pairs(io.StringIO("a\tb\nc\td\ud800\n"))


def test_messages_name_the_file(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\nno tab\n")
    with pytest.raises(ContractError, match=r"^line 2 of pairs\.tsv has one column"):
        read_pairs(path)
    with (
        path.open() as stream,
        pytest.raises(ContractError, match=r"line 2 of .*pairs\.tsv has one column"),
    ):
        read_pairs(stream)


def test_a_missing_file_is_one_sentence(tmp_path):
    path = tmp_path / "missing.tsv"
    with pytest.raises(ContractError) as refusal:
        read_pairs(path)
    assert str(refusal.value) == f"cannot read {path}: No such file or directory"
    with pytest.raises(ContractError, match=r"cannot read .*: Is a directory"):
        read_pairs(tmp_path)


def test_the_longest_sides_allowed_are_read():
    side = "é" * LONGEST_SIDE
    assert read_pairs(f"{side}\t{side}\na\tb\n".encode())[0] == SentencePair(side, side)


def test_a_file_of_too_many_lines_is_refused(monkeypatch):
    monkeypatch.setattr(parallel, "MOST_LINES", 13)
    assert len(read_pairs(LINE * 13)) == 13
    with pytest.raises(ContractError, match="the file has over 13 lines; need at most so many"):
        read_pairs(LINE * 14)
    with pytest.raises(ContractError, match="over 13 lines"):
        read_pairs(b"\n" * 14)


def test_too_many_lines_are_refused_before_one_is_read_as_a_pair(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "MOST_LINES", 13)
    wrong = b"no tab\n" + LINE * 13
    (tmp_path / "many.tsv").write_bytes(wrong)
    for source in (wrong, tmp_path / "many.tsv"):
        with pytest.raises(ContractError, match="has over 13 lines"):
            read_pairs(source)
        with pytest.raises(ContractError, match="one column"):
            read_pairs(source, limit=2)


def test_a_limit_below_two_is_refused():
    with pytest.raises(ContractError, match="need 2 <= limit, got limit=1"):
        read_pairs(TEXT.encode(), limit=1)


def test_an_endless_line_is_never_held_whole(tmp_path):
    path = tmp_path / "endless.tsv"
    path.write_bytes(b"a" * 20_000_000)
    tracemalloc.start()
    with pytest.raises(ContractError, match="over 65,536 bytes"):
        read_pairs(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_word_links_are_read_only_when_asked_for():
    data = b"The cat sleeps\tLe chat dort\t0-0 1-1 2-2\nGo on\tVa\t0-0 1-0\nYes\tOui\n"
    links = [pair.alignment for pair in read_pairs(data, alignments=True)]
    assert links == [((0, 0), (1, 1), (2, 2)), ((0, 0), (1, 0)), ()]
    assert {pair.alignment for pair in read_pairs(data)} == {()}


def test_links_may_be_sure_or_only_possible():
    (pair,) = read_pairs(b"The cat sleeps\tLe chat dort\t1p0 0-0 2?2", least=1, alignments=True)
    assert pair.alignment == ((0, 0),)
    assert pair.possible == ((1, 0), (2, 2))


def test_a_third_column_of_links_is_recognised_and_an_attribution_passed_over():
    links = b"Yes\tOui\nThe cat\tLe chat\t0-0 1-1\nGo on\tVa\t0-0 1-0\n"
    assert [len(pair.alignment) for pair in read_pairs(links, alignments=None)] == [0, 2, 2]
    credits_ = b"Yes\tOui\tCC-BY 2.0\nThe cat\tLe chat\t0-0 1-1\n"
    assert [len(pair.alignment) for pair in read_pairs(credits_, alignments=None)] == [0, 0]
    with pytest.raises(ContractError, match="line 4 of the file links 0-3, but its target has 2"):
        read_pairs(links + b"Well done\tBien fait\t0-3\n", alignments=None)


def test_of_many_tokens_the_first_and_the_last_are_told():
    assert numbered("abc") == "0 a, 1 b, 2 c"
    assert numbered("abcdefghijklmnopqrs") == (
        "0 a, 1 b, 2 c, 3 d, 4 e, 5 f, 6 g, 7 h, …, 11 l, 12 m, 13 n, 14 o, 15 p, 16 q, 17 r, 18 s"
    )


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("0-0 1:2", "line 2 of the file has '1:2' in its alignment; need links such as 0-0 1-2"),
        ("CC-BY", "line 2 of the file has 'CC-BY' in its alignment; need links such as 0-0 1-2"),
        (
            "3-0",
            "line 2 of the file links 3-0, but its source has 3 tokens, numbered from 0: "
            "0 i, 1 'm, 2 home",
        ),
        (
            "0-2",
            "line 2 of the file links 0-2, but its target has 2 tokens, numbered from 0: "
            "0 j', 1 arrive",
        ),
    ],
)
def test_bad_word_links_are_refused(links, message):
    # I 'm home  ->  j' arrive
    with pytest.raises(ContractError) as refusal:
        read_pairs(f"a\tb\nI'm home\tJ'arrive\t{links}\n".encode(), alignments=True)
    assert str(refusal.value) == message


def corpus(seed):
    """Pairs of 101 sources in 2 to 5 spellings and translations each, shuffled."""
    generator = random.Random(seed)
    pairs = []
    for number in range(101):
        spellings = [f"It's no. {number}!", f"its no {number}", f"IT’S\u00a0no {number}?"]
        pairs += [
            SentencePair(generator.choice(spellings), f"le {number}, {version}")
            for version in range(generator.randint(2, 5))
        ]
    generator.shuffle(pairs)
    return pairs


def number_of(pair):
    return pair.target.split(",")[0]


def test_no_source_is_on_both_sides_of_a_split():
    pairs = corpus(0)
    training, held_out = split_by_source(pairs, held_out=17, seed=5)
    assert len({number_of(pair) for pair in held_out}) == 17
    assert len({number_of(pair) for pair in training}) == 101 - 17
    assert not {number_of(pair) for pair in held_out} & {number_of(pair) for pair in training}
    assert sorted(training + held_out) == sorted(pairs)


def test_both_sides_of_a_split_keep_their_order():
    pairs = corpus(1)
    places = {pair: place for place, pair in enumerate(pairs)}
    for side in split_by_source(pairs, held_out=50, seed=0):
        assert [places[pair] for pair in side] == sorted(places[pair] for pair in side)


def test_a_split_follows_its_seed_and_not_the_order_of_the_file():
    pairs = corpus(2)
    expected = set(split_by_source(pairs, held_out=17, seed=3)[1])
    assert set(split_by_source(pairs[::-1], held_out=17, seed=3)[1]) == expected
    assert set(split_by_source(pairs, held_out=17, seed=4)[1]) != expected


def test_sources_of_signs_alone_stay_apart():
    pairs = [SentencePair(source, "rien") for source in ("?", "!", "?!", "...")]
    training, held_out = split_by_source(pairs, held_out=1, seed=0)
    assert (len(training), len(held_out)) == (3, 1)


def test_accents_written_in_two_ways_are_one_source():
    pairs = [
        SentencePair("caf\u00e9", "a"),
        SentencePair("cafe\u0301", "b"),
        SentencePair("x", "c"),
    ]
    for seed in range(5):
        _, held_out = split_by_source(pairs, held_out=1, seed=seed)
        assert [pair.target for pair in held_out] in (["a", "b"], ["c"])


@pytest.mark.parametrize("held_out", [-1, 101, 102])
def test_a_split_leaves_something_to_train_on(held_out):
    with pytest.raises(ContractError) as refusal:
        split_by_source(corpus(3), held_out=held_out, seed=0)
    assert str(refusal.value) == (
        f"need 0 <= held_out < 101, the number of different sources, got held_out={held_out}"
    )


def test_nothing_may_be_held_out():
    pairs = corpus(4)
    assert split_by_source(pairs, held_out=0, seed=0) == (pairs, [])


def test_every_target_of_a_source_is_a_reference_once():
    pairs = [
        SentencePair("I’m home.", "Je suis rentré."),
        SentencePair("Go!", "Va\u202f!"),
        SentencePair("i'm  home.", "Je suis chez moi."),
        SentencePair("I'm home.", "je suis  rentré."),
        SentencePair("I'm home!", "Me voici !"),
    ]
    assert references(pairs) == {
        "I’m home.": ["Je suis rentré.", "Je suis chez moi."],
        "Go!": ["Va\u202f!"],
        "I'm home!": ["Me voici !"],
    }


def test_a_fingerprint_sees_words_and_order_but_not_case_and_kinds_of_space():
    expected = fingerprint(PAIRS)
    assert len(expected) == 64
    same = [SentencePair(s.upper(), t.replace("\u202f", " "), ((0, 0),)) for s, t, *_ in PAIRS]
    assert fingerprint(same) == expected
    assert fingerprint(PAIRS[::-1]) != expected
    assert fingerprint(PAIRS[:2]) != expected
    assert fingerprint([*PAIRS[:2], SentencePair("Who", "Qui ?")]) != expected
    # The border between source and target counts.
    assert fingerprint([SentencePair("a b", "c")]) != fingerprint([SentencePair("a", "b c")])


def test_a_fingerprint_is_the_same_on_every_machine():
    assert fingerprint([SentencePair("Go.", "Va\u202f!")]) == (
        "c6a9955465c870c0826242cd66459af069036eca26dea307c4e446bcd0766ff7"
    )


@pytest.mark.parametrize(
    "card", sorted(SHIPPED.glob("*/card.json")), ids=lambda at: at.parent.name
)
def test_shipped_models_know_every_word_of_the_sentences_that_are_offered(card):
    facts = json.loads(card.read_text(encoding="utf-8"))
    learned = facts.get("learned", {}).get("source", "")
    tokeniser = installed().tokeniser(facts["tokeniser"]).create(learned)
    offered = {*EVERYDAY, *facts["corpus"].get("examples", ())}
    words = {word for text in offered for word in tokeniser.tokenise(text)}
    assert words - set(facts["source_vocabulary"]) == set()
