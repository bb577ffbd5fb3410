"""Learning a regression model's weights from its training points alone.

Gradient descent on the leave-one-out error: training points, or an even pick of many, are each
predicted from all others. With the point itself among the keys, the best width would be zero.

torch's optimiser classes import its compiler when the first one is made: 1.3 s and 67 MB. Its
functional forms compute the same and import nothing.
"""

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from attention_plugins.attention import Scoring
from attention_plugins.beside import beside
from attention_plugins.contract import Parameter, RegressionData
from attention_plugins.contract.parameters import parameters_of
from attention_plugins.marking import gettext_noop
from attention_plugins.models.protocols import Module, RegressionModel
from attention_plugins.regression import leave_one_out

VALUES, COMBINATIONS = 7, 64  # of one parameter besides its default; of all parameters together
_MOST = int(math.log2(COMBINATIONS))  # parameters, two values each


def grid(parameters: Sequence[Parameter]) -> list[dict[str, float]]:
    """Every combination of values of the parameters that are real numbers.

    Each takes its default and 7 values up to its bounds, in equal ratios where these are above 0.
    With more than 64 all take fewer, and those after the sixth their default. Defaults first.
    """
    tuned = [one for one in parameters if isinstance(one.default, float)][:_MOST]
    most = min(VALUES, int(COMBINATIONS ** (1 / len(tuned)) + 1e-9) - 1) if tuned else 0
    return [
        {one.name: value for one, value in zip(tuned, combination, strict=True)}
        for combination in product(*[_values(one, max(1, most)) for one in tuned])
    ]


def _values(parameter: Parameter, count: int) -> list[float]:
    default, (low, high) = float(parameter.default), parameter.bounds
    shares = [n / (count - 1) for n in range(count)] if count > 1 else [0.5]
    spread = [
        low * (high / low) ** share if low > 0 else low + (high - low) * share for share in shares
    ]
    rounded = [min(high, max(low, float(f"{value:.3g}"))) for value in spread]
    return [default, *(v for v in rounded if not math.isclose(v, default, rel_tol=1e-3))]


Update = Callable[[float], None]
_DECAYS, _SMALLEST = (0.9, 0.999), 1e-8  # as torch.optim.Adam's defaults


def sgd_steps(weights: Sequence[nn.Parameter], momentum: float = 0.0) -> Update:
    """Steps of :class:`torch.optim.SGD`, given the rate; its momentum is Nesterov's."""
    velocities: dict[Tensor, Tensor | None] = dict.fromkeys(weights)

    @torch.no_grad()
    def update(rate: float) -> None:
        moved, gradients = _with_gradients(weights)
        of_moved = [velocities[weight] for weight in moved]
        sgd(
            moved, gradients, of_moved, has_sparse_grad=False, foreach=False, weight_decay=0.0,
            momentum=momentum, lr=rate, dampening=0.0, nesterov=momentum > 0, maximize=False,
        )  # fmt: skip
        velocities.update(zip(moved, of_moved, strict=True))

    return update


def adam_steps(weights: Sequence[nn.Parameter]) -> Update:
    """Steps of :class:`torch.optim.Adam` with its default decays, given the learning rate."""
    means: dict[Tensor, Tensor] = {w: torch.zeros_like(w) for w in weights}
    squares: dict[Tensor, Tensor] = {w: torch.zeros_like(w) for w in weights}
    counts: dict[Tensor, Tensor] = {w: torch.zeros(()) for w in weights}

    @torch.no_grad()
    def update(rate: float) -> None:
        moved, gradients = _with_gradients(weights)
        adam(
            moved, gradients, [means[w] for w in moved], [squares[w] for w in moved], [],
            [counts[w] for w in moved], foreach=False, amsgrad=False, beta1=_DECAYS[0],
            beta2=_DECAYS[1], lr=rate, weight_decay=0.0, eps=_SMALLEST, maximize=False,
        )  # fmt: skip

    return update


def _with_gradients(weights: Sequence[nn.Parameter]) -> tuple[list[Tensor], list[Tensor]]:
    pairs = [(weight, weight.grad) for weight in weights if weight.grad is not None]
    return [weight for weight, _ in pairs], [gradient for _, gradient in pairs]


# A kernel's error falls steeply on one side and hardly on the other: clipped steps with momentum
# neither jump out of the valley nor stall on the plain, and a rate that decays lets scorings with
# many weights settle. Tried on every scoring and problem, three draws each.
_MOMENTUM, _LONGEST_GRADIENT = 0.9, 0.02
_EACH_STEP, _FEWEST = 1 << 22, 500  # scores that a step costs, and points that all leave out
# The learning rate that suits a loss and an optimiser.
RATES = {("mean", "sgd"): 5.0, ("mean", "adam"): 0.1, ("sum", "sgd"): 0.5, ("sum", "adam"): 0.1}

FITTING = parameters_of(beside(__file__, "fitting.toml"))


