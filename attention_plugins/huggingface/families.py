"""What is known of the library's families before one of their models is loaded."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, NoReturn, get_args

from attention_plugins.beside import beside
from attention_plugins.checkpoints import CheckpointError

Kind = Literal["encoder-decoder", "decoder", "encoder"]

_TABLES = beside(__file__, "families.toml")
_ADDITIONS, _UNLABELLED = _TABLES["additions"], _TABLES["unlabelled"]


class Family(NamedTuple):
    """Models of one architecture: its name, the scoring it is made with, what else it adds."""

    title: str
    scoring: str = "scaled_dot"
    addition: str = ""
    kind: Kind = "encoder-decoder"


def _family(kind: Kind, name: str, scoring: str = "scaled_dot", addition: str = "") -> Family:
    return Family(name, scoring, _ADDITIONS.get(addition, ""), kind)


FAMILIES: Mapping[str, Family] = {
    name: _family(kind, **row) for kind in get_args(Kind) for name, row in _TABLES[kind].items()
}  # fmt: skip
# Said before their weights are fetched; a trial says it of all others of their sort.
_BY_THEMSELVES = frozenset(
    {"bloom", "deberta", "deberta-v2", "falcon", "gpt_neo", "gptj", "mpt", "xlnet"}
)
SENSES = {
    "pictures": frozenset({"clip_vision_model", "deit", "dinov2", "dinov2_with_registers", "vit"}),
    "sounds": frozenset({"wav2vec2"}),
}
_HEADS: Mapping[str, Kind] = {
    "ForCausalLM": "decoder", "LMHeadModel": "decoder", "ForMaskedLM": "encoder",
    "ForPreTraining": "encoder",
}  # fmt: skip


def family_of(config: Mapping[str, Any]) -> Family:
    """By the model's type, or of an unknown one what its configuration says."""
    name, kind = config["model_type"], kind_of(config)
    known = FAMILIES.get(name)
    if known is None:
        rotary = config.get("rope_parameters") or config.get("rope_theta")
        return Family(name, addition=_ADDITIONS["rotary"] if rotary else "", kind=kind)
    return known._replace(kind=kind)


def kind_of(config: Mapping[str, Any], where: object = "this folder") -> Kind:
    """Whether a model translates, continues or only reads.

    CheckpointError, of ``where``: it does none of these with a text, or not by way of the
    library's attention interface.
    """
    name, made = config.get("model_type"), config.get("architectures")
    if not isinstance(name, str) or not name:
        raise CheckpointError(f"{where} holds a model of type {name!r}; need the name of a family")
    if name in _BY_THEMSELVES:
        refuse_by_itself(name, where)
    for things, names in SENSES.items():
        if name in names:
            raise CheckpointError(
                f"{where} holds a {name!r} model, which reads {things}, and pages have texts; in "
                "Python maps_of() in attention_plugins.huggingface.senses gives its maps"
            )
    if name in _UNLABELLED:
        raise CheckpointError(
            f"{where} holds a {name!r} model: {_UNLABELLED[name]}; in Python watch() shows its "
            "maps, without labels"
        )
    if config.get("is_encoder_decoder"):
        return "encoder-decoder"
    head = str(made[0]) if isinstance(made, list) and made else ""
    for ending, kind in _HEADS.items():
        if head.endswith(ending):
            return kind
    if name in FAMILIES and FAMILIES[name].kind != "encoder-decoder":
        return FAMILIES[name].kind
    raise CheckpointError(
        f"{where} holds a {name!r} model of the architecture {head!r}; need one that translates, "
        f"continues or fills in a text, such as …ForCausalLM or …ForMaskedLM, or one of "
        f"{', '.join(FAMILIES)}"
    )


def refuse_by_itself(name: str, where: object) -> NoReturn:
    """CheckpointError for a family that does not ask for an attention function."""
    raise CheckpointError(
        f"{where} holds a {name!r} model, whose code attends by itself and not by the library's "
        "attention interface, so its heads can be neither seen nor changed here"
    )
