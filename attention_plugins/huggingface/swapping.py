"""Which modules of one of the library's models attend, and how they come to ask us."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from attention_plugins.contract import ContractError
from attention_plugins.huggingface.attention import NAME, Shape, register, watched
from attention_plugins.huggingface.trial import few_tokens
from attention_plugins.swaps.site import Kind, named_in_code

_TOKENS, _WRITTEN = 5, 3  # of a trial; not the same, so that cross-attention shows
_SAMPLES = 3200
Example = Mapping[str, Any]


def is_library(module: nn.Module) -> bool:
    """Whether it is a model of the library, which then is imported already."""
    return any(kind.__module__ == "transformers.modeling_utils" for kind in type(module).__mro__)


def has_sites(library: nn.Module) -> bool:
    """Whether anything in a model asks for the attention function that was chosen by name."""
    return any(map(_uses_interface, library.modules()))


def _uses_interface(module: nn.Module) -> bool:
    is_whole = is_library(module)  # whose code names the functions, and does not call them
    return not is_whole and "ALL_ATTENTION_FUNCTIONS" in named_in_code(module)


def attending(library: Any, example: Example | None) -> dict[nn.Module, tuple[Shape, Kind]]:
    """Every module that attends through us in one call, in their order.

    ContractError: none does, or some would not.
    """
    before = choose(library)
    try:
        shapes = try_out(library, example)
    finally:
        restore(before)
    names = {module: name for name, module in library.named_modules()}
    missing = [name for module, name in names.items()
               if _uses_interface(module) and module not in shapes]  # fmt: skip
    if missing and shapes:
        raise ContractError(
            f"{type(library).__name__} did not attend in {missing[0]!r} when it was tried; give "
            "the inputs of a call that reaches all of it as example={...}"
        )
    return {module: (shape, _kind(library, module, names[module], shape))
            for module, shape in shapes.items()}  # fmt: skip


def _kind(library: Any, module: nn.Module, name: str, shape: Shape) -> Kind:
    own = name.rpartition(".")[2].lower()
    if shape.queries != shape.keys or "cross" in own or own.startswith("enc"):
        return "cross"
    if library.config.is_encoder_decoder:
        encoder = library.get_encoder()
        return "encoder" if any(module is each for each in encoder.modules()) else "decoder"
    return "decoder" if getattr(module, "is_causal", False) else "encoder"


@torch.no_grad()
def try_out(library: Any, example: Example | None) -> dict[nn.Module, Shape]:
    """Call a model once, in evaluation mode: what attended by us, in its order.

    ContractError: what the call raised.
    """
    modes = {module: module.training for module in library.modules()}
    library.eval()
    try:
        given = example or _made_up(library)
        with watched(None, {}) as seen:
            library(**given)
    except ContractError:
        raise
    except Exception as error:
        said = str(error).partition("\n")[0]
        raise ContractError(
            f"{type(library).__name__} raised {type(error).__name__} when it was tried: {said}; "
            "give the inputs of one call as example={...}"
        ) from error
    finally:
        for module, mode in modes.items():
            module.training = mode
    return seen.shapes


def _made_up(library: Any) -> dict[str, Any]:
    """Inputs of a call, by what the configuration says."""
    config, name = library.config, library.main_input_name
    if name == "input_ids":
        given = few_tokens(library, _TOKENS)
        if "decoder_input_ids" in given:
            given["decoder_input_ids"] = given["decoder_input_ids"][:, :_WRITTEN]
        return given
    shapes = {}
    if name == "pixel_values":
        size = config.image_size
        height, width = size if isinstance(size, list | tuple) else (size, size)
        shapes[name] = (1, getattr(config, "num_channels", 3), height, width)
    elif name == "input_values":
        shapes[name] = (1, _SAMPLES)
    elif name == "input_features":
        shapes[name] = (1, config.num_mel_bins, 2 * config.max_source_positions)
    else:
        raise ContractError(
            f"{type(library).__name__} reads {name!r}; give the inputs of one call as example="
        )
    given = {name: torch.zeros(shapes[name], device=library.device, dtype=library.dtype)}
    if config.is_encoder_decoder:
        ids = torch.ones(1, _WRITTEN, dtype=torch.long, device=library.device)
        given["decoder_input_ids"] = ids
    return given


Before = list[tuple[Any, str]]


def choose(library: Any) -> Before:
    """Let every attention of a model ask us; what each configuration said before.

    ContractError where the library refuses, as for classes that a notebook defined.
    """
    register()
    before = [(config, config._attn_implementation) for config in _configs(library)]
    library.set_attn_implementation(NAME)
    if library.config._attn_implementation != NAME:
        restore(before)
        kind = type(library)
        raise ContractError(
            f"{kind.__name__} cannot be told how to attend: {kind.__module__} does not use the "
            "library's attention interface, or is a notebook, whose classes the library does not "
            "read; move them to a file, and import them"
        )
    return before


def restore(before: Before) -> None:
    """Let a model attend as it did."""
    for config, name in before:  # from the outside in: a configuration sets those within it
        config._attn_implementation = name


def _configs(library: Any) -> list[Any]:
    found = {}
    for module in library.modules():
        if is_library(module):
            found.setdefault(id(module.config), module.config)
    configs = list(found.values())
    for config in configs:  # which grows
        for name in config.sub_configs:
            inner = getattr(config, name, None)
            if inner is not None and id(inner) not in found:
                found[id(inner)] = inner
                configs.append(inner)
    return configs
