"""What is known of the library's families before one of their models is loaded."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, NoReturn

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.marking import gettext_noop

Kind = Literal["encoder-decoder", "decoder", "encoder"]

_BIAS = gettext_noop(
    "a learned bias for the distance of two tokens joins the scores of self-attention"
)
_ROTARY = gettext_noop("queries and keys are rotated by their positions before they are compared")
_CAP = gettext_noop("scores are capped by a hyperbolic tangent")
_SINK = gettext_noop("a learned sink takes a part of every row, so the weights sum to less than 1")


class Family(NamedTuple):
    """Models of one architecture: its name, the scoring it is made with, what else it adds."""

    title: str
    scoring: str = "scaled_dot"
    addition: str = ""
    kind: Kind = "encoder-decoder"


FAMILIES: Mapping[str, Family] = {
    "bart": Family("BART"),
    "m2m_100": Family("M2M100"),
    "marian": Family("Marian"),
    "mbart": Family("mBART"),
    "mt5": Family("mT5", "dot", _BIAS),
    "pegasus": Family("Pegasus"),
    "t5": Family("T5", "dot", _BIAS),
    "umt5": Family("UMT5", "dot", _BIAS),
    "deepseek_v3": Family("DeepSeek-V3", addition=_ROTARY, kind="decoder"),
    "gemma2": Family("Gemma 2", addition=_CAP, kind="decoder"),
    "gemma3_text": Family("Gemma 3", addition=_ROTARY, kind="decoder"),
    "gpt2": Family("GPT-2", kind="decoder"),
    "gpt_neox": Family("GPT-NeoX", addition=_ROTARY, kind="decoder"),
    "gpt_oss": Family("GPT-OSS", addition=_SINK, kind="decoder"),
    "llama": Family("Llama", addition=_ROTARY, kind="decoder"),
    "mistral": Family("Mistral", addition=_ROTARY, kind="decoder"),
    "opt": Family("OPT", kind="decoder"),
    "phi3": Family("Phi-3", addition=_ROTARY, kind="decoder"),
    "qwen3": Family("Qwen3", addition=_ROTARY, kind="decoder"),
    "albert": Family("ALBERT", kind="encoder"),
    "bert": Family("BERT", kind="encoder"),
    "distilbert": Family("DistilBERT", kind="encoder"),
    "electra": Family("ELECTRA", kind="encoder"),
    "esm": Family("ESM", kind="encoder"),
    "modernbert": Family("ModernBERT", addition=_ROTARY, kind="encoder"),
    "roberta": Family("RoBERTa", kind="encoder"),
}
# Said before their weights are fetched; a trial says it of all others of their sort.
_BY_THEMSELVES = frozenset(
    {"bloom", "deberta", "deberta-v2", "falcon", "gpt_neo", "gptj", "mpt", "xlnet"}
)
SENSES = {
    "pictures": frozenset({"clip_vision_model", "deit", "dinov2", "dinov2_with_registers", "vit"}),
    "sounds": frozenset({"wav2vec2"}),
}
_UNLABELLED = {
    "swin": gettext_noop(
        "it attends within windows of a picture, whose patches are others in each"
    ),
    "whisper": gettext_noop("it reads sounds and writes texts"),
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
        return Family(name, addition=_ROTARY if rotary else "", kind=kind)
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
