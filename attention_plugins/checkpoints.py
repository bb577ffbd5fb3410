"""Trained models at rest: ``model.safetensors`` (half precision) and ``card.json``, no code.

The card says everything needed to build the model again and everything known of how it came to
be. A checkpoint is checked against the model it claims to be before a single weight is read.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attention_plugins.contract import CheckpointSpec, ContractError, ModelSizes, Tokeniser
from attention_plugins.discovery import NOTEBOOK
from attention_plugins.home import SHIPPED, home, read_bounded
from attention_plugins.hookspecs import hookimpl
from attention_plugins.models.protocols import Module, StepModel, as_translation_model
from attention_plugins.randomness import seeded
from attention_plugins.text import Vocabulary, copies

CARD, WEIGHTS = "card.json", "model.safetensors"
_CONFIG = "config.json"  # in place of a card in the folders of Hugging Face
FORMAT = 1
Kind = Literal["encoder-decoder", "decoder", "encoder"]
CONTINUES = "continues"  # on a card's corpus: targets go on where their sources end

_FIELDS: Mapping[str, type] = {
    "format": int, "title": str, "model": str, "model_parameters": dict, "scoring": str,
    "scoring_parameters": dict, "tokeniser": str, "max_tokens": int, "source_vocabulary": list,
    "target_vocabulary": list, "corpus": dict, "training": dict, "scores": dict,
}  # fmt: skip
_OPTIONAL: Mapping[str, type] = {
    "normaliser": str, "normaliser_parameters": dict, "plugins": dict, "learned": dict,
}  # fmt: skip
_MAX_CARD_BYTES = 20_000_000
_MOST_TOKENS = 10_000  # of a sentence

_PARTS = {
    "model": "models", "scoring": "scorings", "normaliser": "normalisers",
    "tokeniser": "tokenisers", "layer": "layers",
}  # fmt: skip
_ORIGIN = frozenset({"name", "distribution", "version"})  # what a card says of each


class CheckpointError(ContractError):
    """A checkpoint that cannot be used, and why, in one sentence."""


@dataclass(frozen=True)
class Checkpoint:
    """A card that was read and checked, and the folder it lies in."""

    folder: Path
    card: Mapping[str, Any]

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Of the source and of the target."""
        source, target = (Vocabulary(self.card[f"{side}_vocabulary"]) for side in _SIDES)
        return source, target

    @property
    def kind(self) -> Kind:
        """``encoder-decoder``, ``decoder`` (continues a text) or ``encoder`` (only reads it)."""
        return "decoder" if self.card["corpus"].get(CONTINUES) else "encoder-decoder"

    @property
    def summary(self) -> dict[str, Any]:
        """The card without vocabularies and ``learned``; the sizes of these, and the kind."""
        sizes = {f"{side}_words": len(self.card[f"{side}_vocabulary"]) for side in _SIDES}
        large = {"learned", *(f"{side}_vocabulary" for side in _SIDES)}
        return {k: v for k, v in self.card.items() if k not in large} | sizes | {"kind": self.kind}

    def tokenisers(self, registry: Any) -> tuple[Tokeniser, Tokeniser]:
        """Of the source and of the target; ContractError if the card's is not installed."""
        require_same(registry, self.card)
        spec, learned = registry.tokeniser(self.card["tokeniser"]), self.card.get("learned", {})
        source, target = (spec.create(learned.get(side, "")) for side in _SIDES)
        return source, target

    def build(self, registry: Any) -> StepModel:
        """The model with its weights, in evaluation mode, on the CPU, in single precision.

        CheckpointError: a missing or extra tensor, a wrong shape, weights that are not finite, a
        file that is not safetensors.
        """
        # Takes no memory: shapes are checked before any is taken.
        with torch.device("meta"), _NoDraws():
            wanted = {name: t.shape for name, t in stored(self._create(registry)).items()}
        weights = _read_weights(self.folder, wanted)
        with torch.random.fork_rng(devices=[]):
            model = self._create(registry)
        model.load_state_dict(weights, strict=False)  # names were checked; tied ones stand for two
        return as_translation_model(model).eval()

    def untrained(self, registry: Any) -> StepModel:
        """The same model as its training began, from the card's seed; raises as :meth:`build`.

        Bit for bit so with the version of torch that is on the card; else another draw.
        """
        with seeded(int(self.card["training"].get("seed", 0))):
            return as_translation_model(self._create(registry)).eval()

    def _create(self, registry: Any) -> nn.Module:
        sizes = model_sizes(*self.vocabularies)
        require_same(registry, self.card)
        factory = registry.scoring_factory(
            self.card["scoring"], self.card["scoring_parameters"],
            self.card.get("normaliser", ""), self.card.get("normaliser_parameters", {}),
        )  # fmt: skip
        spec = registry.model(self.card["model"])
        return spec.create(factory, sizes, self.card["model_parameters"])


