"""The command prices swaps, goes on where it stopped, and refuses in a line."""

import json

import pytest
from support.tiny_families import save

from attention_plugins.commands import main
from attention_plugins.price import store
from attention_plugins.price.records import Budget


@pytest.fixture(autouse=True)
def _little_is_shown(monkeypatch):
    """What is written for a reader takes longer than all that is measured."""
    monkeypatch.setattr("attention_plugins.price.tuning._SHOWN_WRITTEN", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save("gpt2", tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "texts.txt"
    path.write_text("".join(f"{n + 3} {n % 7 + 3} 5 {n + 4}\n" for n in range(30)), "utf-8")
    return path


def swapped(capsys, *arguments):
    small = (
        "--steps",
        "2",
        "--seeds",
        "2",
        "--held-out",
        "5",
        "--rates",
        "0.01",
        "--threads",
        "1",
    )
    code = main(["swap", *map(str, arguments), *small])
    return code, capsys.readouterr()


def test_prices_are_printed_and_kept_and_gone_on_with(folder, texts, tmp_path, capsys):
    path = tmp_path / "prices.jsonl"
    asked = (folder, "--texts", texts, "--scorings", "cosine", "=-|q - k|", "--output", path,
             "--source", "counted up")  # fmt: skip
    code, said = swapped(capsys, *asked, "--json")
    assert code == 0
    facts = json.loads(said.out)
    assert facts["model"] == "tiny"
    assert facts["facts"]["source"] == "counted up"
    assert [(row["swap"], row["rate"]) for row in facts["prices"]] == [
        (swap, rate) for swap in ("", "cosine", "=-norm(q - k)") for rate in (0.0, 0.01)
    ]
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) == 1 + 2 * 3
    path.write_text("\n".join(lines[:-2]) + "\n", "utf-8")
    code, said = swapped(capsys, *asked)
    assert code == 0
    assert "the original" in said.out
    again = path.read_text("utf-8").splitlines()
    assert again[:-2] == lines[:-2]
    numbers = [[json.loads(line)["after"] for line in each[1:]] for each in (lines, again)]
    assert numbers[0] == numbers[1]
    assert {one.swap.name for one in store.read(path).outcomes} == {"", "cosine", "=-norm(q - k)"}


def test_a_decoder_without_texts_writes_its_own(folder, capsys):
    code, said = swapped(capsys, folder, "--scorings", "scaled_dot", "--write", "4")
    assert code == 0
    assert "(texts that the model wrote itself)" in said.out


def test_swaps_are_measured_as_the_command_says(folder, texts, capsys, monkeypatch):
    seen = []

    def none(subject, swaps, texts, budget, done):
        seen.append((subject.name, [(one.name, one.positions) for one in swaps], budget))
        return iter(())

    monkeypatch.setattr("attention_plugins.price.measuring.trials", none)
    code, _ = swapped(
        capsys, folder, "--texts", texts, "--scorings", "cosine", "dot+entmax15",
        "--normaliser", "sparsemax", "--positions", "remove", "--batch-size", "3",
    )  # fmt: skip
    assert code == 0
    ((name, swaps, budget),) = seen
    assert name == "tiny"
    assert swaps == [("cosine + sparsemax", "remove"), ("dot + entmax15", "remove")]
    assert budget == Budget(steps=2, rates=(0.01,), batch_size=3, held_out=5, seeds=2)


@pytest.mark.parametrize(("more", "said"), [
    (("--scorings", "nobody"), 'no scoring "nobody"'),
    (("--scorings", "cosine", "--texts", "nowhere.txt"), "nowhere.txt cannot be read as text"),
    (("--scorings", "cosine", "--write", "-1"), "need 0 <= write, got -1"),
    (("--scorings", "cosine", "--batch-size", "0"), "need 1 <= batch_size <= 4,096, got 0"),
])  # fmt: skip
def test_bad_input_ends_with_one_line(folder, capsys, more, said):
    code, told = swapped(capsys, folder, *more)
    assert code == 2
    assert said in told.err
    assert told.err.count("\n") == 1


def test_a_model_that_is_not_there_is_named(capsys):
    for name, said in (("no/where", "no folder no/where"), ("nobody", 'no checkpoint "nobody"')):
        code, told = swapped(capsys, name, "--scorings", "cosine")
        assert (code, said in told.err) == (2, True)
