"""The command line as a user meets it: what it prints, and what it says of bad input."""

import io
import json
import shlex

import pytest

from attention_plugins.checkpoints import read
from attention_plugins.commands import main, train
from attention_plugins.contract import ContractError
from attention_plugins.home import SHIPPED
from attention_plugins.hookspecs import HOOKS
from attention_plugins.registry import installed
from attention_plugins.translator import Translator

LINES = "\n".join(
    f"I see {a} {n}.\tJe vois {b} {m} !"
    for a, b in (("a", "un"), ("the", "le"), ("my", "mon"))
    for n, m in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "animals.tsv"
    path.write_text(LINES, "utf-8")
    return path


@pytest.fixture(scope="module")
def checkpoint(corpus):
    folder = corpus.parent / "animals"
    code = main([
        "train", "--corpus", str(corpus), "--output", str(folder), "--scoring", "scaled_dot",
        "--epochs", "60", "--learning-rate", "0.03", "--held-out", "2", "--batch-size", "7",
        "--set", "embed=14", "--set", "hidden=22", "--set", "layers=1", "--set", "dropout=0",
        "--threads", "1",
    ])  # fmt: skip
    assert code == 0
    return folder


def _json(capsys):
    return json.loads(capsys.readouterr().out)


def _refused(capsys, *arguments):
    """The one line a refused command prints."""
    capsys.readouterr()
    assert main([str(a) for a in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.strip().splitlines()
    assert line.startswith(f"python -m attention_plugins {arguments[0]}: ")
    return line


def test_list_names_everything_installed(capsys):
    assert main(["list", "--json"]) == 0
    listed = _json(capsys)
    assert list(listed) == [*HOOKS, "failures"]
    for kind in HOOKS:
        assert list(listed[kind]) == list(installed().records[kind])
    assert main(["list"]) == 0
    assert "Additive" in capsys.readouterr().out


def test_the_card_says_how_the_checkpoint_was_made(checkpoint):
    card = json.loads((checkpoint / "card.json").read_text("utf-8"))
    assert (card["model"], card["scoring"]) == ("bahdanau", "scaled_dot")
    assert card["model_parameters"]["hidden"] == 22
    assert card["corpus"]["name"] == "animals"
    assert card["corpus"]["trained_on"] == 7
    assert card["corpus"]["held_out_sources"] == 2
    assert card["training"]["epochs"] == 60
    assert card["training"]["threads"] == 1
    assert card["scores"]["held out, greedy"]["sentences"] == 2


def test_the_score_on_the_card_is_measured_again_by_its_command(checkpoint, capsys):
    card = json.loads((checkpoint / "card.json").read_text("utf-8"))
    held_out = card["scores"]["held out, greedy"]
    *python, command = held_out["command"].partition(" evaluate ")
    assert python == ["python -m attention_plugins", " evaluate "]
    assert main(["evaluate", *shlex.split(command), "--json"]) == 0
    measured = _json(capsys)
    assert measured["bleu"] == held_out["bleu"]
    assert measured["signature"] == held_out["signature"]


def test_a_kept_score_is_noted_on_the_card_beside_the_others(checkpoint, corpus, capsys):
    given = ["evaluate", "--checkpoint", checkpoint, "--corpus", corpus]
    assert "add --held-out or drop --keep" in _refused(capsys, *given, "--keep")
    before = json.loads((checkpoint / "card.json").read_text("utf-8"))
    assert main([str(a) for a in (*given, "--held-out", "--beam", 3, "--keep", "--json")]) == 0
    measured = _json(capsys)
    after = json.loads((checkpoint / "card.json").read_text("utf-8"))
    kept = after["scores"].pop("held out, beam 3")
    assert after == before
    assert (kept["bleu"], kept["beam"]) == (measured["bleu"], 3)
    assert kept["command"].endswith("--held-out --beam 3")


def test_evaluate_prints_the_score_and_its_signature(checkpoint, corpus, capsys):
    assert main(["evaluate", "--checkpoint", str(checkpoint), "--corpus", str(corpus)]) == 0
    score, signature, normalised = capsys.readouterr().out.splitlines()
    assert 0 < float(score.removeprefix("BLEU ")) <= 100
    assert "case:lc" in signature
    assert normalised.startswith("lower-cased, NFC")
    assert normalised.endswith("; translations detokenised from words")


def test_held_out_scores_stand_beside_near_far_and_copied(checkpoint, corpus, capsys):
    card = json.loads((checkpoint / "card.json").read_text("utf-8"))
    kept = card["scores"]["held out, greedy"]
    # Of nine sentences that differ in two words, each has one that differs in one.
    assert "far" not in kept
    assert kept["near"] == {"sentences": 2, "bleu": kept["bleu"]}
    assert kept["copied"]["sentences"] == 2
    given = ["evaluate", "--checkpoint", checkpoint, "--corpus", corpus, "--held-out"]
    assert main([*map(str, given)]) == 0
    near, copied = capsys.readouterr().out.splitlines()[3:]
    assert near == f"near: BLEU {kept['bleu']:.2f} (2 sources one token from a training source)"
    assert copied == (
        f"copied: BLEU {kept['copied']['bleu']:.2f} "
        "(2 translations of the nearest training source)"
    )


def test_evaluate_needs_a_checkpoint_and_a_corpus_or_all(checkpoint, capsys):
    wanted = "need --checkpoint and --corpus, or --all"
    assert wanted in _refused(capsys, "evaluate", "--checkpoint", checkpoint)
    assert wanted in _refused(capsys, "evaluate", "--corpus", "phrasebook")
    line = _refused(capsys, "evaluate", "--all", "--corpus", "phrasebook", "--beam", 3)
    assert line.endswith("--all measures what each card says; drop --corpus and --beam")


def test_word_links_of_a_file_are_evaluated_too(tmp_path, capsys):
    path = tmp_path / "pairs.tsv"
    path.write_text("He's calm.\tIl est calme.\t0-0 1-1 2-2 3-3\nGo on\tVa\n", "utf-8")
    shipped = SHIPPED / "bahdanau-additive-phrasebook"
    given = ["evaluate", "--checkpoint", str(shipped), "--corpus", str(path)]
    assert main([*given, "--json"]) == 0
    ((place, rate),) = _json(capsys)["alignment_error"].items()
    assert place == "cross-attention layer 1, head 1"
    assert 0 <= rate < 0.6
    assert main(given) == 0
    assert f"AER {rate:.3f} ({place})" in capsys.readouterr().out
    path.write_text("He's calm.\tIl est calme.\t0-0 7-1\nGo on\tVa\n", "utf-8")
    line = _refused(capsys, *given)
    assert line.endswith(
        "line 1 of pairs.tsv links 7-1, but its source has 4 tokens, numbered from 0: "
        "0 he, 1 's, 2 calm, 3 ."
    )


def test_translate_takes_arguments_or_lines(checkpoint, capsys, monkeypatch):
    assert main(["translate", "--checkpoint", str(checkpoint), "I see a cat.", "--beam", "2"]) == 0
    assert capsys.readouterr().out.endswith("!\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("I see a cat.\n\nI see my dog.\n"))
    assert main(["translate", "--checkpoint", str(checkpoint), "--json"]) == 0
    answered = _json(capsys)["translations"]
    assert [entry["source"] for entry in answered] == ["I see a cat.", "I see my dog."]


def test_translate_takes_the_beam_that_is_asked_for(checkpoint, capsys, monkeypatch):
    widths = []

    def translated(self, sentences, *, width):
        widths.append(width)
        return [*sentences]

    monkeypatch.setattr(Translator, "translate", translated)
    for more in ((), ("--beam", "3")):
        assert main(["translate", "--checkpoint", str(checkpoint), "a cat", *more]) == 0
    assert widths == [1, 3]
    assert capsys.readouterr().out == "a cat\na cat\n"


def test_a_checkpoint_is_replaced_where_that_is_asked_for(tmp_path, capsys):
    folder = tmp_path / "made"
    for scoring, more in (("dot", ()), ("cosine", ("--overwrite",))):
        order = [*REVERSE, "--scoring", scoring, "--output", str(folder), *more]
        assert main(order) == 0, capsys.readouterr().err
    assert read(folder).card["scoring"] == "cosine"


def test_a_training_is_the_one_that_the_command_describes(corpus, tmp_path, monkeypatch, capsys):
    seen = []

    def run(plan, pairs, *_, device, **__):
        seen.append((plan, len(pairs), str(device)))
        raise ContractError("enough")

    monkeypatch.setattr(train.experiment, "run", run)
    usual = ["train", "--corpus", str(corpus), "--output", str(tmp_path / "new")]
    for more in (
        (),
        ("--model", "transformer", "--scoring", "gaussian", "--set-scoring", "width=0.7",
         "--normaliser", "entmax", "--set-normaliser", "alpha=1.2", "--tokeniser", "spaces",
         "--epochs", "3", "--batch-size", "5", "--learning-rate", "0.02", "--seed", "11",
         "--held-out", "2", "--pairs", "7", "--corpus-name", "zoo", "--device", "cpu"),
    ):  # fmt: skip
        assert main([*usual, *more]) == 2
    (plain, pairs, _), (plan, few, device) = seen
    assert (plain.model, plain.scoring, plain.normaliser) == ("bahdanau", "additive", "")
    assert (plain.corpus, pairs) == ("animals", 9)
    assert (plan.model, plan.scoring, plan.normaliser) == (
        "transformer", "gaussian", "entmax",
    )  # fmt: skip
    assert (plan.scoring_parameters, plan.normaliser_parameters) == (
        {"width": 0.7}, {"alpha": 1.2},
    )  # fmt: skip
    recipe = plan.recipe
    assert (recipe.epochs, recipe.batch_size, recipe.learning_rate) == (3, 5, 0.02)
    assert (recipe.seed, recipe.tokeniser, plan.held_out) == (11, "spaces", 2)
    assert (plan.corpus, few, device) == ("zoo", 7, "cpu")


def test_a_checkpoint_is_not_replaced_by_accident(checkpoint, corpus, capsys):
    line = _refused(capsys, "train", "--corpus", corpus, "--output", checkpoint)
    assert line.endswith("holds a checkpoint already; add --overwrite to replace it")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scoring", "addtive"], 'did you mean "additive"?'),
        (["--model", "nadaraya_watson"], "is for regression; need one for translation"),
        (["--set", "hidden"], "need name=value with a known name, got 'hidden'"),
        (["--set", "hidden=many"], "need hidden to be a whole number, got 'many'"),
        (["--set", "bidirectional=maybe"], "need bidirectional to be true or false, got 'maybe'"),
        (["--set", "hidden=100000"], "need 2 <= hidden <= 1024, got 100000"),
        (["--epochs", "0"], "need 1 <= epochs <= 10000, got 0"),
        (["--device", "cuda:99"], "no device 'cuda:99' here; need one of auto"),
        (["--threads", "0"], "need 1 <= threads, got 0"),
        (["--learning-rate", "nan"], "need learning_rate to be a number, got nan"),
    ],
)
def test_train_says_what_would_be_right(corpus, tmp_path, capsys, arguments, message):
    command = ["train", "--corpus", corpus, "--output", tmp_path / "new", *arguments]
    assert message in _refused(capsys, *command)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"one column\nonly\n", "line 1 of bad.tsv"),
        (b"", "need at least 2 sentence pairs in bad.tsv"),
        ("a\té\nb\tü\n".encode("latin-1"), "UTF-8"),
        (b"a\t" + b"x" * 10_000 + b"\nb\tc\n", "line 1 of bad.tsv"),
    ],
)
def test_a_bad_corpus_is_named_with_its_place(tmp_path, capsys, content, message):
    path = tmp_path / "bad.tsv"
    path.write_bytes(content)
    assert message in _refused(capsys, "train", "--corpus", path, "--output", tmp_path / "new")


