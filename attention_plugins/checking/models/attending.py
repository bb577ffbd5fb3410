"""A model attends through the tap; rows do not meet, padding changes nothing."""

import torch
from torch import Tensor, nn

from attention_plugins.attention import Inputs, Scoring, weights_are_signed
from attention_plugins.beside import beside
from attention_plugins.checking.findings import Broken, attempt, equal, rule
from attention_plugins.checking.models import benches
from attention_plugins.contract import ModelSpec
from attention_plugins.record import TEXT, axes_of, start_of
from attention_plugins.scorings.additive import ADDITIVE
from attention_plugins.scorings.dot import average_pooling
from attention_plugins.scorings.kernels import GAUSSIAN
from attention_plugins.scorings.scaled_dot import scaled_dot_product
from attention_plugins.tap import Intervention, Recorder, Site, Tap

_SAID = beside(__file__, "words.toml")["attending"]


@rule("models")
def check_outputs_have_the_shape_of_the_protocol(spec: ModelSpec) -> None:
    """Log-probabilities of every target word, a prediction a query, or an item an item."""
    task = benches.bench(spec)
    found = task.outputs(benches.make(spec), Tap())
    wanted = {
        "translation": (3, 5, task.sizes.target),
        "regression": (7,),
        "encoding": (3, 7, task.sizes.target),
    }[spec.task]
    if tuple(found.shape) != wanted:
        raise Broken(_SAID["other_shape"], shape=tuple(found.shape), wanted=wanted, task=spec.task)


@rule("models")
def check_rows_do_not_meet(spec: ModelSpec) -> None:
    """A sentence, a query or a sequence gives alone what it gives among others."""
    task, model = benches.bench(spec), benches.make(spec)
    together = task.outputs(model, Tap())
    for number in range(len(together)):
        alone = task.row(number).outputs(model, Tap())[0]
        if not equal(_cut(together[number], alone), alone):
            raise Broken(_SAID["rows_meet"], number=number)


@rule("models")
def check_padding_changes_nothing(spec: ModelSpec) -> None:
    """More padding changes no output, no loss and no gradient."""
    task, model = benches.bench(spec), benches.make(spec)
    wider = task.wider()
    narrow_outputs = task.outputs(model, Tap())
    if not equal(_cut(wider.outputs(model, Tap()), narrow_outputs), narrow_outputs):
        raise Broken(_SAID["padding_changes_outputs"])
    (loss, *gradients), (wide_loss, *wide) = _learning(task, model), _learning(wider, model)
    if not equal(loss, wide_loss):
        raise Broken(_SAID["padding_changes_loss"], loss=loss, wide_loss=wide_loss)
    if not all(equal(one, other, 1e-7) for one, other in zip(gradients, wide, strict=True)):
        raise Broken("more padding changed gradients; leave padding out of the loss")


@rule("models", applies=lambda spec: spec.task == "regression")
def check_points_have_no_order(spec: ModelSpec) -> None:
    """The training points in another order predict the same."""
    task, model = benches.predicting(), benches.make(spec)
    order = torch.arange(len(task.keys)).flip(0)
    given = task.keys[order], task.values[order], task.mask[:, order]
    moved = benches.Predicting(task.queries, *given)
    if not equal(moved.outputs(model, Tap()), task.outputs(model, Tap())):
        raise Broken("points in another order predict otherwise; use no position of a point")


def _cut(found: Tensor, like: Tensor) -> Tensor:
    return found[tuple(slice(0, n) for n in like.shape)] if found.dim() == like.dim() else found


def _learning(task: benches.Bench, model: nn.Module) -> tuple[Tensor, ...]:
    loss = task.loss(model)
    weights = list(model.parameters())
    return loss.detach(), *torch.autograd.grad(loss, weights, materialize_grads=True)


# Without weights and of one size, with projections of another size, of one size with a weight,
# and one through which no gradient flows.
_TRAITS = (scaled_dot_product, ADDITIVE, GAUSSIAN, average_pooling)
_KINDS = ("pooling", "encoder", "decoder", "cross")


@rule("models")
def check_it_takes_every_scoring(spec: ModelSpec) -> None:
    """With or without weights, of one size or of several, constant: it attends and learns."""
    task = benches.bench(spec)
    for scoring in _TRAITS:
        what = f"with the scoring {scoring.name}"
        with attempt(what, _SAID["build_for_sizes"]):
            model = benches.make(spec, factory=scoring.factory())
            loss = task.loss(model)
            if loss.requires_grad:
                loss.backward()
            found = task.outputs(model, Tap())
        if not (found.isfinite().all() and loss.isfinite()):
            raise Broken(f"{what} outputs are NaN or infinite; never use weights before the mask")


