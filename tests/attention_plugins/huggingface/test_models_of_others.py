"""Three models that others trained, adopted as folders, against what their makers print."""

from __future__ import annotations

import base64
import json
import os
import random
from pathlib import Path

import pytest
import torch

from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.tap import Site

_VARIABLE = "ATTENTION_TEST_MODELS"
# What llama2.c prints at temperature 0, from its doc/stories260K.md.
STORY = """\
Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One \
day, she saw a big, red ball. She wanted to play with it, but it was too high.
Lily's mom said, "Lily, let's go to the park." Lily was sad and didn't know what to do. She said, \
"I want to play with your ball, but I can't find it."
Lily was sad and didn't know what to do. She said, "I'm sorry, Lily. I didn't know what to do."
Lily didn't want to help her mom, so she said, "I'm sorry, mom. I didn't know what to do." Her \
mom said, "Don't worry, Lily. We can help you."""
# Names and their tokens' log-probabilities from the tests of CTranslate2.
NAMES = {
    "آتزمون": ("atzmon", (-0.106023, -0.065410, -0.056002, -0.447953, -0.230714, -0.092184)),
    "آتشيسون": ("achison", (-0.072660, -0.300309, -0.181187, -0.395671, -0.025631, -0.123466)),
    "آرباكه": ("arbake", (-0.103136, -0.089504, -0.063889, -0.007327, -0.452072, -0.060154)),
    "آرثر": ("arther", (-0.076704, -0.036037, -0.029253, -0.030273, -0.149276, -0.002440)),
    "آزا": ("azza", ()),
}
OTHERS = ("محمد", "سليمان", "باكستان", "يوسف", "دانيال")


@pytest.fixture(scope="module")
def root():
    if not (root := os.environ.get(_VARIABLE)):
        pytest.skip(f"{_VARIABLE} names no folder with models of others in it")
    return Path(root)


def _opened(folder):
    return open_checkpoint(read_checkpoint(folder), None)


def _with_its_tokenizer(source, folder):
    """A copy of stories260K with a tokenizer made of its pieces, of which the likelier merge."""
    from tokenizers import Tokenizer, decoders, models, normalizers, processors
    from transformers import PreTrainedTokenizerFast

    for name in ("config.json", "generation_config.json", "model.safetensors"):
        (folder / name).write_bytes((source / name).read_bytes())
    pieces = json.loads((source / "pieces.json").read_text("utf-8"))
    ids = {piece: number for number, (piece, _) in enumerate(pieces)}
    likelier = sorted((pair for pair in pieces if len(pair[0]) > 1 and pair[0][0] != "<"),
                      key=lambda pair: -pair[1])  # fmt: skip
    merges = [
        (piece[:cut], piece[cut:])
        for piece, _ in likelier
        for cut in range(1, len(piece))
        if piece[:cut] in ids and piece[cut:] in ids
    ]
    raw = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", byte_fallback=True))
    raw.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    raw.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
         decoders.Strip(" ", 1, 0)]
    )  # fmt: skip
    raw.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=raw, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def teller(root, tmp_path_factory):
    return _opened(_with_its_tokenizer(root / "stories260K", tmp_path_factory.mktemp("stories")))


def test_a_llama_tells_the_story_that_its_maker_prints(teller):
    begin = torch.tensor([[1]])
    (ids,) = teller.model.search(begin, torch.tensor([1]), width=1, limit=259)
    assert teller.target_vocabulary.text(ids).startswith(STORY.rstrip('"'))
    said = teller.explain("")
    assert STORY.startswith(said.text)
    assert said.source_tokens == ("<s>",)


def test_the_words_of_a_story_are_foretold_as_by_the_library(teller, root):
    from transformers import AutoModelForCausalLM

    prompt, target = "Once upon a time,", STORY[len("Once upon a time,") :][:200]
    said = teller.explain(prompt, target=target)
    assert said.text == target
    assert said.tokens == teller.explain(prompt, target=target.strip()).tokens
    assert teller.explain("Once upon a t", target="·ime").text == "·ime"
    assert teller.explain("Once upon a", target="time").text == " time"
    reference = AutoModelForCausalLM.from_pretrained(
        root / "stories260K", attn_implementation="eager"
    ).eval()
    source, _, rest = teller.pair(prompt, target)
    ids = torch.cat([source, rest], dim=1)
    with torch.no_grad():
        known = reference(ids, output_attentions=True)
    scores = known.logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
    wanted = scores[source.shape[1] - 1 :]
    torch.testing.assert_close(torch.tensor(said.log_probabilities), wanted, rtol=0, atol=1e-4)
    for one, weights in zip(said.maps, known.attentions, strict=True):
        torch.testing.assert_close(one.weights, weights[0, :, :-1, :-1], rtol=0, atol=1e-5)


def test_a_prompt_of_a_thousand_characters_is_no_longer_than_the_model_reads(teller):
    said = teller.explain(STORY, target=" One day", sites=[Site("decoder", 4)])
    (kept,) = said.maps
    assert len(kept.query_labels) > 200
    assert kept.query_labels[:3] == ("<s>", "Once", "upon")


def test_a_pegasus_writes_ten_names_as_ctranslate2_and_the_library_do(root):
    from transformers import AutoModelForSeq2SeqLM

    folder = root / "aren-transliteration"
    translator = _opened(folder)
    letters = json.loads((folder / "vocabularies.json").read_text("utf-8"))
    read, written = letters["source"], letters["target"]
    reference = AutoModelForSeq2SeqLM.from_pretrained(folder, attn_implementation="eager").eval()
    sources = {name: " ".join(str(read.index(letter)) for letter in name)
               for name in (*NAMES, *OTHERS)}  # fmt: skip
    found = translator.translate(list(sources.values()))
    for (name, source), text in zip(sources.items(), found, strict=True):
        spelled = "".join(written[int(id) - len(read)] for id in text.split())
        ids = torch.tensor([[int(id) for id in source.split()]])
        known = reference.generate(ids, max_new_tokens=30)[0, 1:-1].tolist()
        assert [int(id) for id in text.split()] == known
        if name in NAMES:
            wanted, scores = NAMES[name]
            assert spelled == wanted
            said = translator.explain(source).log_probabilities
            assert said[: len(scores)] == pytest.approx(scores, abs=1e-4)
    assert len(found) == 10


def test_a_gpt_sorts_two_hundred_rows_of_letters(root):
    translator = _opened(root / "gpt-nano-sort")
    assert translator.summary["tokeniser"] == "numbers"
    drawn = random.Random(0)
    rows = [[drawn.randrange(3) for _ in range(6)] for _ in range(200)]
    found = translator.translate([" ".join(map(str, row)) for row in rows])
    assert [[*map(int, text.split())] for text in found] == [sorted(row) for row in rows]


def test_the_maps_of_the_sorting_gpt_are_those_that_its_maker_kept(root):
    folder = root / "gpt-nano-sort"
    kept = json.loads((folder / "gpt-nano-sort-t0-partials.json").read_text())

    def tensor(name):
        raw = bytearray(base64.b64decode(kept[name]["data"]))
        return torch.frombuffer(raw, dtype=torch.float32).view(kept[name]["shape"])

    translator, weights = _opened(folder), tensor("attSm")
    for row, wanted in zip(tensor("idx").long().tolist(), weights, strict=True):
        prompt, target = row[:6], [*row[6:], 0]
        said = translator.explain(" ".join(map(str, prompt)), target=" ".join(map(str, target)))
        assert said.maps[0].weights.shape == wanted.shape == (3, 11, 11)
        torch.testing.assert_close(said.maps[0].weights, wanted, rtol=0, atol=1e-5)
