"""Folders of the Hub among our checkpoints: what their cards say, what is refused and why."""

from __future__ import annotations

import importlib.util
import json
import shutil

import pytest
from safetensors.torch import load_file, save_file

from attention_plugins import checkpoints
from attention_plugins.checkpoints import CheckpointError, find, read
from attention_plugins.commands import main
from attention_plugins.huggingface import fetch


@pytest.fixture
def broken(folders, tmp_path):
    """A copy of a tiny model to break."""
    return shutil.copytree(folders / "tiny-bart", tmp_path / "tiny-bart")


def _config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_folder_is_a_checkpoint_with_a_card(folders):
    assert {spec.name for spec in find([folders])} == {"tiny_bart", "tiny_marian", "tiny_t5"}
    card = read(folders / "tiny-t5").summary
    assert (card["model"], card["scoring"], card["title"]) == (
        "huggingface_t5", "dot", "someone/tiny-t5",
    )  # fmt: skip
    assert card["corpus"]["name"] == "few"
    assert card["adopted"]["family"] == "T5"
    assert "bias" in card["adopted"]["addition"]
    assert card["source_words"] == card["target_words"] == 97
    marian = read(folders / "tiny-marian").card
    assert (marian["scoring"], marian["corpus"]["name"]) == ("scaled_dot", "elsewhere")
    assert marian["adopted"]["addition"] == ""


def test_a_card_of_our_own_comes_before_a_configuration(broken):
    (broken / "card.json").write_text("{}")
    with pytest.raises(CheckpointError, match="need format"):
        read(broken)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"is_encoder_decoder": False}, "no encoder–decoder"),
        ({"model_type": "led"}, "holds a 'led' model; read are bart, m2m_100, marian"),
    ],
)
def test_another_architecture_is_refused(broken, changes, message):
    _config(broken, **changes)
    with pytest.raises(CheckpointError, match=message):
        read(broken)


def test_pickled_weights_are_not_read(broken):
    (broken / "model.safetensors").rename(broken / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match=r"no model\.safetensors .* runs code"):
        read(broken)


def test_a_missing_library_is_named_with_its_cure(folders, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        CheckpointError, match=r'pip install "attention-workbench\[transformers\]"'
    ):
        read(folders / "tiny-bart")


@pytest.mark.parametrize("fault", ["missing", "shape", "nan", "rubbish"])
def test_weights_that_do_not_fit_are_refused(broken, fault):
    """The library itself would draw what is missing at random."""
    path = broken / "model.safetensors"
    weights = load_file(path)
    name = "model.encoder.layers.1.fc1.weight"
    if fault == "missing":
        del weights[name]
    elif fault == "shape":
        weights[name] = weights[name][:-1].clone()
    else:
        weights[name] = weights[name] * float("nan")
    save_file(weights, path, metadata={"format": "pt"})
    if fault == "rubbish":
        path.write_bytes(b"rubbish")
    with pytest.raises(CheckpointError, match="fc1" if fault != "rubbish" else "cannot be loaded"):
        read(broken).build(None)


def test_adopt_keeps_what_is_needed_and_says_its_name(folders, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    given = shutil.copytree(folders / "tiny-bart", tmp_path / "given")
    (given / "pytorch_model.bin").write_bytes(b"a pickle")
    (given / "modeling_bart.py").write_text("raise SystemExit")
    order = ["adopt", str(given), "--name", "Mine", "--corpus", "few", "--json"]
    assert main(order) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["checkpoint"], facts["family"]) == ("mine", "BART")
    kept = tmp_path / "checkpoints" / "Mine"
    names = {path.name for path in kept.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "adopted.json"} <= names
    assert not names & {"pytorch_model.bin", "modeling_bart.py"}
    assert read(kept).card["corpus"]["name"] == "few"
    assert "mine" in {spec.name for spec in checkpoints.attention_checkpoints()}
    assert main(order) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main([*order, "--overwrite"]) == 0
    assert not list((tmp_path / "adopting").iterdir())


class _Hub:
    """Stands in for the Hub's client: one repository, in a folder."""

    def __init__(self, folder):
        self.folder, self.asked = folder, []

    def model_info(self, repository, revision):
        if repository != "someone/tiny":
            raise ConnectionError("Name or service not known")
        files = [type("File", (), {"rfilename": p.name}) for p in self.folder.iterdir()]
        return type("Info", (), {"id": repository, "sha": "ab" * 20, "siblings": files})

    def download(self, repository, name, *, revision, local_dir):
        self.asked.append((name, revision))
        shutil.copyfile(self.folder / name, local_dir / name)


@pytest.fixture
def hub(broken, monkeypatch, tmp_path):
    import huggingface_hub

    stand_in = _Hub(broken)
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: stand_in)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", stand_in.download)
    return stand_in


def test_what_comes_from_the_hub_is_of_one_commit_that_is_kept(hub):
    (hub.folder / "pytorch_model.bin").write_bytes(b"a pickle")
    kept = fetch.adopt("someone/tiny", "", {"source": "en"}, revision="main")
    assert {revision for _, revision in hub.asked} == {"ab" * 20}
    assert hub.asked[0][0] == "config.json"
    assert "pytorch_model.bin" not in {name for name, _ in hub.asked}
    assert kept.card["adopted"]["revision"] == "ab" * 20
    assert (kept.folder.name, kept.note["source"]) == ("tiny", "en")
    assert set(kept.note["weights_sha256"]) == {"model.safetensors"}


def test_weights_are_not_fetched_of_what_cannot_be_read(hub):
    _config(hub.folder, model_type="gpt2", is_encoder_decoder=False)
    with pytest.raises(CheckpointError, match="someone/tiny of the Hub holds a 'gpt2' model"):
        fetch.adopt("someone/tiny", "", {})
    assert [name for name, _ in hub.asked] == ["config.json"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("someone/else", "cannot reach someone/else of the Hub: Name or service not known"),
        ("https://x/y/z", "need a folder or a repository such as"),
        ("someone/tiny", "has no safetensors"),
    ],
)
def test_what_cannot_be_adopted_leaves_nothing(hub, tmp_path, given, message):
    (hub.folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=message):
        fetch.adopt(given, "", {})
    assert not (tmp_path / "home" / "checkpoints").exists()