@rule("models")
def check_weights_leave_through_the_tap(spec: ModelSpec) -> None:
    """Every scoring that was built is asked by the tap, and by nobody else."""
    calls: dict[int, int] = {}
    model = benches.make(spec, factory=lambda sizes: benches.counted(sizes, calls))
    recorder = _CountingRecorder()
    benches.bench(spec).outputs(model, Tap(recorder))
    if not calls:
        raise Broken("build never called the scoring factory; call it once per attention site")
    if 0 in calls.values():
        raise Broken("a scoring was built but never asked; call the factory once per site only")
    if recorder.count < sum(calls.values()):
        raise Broken(_SAID["passes_the_tap_by"], asked=sum(calls.values()), count=recorder.count)
    for site in recorder.weights():
        if not isinstance(site, Site) or site.kind not in _KINDS:
            raise Broken(f"{site!r} is no site; need Site(kind, layer) of {', '.join(_KINDS)}")
    if spec.task == "translation" and not any(
        s.kind == "cross" or TEXT in axes_of(model, s).keys for s in recorder.weights()
    ):
        raise Broken(_SAID["no_cross"], text=TEXT)


@rule("models")
def check_weights_are_a_distribution(spec: ModelSpec) -> None:
    """Each row of each map sums to 1, and padding of the source gets nothing.

    Where the model, or a scoring that it brings, says ``sums_to_one = False``, rows may sum to
    anything, and where it says ``signed = True``, weights may be negative.
    """
    task = benches.bench(spec)
    model, recorder = benches.make(spec), Recorder()
    signed = weights_are_signed(model)
    bound = all(getattr(part, "sums_to_one", True) for part in model.modules()
                if not isinstance(part, Scoring))  # fmt: skip
    tap = _NotingTap(recorder)
    task.outputs(model, tap)
    lengths = getattr(getattr(task, "batch", task), "source_lengths", None)
    for site, weights in recorder.weights().items():
        sums = weights.sum(dim=-1)
        if not signed and (weights < 0).any():
            raise Broken(_SAID["negative"], name=_name(site))
        if bound and site not in tap.unbound and not equal(sums, torch.ones_like(sums)):
            raise Broken(_SAID["not_1"], name=_name(site), least=sums.min(), most=sums.max())
        first = start_of("source", axes_of(model, site).keys, task.parts)
        if lengths is not None and first is not None:
            source = weights[..., first : first + task.parts["source"]]
            beyond = torch.arange(source.shape[-1]) >= lengths[:, None]
            if (source.flatten(1, -2) * beyond[:, None]).any():
                raise Broken(_SAID["padding_has_weight"], name=_name(site))


@rule("models")
def check_its_maps_can_be_labelled(spec: ModelSpec) -> None:
    """Each row and each column of a map is a token or a point, or has a name of its own."""
    task, model, recorder = benches.bench(spec), benches.make(spec), Recorder()
    task.outputs(model, Tap(recorder))
    for site, weights in recorder.weights().items():
        axes = axes_of(model, site)
        wanted = [sum(task.parts.get(part, 1) for part in side) for side in axes]
        if wanted != list(weights.shape[-2:]):
            parts = ", ".join(f"{count} {name}" for name, count in task.parts.items())
            raise Broken(
                _SAID["other_axes"], name=_name(site), shape=tuple(weights.shape[-2:]),
                queries=axes.queries, keys=axes.keys, wanted=tuple(wanted), parts=parts,
            )  # fmt: skip


@rule("models")
def check_interventions_change_the_output(spec: ModelSpec) -> None:
    """Where a site is switched off its values are missed."""
    task, model, recorder = benches.bench(spec), benches.make(spec), Recorder()
    before = task.outputs(model, Tap(recorder))
    for site in recorder.weights():
        off = Intervention(site=site, action="off")
        if equal(task.outputs(model, Tap(interventions=[off])), before):
            raise Broken(_SAID["off_changes_nothing"], name=_name(site))


class _NotingTap(Tap):
    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self.unbound: set[Site] = set()

    def _attend_with_weights(self, site: Site, inputs: Inputs[Scoring]) -> tuple[Tensor, Tensor]:
        if not inputs.scoring.sums_to_one:
            self.unbound.add(site)
        return super()._attend_with_weights(site, inputs)


class _CountingRecorder(Recorder):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def add(self, site: Site, weights: Tensor) -> None:
        self.count += 1
        super().add(site, weights)


def _name(site: Site) -> str:
    return f"Site({site.kind!r}, {site.layer})"
