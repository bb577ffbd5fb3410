"""The alignment task on a shipped model: rates, one pair, and what is refused."""

import json
import math
from dataclasses import replace

import pytest

from attention_plugins import checkpoints, experiment, registry
from attention_plugins.contract import CheckpointSpec, DatasetSpec, SentencePair
from attention_plugins.datasets.parallel import fingerprint
from attention_plugins.experiment import new_to
from attention_plugins.home import SHIPPED
from attention_plugins.recipe import Recipe
from dashboard.features.alignment import task as alignment
from dashboard.features.alignment import task as alignment_pairs
from dashboard.jobs import task_translator
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request, Result
from dashboard.storage.blobs import Blobs

MODEL = "bahdanau_additive_phrasebook"
PAIRS = [
    SentencePair(f"{he} {verb}.", f"{il} {mot}.", ((0, 0), (1, 1), (2, 2)))
    for he, il in (("He", "Il"), ("She", "Elle"), ("Paul", "Paul"))
    for verb, mot in (("sings", "chante"), ("swims", "nage"), ("works", "travaille"))
]
LINES = (
    "I'm home.\tJe suis chez moi.\t0-0 1-1 2-2 2-3 3-4",
    "Go on.\tContinue.",
    "He's calm.\tIl est calme.\t0-0 1-1 2-2 3p3",
    "She lost.\tElle a perdu.\t0-0 1-2 2-3 0?1",
    f"{'very ' * 40}late\ttard\t40-0",
)


class Watch:
    """A context that keeps how far the task said it is."""

    def __init__(self):
        self.fractions = []

    def report(self, fraction, note="", facts=None):
        self.fractions.append(fraction)

    def stopped(self):
        return False


def _with_corpus(folder, held_out, pairs):
    """The shipped model with a card that says it learned the first of our pairs."""
    shipped = SHIPPED / "bahdanau-additive-phrasebook"
    card = json.loads((shipped / checkpoints.CARD).read_text("utf-8"))
    card["corpus"] = {
        "name": "lines", "sha256": fingerprint(PAIRS[:pairs]), "pairs": pairs,
        "trained_on": pairs - held_out, "held_out_sources": held_out, "split_seed": 0,
    }  # fmt: skip
    folder.mkdir()
    (folder / checkpoints.CARD).write_text(json.dumps(card), "utf-8")
    (folder / checkpoints.WEIGHTS).symlink_to(shipped / checkpoints.WEIGHTS)
    return CheckpointSpec(name=folder.name, path=folder)


@pytest.fixture(scope="module", autouse=True)
def _found(tmp_path_factory):
    """The built-ins, a small data set, and models that learned parts of it."""
    root = tmp_path_factory.mktemp("kept")
    made = [_with_corpus(root / "seven", 3, 7), _with_corpus(root / "five", 2, 5),
            _with_corpus(root / "whole", 0, 9)]  # fmt: skip
    plain = registry.load(allow=[])
    lines = DatasetSpec(name="lines", title="Lines", task="translation", aligned=True,
                        load=lambda parameters, seed: PAIRS)  # fmt: skip
    found = replace(
        plain,
        records={
            **plain.records,
            "datasets": {**plain.datasets, "lines": lines},
            "checkpoints": {**plain.checkpoints, **{spec.name: spec for spec in made}},
        },
    )
    caches = task_translator.translator_of, alignment_pairs._gold_pairs
    with pytest.MonkeyPatch.context() as patch:
        for module in (alignment, alignment_pairs, task_translator):
            patch.setattr(module, "installed", lambda: found)
        for cache in caches:
            cache.cache_clear()
        yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(scope="module")
def upload():
    return _kept(LINES)


def _kept(lines):
    return "upload:" + Blobs().put("\n".join(lines).encode())


def _perform(data=MODEL, watch=None, **options):
    return perform(Request.make("alignment", data=data, options=options), watch or Watch())


