"""A folder as the Hugging Face Hub has it, read as a checkpoint: here JSON alone, no weights."""

import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import torch

from attention_plugins.checkpoints import CARD, FORMAT, Checkpoint, CheckpointError
from attention_plugins.home import read_bounded
from attention_plugins.huggingface.model import NAME, LibraryModel, register
from attention_plugins.marking import gettext_noop
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
    """The folder's tokenizer, for these languages where it knows several; else CheckpointError."""
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
ELSEWHERE = "elsewhere"  # the corpus of a model that nobody named one for

_MOST_BYTES = 10_000_000
_MOST_TOKENS = 128  # of a sentence: the maps of longer ones say nothing to the eye
_BIAS = gettext_noop(
    "a learned bias for the distance of two tokens joins the scores of self-attention"
)


class Family(NamedTuple):
    """Models of one architecture: its name, the scoring it is made with, what else it adds."""

    title: str
    scoring: str = "scaled_dot"
    addition: str = ""


FAMILIES: Mapping[str, Family] = {
    "bart": Family("BART"),
    "m2m_100": Family("M2M100"),
    "marian": Family("Marian"),
    "mt5": Family("mT5", "dot", _BIAS),
    "pegasus": Family("Pegasus"),
    "t5": Family("T5", "dot", _BIAS),
    "umt5": Family("UMT5", "dot", _BIAS),
}


@dataclass(frozen=True)
class Adopted(Checkpoint):
    """A model that another library trained; its card is made from that library's files.

    The scoring on the card is the one that the architecture is made with. It cannot be swapped.
    """

    config: Mapping[str, Any]
    note: Mapping[str, Any]

    @property
    def summary(self) -> dict[str, Any]:
        """The card and the sizes of the vocabularies."""
        source = self.config.get("vocab_size")
        sizes = {"source_words": source,
                 "target_words": self.config.get("decoder_vocab_size") or source}  # fmt: skip
        return {**self.card, **sizes}

    @property
    def prefix(self) -> str:
        """What is put before each sentence, such as T5's order to translate."""
        pair = f"translation_{self.note.get('source')}_to_{self.note.get('target')}"
        usual = (self.config.get("task_specific_params") or {}).get(pair) or {}
        return str(self.note.get("prefix") or usual.get("prefix") or "")

    def build(self, registry: Any) -> LibraryModel:
        """The model with its weights, in evaluation mode, on the CPU, in single precision.

        CheckpointError: weights that are missing, of another shape or not finite, files that the
        library cannot read; the library is not installed.
        """
        folder, loader = self.folder, library().AutoModelForSeq2SeqLM
        try:
            model, report = loader.from_pretrained(
                folder, attn_implementation=NAME, dtype=torch.float32, use_safetensors=True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # they are in the report too, by name
                **_LOCAL,
            )  # fmt: skip
        except Exception as error:  # the library's readers raise whatever theirs do
            raise CheckpointError(f"{folder} cannot be loaded: {_one_line(error)}") from error
        # The library draws what it does not find at random, and goes on.
        if names := [*map(str, report["missing_keys"])]:
            raise CheckpointError(f"{folder}: the weights lack {min(names)}")
        if names := [*map(str, report["mismatched_keys"])]:
            raise CheckpointError(f"{folder}: the weights have another shape of {min(names)}")
        for name, weight in model.named_parameters():
            if not torch.isfinite(weight).all():
                raise CheckpointError(f"{folder}: weight {name!r} holds NaN or infinity")
        return LibraryModel(model).eval()

    def untrained(self, registry: Any) -> LibraryModel:
        """The same architecture with fresh weights, as the library draws them; seed 0."""
        names = library()
        config = names.AutoConfig.from_pretrained(self.folder, **_LOCAL)
        with seeded(0):
            model = names.AutoModelForSeq2SeqLM.from_config(config, attn_implementation=NAME)
        return LibraryModel(model).eval()


def is_one(folder: Path) -> bool:
    """Whether a folder looks like one of the Hub's, and not like a checkpoint of ours."""
    return (folder / CONFIG).is_file() and not (folder / CARD).exists()


def read(folder: Path) -> Adopted:
    """Read and check a folder's configuration.

    CheckpointError: no encoder–decoder, an architecture that is not supported, no safetensors,
    JSON that cannot be read, or the library is not installed.
    """
    config = check_config(read_json(folder / CONFIG), folder)
    if not any((folder / name).is_file() for name in (WEIGHTS, INDEX)):
        raise CheckpointError(
            f"no {WEIGHTS} in {folder}; pickled weights such as pytorch_model.bin are not read, "
            "since loading them runs code"
        )
    require_library()
    note = read_json(folder / NOTE) if (folder / NOTE).is_file() else {}
    return Adopted(folder, _card(folder, config, note), config, note)


def check_config(config: Mapping[str, Any], where: object) -> Mapping[str, Any]:
    """The configuration of a model that can be read here; else CheckpointError, of ``where``."""
    kind = config.get("model_type")
    if not config.get("is_encoder_decoder"):
        raise CheckpointError(f"{where} holds a {kind!r} model, which is no encoder–decoder")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise CheckpointError(f"{where} holds a {kind!r} model; read are {', '.join(FAMILIES)}")
    return config


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


def _card(folder: Path, config: Mapping[str, Any], note: Mapping[str, Any]) -> dict[str, Any]:
    family = FAMILIES[config["model_type"]]
    languages = [str(note.get(side) or "") for side in ("source", "target")]
    sides = {"sides": languages} if all(languages) else {}
    positions = config.get("max_position_embeddings") or config.get("n_positions")
    if not isinstance(positions, int) or positions < 1:
        positions = _MOST_TOKENS
    return {
        "format": FORMAT,
        "title": str(note.get("repository") or folder.name),
        "model": f"huggingface_{config['model_type']}",
        "model_parameters": {},
        "scoring": family.scoring,
        "scoring_parameters": {},
        "tokeniser": "its_own",
        "max_tokens": min(positions, _MOST_TOKENS),
        # Nothing is known of its sentences but their name: no pair can be shown to be new to it.
        "corpus": {"name": str(note.get("corpus") or ELSEWHERE), "sha256": "", "pairs": 0,
                   "trained_on": 0, "held_out_sources": 0, **sides},
        "training": {},
        "scores": {},
        "adopted": {
            "family": family.title,
            "addition": family.addition,
            "repository": str(note.get("repository", "")),
            "revision": str(note.get("revision", "")),
        },
    }  # fmt: skip
