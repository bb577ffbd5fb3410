"""Maps of models that read pictures or sounds, in Python: pages have texts.

>>> maps = maps_of("vit-folder", picture)  # doctest: +SKIP
>>> maps.map(0).key_labels[:2]  # doctest: +SKIP
('[CLS]', 'row 1, column 1')
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.contract import ContractError
from attention_plugins.huggingface import folder as folders
from attention_plugins.huggingface.attention import watched
from attention_plugins.huggingface.families import SENSES
from attention_plugins.huggingface.trial import require_same, sites_in_order
from attention_plugins.maps import AttentionMaps, WatchedMap
from attention_plugins.tap import Intervention, Recorder, Tap

_SECOND = 16_000  # samples, where a folder does not say
_PREPROCESSOR = "preprocessor_config.json"


def maps_of(
    folder: str | Path, given: Any, *, interventions: Sequence[Intervention] = ()
) -> AttentionMaps:
    """Every map ``(1, heads, n, n)`` of a model in a folder as the Hub has it, labelled.

    Rows and columns are patches such as ``row 3, column 4``, or frames by the second at which
    they begin, such as ``0.48 s``, and what a model puts before them, such as ``[CLS]``.

    Args:
        folder: ``config.json`` and safetensors of ViT, DeiT, DINOv2, CLIP's vision or Wav2Vec2.
        given: a picture ``(3, height, width)`` or the samples ``(n,)`` of a sound, as the model
            wants them (scaled and resized); or, where the folder has a
            ``preprocessor_config.json``, whatever that takes, such as a picture of Pillow.
        interventions: changes to heads at ``Site("encoder", layer)``.

    Raises:
        CheckpointError: another family, files that cannot be read, a model whose attention is not
            done by ours, tokens that nobody can name.
        ContractError: an input of another shape.
    """
    folder = Path(folder)
    config = folders.read_json(folder / folders.CONFIG)
    kind = str(config.get("model_type"))
    sense = next((sense for sense, names in SENSES.items() if kind in names), "")
    if not sense:
        known = ", ".join(name for names in SENSES.values() for name in sorted(names))
        raise CheckpointError(f"{folder} holds a {kind!r} model; need one of {known}")
    library = folders.load(folder, "AutoModel", config)
    name, axes = ("pixel_values", 3) if sense == "pictures" else ("input_values", 1)
    values = _values(folder, given, name)
    if values.dim() != axes:
        wanted = "(3, height, width)" if axes == 3 else "(samples,)"
        raise ContractError(f"need {sense} {wanted}, got shape {tuple(values.shape)}")
    inputs = {name: values[None].float()}
    with folders.explained(folder):
        sites = sites_in_order(library, "encoder", **inputs)
        require_same(library, sites, inputs)
        recorder = Recorder()
        with torch.no_grad(), watched(Tap(recorder, interventions), sites):
            library(**inputs)
    maps = recorder.weights()
    of_picture = sense == "pictures"
    config = library.config
    labels = tuple(_patches(config, values) if of_picture else _frames(config, values, folder))
    if len(labels) != (tokens := next(iter(maps.values())).shape[-1]):
        raise CheckpointError(
            f"{folder}: the model makes {tokens} tokens of this input, and {len(labels)} can be "
            "named"
        )
    names = {module: name for name, module in library.named_modules()}
    return AttentionMaps(
        WatchedMap(
            name=names[module], function="attention", weights=maps[site].cpu(), queries=(labels,),
            keys=(labels,),
        )
        for module, own in sites.items()
        for site in own
    )  # fmt: skip


def _values(folder: Path, given: Any, name: str) -> Tensor:
    if isinstance(given, Tensor):
        return given
    if not (folder / _PREPROCESSOR).is_file():
        raise ContractError(
            f"{folder} has no {_PREPROCESSOR}: need a tensor as the model reads it, got "
            f"{type(given).__name__}"
        )
    with folders.explained(folder):
        names = folders.library()
        loader = names.AutoImageProcessor if name == "pixel_values" else names.AutoFeatureExtractor
        reader = loader.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        return reader(given, return_tensors="pt")[name][0]


def _patches(config: Any, picture: Tensor) -> list[str]:
    """In the order of reading, after the tokens that stand for no patch."""
    size = config.patch_size
    height, width = size if isinstance(size, list | tuple) else (size, size)
    before = ["[CLS]"]
    if config.model_type == "deit":
        before.append("[DISTILLATION]")
    before += [f"[REG {n}]" for n in range(1, getattr(config, "num_register_tokens", 0) + 1)]
    rows, columns = picture.shape[1] // height, picture.shape[2] // width
    places = [(row, column) for row in range(rows) for column in range(columns)]
    return before + [f"row {row + 1}, column {column + 1}" for row, column in places]


def _frames(config: Any, samples: Tensor, folder: Path) -> list[str]:
    """By their beginnings, in seconds."""
    found = folders.read_json(folder / _PREPROCESSOR) if (folder / _PREPROCESSOR).is_file() else {}
    second, length = found.get("sampling_rate") or _SECOND, len(samples)
    for kernel, stride in zip(config.conv_kernel, config.conv_stride, strict=True):
        length = (length - kernel) // stride + 1
    step = math.prod(config.conv_stride) / second
    return [f"{frame * step:.2f} s" for frame in range(length)]
