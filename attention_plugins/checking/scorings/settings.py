"""What the record says, what its parameters do, and what a checkpoint keeps of them."""

from __future__ import annotations

import random

import torch

from attention_plugins.checking.findings import Broken, attempt, move, rule
from attention_plugins.checking.records import require_explained, values_of
from attention_plugins.checking.scorings.common import (
    HIDDEN,
    KEYS,
    QUERIES,
    SIZE,
    VALUE,
    attended,
    equal,
    inputs,
    make,
    require_shape,
    scores,
    sound,
)
from attention_plugins.contract import Parameter, ScoringSpec, Sizes
from attention_plugins.fitting import learned_values


@rule("scorings")
def check_the_record_explains_itself(spec: ScoringSpec) -> None:
    """A title, a formula that can be set, and where it comes from."""
    require_explained(spec, formula=spec.formula)


@rule("scorings")
def check_every_parameter_is_used(spec: ScoringSpec) -> None:
    """It builds at both bounds and at the default, and not all of them attend alike.

    Weights of other names or shapes are a difference too: a kernel may start as the identity.
    """
    for parameter in spec.parameters:
        found = []
        for value in values_of(parameter, on_step=True):
            what = f"with {parameter.name}={value!r}"
            with attempt(what, "let it take every value that the parameter allows, or allow less"):
                scoring = make(spec, values={parameter.name: value}).train()
                torch.manual_seed(8)
                found.append(scores(scoring, *inputs(2)))
            require_shape(found[-1], (2, QUERIES, KEYS), what, "keep the shape at every value")
            if not sound(found[-1]):
                raise Broken(
                    f"{what} scores are NaN or infinite; narrow the parameter's bounds, or "
                    "compute more carefully there"
                )
        if all(equal(one, found[0]) for one in found) and not _used_besides(spec, parameter):
            raise Broken(
                f"the parameter {parameter.name} changes nothing; read values[{parameter.name!r}] "
                "in build (a function of @scoring: its argument of that name), or take it away"
            )


def _used_besides(spec: ScoringSpec, parameter: Parameter) -> bool:
    """Whether what is made of the scores, or the weights themselves, follow its value.

    What training moves away from where it starts is asked a second time, moved.
    """
    made = [
        make(spec, values={parameter.name: value}).train()
        for value in values_of(parameter, on_step=True)
    ]
    shapes = [{n: t.shape for n, t in each.state_dict().items()} for each in made]
    if any(each != shapes[0] for each in shapes):
        return True
    for moved in (False, True):
        found = []
        for each in made:
            if moved:
                move(each)
            torch.manual_seed(8)
            found.append(attended(each, *inputs(2)))
        if not all(equal(a, b) for each in found for a, b in zip(each, found[0], strict=True)):
            return True
    return False


@rule("scorings", applies=lambda spec: any(p.learnable for p in spec.parameters))
def check_learnable_parameters_are_weights(spec: ScoringSpec) -> None:
    """One starts at the value set, can be read by its name, and training may change it."""
    for parameter in (p for p in spec.parameters if p.learnable):
        name = parameter.name
        for value in map(float, values_of(parameter, on_step=True)):
            scoring = make(spec, values={name: value})
            shown = learned_values(scoring, [parameter]).get(name)
            if shown is None:
                raise Broken(
                    f"the learnable parameter {name} cannot be read; give the scoring an "
                    f"attribute or a property {name} with its present value, in the user's units"
                )
            if abs(shown - value) > 1e-4 * max(1.0, abs(value)):
                raise Broken(
                    f"{name} was set to {value:g} but starts at {shown:g}; start the weight where "
                    f"the user set it, and let the attribute {name} show it in the user's units"
                )
        if not any(weight.requires_grad for weight in scoring.parameters()):
            raise Broken(
                f"{name} is learnable but the scoring has no weight; keep it in an nn.Parameter, "
                "or set learnable=False"
            )


@rule("scorings")
def check_a_checkpoint_restores_it(spec: ScoringSpec) -> None:
    """Another instance with the same ``state_dict`` scores alike."""
    scoring = make(spec)
    torch.manual_seed(99)
    random.seed(99)
    other = spec.create(Sizes(SIZE, SIZE, HIDDEN, value=VALUE)).double().eval()
    advice = "keep what was drawn in __init__ as nn.Parameter or with register_buffer"
    with attempt("while its state_dict was loaded into another instance", advice):
        other.load_state_dict(scoring.state_dict())
    if not equal(scores(scoring, *inputs(2)), scores(other, *inputs(2))):
        raise Broken(f"another instance with the same state_dict scores differently; {advice}")
