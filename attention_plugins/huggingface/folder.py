"""A folder as the Hugging Face Hub has it, read as a checkpoint."""

import importlib.util
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from attention_plugins.checkpoints import CARD, FORMAT, Checkpoint, CheckpointError
from attention_plugins.contract import ContractError
from attention_plugins.home import read_bounded
from attention_plugins.huggingface.attention import NAME, register
from attention_plugins.huggingface.decoder import LibraryDecoder
from attention_plugins.huggingface.encoder import LibraryEncoder
from attention_plugins.huggingface.families import Kind, family_of, kind_of, refuse_by_itself
from attention_plugins.huggingface.model import LibraryModel
from attention_plugins.huggingface.numbers import Numbers
from attention_plugins.huggingface.trial import few_tokens, require_same
from attention_plugins.randomness import seeded

_LOCAL = {"local_files_only": True, "trust_remote_code": False}


def library() -> ModuleType:
    """``transformers``, silent, with our attention registered; CheckpointError without it."""
    require_library()
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    register()
    return transformers


def tokenizer(folder: Path, source: str = "", target: str = "") -> Any:
    """The folder's tokenizer, for these languages where it knows several.

    Where there is none tokens are numbers. CheckpointError: it cannot be read.
    """
    if not _has_tokenizer(folder):
        return Numbers(read_json(folder / CONFIG))
    languages = {"src_lang": source, "tgt_lang": target}
    try:
        return library().AutoTokenizer.from_pretrained(
            folder, **{name: code for name, code in languages.items() if code}, **_LOCAL
        )
    except Exception as error:
        raise CheckpointError(
            f"the tokenizer in {folder} cannot be loaded: {_one_line(error)}"
        ) from error


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


CONFIG, NOTE, WEIGHTS = "config.json", "adopted.json", "model.safetensors"
INDEX = f"{WEIGHTS}.index.json"  # of weights in several files
INSTALL = 'pip install "attention-workbench[transformers]"'
NUMBERS = "numbers"  # the tokeniser of a model that came without one
ELSEWHERE = "elsewhere"  # the corpus of a model that nobody named one for

_MOST_BYTES = 10_000_000
_MOST_TOKENS = 128  # of a sentence: the maps of longer ones say nothing to the eye
MOST_POSITIONS = 1024  # of a text of which only a few maps are kept
_TRIED = 7  # tokens
_POOLER = "pooler."  # it comes after all attention, and not every encoder has it
_OFFSET = frozenset({"camembert", "esm", "mpnet", "roberta", "xlm-roberta"})
_TOKENIZERS = (
    "tokenizer.json", "vocab.json", "vocab.txt", "source.spm", "spiece.model",
    "sentencepiece.bpe.model", "sentencepiece.model", "tokenizer.model", "tokenizer_config.json",
)  # fmt: skip
_LOADERS: Mapping[str, str] = {
    "encoder-decoder": "AutoModelForSeq2SeqLM", "decoder": "AutoModelForCausalLM",
    "encoder": "AutoModelForMaskedLM", "maps": "AutoModel",
}  # fmt: skip
Built = LibraryModel | LibraryDecoder | LibraryEncoder


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn what a model's own code raises into one sentence."""
    try:
        yield
    except ContractError:
        raise
    except Exception as error:
        raise CheckpointError(f"{folder} cannot be used: {_one_line(error)}") from error


def load(folder: Path, loader: str, config: Mapping[str, Any]) -> Any:
    """The library's own model with its weights and our attention; raises as :meth:`Adopted.build`.

    ``loader`` is the name of a class such as ``AutoModel``.
    """
    try:
        model, report = getattr(library(), loader).from_pretrained(
            folder, attn_implementation=NAME, dtype=torch.float32, use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are in the report too, by name
            **_LOCAL,
        )  # fmt: skip
    except Exception as error:  # the library's readers raise whatever theirs do
        if isinstance(error, KeyError) and NAME in str(error):  # a table of its own
            refuse_by_itself(str(config["model_type"]), folder)
        raise CheckpointError(f"{folder} cannot be loaded: {_one_line(error)}") from error
    # The library draws what it does not find at random, and goes on.
    if missing := [name for name in map(str, report["missing_keys"]) if _POOLER not in name]:
        raise CheckpointError(f"{folder}: the weights lack {min(missing)}")
    if reshaped := [*map(str, report["mismatched_keys"])]:
        raise CheckpointError(f"{folder}: the weights have another shape of {min(reshaped)}")
    for name, weight in model.named_parameters():
        if not torch.isfinite(weight).all():
            raise CheckpointError(f"{folder}: weight {name!r} holds NaN or infinity")
    return model.eval()