def test_what_is_not_there_is_named(checkpoint, corpus, tmp_path, capsys):
    line = _refused(capsys, "evaluate", "--checkpoint", tmp_path, "--corpus", corpus)
    assert "no card.json in" in line
    line = _refused(capsys, "evaluate", "--checkpoint", checkpoint, "--corpus", "gone.tsv")
    assert "no file gone.tsv" in line
    line = _refused(capsys, "evaluate", "--checkpoint", checkpoint, "--corpus", "sine")
    assert "'sine' is for regression" in line
    line = _refused(capsys, "translate", "--checkpoint", checkpoint, " ")
    assert "need at least one word in sentence 1, got none" in line


def test_held_out_sources_need_the_card_s_corpus(checkpoint, tmp_path, capsys):
    other = tmp_path / "other.tsv"
    other.write_text(LINES.replace("horse", "mouse"), "utf-8")
    line = _refused(
        capsys, "evaluate", "--checkpoint", checkpoint, "--corpus", other, "--held-out"
    )
    assert "is not the corpus of this checkpoint's card (animals, 9 pairs)" in line


REVERSE = ["train", "--corpus", "reverse", "--pairs", "100", "--held-out", "10", "--epochs", "1",
           "--set", "embed=8", "--set", "hidden=8", "--device", "cpu", "--json"]  # fmt: skip