class _NoDraws(TorchFunctionMode):
    """Leaves new weights as they are: on the device ``meta`` there is nothing to draw.

    torch would import its compiler to draw normal numbers there: 1.3 s and 70 MB.
    """

    def __torch_function__(
        self, func: Callable, types: Any, given: Sequence = (), named: Mapping | None = None
    ) -> Any:
        """``func``, unless it is of :mod:`torch.nn.init`, or :meth:`torch.Tensor.normal_`."""
        named = named or {}
        if func is torch.Tensor.normal_ or getattr(func, "__module__", "") == nn.init.__name__:
            return given[0] if given else named["tensor"]
        return func(*given, **named)


_SIDES = ("source", "target")


def model_sizes(source: Vocabulary, target: Vocabulary) -> ModelSizes:
    """What a translation model between these vocabularies is built for."""
    return ModelSizes(len(source), len(target), copies(source, target))


def read(folder: Path) -> Checkpoint:
    """Read and check a checkpoint's card; :mod:`attention_plugins.opening` reads others' too.

    CheckpointError: no card, not JSON, a missing field, one of the wrong type, or a format that
    this version does not know.
    """
    path = Path(folder) / CARD
    try:
        card = json.loads(read_bounded(path, _MAX_CARD_BYTES).decode("utf-8"))
    except FileNotFoundError:
        raise CheckpointError(
            f"no {CARD} in {folder}; a checkpoint is a folder with {CARD} and {WEIGHTS}"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be read as JSON: {error}") from None
    if not isinstance(card, dict):
        raise CheckpointError(f"{path} holds a {type(card).__name__}; a card is an object")
    _check_card(path, card)
    return Checkpoint(Path(folder), card)


def _check_card(path: Path, card: Mapping[str, Any]) -> None:
    present = {name: kind for name, kind in _OPTIONAL.items() if name in card}
    for name, kind in {**_FIELDS, **present}.items():
        if not isinstance(card.get(name), kind) or isinstance(card[name], bool):
            found = type(card[name]).__name__ if name in card else "nothing"
            raise CheckpointError(f"{path}: need {name} ({kind.__name__}), found {found}")
    if card["format"] != FORMAT:
        raise CheckpointError(f"{path}: format {card['format']}; this version reads {FORMAT}")
    if not 1 <= card["max_tokens"] <= _MOST_TOKENS:
        raise CheckpointError(
            f"{path}: need 1 <= max_tokens <= {_MOST_TOKENS:,}, got {card['max_tokens']}"
        )
    learned = card.get("learned", {})
    if not {*learned} <= {*_SIDES} or not all(isinstance(text, str) for text in learned.values()):
        raise CheckpointError(f"{path}: learned holds a text of each of {', '.join(_SIDES)}")
    for part, plugin in card.get("plugins", {}).items():
        if part not in _PARTS or not isinstance(plugin, dict) or not {*plugin} >= _ORIGIN:
            raise CheckpointError(
                f"{path}: plugins needs {', '.join(sorted(_ORIGIN))} "
                f"of each of {', '.join(_PARTS)}"
            )
    for side in _SIDES:
        try:
            "".join(Vocabulary(card[f"{side}_vocabulary"]).tokens).encode()
        except (ValueError, TypeError) as error:
            raise CheckpointError(f"{path}: {side} vocabulary: {error}") from None


def provenance(registry: Any, names: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Distribution, version and contract of every plugin that a training uses, by its part."""
    found = {}
    for part, name in names.items():
        if name:
            plugin = registry.provider(_PARTS[part], name)
            found[part] = {
                "name": name, "distribution": plugin.distribution, "version": plugin.version,
                "contract": plugin.contract,
            }  # fmt: skip
    return found


def require_same(registry: Any, card: Mapping[str, Any]) -> None:
    """See that what a card names comes from whom it came from when the model was trained.

    Cards from before this was noted are taken at their word.
    """
    for part, known in card.get("plugins", {}).items():
        if not registry.offers(_PARTS[part], known["name"]):
            if known["distribution"] == NOTEBOOK:
                raise ContractError(
                    f"the {part} {known['name']!r} of this model was defined in a notebook: load "
                    "the model there, by load(folder, scoring=...), or make it a plugin"
                )
            raise ContractError(
                f"no {part} {known['name']!r} here: this model was trained with that of "
                f"{known['distribution']} {known['version']}; install {known['distribution']}"
            )
        here = registry.provider(_PARTS[part], known["name"])
        if here.distribution != known["distribution"]:
            raise ContractError(
                f"this model was trained with the {part} {known['name']!r} of "
                f"{known['distribution']} {known['version']}; here {here.distribution} "
                f"{here.version} offers another one of that name: install "
                f"{known['distribution']} and uninstall {here.distribution}"
            )


def stored(model: Module) -> dict[str, Tensor]:
    """The model's state without the second names of tied weights."""
    seen: set[int] = set()
    second = set()
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if id(parameter) in seen:
            second.add(name)
        seen.add(id(parameter))
    return {name: t for name, t in model.state_dict().items() if name not in second}


def write(folder: Path, model: Module, card: Mapping[str, Any]) -> Checkpoint:
    """Store a model in half precision with its card, of which no field may be missing."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: tensor.detach().to("cpu", torch.float16).contiguous()
        for name, tensor in stored(model).items()
    }
    payload = save(weights)
    (folder / WEIGHTS).write_bytes(payload)
    digest = hashlib.sha256(payload).hexdigest()
    return _write_card(folder, {"format": FORMAT, **card, "weights_sha256": digest})


def add_score(checkpoint: Checkpoint, name: str, score: Mapping[str, Any]) -> Checkpoint:
    """Note a score on the card, under its name; one of that name is replaced."""
    scores = {**checkpoint.card["scores"], name: dict(score)}
    return _write_card(checkpoint.folder, {**checkpoint.card, "scores": scores})


def _write_card(folder: Path, card: Mapping[str, Any]) -> Checkpoint:
    text = json.dumps(card, ensure_ascii=False, indent=1)
    (folder / CARD).write_text(_one_line_lists(text) + "\n", "utf-8")
    return read(folder)


def find(roots: Iterable[Path]) -> list[CheckpointSpec]:
    """Every checkpoint's folder directly below the roots, by name; the first of a name counts."""
    found: dict[str, Path] = {}
    for root in roots:
        files = [file for name in (CARD, _CONFIG) for file in Path(root).glob(f"*/{name}")]
        for folder in sorted({file.parent for file in files}):
            found.setdefault(name_of(folder), folder)
    return [CheckpointSpec(name=name, path=folder) for name, folder in found.items()]


@hookimpl
def attention_checkpoints() -> Iterable[CheckpointSpec]:
    """The shipped ones, the kept ones, and those below ``ATTENTION_CHECKPOINTS``."""
    roots = [SHIPPED, home() / "checkpoints"]
    if extra := os.environ.get("ATTENTION_CHECKPOINTS"):
        roots.append(Path(extra))
    return find(dict.fromkeys(root.resolve() for root in roots))


def name_of(folder: Path) -> str:
    """A name that the contract allows, since one folder must not cost all others."""
    name = re.sub(r"[^a-z0-9_]", "_", folder.name.lower())
    return (name if name[0].isalpha() else f"m_{name}")[:40]


def _read_weights(folder: Path, wanted: Mapping[str, torch.Size]) -> dict[str, torch.Tensor]:
    path = folder / WEIGHTS
    if not path.is_file():
        raise CheckpointError(f"no {WEIGHTS} in {folder}")
    try:
        with safe_open(path, framework="pt") as file:
            present = set(file.keys())
            if lacking := wanted.keys() - present:
                raise CheckpointError(
                    f"{path} lacks tensor {min(lacking)!r}; "
                    f"the model of its card has {len(wanted)} tensors, the file {len(present)}"
                )
            if unknown := present - wanted.keys():
                raise CheckpointError(
                    f"{path} has an unknown tensor {min(unknown)!r}; "
                    f"the model of its card has {len(wanted)} tensors, the file {len(present)}"
                )
            for name, shape in wanted.items():
                found = tuple(file.get_slice(name).get_shape())
                if found != tuple(shape):
                    raise CheckpointError(
                        f"{path}: tensor {name!r} has shape {found}, need {tuple(shape)}"
                    )
            weights = {name: file.get_tensor(name).float() for name in wanted}
    except SafetensorError as error:
        raise CheckpointError(f"{path} is not a safetensors file: {error}") from None
    for name, tensor in weights.items():
        if not torch.isfinite(tensor).all():
            raise CheckpointError(f"{path}: tensor {name!r} holds NaN or infinity")
    return weights


def _one_line_lists(text: str) -> str:
    """Indented JSON with each vocabulary on one line: readable, and small in a diff."""
    return re.sub(
        r'vocabulary": \[\n.*?^ \],?$',
        lambda found: "".join(line.strip() for line in found[0].split("\n")), text,
        flags=re.M | re.S,
    )  # fmt: skip
