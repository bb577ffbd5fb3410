"""Bringing a model home: the files that are needed, of one commit, from the Hub or a folder."""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.errors import in_a_line
from attention_plugins.home import home
from attention_plugins.huggingface import folder as folders
from attention_plugins.huggingface.families import kind_of
from attention_plugins.huggingface.folder import CONFIG, INDEX, NOTE, WEIGHTS
from attention_plugins.opening import open_checkpoint

# No code, no pickles: what is not named here stays where it is.
_TEXTS = (
    CONFIG, INDEX, "generation_config.json", "tokenizer.json", "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", "vocab.txt",
    "source.spm", "target.spm", "spiece.model", "sentencepiece.bpe.model",
    "sentencepiece.model", "tokenizer.model", "target_vocab.json",
)  # fmt: skip
_WEIGHTS = (WEIGHTS, "model-*-of-*.safetensors")
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")


def adopt(given: str, name: str, note: Mapping[str, str], *, revision: str = "",
          overwrite: bool = False) -> folders.Adopted:  # fmt: skip
    """Keep a model among the checkpoints of :func:`~attention_plugins.home.home`.

    Args:
        given: a folder, or a repository of the Hub such as ``Helsinki-NLP/opus-mt-en-fr``.
        name: of the new folder; empty for the model's own.
        note: what is known of it: ``corpus``, ``source``, ``target``, ``prefix``.
        revision: a commit, branch or tag of the repository; the commit is what is kept.

    Raises:
        CheckpointError: no network, no such repository, no safetensors, no encoder–decoder that
            can be read here, a folder of this name that is there already, the extra is missing.
    """
    folders.require_library()
    local = Path(given).expanduser()
    target = home() / "checkpoints" / (name or local.resolve().name)
    if target.exists() and not overwrite:
        raise CheckpointError(f"{target} is there already; add --overwrite, or another --name")
    with _staged(target) as staged:
        if local.is_dir():
            repository, commit = _from_folder(local, staged, revision)
        else:
            repository, commit = _from_hub(given, revision, staged)
        known = {"repository": repository, "revision": commit,
                 **{key: value for key, value in note.items() if value},
                 "weights_sha256": _digests(staged)}  # fmt: skip
        (staged / NOTE).write_text(json.dumps(known, ensure_ascii=False, indent=1) + "\n", "utf-8")
        _try(folders.read(staged))
    return folders.read(target)


@contextmanager
def _staged(target: Path) -> Iterator[Path]:
    """A folder beside the checkpoints that becomes the target if all goes well."""
    work = home() / "adopting"
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        staged = Path(scratch) / target.name
        staged.mkdir()
        yield staged
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            target.rename(Path(scratch) / "replaced")
        os.replace(staged, target)


def _from_folder(local: Path, staged: Path, revision: str) -> tuple[str, str]:
    if revision:
        raise CheckpointError(f"{local} is a folder, which has no revision; leave --revision out")
    names = sorted(path.name for path in local.iterdir() if path.is_file())
    kind_of(folders.read_json(local / CONFIG), local)
    for name in _wanted(names, local):
        shutil.copyfile(local / name, staged / name)
    return local.resolve().name, ""


def _from_hub(repository: str, revision: str, staged: Path) -> tuple[str, str]:
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.utils import disable_progress_bars

    if not re.fullmatch(r"[\w.-]+/[\w.-]+|[\w.-]+", repository):
        raise CheckpointError(
            f"need a folder or a repository such as Helsinki-NLP/opus-mt-en-fr, got {repository!r}"
        )
    where = f"{repository} of the Hub"
    with _explained(repository, where, revision):
        found = HfApi().model_info(repository, revision=revision or None)
        commit = found.sha or ""
        if not _COMMIT.match(commit):
            raise CheckpointError(f"{where} names no commit for revision {revision!r}")
        disable_progress_bars()
        names = sorted(file.rfilename for file in found.siblings or ())
        # What it is stands in a small file; its weights are only fetched if it can be read.
        if CONFIG in names:
            hf_hub_download(repository, CONFIG, revision=commit, local_dir=staged)
        kind_of(folders.read_json(staged / CONFIG), where)
        for name in _wanted(names, where):
            hf_hub_download(repository, name, revision=commit, local_dir=staged)
    shutil.rmtree(staged / ".cache", ignore_errors=True)
    return found.id or repository, commit


@contextmanager
def _explained(repository: str, where: str, revision: str) -> Iterator[None]:
    """Turn what the Hub's client raises into one sentence."""
    from huggingface_hub import errors

    try:
        yield
    except CheckpointError:
        raise
    except errors.GatedRepoError as error:
        raise CheckpointError(f"{where} asks for consent on its page first") from error
    except errors.RevisionNotFoundError as error:
        raise CheckpointError(f"{where} has no revision {revision!r}") from error
    except errors.RepositoryNotFoundError as error:
        raise CheckpointError(
            f"there is no folder {repository} here, and no {where}, or it is private"
        ) from error
    except errors.HfHubHTTPError as error:
        raise CheckpointError(f"{where} cannot be read: {in_a_line(error)}") from error
    except Exception as raised:  # of the client's own client, which changes with its version
        error = str(raised) or type(raised).__name__
        raise CheckpointError(
            f"there is no folder {repository} here, and it cannot be fetched from the Hub: "
            f"{error}; nothing was kept, try again, or without a network give a folder that "
            "holds the model"
        ) from raised


def _wanted(names: Sequence[str], where: object) -> list[str]:
    weights = [name for name in names if any(fnmatch(name, pattern) for pattern in _WEIGHTS)]
    if not weights:
        raise CheckpointError(
            f"{where} has no safetensors, and pickled weights are not read, since loading them "
            "runs code; many models have a conversion among their pull requests: try "
            "--revision refs/pr/<number>"
        )
    if WEIGHTS in weights:  # whole and in parts: once is enough
        weights = [WEIGHTS]
    return [name for name in names if name in _TEXTS] + weights


def _digests(staged: Path) -> dict[str, str]:
    found = {}
    for path in sorted(staged.glob("*.safetensors")):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _try(adopted: folders.Adopted) -> None:
    """Raise ContractError unless it loads and reads a word."""
    text = "0" if adopted.card["tokeniser"] == folders.NUMBERS else "a"
    open_checkpoint(adopted, None).explain(text, target=text)
