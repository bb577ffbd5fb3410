"""Rules of attention layers: those of models, asked of a Transformer that attends with the layer.

So a layer answers at once as word by word, lets no later word change an earlier one, keeps rows
of a batch and padding apart, and sends its weights through the tap.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import cast

import torch
from torch import Tensor

from attention_plugins import contract
from attention_plugins.attention import Scoring
from attention_plugins.beside import beside
from attention_plugins.checking.findings import ALONE, Broken, Rule, attempt, draw, equal, rule
from attention_plugins.checking.models import attending, conduct, translating
from attention_plugins.checking.records import check_the_record_explains_itself, values_of
from attention_plugins.layers import AttentionLayer
from attention_plugins.models.transformer import TRANSFORMER, Transformer
from attention_plugins.models.transformer_layers import Hyperparameters
from attention_plugins.randomness import seed_all
from attention_plugins.scorings.additive import ADDITIVE
from attention_plugins.scorings.position_biases import ALIBI
from attention_plugins.tap import Recorder, Site, Tap

_SAID = beside(__file__, "words.toml")["layers"]

_BATCH, _QUERIES, _KEYS, _HIDDEN, _HEADS = 2, 5, 7, 12, 2


def hosted(spec: contract.LayerSpec) -> contract.ModelSpec:
    """A Transformer of two layers that attends with a layer of its defaults where it can stand."""

    class Hosting(Hyperparameters):
        def chosen(self) -> contract.LayerSpec:
            return spec

    small = (replace(p, default={"hidden": _HIDDEN, "heads": _HEADS}.get(p.name, p.default))
             for p in TRANSFORMER.parameters)  # fmt: skip
    build = partial(Transformer, record=Hosting)
    return replace(TRANSFORMER, name=spec.name, build=build, parameters=tuple(small))


@rule("layers", decides=True)
def check_it_can_be_built_and_asked(spec: contract.LayerSpec) -> None:
    """``build`` gives a layer that remembers and attends, before anything else is looked at."""
    for kind in spec.kinds:
        with attempt(f"when it was built for the kind {kind}", ALONE):
            layer = _made(spec, kind)
        inputs, memory = _inputs(kind)
        with attempt("when it was asked to remember", ALONE):
            kept = layer.remember(memory)
        if not isinstance(kept, dict) or not all(
            isinstance(part, Tensor) and part.dim() > 2
            and (part.shape[0], part.shape[-2]) == memory.shape[:2]
            for part in kept.values()
        ):  # fmt: skip
            raise Broken(_SAID["remembers_no_tensors"], shape=tuple(memory.shape))
        with attempt("when it was asked to attend", ALONE):
            found = layer(Tap(), Site(kind, 0), inputs, memory)
        if not isinstance(found, Tensor) or found.shape != inputs.shape:
            got = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise Broken(f"of inputs {tuple(inputs.shape)} attend returned {got}; return as many")


@rule("layers")
def check_positions_are_remembered_one_by_one(spec: contract.LayerSpec) -> None:
    """What is kept of words in two parts, joined, is what is kept of all at once."""
    layer, memory = _made(spec, spec.kinds[0]), _inputs("cross")[1]
    whole = layer.remember(memory)
    parts = [layer.remember(part) for part in memory.split((3, 4), dim=1)]
    for name, found in whole.items():
        if not equal(found, torch.cat([part[name] for part in parts], dim=-2)):
            raise Broken(_SAID["remembers_positions_together"], name=name)


@rule("layers")
def check_weights_leave_through_the_tap(spec: contract.LayerSpec) -> None:
    """A map of all queries and keys is recorded at the site that the layer was called for."""
    for kind in spec.kinds:
        recorder, site, (inputs, memory) = Recorder(), Site(kind, 3), _inputs(kind)
        _made(spec, kind)(Tap(recorder), site, inputs, memory)
        found = recorder.weights()
        shapes = [tuple(weights.shape[-2:]) for weights in found.values()]
        wanted = inputs.shape[1], memory.shape[1]
        if [*found] != [site] or shapes != [wanted]:
            got = ", ".join(f"{shape} at {at}" for at, shape in zip(found, shapes, strict=True))
            raise Broken(_SAID["other_maps"], got=got or "no weights", wanted=wanted, site=site)


@rule("layers")
def check_keys_may_be_left_out(spec: contract.LayerSpec) -> None:
    """With fewer keys, and places that say so, it attends as where a mask rules the others out.

    So it stands in a prefix language model, whose sources end at different places; or it refuses.
    """
    if "decoder" not in spec.kinds:
        return
    seed_all(5)
    sizes = contract.LayerSizes(_HIDDEN, _HEADS, 0.0, "decoder")
    site, left, asking = Site("cross", 0), torch.tensor([0, 1, 4, 5, 6]), torch.tensor([4, 5, 6])
    mask = torch.ones(_KEYS, _KEYS, dtype=torch.bool).tril()[asking]
    mask[:, 2:4] = False
    with attempt("when keys were left out", ALONE):
        try:
            layer = cast("AttentionLayer", spec.create(ALIBI.factory(), sizes).double().eval())
            asked, kept = layer.read(_inputs("decoder")[1])
            asked = asked.index_select(-2, asking)
            some = {name: part.index_select(-2, left) for name, part in kept.items()}
            whole = layer.attend(Tap(), site, asked, kept, mask)
            fewer = layer.attend(Tap(), site, asked, some, mask[:, left], left)
        except contract.ContractError:
            return
    if not equal(whole, fewer):
        raise Broken(_SAID["other_without_keys"])


@rule("layers")
def check_it_asks_for_a_scoring_as_it_says(spec: contract.LayerSpec) -> None:
    """A scoring is built by the factory, unless the record says ``own_scoring=True``."""
    asked = list[contract.Sizes]()

    def factory(sizes: contract.Sizes) -> Scoring:
        asked.append(sizes)
        return ADDITIVE.create(sizes)

    spec.create(factory, contract.LayerSizes(_HIDDEN, _HEADS, kind=spec.kinds[0]))
    if asked and spec.own_scoring:
        raise Broken("it asks for a scoring; leave own_scoring=True out of the record")
    if not asked and not spec.own_scoring:
        raise Broken(_SAID["no_scoring"])


@rule("layers")
def check_every_parameter_is_used(spec: contract.LayerSpec) -> None:
    """It builds at both bounds, and shapes or outputs follow the value."""
    for parameter in spec.parameters:
        found = list[tuple[list[torch.Size], Tensor]]()
        for value in values_of(parameter, on_step=True):
            with attempt(f"with {parameter.name}={value!r}", "allow less, or take every value"):
                try:
                    layer = _made(spec, spec.kinds[0], {parameter.name: value}).train()
                except contract.ContractError:
                    continue  # not with the others' defaults
                shapes = [weight.shape for weight in layer.parameters()]
                inputs, memory = _inputs(spec.kinds[0])
                seed_all(8)
                output = layer(Tap(), Site(spec.kinds[0], 0), inputs, memory)
                found.append((shapes, output.detach()))
        if len(found) > 1 and all(
            shapes == found[0][0] and equal(output, found[0][1]) for shapes, output in found
        ):
            raise Broken(_SAID["unused_parameter"], name=parameter.name)


def _made(
    spec: contract.LayerSpec, kind: contract.SiteKind, values: Mapping[str, object] | None = None
) -> AttentionLayer:
    seed_all(5)
    made = spec.create(ADDITIVE.factory(), contract.LayerSizes(_HIDDEN, _HEADS, 0.0, kind), values)
    return cast("AttentionLayer", made.double().eval())  # its methods were looked for


def _inputs(kind: contract.SiteKind) -> tuple[Tensor, Tensor]:
    """What asks and what is asked: the same where a sequence looks at itself."""
    asked = draw(_BATCH, _KEYS, _HIDDEN, seed=1)
    return (draw(_BATCH, _QUERIES, _HIDDEN) if kind == "cross" else asked), asked


def _in_a_transformer(check: Rule) -> None:
    def ask(spec: contract.LayerSpec) -> None:
        try:
            check(hosted(spec))
        except Broken as error:
            raise Broken(f"in a Transformer with this layer: {error}") from error

    ask.__name__, ask.__doc__ = check.__name__, check.__doc__
    rule("layers")(ask)


rule("layers")(check_the_record_explains_itself)
for _check in (
    conduct.check_nothing_is_drawn_at_random, conduct.check_nothing_is_kept_on_a_module,
    conduct.check_weights_stay_as_they_are, conduct.check_it_moves_as_a_whole,
    conduct.check_a_checkpoint_restores_it, conduct.check_it_is_built_without_memory,
    conduct.check_every_weight_learns, attending.check_rows_do_not_meet,
    attending.check_padding_changes_nothing, attending.check_weights_are_a_distribution,
    attending.check_its_maps_can_be_labelled, attending.check_interventions_change_the_output,
    translating.check_word_by_word_equals_all_at_once, translating.check_forced_words_equal_steps,
    translating.check_a_later_word_changes_no_earlier_one, translating.check_a_state_can_be_picked,
):  # fmt: skip
    _in_a_transformer(_check)
