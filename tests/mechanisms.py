"""Published mechanisms and what holds for each: ``python -m tests.mechanisms`` prints a table.

Of each: the lines of its file and how many of the conformance kit's rules it keeps. Where its
scores follow from positions or from earlier weights, or where it is a model, also the largest
difference, in double precision on models with random weights, between

* the loss scored at once and word by word, with and without padding, in nats per token;
* attention in blocks and as a whole (scorings);
* what a beam says of a sentence and what forcing its words says, in nats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import torch

import attention_plugins
from attention_plugins.agreement import losses
from attention_plugins.attention import Inputs, attend
from attention_plugins.blocks import attend_in_blocks
from attention_plugins.checking import check
from attention_plugins.contract import ModelSizes, ModelSpec, ScoringSpec, Sizes, Spec
from attention_plugins.decoding import beam, force
from attention_plugins.models.protocols import Batch
from attention_plugins.registry import Registry, load
from attention_plugins.text import PAD_ID

# As in the literature; what stands behind each name here.
MECHANISMS: dict[str, tuple[str, str]] = {
    "cosine with temperature": ("scorings", "cosine"),
    "low rank": ("scorings", "low_rank_bilinear"),
    "Matérn": ("scorings", "matern"),
    "inverse multiquadric": ("scorings", "inverse_multiquadric"),
    "polynomial": ("scorings", "polynomial"),
    "Epanechnikov": ("scorings", "epanechnikov"),
    "boxcar": ("scorings", "boxcar"),
    "ALiBi": ("scorings", "alibi"),
    "T5 bias": ("scorings", "t5_bias"),
    "Shaw, with relative values": ("scorings", "shaw"),
    "Swin v2": ("scorings", "swin_v2"),
    "Luong local-m": ("scorings", "local_monotonic"),
    "Luong local-p": ("scorings", "local_predicted"),
    "RoPE": ("scorings", "rope"),
    "Transformer-XL": ("scorings", "transformer_xl"),
    "KERPLE": ("scorings", "kerple_log"),
    "location-sensitive": ("scorings", "location_sensitive"),
    "coverage": ("scorings", "coverage"),
    "monotonic": ("scorings", "monotonic"),
    "forward": ("scorings", "forward_attention"),
    "Performer": ("scorings", "performer"),
    "linear (elu + 1)": ("scorings", "linear_attention"),
    "talking heads": ("scorings", "talking_heads"),
    "mixture of kernels": ("scorings", "mixture"),
    "mixture of two registered": ("scorings", "combination"),
    "learned Mahalanobis": ("scorings", "learned_metric"),
    "temperature": ("normalisers", "temperature"),
    "sparsemax": ("normalisers", "sparsemax"),
    "entmax-1.5": ("normalisers", "entmax15"),
    "entmax, any alpha": ("normalisers", "entmax"),
    "hard, straight-through": ("normalisers", "hard"),
    "softmax off by one": ("normalisers", "off_by_one"),
    "unnormalised sigmoid": ("normalisers", "sigmoid"),
    "top-k": ("normalisers", "top_k"),
    "Luong with input feeding": ("models", "luong"),
    "convolutional seq2seq": ("models", "conv_seq2seq"),
    "multi-query, grouped-query": ("models", "grouped_query"),
    "pre-norm and GLU": ("models", "pre_norm"),
    "shared layers": ("models", "shared_layers"),
    "prefix language model": ("models", "prefix_lm"),
    "k-nearest neighbours": ("models", "nearest_neighbours"),
    "inducing points": ("models", "inducing_points"),
}
_SIZES = {
    "transformer": {"hidden": 12, "ffn": 18, "heads": 3, "layers": 2, "dropout": 0.0},
    "bahdanau": {"embed": 9, "hidden": 12, "layers": 1, "dropout": 0.0},
}


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    registry = load(allow=[])
    print("mechanism | record | lines | rules kept | at once - word by word | blocks | beam")
    for name, (kind, record) in MECHANISMS.items():
        spec = registry.records[kind][record]
        findings = check(kind, spec)
        kept = f"{sum(one.passed for one in findings)} of {len(findings)}"
        measured = " | ".join(
            "–" if value is None else f"{value:.0e}" for value in differences(registry, spec)
        )
        print(
            f"{name} | {record} | {lines(spec)} | {kept} | {measured or '– | – | –'}", flush=True
        )


def lines(spec: Spec) -> int:
    """Of the file in which the record is made."""
    folder = Path(attention_plugins.__file__).parent
    for path in folder.rglob("*.py"):
        text = path.read_text("utf-8")
        if re.search(rf'(name=|@\w+\(\s*)"{spec.name}"', text):
            return len(text.splitlines())
    raise LookupError(spec.name)


def differences(registry: Registry, spec: Spec) -> Iterator[float | None]:
    """At once against word by word, blocks against the whole, beam against forced."""
    if isinstance(spec, ScoringSpec) and spec.create(Sizes(5, 5, 5)).needs:
        hosts = {"transformer": spec, "bahdanau": spec}
        models = [_model(registry.model(name), one) for name, one in hosts.items()]
        yield max(losses(model, batch()).spread for model in models)
        yield _blocks(spec)
        yield max(map(_beam, models))
    elif isinstance(spec, ModelSpec) and spec.task == "translation":
        names = ("scaled_dot", "additive", "rope", "coverage")
        models = [_model(spec, registry.scoring(name)) for name in names]
        yield max(losses(model, batch()).spread for model in models)
        yield None
        yield max(map(_beam, models))


def batch() -> Batch:
    """Three pairs with padding on both sides, targets longer than their sources."""
    torch.manual_seed(7)
    source, target = torch.randint(4, 19, (3, 7)), torch.randint(4, 13, (3, 9))
    source_lengths, target_lengths = torch.tensor([7, 3, 1]), torch.tensor([4, 9, 6])
    for tokens, lengths in ((source, source_lengths), (target, target_lengths)):
        for row, length in zip(tokens, lengths, strict=True):
            row[length:] = PAD_ID
    return Batch(source, source_lengths, target, target_lengths)


def _model(spec: ModelSpec, scoring: ScoringSpec) -> torch.nn.Module:
    """In double precision, with weights at random, those that begin at 0 too."""
    torch.manual_seed(5)
    known = {parameter.name for parameter in spec.parameters}
    wanted = _SIZES["bahdanau" if "embed" in known else "transformer"]
    values = {name: value for name, value in wanted.items() if name in known}
    model = spec.create(scoring.factory(), ModelSizes(19, 13), values).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.2)
    return model


def _blocks(spec: ScoringSpec) -> float:
    scoring = spec.create(Sizes(5, 5, 5, heads=2, value=3)).double()
    torch.manual_seed(3)
    queries, keys, values = (
        torch.randn(2, 2, n, d, dtype=torch.float64) for n, d in ((7, 5), (13, 5), (13, 3))
    )
    mask = torch.arange(13) < 9
    whole, _ = attend(scoring, queries, keys, values, mask)
    parts = attend_in_blocks(Inputs(scoring, queries, keys, values, mask), block=3)
    return (whole - parts).abs().max().item()


def _beam(model: torch.nn.Module) -> float:
    """Of the best hypotheses of three sentences."""
    known, worst = batch(), 0.0
    found = beam(model, known.source, known.source_lengths, width=3, limit=7)
    for row, hypotheses in enumerate(found):
        one = slice(row, row + 1)
        for hypothesis in hypotheses:
            forced, _ = force(
                model, known.source[one], known.source_lengths[one],
                torch.tensor([hypothesis.ids]),
            )  # fmt: skip
            worst = max(worst, abs(float(forced.sum()) - hypothesis.log_probability))
    return worst


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