def test_every_head_is_scored_trained_and_untrained(upload):
    watch = Watch()
    result = Result.from_bytes(
        _perform("transformer_scaled_dot_phrasebook", watch, corpus=upload).to_bytes()
    )
    rows = {row["map"]: row for row in result.tables["rates"].to_pylist()}
    heads = ["1", "2", "3", "4", "5", "6", "7", "8", "mean"]
    assert list(rows) == [f"{layer}.{head}" for layer in (1, 2) for head in heads]
    facts = result.facts
    assert (facts["available"], facts["scored"], facts["too_long"]) == (4, 3, 1)
    assert facts["corpus"] == "phrasebook"
    assert rows[facts["best"]]["error_rate"] == min(row["error_rate"] for row in rows.values())
    single = [row["error_rate"] for name, row in rows.items() if "mean" not in name]
    assert len(single) == 16
    assert facts["average"] == pytest.approx(sum(single) / 16)
    assert facts["untrained"] == min(row["untrained"] for row in rows.values())
    for row in rows.values():
        assert row["sure"] == 5 + 3 + 3
        found, possible = row["found"], row["found_possible"]
        rate = 1 - (row["found_sure"] + possible) / (found + row["sure"])
        assert row["error_rate"] == pytest.approx(rate)
        assert row["precision"] == pytest.approx(possible / found)
        assert row["recall"] == pytest.approx(row["found_sure"] / 11)
    assert rows["1.mean"]["error_rate"] < 0.4 < rows["1.mean"]["untrained"]
    pairs = result.tables["pairs"].to_pylist()
    assert [row["number"] for row in pairs] == [1, 2, 3]
    assert pairs[1]["source"] == "He's calm."
    assert watch.fractions == sorted(watch.fractions)


def test_only_so_many_pairs_are_scored(upload):
    result = _perform(corpus=upload, pairs=2)
    assert (result.facts["scored"], result.facts["available"]) == (2, 4)
    assert [row["map"] for row in result.tables["rates"].to_pylist()] == ["1.1"]


def test_one_pair_is_shown_with_its_gold_links_and_those_found(upload):
    result = Result.from_bytes(_perform(corpus=upload, pair=3).to_bytes())
    facts = result.facts
    assert facts["source_tokens"] == ["she", "lost", ".", "<eos>"]
    assert facts["target_tokens"] == ["elle", "a", "perdu", ".", "<eos>"]
    assert (facts["sure"], facts["possible"]) == ([[0, 0], [1, 2], [2, 3]], [[0, 1]])
    (drawn,) = result.tables["maps"].to_pylist()
    assert (drawn["kind"], drawn["queries"], drawn["keys"]) == (
        "cross", facts["target_tokens"], facts["source_tokens"],
    )  # fmt: skip
    links = result.tables["links"].to_pylist()
    by_verdict = {
        verdict: {(row["source"], row["target"]) for row in links if row["verdict"] == verdict}
        for verdict in ("right", "wrong", "missed")
    }
    # The link of a row is its largest weight, unless that is <eos>; read anew off the table.
    rows = [drawn["weights"][4 * q : 4 * q + 4] for q in range(4)]
    largest = {(row.index(max(row)), q) for q, row in enumerate(rows)}
    found = {link for link in largest if link[0] < 3}
    sure, possible = {(0, 0), (1, 2), (2, 3)}, {(0, 1)}
    assert by_verdict == {
        "right": found & (sure | possible), "wrong": found - sure - possible,
        "missed": sure - found,
    }  # fmt: skip
    assert by_verdict["right"]


def test_a_pair_by_hand_needs_no_corpus():
    given = {"corpus": "own", "source": "I'm home.", "target": "Je suis chez moi.",
             "links": "0-0 1-1 2-2 2-3 3-4"}  # fmt: skip
    assert _perform(**given).facts["scored"] == 1
    assert _perform(**given, pair=1).facts["sure"] == [[0, 0], [1, 1], [2, 2], [2, 3], [3, 4]]


def test_only_pairs_that_are_new_to_all_models_count():
    cards = {
        name: json.loads((alignment.installed().checkpoint(name).path / "card.json").read_text())
        for name in ("seven", "five")
    }
    new = {name: set(new_to(card, PAIRS)) for name, card in cards.items()}
    assert len(new["seven"]) == 3 + 2
    assert len(new["five"]) == 2 + 4
    alone = _perform("seven")
    sources = alone.tables["pairs"]["source"].to_pylist()
    assert sorted(sources) == sorted(pair.source for pair in new["seven"])
    both = new["seven"] & new["five"]
    together = [_perform("seven", others="five"), _perform("five", others="seven")]
    for result in together:
        found = result.tables["pairs"]["source"].to_pylist()
        assert sorted(found) == sorted(pair.source for pair in both)
    # Both number them alike, so that a number means one pair in all panels.
    assert len({tuple(result.tables["pairs"]["source"].to_pylist()) for result in together}) == 1


