"""Tiny models of the library with random weights, saved as the Hub has them, without a network."""

import io
import json

import pytest
import torch

SENTENCES = [
    "the cat sees a dog", "a horse sees the cats", "my dog is not here", "where is the big horse",
    "le chat voit un chien", "un cheval voit les chats", "mon chien n'est pas ici",
    "où est le grand cheval", "translate english to french",
]  # fmt: skip
SIZES = {  # heads, layers and widths that are no multiples of each other where they may be
    "vocab_size": 97, "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0,
}  # fmt: skip
_LAYERS = {
    "d_model": 15, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 5,
    "decoder_attention_heads": 3, "encoder_ffn_dim": 11, "decoder_ffn_dim": 13,
    "max_position_embeddings": 17,
}  # fmt: skip


def _spread(model, factor):
    """Weights large enough that rows of maps differ and no two words are as likely."""
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            if weight.dim() > 1:
                weight.mul_(factor)
            elif "norm" not in name:
                weight.normal_(std=0.3)
    return model


@pytest.fixture(scope="session")
def spread():
    """Makes a random model's weights large: see :func:`_spread`."""
    return _spread


def _marian(folder):
    import sentencepiece
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    for side in ("source", "target"):
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES), model_writer=written, vocab_size=61,
            hard_vocab_limit=False, minloglevel=4,
        )  # fmt: skip
        (folder / f"{side}.spm").write_bytes(written.getvalue())
    reader = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    pieces = [reader.id_to_piece(number) for number in range(reader.get_piece_size())]
    known = ["<pad>", "</s>", "<unk>", *(p for p in pieces if p not in ("<unk>", "<s>", "</s>"))]
    (folder / "vocab.json").write_text(json.dumps({p: n for n, p in enumerate(known)}))
    tokenizer = MarianTokenizer(
        str(folder / "source.spm"), str(folder / "target.spm"), str(folder / "vocab.json")
    )
    sizes = SIZES | {"vocab_size": len(known), "scale_embedding": True}
    return tokenizer, MarianMTModel(MarianConfig(**sizes, **_LAYERS, forced_eos_token_id=1))


def _metaspace():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = sorted({"▁" + w for s in SENTENCES for w in s.split()} | {"▁French", "▁:", "s"})
    known = ["<pad>", "</s>", "<unk>", *words]
    raw = Tokenizer(models.WordLevel({w: n for n, w in enumerate(known)}, unk_token="<unk>"))
    raw.pre_tokenizer, raw.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    raw.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


def _t5(folder):
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        **SIZES, d_model=14, d_kv=7, d_ff=11, num_layers=2, num_decoder_layers=3, num_heads=5,
        n_positions=17, task_specific_params={"translation_en_to_fr": {"prefix": "translate "}},
    )  # fmt: skip
    return _metaspace(), T5ForConditionalGeneration(config)


def _bart(folder):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE(unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    raw.decoder = decoders.ByteLevel()
    specials = ["<pad>", "</s>", "<unk>", "<s>"]
    raw.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(vocab_size=83, special_tokens=specials, show_progress=False),
    )
    raw.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", special_tokens=[("<s>", 3), ("</s>", 1)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        bos_token="<s>",
    )  # fmt: skip
    config = BartConfig(**SIZES | {"decoder_start_token_id": 1}, **_LAYERS, bos_token_id=3)
    model = BartForConditionalGeneration(config)
    model.generation_config.forced_bos_token_id = 3
    return tokenizer, model


FAMILIES = {"marian": _marian, "t5": _t5, "bart": _bart}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A folder with a checkpoint folder of each family, by its name."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    root = tmp_path_factory.mktemp("hub")
    for family, make in FAMILIES.items():
        (folder := root / f"tiny-{family}").mkdir()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            tokenizer, model = make(folder)
            _spread(model, 2 if family == "t5" else 12).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    (root / "tiny-t5" / "adopted.json").write_text(
        json.dumps({"source": "en", "target": "fr", "repository": "someone/tiny-t5",
                    "revision": "0123456789abcdef" * 2, "corpus": "few"})
    )  # fmt: skip
    return root
