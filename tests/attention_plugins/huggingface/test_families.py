"""What the guide says of the library's families is what the code and the tests know."""

from __future__ import annotations

import re

import pytest
import torch
from support import documents
from support.tiny_families import DECODERS, ENCODERS, SENSES, TRANSLATORS, save, with_words

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.commands import main
from attention_plugins.huggingface import families
from attention_plugins.huggingface.families import FAMILIES, kind_of

SECTION = documents.section("using.md", "Models of others")
KINDS = {"encoder–decoder": "encoder-decoder", "decoder": "decoder", "encoder": "encoder"}
# Tested besides the tiny families, in test_one_pass.py.
_ELSEWHERE = {"mt5", "umt5"}


def test_the_guides_table_is_of_the_families_that_are_tested():
    for title, kind in KINDS.items():
        row = next(line for line in SECTION.splitlines() if line.startswith(f"| {title} |"))
        named = set(row.split("|")[3].strip().split(", "))
        known = {name for name, family in FAMILIES.items() if family.kind == kind}
        assert named == {FAMILIES[name].title for name in known}
        tested = {"encoder-decoder": TRANSLATORS, "decoder": DECODERS, "encoder": ENCODERS}[kind]
        assert known == {*tested} | (_ELSEWHERE if kind == "encoder-decoder" else set())


ADDED = {
    "learned bias": ("mt5", "t5", "umt5"),
    "rotated": (
        "deepseek_v3", "gemma3_text", "gpt_neox", "llama", "mistral", "modernbert", "phi3",
        "qwen3",
    ),
    "capped": ("gemma2",),
    "sink": ("gpt_oss",),
}  # fmt: skip


def test_a_family_says_what_it_adds_and_the_scoring_it_is_made_with():
    for word, names in ADDED.items():
        assert {name for name, one in FAMILIES.items() if word in one.addition} == {*names}
    plain = FAMILIES.keys() - {name for names in ADDED.values() for name in names}
    assert not any(FAMILIES[name].addition for name in plain)
    dot = {name for name, one in FAMILIES.items() if one.scoring == "dot"}
    assert dot == {*ADDED["learned bias"]}
    others = {one.scoring for name, one in FAMILIES.items() if name not in dot}
    assert others == {"scaled_dot"}


def test_what_the_guide_refuses_is_refused_by_name():
    (said,) = re.findall(r"Bloom, .* MPT", SECTION.replace("\n", " "))
    names = {name.lower().replace("-", "") for name in re.split(", | and ", said)}
    refused = {name.replace("_", "").replace("-v2", "") for name in families._BY_THEMSELVES}
    assert names <= refused
    known = {"bloom", "deberta", "deberta-v2", "falcon", "gpt_neo", "gptj", "mpt", "xlnet"}
    for name in families._BY_THEMSELVES | known:
        with pytest.raises(CheckpointError, match=f"here holds a '{name}' model, whose code"):
            kind_of({"model_type": name}, "here")


def test_pictures_and_sounds_are_read_in_python_alone():
    for name in SENSES:
        with pytest.raises(CheckpointError, match=r"in Python (maps_of|watch)"):
            kind_of({"model_type": name})


def test_the_guides_commands_and_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    with_words(save("gpt2", tmp_path / "my-gpt2"), ("the", "cat", "sees", "a", "dog"))
    save("vit", tmp_path / "my-vit")
    (command,) = re.findall(r"python -m attention_plugins (adopt my-gpt2)", SECTION)
    assert main(command.split()) == 0
    assert "my_gpt2: GPT-2" in capsys.readouterr().out
    blocks = re.findall(r"```python\n(.*?)```", SECTION, re.S)
    assert len(blocks) == 2
    known = {"picture": torch.zeros(3, 12, 12)}
    for block in blocks:
        exec(block, known)
    assert known["said"].tokens == ("a", "dog")
    assert "'row 3, column 3'" in capsys.readouterr().out
