"""What a model must not do while it computes, what is part of its state, what its record says."""

from contextlib import suppress

import torch

from attention_plugins.beside import beside
from attention_plugins.checking import records
from attention_plugins.checking.findings import ALONE, Broken, attempt, equal, move, rule
from attention_plugins.checking.models.benches import bench, hollow, make
from attention_plugins.checkpoints import stored
from attention_plugins.contract import ContractError, ModelSpec, Parameter, Scalar
from attention_plugins.randomness import seed_all
from attention_plugins.tap import Tap

_SAID = beside(__file__, "words.toml")["conduct"]


@rule("models", decides=True)
def check_it_can_be_built(spec: ModelSpec) -> None:
    """``build`` gives a module, before anything else is looked at."""
    with attempt("when it was built", ALONE):
        make(spec)


@rule("models")
def check_nothing_is_drawn_at_random(spec: ModelSpec) -> None:
    """In evaluation mode the generators that everybody shares stay as they are."""
    task, model = bench(spec), make(spec)
    with records.nothing_drawn("the model"):
        task.outputs(model, Tap())
        task.loss(model)


@rule("models")
def check_nothing_is_kept_on_a_module(spec: ModelSpec) -> None:
    """No attribute of any submodule is new or other after a pass: users share one model."""
    task, model = bench(spec), make(spec)
    before = records.Snapshot(model)
    task.outputs(model, Tap())
    task.loss(model)
    if changed := before.changed(model):
        raise Broken(_SAID["set_attributes"], changed=", ".join(changed))


@rule("models")
def check_weights_stay_as_they_are(spec: ModelSpec) -> None:
    """In evaluation mode a pass changes neither a weight nor a buffer."""
    task, model = bench(spec), make(spec)
    before = records.state(model)
    task.outputs(model, Tap())
    task.loss(model)
    if changed := records.state_changed(model, before):
        raise Broken(_SAID["changed_weights"], changed=", ".join(changed))


@rule("models")
def check_it_moves_as_a_whole(spec: ModelSpec) -> None:
    """Every tensor of its own goes along to another device."""
    records.require_movable(make(spec))


@rule("models")
def check_equal_seeds_give_equal_models(spec: ModelSpec) -> None:
    """Weights follow torch's seed, so that a run can be repeated."""
    one, again, other = (records.state(make(spec, seed=seed)) for seed in (5, 5, 6))
    if one.keys() != again.keys() or not all(one[n].equal(again[n]) for n in one):
        raise Broken(
            "two models of one seed have different weights; draw from torch's generator only"
        )
    if one and all(one[name].equal(other[name]) for name in one):
        raise Broken(
            "models of different seeds have the same weights; do not seed a generator in build"
        )


@rule("models")
def check_a_checkpoint_restores_it(spec: ModelSpec) -> None:
    """Another instance with the stored weights gives the same outputs."""
    task, model, other = bench(spec), make(spec), make(spec, seed=6)
    advice = "keep what was drawn in __init__ as nn.Parameter or with register_buffer"
    with attempt("while its state_dict was loaded into another instance", advice):
        other.load_state_dict(stored(model), strict=False)
    if not equal(task.outputs(model, Tap()), task.outputs(other, Tap())):
        raise Broken(f"another instance with the same weights gives other outputs; {advice}")


@rule("models")
def check_it_is_built_without_memory(spec: ModelSpec) -> None:
    """Checkpoints are compared with a model on the ``meta`` device before a weight is read."""
    advice = "read no value of a tensor while building: no .item(), float(tensor) or .numpy()"
    with attempt('while it was built on the device "meta"', advice):
        shapes = hollow(spec)
    if shapes != {name: tensor.shape for name, tensor in stored(make(spec)).items()}:
        raise Broken(_SAID["other_when_hollow"])


@rule("models")
def check_every_weight_learns(spec: ModelSpec) -> None:
    """Each ``nn.Parameter`` gets a gradient from the loss."""
    task, model = bench(spec), make(spec)
    task.loss(model).backward()
    gradients = {name: weight.grad for name, weight in model.named_parameters()}
    still = [name for name, found in gradients.items() if found is None or not found.any()]
    if still:
        raise Broken(_SAID["no_gradient"], still=", ".join(still[:3]))
    wild = [n for n, found in gradients.items() if found is None or not found.isfinite().all()]
    if wild:
        raise Broken(_SAID["wild_gradient"], wild=wild[0])


rule("models")(records.check_the_record_explains_itself)


@rule("models")
def check_every_parameter_is_used(spec: ModelSpec) -> None:
    """It builds at both bounds, and shapes or the loss while training follow the value.

    A value that does not go with the others' defaults may be refused by a ``ContractError``.
    """
    for parameter in spec.parameters:
        if not _changes_something(spec, parameter):
            raise Broken(_SAID["unused_parameter"], name=parameter.name)


def _changes_something(spec: ModelSpec, parameter: Parameter) -> bool:
    shapes = {
        value: _shapes(spec, parameter, value)
        for value in records.values_of(parameter, on_step=True)
    }
    built = {value: found for value, found in shapes.items() if found is not None}
    if len(built) < 2:
        return True  # others' defaults leave no choice
    if len({tuple(found.items()) for found in built.values()}) > 1:
        return True
    for moved in (False, True):
        losses = []
        for value in built:
            model = make(spec, values={parameter.name: value}).train()
            if moved:
                move(model)
            seed_all(8)
            losses.append(bench(spec).loss(model).detach())
        if not all(equal(loss, losses[0]) for loss in losses):
            return True
    return False


def _shapes(spec: ModelSpec, parameter: Parameter, value: Scalar) -> dict[str, torch.Size] | None:
    """Names and shapes of the weights, or None where the value is refused with a sentence."""
    what = f"with {parameter.name}={value!r}"
    with attempt(what, _SAID["take_every_value"]), suppress(ContractError):
        return hollow(spec, {parameter.name: value})
    return None
