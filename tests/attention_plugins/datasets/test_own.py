import os

import pytest

from attention_plugins.contract import ContractError
from attention_plugins.datasets import own
from attention_plugins.registry import load

PAIRS = "go .\tva !\nhi .\tsalut !\nrun .\tcours !\n"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "My pairs, 2nd.tsv"
    path.write_text(PAIRS)
    return path


def test_a_file_becomes_a_data_set_of_every_registry(file, home):
    assert own.add(file) == "own_my_pairs_2nd"
    spec = load(allow=[]).dataset("own_my_pairs_2nd")
    assert spec.title == "My pairs, 2nd (own)"
    assert spec.task == "translation"
    found = spec.load({"pairs": 0}, 0)
    assert [(pair.source, pair.target) for pair in found] == [
        ("go .", "va !"), ("hi .", "salut !"), ("run .", "cours !"),
    ]  # fmt: skip
    assert len(spec.load({"pairs": 2}, 0)) == 2
    assert [path.name for path in (home / "corpora").iterdir()] == [file.name]


def test_the_same_file_is_added_once_and_another_of_its_name_is_refused(file, home):
    assert own.add(file) == own.add(file)
    file.write_text(PAIRS + "no .\tnon .\n")
    with pytest.raises(ContractError, match=r"give My pairs, 2nd\.tsv another name"):
        own.add(file)
    assert (home / "corpora" / file.name).read_text() == PAIRS


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.tsv", "no columns here", "a.tsv|line 1|TAB"),
        ("a.tsv", "", "at least 2 sentence pairs"),
        ("...tsv", PAIRS, "letters or digits"),
    ],
)
def test_what_holds_no_pairs_is_not_added(tmp_path, home, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(ContractError, match=words):
        own.add(tmp_path / name)
    assert not list(home.glob("corpora/*"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ContractError, match=r"cannot read .*none\.tsv"):
        own.add(tmp_path / "none.tsv")


def test_one_sentence_pair_is_too_few(file):
    name = own.add(file)
    spec = load(allow=[]).dataset(name)
    with pytest.raises(ContractError, match="need 0 "):
        spec.load({"pairs": 1}, 0)


def test_what_lies_there_but_is_no_corpus_costs_nothing(home):
    folder = home / "corpora"
    folder.mkdir(parents=True)
    (folder / "folder.tsv").mkdir()
    (folder / "???.tsv").write_text(PAIRS)
    (folder / "B.tsv").write_text("no columns")
    (folder / "b.tsv").write_text(PAIRS)
    os.mkfifo(folder / "pipe.tsv")
    assert [spec.name for spec in own.own_corpora()] == ["own_b"]
    registry = load(allow=[])
    with pytest.raises(ContractError, match="TAB"):
        registry.dataset("own_b").load({"pairs": 0}, 0)
    assert "phrasebook" in registry.datasets
