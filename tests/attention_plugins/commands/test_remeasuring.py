"""``evaluate --all``: small checkpoints in the place of the shipped ones, their cards altered."""

import copy
import json
import shutil
from types import SimpleNamespace

import pytest

from attention_plugins.commands import evaluate as remeasuring
from attention_plugins.commands import main
from attention_plugins.commands.evaluate import disagreements
from attention_plugins.datasets import tatoeba
from attention_plugins.record import Site

SIGNATURE = "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:"
STATED = {
    "bleu": 44.97, "signature": f"{SIGNATURE}2.6.0", "sentences": 2003, "beam": 1,
    "near": {"sentences": 1001, "bleu": 59.3}, "copied": {"sentences": 2003, "bleu": 24.8},
    "metric": {"name": "chrf", "value": 61.0},
    "alignment_error": {"cross-attention layer 1, head 1": 0.177}, "command": "python -m ...",
}  # fmt: skip


def changed(**figures):
    return {**STATED, **figures}


@pytest.mark.parametrize(
    "found",
    [
        changed(),
        changed(command="another"),
        changed(signature=f"{SIGNATURE}2.7.1"),
        changed(bleu=45.07),
        changed(near={"sentences": 1001, "bleu": 59.1}),
        changed(metric={"name": "chrf", "value": 61.1}),
        changed(alignment_error={"cross-attention layer 1, head 1": 0.175}),
    ],
)
def test_figures_within_their_tolerances_agree(found):
    assert disagreements(STATED, found) == []


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (
            changed(bleu=45.08),
            "bleu is 45.08, its card says 44.97; need at most 0.1 between them",
        ),
        (
            changed(near={"sentences": 1001, "bleu": 59.55}),
            "near.bleu is 59.55, its card says 59.3; need at most 0.2 between them",
        ),
        (
            changed(near={"sentences": 1000, "bleu": 59.3}),
            "near.sentences is 1000, its card says 1001",
        ),
        (
            changed(copied={"sentences": 2003, "bleu": 24.81}),
            "copied.bleu is 24.81, its card says 24.8",
        ),
        (changed(sentences=2002), "sentences is 2002, its card says 2003"),
        (
            changed(alignment_error={"cross-attention layer 1, head 1": 0.18}),
            "alignment_error.cross-attention layer 1, head 1 is 0.18, its card says 0.177; "
            "need at most 0.002 between them",
        ),
        (
            changed(signature=f"{SIGNATURE.replace('13a', 'intl')}2.6.0"),
            "signature is nrefs:1|case:lc|eff:no|tok:intl|smooth:exp, its card says "
            "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp",
        ),
        (changed(far={"bleu": 44.4}), "far.bleu is 44.4 and not on its card"),
        (
            {name: value for name, value in STATED.items() if name != "beam"},
            "beam is on its card as 1 and was not measured",
        ),
    ],
)
def test_what_differs_is_named_with_both_figures(found, line):
    assert disagreements(STATED, found) == [line]


def test_alignment_errors_are_named_by_head_with_four_digits(monkeypatch):
    heads = {Site("cross", 1): [0.12346, 0.5, 0.25], Site("cross", 2): [0.7]}
    monkeypatch.setattr(remeasuring, "has_gold", bool)
    monkeypatch.setattr(remeasuring, "alignment_error", lambda *_: heads)
    translator = SimpleNamespace(card={"tokeniser": "words"})
    assert remeasuring._alignment_error(translator, ["gold"], "words") == {
        "cross-attention layer 2, head 1": 0.1235, "cross-attention layer 2, head 2": 0.5,
        "cross-attention layer 2, mean of heads": 0.25, "cross-attention layer 3, head 1": 0.7,
    }  # fmt: skip
    assert remeasuring._alignment_error(translator, [""], "words") == {}
    assert remeasuring._alignment_error(translator, ["gold"], "pieces") == {}


TRAIN = ["train", "--corpus", "reverse", "--pairs", "100", "--held-out", "10", "--epochs", "1",
         "--set", "embed=8", "--set", "hidden=8", "--device", "cpu", "--threads", "1"]  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "reverse"
    assert main([*TRAIN, "--output", str(folder)]) == 0
    evaluate = ["evaluate", "--checkpoint", str(folder), "--corpus", "reverse", "--held-out"]
    assert main([*evaluate, "--beam", "2", "--keep", "--device", "cpu"]) == 0
    assert main([*evaluate, "--keep", "--device", "cpu"]) == 0  # with its alignment error
    return folder