def test_a_data_set_brings_its_tokeniser_its_metric_and_its_alignments(tmp_path, capsys):
    folder = tmp_path / "reverse"
    assert main([*REVERSE, "--output", str(folder)]) == 0
    trained = json.loads(capsys.readouterr().out)
    (score,) = trained["scores"].values()
    own = score["metric"]
    assert (own["name"], own["title"], own["unit"]) == ("exact_match", "Exact match", "%")
    card = read(folder).card
    assert (card["tokeniser"], card["training"]["tokeniser"]) == ("spaces", "spaces")
    assert card["corpus"]["sides"] == ["symbols", "the symbols reversed"]
    assert card["corpus"]["metric"] == "exact_match"
    asked = ["evaluate", "--checkpoint", str(folder), "--corpus", "reverse", "--held-out"]
    assert main([*asked, "--json", "--device", "cpu"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["metric"], found["bleu"]) == (own, score["bleu"])
    assert [0 <= rate <= 1 for rate in found["alignment_error"].values()] == [True]
    assert main([*asked, "--device", "cpu"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == f"Exact match {own['value']:.2f}%"
    assert second.startswith("BLEU ")


def test_a_tokeniser_that_is_asked_for_comes_first(tmp_path, capsys):
    folder = tmp_path / "words"
    assert main([*REVERSE, "--tokeniser", "words", "--output", str(folder)]) == 0
    assert read(folder).card["tokeniser"] == "words"
    assert main([*REVERSE, "--tokeniser", "word", "--output", str(tmp_path / "no")]) == 2
    assert 'no tokeniser "word"; did you mean "words"?' in capsys.readouterr().err