def test_a_rate_without_links_is_no_number():
    given = {"corpus": "own", "source": "Go.", "target": "Va !", "links": "1?1"}
    (row,) = _perform(**given).tables["rates"].to_pylist()
    assert row["sure"] == 0
    assert row["recall"] is None or math.isnan(row["recall"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"corpus": "lines", "pair": 10}, "need 1 <= pair <= 9, got 10"),
        ({"corpus": "tatoeba"}, "data set 'tatoeba' has no gold alignments"),
        ({"corpus": "sine"}, "'sine' is for regression; need one for translation"),
        ({"corpus": "nowhere"}, 'no data set "nowhere"'),
        ({"corpus": f"upload:{'0' * 64}"}, "is not kept here"),
        ({"corpus": "upload:../x"}, "need the 64 hexadecimal digits"),
        ({"others": "nobody"}, 'no checkpoint "nobody"'),
        ({"others": 3}, "need others to be text, got 3"),
        ({"pairs": 0}, "need 1 <= pairs <= 10000, got 0"),
        ({"volume": 11}, "no parameter 'volume'"),
        ({"corpus": "own", "target": "Va !"}, "need a sentence as source of your pair, got none"),
        (
            {"corpus": "own", "source": "I'm home.", "target": "Va !"},
            "need links such as 0-0 1-2 for your pair; its tokens are 0 i, 1 'm, 2 home, 3 . in "
            "the source and 0 va, 1 ! in the target",
        ),
        (
            {"corpus": "own", "source": "Go.", "target": "Va !", "links": "0-0 1-2"},
            "your pair links 1-2, but its target has 2 tokens, numbered from 0: 0 va, 1 !",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_is_said(options, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        _perform(**options)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["Go.\tVa !\t0-0", "I lost.\tJ'ai perdu.\t0-0 5-2"],
         "line 2 of the file links 5-2, but its source has 3 tokens, numbered from 0: 0 i"),
        (["Go.\tVa !\t0-0", "I lost.\tJ'ai perdu.\tCC-BY"],
         "line 2 of the file has 'CC-BY' in its alignment; need links such as 0-0 1-2"),
        (["Go.\tVa !", "I lost.\tJ'ai perdu."],
         "need pairs with a gold alignment, and this file has none"),
        (["Go."], "line 1 of the file has one column; need source<TAB>target"),
    ],
)  # fmt: skip
def test_an_uploaded_file_is_refused_with_its_line(lines, message):
    with pytest.raises(ValueError, match=message):
        _perform(corpus=_kept(lines))


def test_a_model_that_learned_all_pairs_has_none_to_be_judged_by():
    with pytest.raises(ValueError, match="need pairs that whole did not learn; all 9 pairs were"):
        _perform("whole")


def test_a_model_that_counts_other_tokens_is_refused(monkeypatch, upload):
    translator = task_translator.translator_of(MODEL, "cpu")
    monkeypatch.setattr(translator, "card", {**translator.card, "tokeniser": "words"})
    for pair in (0, 1):
        with pytest.raises(ValueError, match="count the tokens of 'clitics'; this model reads"):
            _perform(corpus=upload, pair=pair)


def test_a_corpus_that_counts_tokens_of_its_own_is_scored_by_models_that_read_them(
    monkeypatch, tmp_path
):
    """An untrained model of symbols: what its rates are does not matter here."""
    plain = registry.load(allow=[])
    plan = experiment.Experiment(
        model="bahdanau", scoring="dot", corpus="reverse", dataset="reverse", held_out=10,
        model_parameters={"embed": 8, "hidden": 8, "layers": 1},
        recipe=Recipe(tokeniser="spaces", epochs=1, min_frequency=1),
    )  # fmt: skip
    pairs = plain.dataset("reverse").load(
        {p.name: p.default for p in plain.dataset("reverse").parameters}, 0
    )
    ready = experiment.prepare(plan, pairs[:100], plain)
    checkpoints.write(tmp_path / "reverser", ready.model, ready.card)
    spec = CheckpointSpec(name="reverser", path=tmp_path / "reverser")
    found = replace(
        plain, records={**plain.records, "checkpoints": {**plain.checkpoints, "reverser": spec}}
    )
    for module in (alignment, alignment_pairs, task_translator):
        monkeypatch.setattr(module, "installed", lambda: found)
    result = _perform("reverser", corpus="reverse", pairs=7)
    assert result.facts["scored"] == 7
    shown = _perform("reverser", corpus="reverse", pair=1)
    source, target = shown.facts["source_tokens"], shown.facts["target_tokens"]
    assert [source[i] for i, _ in shown.facts["sure"]] == [
        target[j] for _, j in shown.facts["sure"]
    ]
    with pytest.raises(
        ValueError, match="count the tokens of 'clitics'; this model reads 'spaces'"
    ):
        _perform("reverser", corpus="phrasebook", pairs=3)