def left_out(points: int) -> Tensor:
    """Which points learning leaves out in turn: all, up to 2,048; else evenly picked."""
    wanted = min(points, max(_FEWEST, _EACH_STEP // points))
    return torch.linspace(0, points - 1, wanted).round().long()


class NotFiniteError(ValueError):
    """The loss is NaN or infinite before the first update."""


class Step(NamedTuple):
    """The state after ``number`` updates: leave-one-out loss, and the learned parameters."""

    number: int
    loss: float
    learned: dict[str, float]


Watch = Callable[[Step], None]


class Fit(NamedTuple):
    """What learning did: every step from 0, and one sentence on it."""

    history: list[Step]
    note: str


def learned_values(
    model: Module, parameters: Sequence[Parameter], of_normaliser: Sequence[Parameter] = ()
) -> dict[str, float]:
    """The learnable parameters' present values, in the units in which a user sets them.

    A scoring or normaliser shows one as an attribute of the parameter's name, or as an entry of
    ``learned`` (what the decorators make). One that is not finite is left out; the normaliser's
    are called such as ``normaliser alpha``.
    """
    scorings = [module for module in model.modules() if isinstance(module, Scoring)]
    normalisers = [scoring.normaliser for scoring in scorings if scoring.normaliser is not None]
    own = _present(normalisers, of_normaliser)
    return {
        **_present(scorings, parameters),
        **{f"normaliser {name}": value for name, value in own.items()},
    }


def _present(modules: Sequence[nn.Module], parameters: Sequence[Parameter]) -> dict[str, float]:
    found = {}
    for name in (parameter.name for parameter in parameters if parameter.learnable):
        held = (getattr(m, name, getattr(m, "learned", {}).get(name)) for m in modules)
        value = next((float(torch.as_tensor(v).detach()) for v in held if v is not None), math.nan)
        if math.isfinite(value):
            found[name] = value
    return found


def fit(
    model: RegressionModel, data: RegressionData, parameters: Sequence[Parameter] = (),
    watch: Watch = lambda step: None, *, epochs: int = 200, lr: float = 0.0, loss: str = "mean",
    optimiser: str = "sgd", of_normaliser: Sequence[Parameter] = (),
) -> Fit:  # fmt: skip
    """Train every weight of the model on the leave-one-out squared error, in place.

    ``loss="mean"`` descends the mean, in units of the variance of y, with clipped gradients and a
    rate that decays to 0; its ``sgd`` has momentum. ``loss="sum"`` is plain descent on the summed
    error, as in d2l.ai, section 10.2. ``watch`` may raise to stop; ``lr=0`` takes the usual rate.

    Where the loss stops being finite, learning ends there and the best weights so far are kept.
    NotFiniteError: the loss is not finite before the first update.
    """
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if not weights:
        return Fit([], gettext_noop("Nothing to learn: this scoring has no weights."))
    every, points = left_out(len(data.x)).to(data.x.device), len(data.x)
    parts = math.ceil(len(every) / max(1, _EACH_STEP // points))  # of which a step leaves out one
    unit = 1.0 if loss == "sum" else float(data.y.var(correction=0)) or 1.0
    rate = lr or RATES[loss, optimiser]
    update = _descent(weights, loss, optimiser, rate, epochs)
    history: list[Step] = []
    best, best_weights = Step(0, math.inf, {}), {}
    model.train()
    for number in range(epochs + 1):
        rows = every[number % parts :: parts]
        error = (leave_one_out(model, data.x, data.y, rows) - data.y[rows]).square()
        error = error.sum() if loss == "sum" else error.mean()
        present = learned_values(model, parameters, of_normaliser)
        step = Step(number, float(error.detach()), present)
        if not math.isfinite(step.loss):
            break
        history.append(step)
        watch(step)
        if step.loss < best.loss:
            best = step
            best_weights = {key: part.clone() for key, part in model.state_dict().items()}
        if number < epochs:
            update(error / unit)
    model.eval()
    if not history:
        raise NotFiniteError("the loss is not finite before learning starts; need finite scores")
    if not math.isfinite(step.loss):
        model.load_state_dict(best_weights)
        return Fit(history, _diverged(step, best, rate))
    return Fit(history, _summary(weights, len(every), len(every[::parts]), points, epochs))


def _descent(
    weights: list[nn.Parameter], loss: str, optimiser: str, rate: float, epochs: int
) -> Callable[[Tensor], None]:
    plain, done = loss == "sum", 0
    momentum = 0.0 if plain else _MOMENTUM
    move = adam_steps(weights) if optimiser == "adam" else sgd_steps(weights, momentum)

    def update(error: Tensor) -> None:
        nonlocal done
        for weight in weights:
            weight.grad = None
        error.backward()
        if plain:
            move(rate)
            return
        nn.utils.clip_grad_norm_(weights, _LONGEST_GRADIENT)
        move(rate * (1.0 + math.cos(math.pi * done / epochs)) / 2.0)  # from the rate to 0
        done += 1

    return update


def _diverged(stop: Step, best: Step, rate: float) -> str:
    return gettext_noop(
        f"Learning stopped at step {stop.number}, where the loss was no longer finite; the best "
        f"weights so far are kept (step {best.number}, loss {best.loss:.4g}), and a learning "
        f"rate below {rate:g} may go further."
    )


def _summary(weights: list[nn.Parameter], rows: int, part: int, points: int, epochs: int) -> str:
    count = sum(weight.numel() for weight in weights)
    which = gettext_noop(
        "each point" if rows == points
        else f"{rows:,} of {points:,} points, evenly picked," if part == rows
        else f"{rows:,} of {points:,} points, evenly picked, {part:,} a step,"
    )  # fmt: skip
    steps = gettext_noop("1 step" if epochs == 1 else f"{epochs:,} steps")
    learned = gettext_noop("1 weight" if count == 1 else f"{count:,} weights")
    return gettext_noop(f"Learned {learned} in {steps}, leaving out {which} in turn.")