@dataclass(frozen=True)
class Adopted(Checkpoint):
    """A model that another library trained; its card is made from that library's files.

    The scoring on the card is the one that the architecture is made with.
    """

    config: Mapping[str, Any]
    note: Mapping[str, Any]

    @property
    def kind(self) -> Kind:
        """What it does with a text."""
        return kind_of(self.config)

    @property
    def summary(self) -> dict[str, Any]:
        """The card, the kind, and the sizes of the vocabularies."""
        source = self.config.get("vocab_size")
        sizes = {"source_words": source,
                 "target_words": self.config.get("decoder_vocab_size") or source}  # fmt: skip
        return {**self.card, "kind": self.kind, **sizes}

    @property
    def prefix(self) -> str:
        """What is put before each sentence, such as T5's order to translate."""
        pair = f"translation_{self.note.get('source')}_to_{self.note.get('target')}"
        usual = (self.config.get("task_specific_params") or {}).get(pair) or {}
        return str(self.note.get("prefix") or usual.get("prefix") or "")

    def build(self, registry: Any) -> Built:
        """The model with its weights, in evaluation mode, on the CPU, in single precision.

        CheckpointError: weights missing, of another shape or not finite, files that the library
        cannot read, a family whose attention is not ours; no library installed.
        """
        model = load(self.folder, self._loader, self.config)
        with explained(self.folder):
            made = self._made(model)
            tokens = min(_TRIED, positions_of(self.config))
            require_same(model, made.sites, few_tokens(model, tokens))
            if isinstance(made, LibraryDecoder):
                made.require_steps()
        return made

    def untrained(self, registry: Any) -> Built:
        """The same architecture with fresh weights, as the library draws them; seed 0."""
        names = library()
        config = names.AutoConfig.from_pretrained(self.folder, **_LOCAL)
        with seeded(0):
            model = getattr(names, self._loader).from_config(config, attn_implementation=NAME)
        return self._made(model.eval())

    @property
    def _loader(self) -> str:
        """A head that guesses words is loaded where there is one."""
        (head,) = (self.config.get("architectures") or [""])[:1]
        fills = str(head).endswith(("ForMaskedLM", "ForPreTraining"))
        return _LOADERS["maps" if self.kind == "encoder" and not fills else self.kind]

    def _made(self, model: Any) -> Built:
        if self.kind == "encoder-decoder":
            return LibraryModel(model)
        if self.kind == "decoder":
            return LibraryDecoder(model)
        reader = tokenizer(self.folder)
        mask = reader.mask_token_id if self._loader == _LOADERS["encoder"] else None
        return LibraryEncoder(model, mask, reader.all_special_ids)


def is_one(folder: Path) -> bool:
    """Whether a folder looks like one of the Hub's, and not like a checkpoint of ours."""
    return (folder / CONFIG).is_file() and not (folder / CARD).exists()


def read(folder: Path) -> Adopted:
    """Read and check a folder's configuration.

    CheckpointError: no encoder–decoder, an architecture that is not supported, no safetensors,
    JSON that cannot be read, or the library is not installed.
    """
    config = read_json(folder / CONFIG)
    kind_of(config, folder)
    if not any((folder / name).is_file() for name in (WEIGHTS, INDEX)):
        raise CheckpointError(
            f"no {WEIGHTS} in {folder}; pickled weights such as pytorch_model.bin are not read, "
            "since loading them runs code"
        )
    require_library()
    note = read_json(folder / NOTE) if (folder / NOTE).is_file() else {}
    return Adopted(folder, _card(folder, config, note), config, note)


def _has_tokenizer(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _TOKENIZERS)


def require_library() -> None:
    """Raise CheckpointError unless ``transformers`` is installed; nothing is imported."""
    if importlib.util.find_spec("transformers") is None:
        raise CheckpointError(f"models of Hugging Face need the extra “transformers”: {INSTALL}")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a small JSON file; CheckpointError where there is none."""
    try:
        found = json.loads(read_bounded(path, _MOST_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be read as JSON: {error}") from None
    if not isinstance(found, dict):
        raise CheckpointError(f"{path} holds a {type(found).__name__}; need an object")
    return found


def positions_of(config: Mapping[str, Any]) -> int:
    """How many tokens a model has positions for, and no more than maps are drawn of."""
    names = ("max_position_embeddings", "n_positions")
    found = next((config[name] for name in names if config.get(name)), None)
    if not isinstance(found, int) or found < 1:
        return MOST_POSITIONS
    # These count positions from after their padding's number.
    offset = config.get("pad_token_id") if config["model_type"] in _OFFSET else None
    return max(1, min(found, MOST_POSITIONS) - (0 if offset is None else offset + 1))


def _card(folder: Path, config: Mapping[str, Any], note: Mapping[str, Any]) -> dict[str, Any]:
    family = family_of(config)
    languages = [str(note.get(side) or "") for side in ("source", "target")]
    sides = {"sides": languages} if all(languages) else {}
    return {
        "format": FORMAT,
        "title": str(note.get("repository") or folder.name),
        "model": f"huggingface_{config['model_type']}",
        "model_parameters": {},
        "scoring": family.scoring,
        "scoring_parameters": {},
        "tokeniser": "its_own" if _has_tokenizer(folder) else NUMBERS,
        "max_tokens": min(positions_of(config), _MOST_TOKENS),
        # Nothing is known of its sentences but their name: no pair can be shown to be new to it.
        "corpus": {"name": str(note.get("corpus") or ELSEWHERE), "sha256": "", "pairs": 0,
                   "trained_on": 0, "held_out_sources": 0, **sides},
        "training": {},
        "scores": {},
        "adopted": {
            "family": family.title, "addition": family.addition,
            "repository": str(note.get("repository", "")),
            "revision": str(note.get("revision", "")),
        },
    }  # fmt: skip
