"""A checkpoint read back is the model that was written; a damaged one says what is damaged."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.hostile import KINDS, UNIX, lay

from attention_plugins import checkpoints, experiment, registry
from attention_plugins.checkpoints import CARD, WEIGHTS, CheckpointError
from attention_plugins.contract import ContractError, ModelSizes, ModelSpec, SentencePair
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load
from attention_plugins.text import RESERVED

ROOT = Path(__file__).parents[2]
REGISTRY = load(allow=[])
DEEP = {"embed": 6, "hidden": 10, "layers": 2, "deep_readout": True, "bidirectional": True}


def _model(values, seed=0):
    torch.manual_seed(seed)
    sizes = ModelSizes(len(RESERVED) + 3, len(RESERVED) + 5)
    return REGISTRY.model("bahdanau").create(REGISTRY.scoring("additive").factory(), sizes, values)


def _card(values, **changes):
    return {
        "title": "A small one", "model": "bahdanau", "model_parameters": values,
        "scoring": "additive", "scoring_parameters": {}, "tokeniser": "words", "max_tokens": 10,
        "source_vocabulary": [*RESERVED, *"abc"], "target_vocabulary": [*RESERVED, *"uvwxy"],
        "corpus": {"name": "letters"}, "training": {}, "scores": {},
    } | changes  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    checkpoints.write(tmp_path / "small", _model(DEEP), _card(DEEP))
    return tmp_path / "small"


def _edit(folder, **changes):
    card = json.loads((folder / CARD).read_text("utf-8")) | changes
    (folder / CARD).write_text(json.dumps(card), "utf-8")


def _retensor(folder, change):
    weights = load_file(folder / WEIGHTS)
    change(weights)
    save_file(weights, folder / WEIGHTS)


@pytest.mark.parametrize("values", [DEEP, {"embed": 6, "hidden": 10}])
def test_what_is_read_is_what_was_written_to_half_precision(tmp_path, values):
    model = _model(values, seed=4)
    checkpoints.write(tmp_path, model, _card(values))
    again = checkpoints.read(tmp_path).build(REGISTRY)
    assert not again.training
    written, found = model.state_dict(), again.state_dict()
    assert list(written) == list(found)
    for name, tensor in written.items():
        assert torch.equal(tensor.half().float(), found[name]), name


def test_tied_weights_are_stored_once_and_stay_tied(folder):
    model = checkpoints.read(folder).build(REGISTRY)
    assert model.output.weight is model.embedding.weight
    assert "output.weight" not in load_file(folder / WEIGHTS)


def test_building_leaves_the_random_state_alone(folder):
    torch.manual_seed(9)
    expected = torch.rand(3)
    torch.manual_seed(9)
    checkpoints.read(folder).build(REGISTRY)
    assert torch.equal(torch.rand(3), expected)


def test_the_summary_gives_sizes_for_vocabularies(folder):
    summary = checkpoints.read(folder).summary
    assert summary["source_words"] == 7
    assert summary["target_words"] == 9
    assert "source_vocabulary" not in summary


def test_checkpoints_are_found_by_their_cards(folder, monkeypatch):
    (folder.parent / "no-card").mkdir()
    assert [spec.name for spec in checkpoints.find([folder.parent])] == ["small"]
    monkeypatch.setenv("ATTENTION_CHECKPOINTS", str(folder.parent))
    assert "small" in load(allow=[]).checkpoints


def _lose(weights):
    del weights["readout.weight"]


def _add(weights):
    weights["spare"] = torch.zeros(2)


def _reshape(weights):
    weights["readout.bias"] = torch.zeros(7)


def _spoil(weights):
    weights["readout.bias"][3] = torch.nan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_lose, "lacks tensor 'readout.weight'"),
        (_add, "has an unknown tensor 'spare'"),
        (_reshape, r"tensor 'readout.bias' has shape \(7,\), need \(6,\)"),
        (_spoil, "tensor 'readout.bias' holds NaN or infinity"),
    ],
)
def test_wrong_tensors_are_named(folder, change, message):
    _retensor(folder, change)
    with pytest.raises(CheckpointError, match=message):
        checkpoints.read(folder).build(REGISTRY)


def test_a_card_that_claims_a_giant_costs_no_memory(folder):
    giant = {**DEEP, "embed": 1024, "hidden": 1024, "layers": 4}
    _edit(folder, model_parameters=giant)
    with pytest.raises(CheckpointError, match=r"lacks tensor|has shape"):
        checkpoints.read(folder).build(REGISTRY)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format 2; this version reads 1"),
        ({"learned": {"sauce": ""}}, "learned holds a text of each of source, target"),
        ({"learned": {"source": 7}}, "learned holds a text of each of source, target"),
        ({"max_tokens": "ten"}, r"need max_tokens \(int\), found str"),
        ({"max_tokens": True}, r"need max_tokens \(int\), found bool"),
        ({"max_tokens": 0}, r"need 1 <= max_tokens <= 10,000, got 0"),
        ({"max_tokens": 10**9}, r"need 1 <= max_tokens <= 10,000, got 1000000000"),
        ({"source_vocabulary": [*RESERVED, "\ud800"]}, "source vocabulary: .*surrogates"),
        ({"target_vocabulary": [*RESERVED, 7]}, "target vocabulary"),
        ({"source_vocabulary": ["a", "b"]}, "source vocabulary: a vocabulary starts with"),
        ({"target_vocabulary": [*RESERVED, "u", "u"]}, "'u' occurs twice"),
        ({"source_vocabulary": [*RESERVED, ["a"]]}, "source vocabulary"),
    ],
)
def test_a_wrong_card_is_named(folder, changes, message):
    _edit(folder, **changes)
    with pytest.raises(CheckpointError, match=message):
        checkpoints.read(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scoring": "gone"}, 'no scoring "gone"'),
        ({"model": "gone"}, 'no model "gone"'),
        ({"model_parameters": {"hidden": -1}}, "need 2 <= hidden <= 1024, got -1"),
    ],
)
def test_what_is_not_installed_is_named(folder, changes, message):
    _edit(folder, **changes)
    with pytest.raises(ContractError, match=message):
        checkpoints.read(folder).build(REGISTRY)


def test_a_missing_field_is_named(folder):
    card = json.loads((folder / CARD).read_text("utf-8"))
    del card["scoring"]
    (folder / CARD).write_text(json.dumps(card), "utf-8")
    with pytest.raises(CheckpointError, match=r"need scoring \(str\), found nothing"):
        checkpoints.read(folder)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "\x00", "[" * 100_000, '{"a":' * 100_000])
def test_a_card_that_is_no_object_is_refused(folder, text):
    (folder / CARD).write_text(text)
    with pytest.raises(CheckpointError, match=r"card.json (cannot be read as JSON|holds a list)"):
        checkpoints.read(folder)


def test_files_that_are_missing_or_other_things_are_named(folder, tmp_path):
    with pytest.raises(CheckpointError, match=r"no card.json in"):
        checkpoints.read(tmp_path / "nowhere")
    (folder / WEIGHTS).write_bytes(b"PK not tensors")
    with pytest.raises(CheckpointError, match="is not a safetensors file"):
        checkpoints.read(folder).build(REGISTRY)
    (folder / WEIGHTS).unlink()
    with pytest.raises(CheckpointError, match=r"no model.safetensors in"):
        checkpoints.read(folder).build(REGISTRY)


def test_a_folder_of_any_name_is_offered_and_costs_no_other(folder):
    for name in ("2nd Try!", "Small", "x" * 60):
        shutil.copytree(folder, folder.parent / name)
    names = [spec.name for spec in checkpoints.find([folder.parent])]
    assert sorted(names) == ["m_2nd_try_", "small", "x" * 40]


def test_of_two_folders_of_one_name_the_first_root_has_it(folder, tmp_path):
    later = tmp_path / "later"
    shutil.copytree(folder, later / folder.name)
    roots = [folder.parent, later]
    for order in (roots, roots[::-1]):
        (spec,) = checkpoints.find(order)
        assert spec.path == order[0] / folder.name


def test_what_was_kept_at_home_is_offered_once(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    shutil.copytree(folder, tmp_path / "home" / "checkpoints" / "mine")
    monkeypatch.setenv("ATTENTION_CHECKPOINTS", str(tmp_path / "home" / "checkpoints" / "."))
    names = [spec.name for spec in checkpoints.attention_checkpoints()]
    assert names.count("mine") == 1


def test_a_model_is_told_which_words_are_the_same_on_both_sides(tmp_path):
    """In training, when it is loaded, and when its training is looked at again."""
    told = []

    def build(factory, sizes, values):
        told.append(sizes)
        return BAHDANAU.create(factory, sizes, {"embed": 8, "hidden": 8, "dropout": 0.0})

    mine = ModelSpec(name="mine", title="Mine", task="translation", build=build)
    known = registry.load(allow=[])
    plugin = registry.Plugin(
        name="m", distribution="m", version="1", module="m", offers={"models": ("mine",)}
    )
    records = {**known.records, "models": {**known.records["models"], "mine": mine}}
    both = registry.Registry(records=records, plugins=(*known.plugins, plugin))
    pairs = [SentencePair("a b b c", "c x"), SentencePair("b c", "a c c")]
    plan = experiment.Experiment(
        model="mine", scoring="dot", corpus="letters", recipe=Recipe(min_frequency=1, epochs=1)
    )
    found = experiment.keep(experiment.run(plan, pairs, both), tmp_path)
    found.build(both)
    source, target = (found.card[f"{side}_vocabulary"] for side in ("source", "target"))
    expected = [target.index(word) if word in target else 0 for word in source]
    assert 0 in expected[4:]  # b is no target word
    assert expected[4:] != list(range(4, len(source)))
    assert len(told) >= 3
    assert {sizes.copies for sizes in told} == {tuple(expected)}


@pytest.mark.slow
def test_opening_a_checkpoint_and_translating_imports_no_compiler():
    code = (
        "import sys\n"
        "from attention_plugins.opening import open_checkpoint, read_checkpoint\n"
        "from attention_plugins.registry import load\n"
        "registry = load(allow=[])\n"
        "for name in ('bahdanau_additive_phrasebook', 'transformer_scaled_dot_phrasebook'):\n"
        "    checkpoint = read_checkpoint(registry.checkpoint(name).path)\n"
        "    print(open_checkpoint(checkpoint, registry).explain('they are reading .').text)\n"
        "print({'sympy', 'torch._dynamo'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    first, second, compilers = done.stdout.splitlines()
    assert first
    assert second
    assert compilers == "set()"


@pytest.mark.slow
@UNIX
def test_what_is_no_file_of_a_checkpoint_is_refused_at_once_and_costs_no_other(folder):
    """A pipe in the place of a card hung the catalogue, and with it the dashboard."""
    wrong = {f"{kind}_{part[:4]}": (kind, part) for kind in KINDS for part in (CARD, WEIGHTS)}
    for name, (kind, part) in wrong.items():
        shutil.copytree(folder, folder.parent / name)
        lay(folder.parent / name / part, kind)
    code = (
        "import json\n"
        "from attention_plugins import checkpoints, registry\n"
        "from attention_plugins.catalogue import catalogue\n"
        "found = registry.load(allow=[])\n"
        "faults = {each['name']: each['fault'] for each in catalogue(found)['checkpoints']}\n"
        "refused = {}\n"
        f"for name in {list(wrong)}:\n"
        "    try:\n"
        "        checkpoints.read(found.checkpoint(name).path).build(found)\n"
        "    except checkpoints.CheckpointError as error:\n"
        "        refused[name] = str(error)\n"
        "print(json.dumps([faults, refused]))\n"
    )
    environment = {**os.environ, "ATTENTION_CHECKPOINTS": str(folder.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, timeout=120, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    faults, refused = json.loads(done.stdout)
    assert not faults["small"]
    for name, (_, part) in wrong.items():
        assert part in refused[name]
        assert (part in (faults[name] or "")) == (part == CARD)
