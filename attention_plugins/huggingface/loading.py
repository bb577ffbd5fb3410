"""The library's loaders: from a folder alone, safetensors alone, no code of strangers."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.huggingface.folder import require_library
from attention_plugins.huggingface.model import LibraryModel
from attention_plugins.huggingface.watching import NAME, register
from attention_plugins.randomness import seeded

_LOCAL = {"local_files_only": True, "trust_remote_code": False}


def library() -> ModuleType:
    """``transformers``, silent, with our attention registered.

    Raises:
        CheckpointError: it is not installed.
    """
    require_library()
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    register()
    return transformers


def trained(folder: Path) -> LibraryModel:
    """The folder's model with its weights, in evaluation mode, in single precision.

    Raises:
        CheckpointError: weights that are missing, of another shape or not finite, files that the
            library cannot read.
    """
    loader = library().AutoModelForSeq2SeqLM
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


def fresh(folder: Path) -> LibraryModel:
    """The folder's architecture with weights as the library draws them, from seed 0."""
    names = library()
    config = names.AutoConfig.from_pretrained(folder, **_LOCAL)
    with seeded(0):
        model = names.AutoModelForSeq2SeqLM.from_config(config, attn_implementation=NAME)
    return LibraryModel(model).eval()


def tokenizer(folder: Path, source: str = "", target: str = "") -> Any:
    """The folder's tokenizer, for these languages where it knows several.

    Raises:
        CheckpointError: files that the library cannot read, a language that it does not know.
    """
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
    """What went wrong, without the advice that fills the library's messages."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"