@pytest.fixture
def shipped(trained, tmp_path, monkeypatch, capsys):
    """The only shipped checkpoint, which a test may alter."""
    folder = tmp_path / "shipped" / "reverse"
    shutil.copytree(trained, folder)
    monkeypatch.setattr(remeasuring, "SHIPPED", folder.parent)
    monkeypatch.delenv(tatoeba.VARIABLE, raising=False)
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    capsys.readouterr()
    return folder


def alter(folder, change):
    path = folder / "card.json"
    card = json.loads(path.read_text("utf-8"))
    change(card)
    path.write_text(json.dumps(card), "utf-8")


def every(capsys, *more):
    """The exit code, and the lines of ``evaluate --all``."""
    code = main(["evaluate", "--all", "--device", "cpu", *more])
    return code, capsys.readouterr().out.splitlines()


def test_a_card_that_says_what_is_measured_agrees(shipped, capsys):
    assert every(capsys) == (
        0,
        [
            "reverse, held out, greedy: as its card says",
            "reverse, held out, beam 2: as its card says",
        ],
    )


def test_a_card_that_says_something_else_ends_with_1_until_it_is_corrected(shipped, capsys):
    found = {}

    def flatter(card):
        found.update(copy.deepcopy(card["scores"]["held out, beam 2"]))
        card["scores"]["held out, beam 2"]["far"]["bleu"] += 1.0
        card["scores"]["held out, beam 2"]["copied"]["value"] += 0.01

    alter(shipped, flatter)
    far, copied = found["far"]["bleu"], found["copied"]["value"]
    wrong = [
        f"reverse, held out, beam 2: far.bleu is {far}, its card says {far + 1.0}; "
        "need at most 0.2 between them",
        f"reverse, held out, beam 2: copied.value is {copied}, its card says {copied + 0.01}",
    ]
    code, lines = every(capsys)
    assert (code, lines[1:]) == (1, wrong)
    code, lines = every(capsys, "--keep")
    assert (code, lines[1:]) == (0, wrong)
    kept = json.loads((shipped / "card.json").read_text("utf-8"))["scores"]
    assert kept["held out, beam 2"] == found
    assert every(capsys)[0] == 0


def test_a_corpus_that_the_workbench_makes_must_be_the_cards(shipped, capsys):
    alter(shipped, lambda card: card["corpus"].update(sha256="0" * 64))
    code, (line,) = every(capsys)
    assert code == 1
    assert line.startswith(
        "reverse: data set 'reverse' is not the corpus of this checkpoint's card"
    )


@pytest.mark.parametrize(
    ("corpus", "given", "reason"),
    [
        ("tatoeba", False, "set ATTENTION_TATOEBA to a zip or a folder that holds its corpus"),
        (
            "tatoeba",
            True,
            "data set 'tatoeba' is not the corpus of this checkpoint's card (tatoeba",
        ),
        ("elsewhere", False, "no data set 'elsewhere' is installed"),
    ],
)
def test_a_corpus_that_is_not_here_is_skipped(
    shipped, capsys, tmp_path, monkeypatch, corpus, given, reason
):
    if given:
        (tmp_path / "fra.txt").write_text("Go.\tVa !\nHi.\tSalut !\n", "utf-8")
        monkeypatch.setenv(tatoeba.VARIABLE, str(tmp_path))
    alter(shipped, lambda card: card["corpus"].update(name=corpus))
    code, (line,) = every(capsys)
    assert code == 0
    assert line.startswith(f"reverse: skipped, {reason}")


def test_a_checkpoint_that_cannot_be_opened_ends_with_1(shipped, capsys):
    (shipped / "model.safetensors").unlink()
    code = main(["evaluate", "--all", "--json", "--device", "cpu"])
    (report,) = json.loads(capsys.readouterr().out)["checkpoints"]
    assert code == 1
    assert "no model.safetensors in" in report["error"]
