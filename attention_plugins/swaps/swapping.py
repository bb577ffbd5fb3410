"""Swap the scoring of a model, undo it, keep it in a file.

``swap(model, "additive")`` changes the model it is given and returns a :class:`Swap`; ``with
swap(model, "cosine"):`` undoes it at the end, and ``unswap(model)`` undoes every swap. The new
weights are weights of the model, in a module named ``swapped`` of each module that attends:
``Swap.parameters()`` gives them alone, ``Swap.sites`` the names of those modules in the order in
which they attend. ``swap.save(model, path)`` and ``swap.load(model, path)`` keep swaps in a file.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn

from attention_plugins.attention import Scoring, needs_memory
from attention_plugins.contract import ContractError, NormaliserSpec, Scalar, ScoringFactory
from attention_plugins.defining import AnyScoring, scoring_named
from attention_plugins.huggingface import swapping as library
from attention_plugins.model_watch import Layers
from attention_plugins.registry import SOFTMAX, installed
from attention_plugins.swaps.finding import Found, chosen_of, found_in, libraries_in
from attention_plugins.swaps.multi_head import SwappedMultiheadAttention
from attention_plugins.swaps.site import NAME, Recipe, Swapped, swapped_of, take_down

_SAMPLE = 4, 3  # heads and rows that a scoring of a notebook is tried with


class Swap:
    """Another scoring in a model: ``swap(model, "additive")`` puts it there.

    >>> from torch import nn
    >>> with swap(nn.TransformerDecoderLayer(16, 2), "cosine", kinds="cross") as swapped:
    ...     print(swapped)
    cosine in multihead_attn: 1 new weight

    The model itself is changed: whoever shares it shares the swap. Each module that attends gets
    a module ``swapped`` with a scoring of its own, whose weights are trained, moved, counted and
    saved with the model's. Models of transformers are called with a few made-up tokens, before
    and after, to find what attends and to try the scoring.

    What the model does to its scores stays: its mask, a cap (Gemma 2), a sink (GPT-OSS), a bias
    of positions (T5), and a scale other than ``1 / sqrt(d)``, by way of its queries. So
    ``"scaled_dot"`` is the model's own scoring; of T5, which does not scale, ``"dot"``.
    Embeddings of positions that were added to the words' always stay. Positions are counted in
    each row from its first token, without padding; through all texts of a row that packs several;
    in cross-attention the queries' padding counts.

    ``watch(model)`` sees the maps, and so does ``output_attentions=True`` in a call.

    Args:
        model: of transformers, or with ``nn.MultiheadAttention`` in it, as ``nn.Transformer`` and
            its layers have it, or somebody's own module around such models.
        scoring: a name, a formula such as ``"=-|q - k|"``, a record, a function of queries
            ``(batch, heads, n_q, d)`` and keys ``(batch, heads, n_k, d)`` that returns scores
            ``(batch, heads, n_q, n_k)``, or a class derived from ``Scoring``.
        normaliser: a name or a record; empty for the scoring's own way, mostly the softmax.
        normaliser_values: its parameters.
        layers: as those of ``watch``: names, patterns such as ``"*.1.*"``, numbers of the
            attending modules in the order in which they attend, or a function of the name.
        kinds: some of ``"self"``, ``"cross"``, ``"encoder"`` and ``"decoder"``; the last two are
            self-attention. None for all.
        positions: ``"remove"`` takes out the model's own rotation of queries and keys (RoPE) or
            bias of distances (T5), for scorings that bring positions of their own.
        example: keyword arguments of a call of a model of transformers, where none can be made
            up, or where that would not reach all of it.
        values: the scoring's parameters.

    Attributes:
        sites: the names of the modules that were swapped, in the order in which they attend.

    Raises:
        ContractError: an unknown scoring or bad value; a model, module or class that would ignore
            the swap; a scoring that cannot be right there, such as one that needs the weights of
            earlier queries; what raises when it is tried. The model is then as it was. Also
            inside a later call that would ignore the swap.
        ValueError: ``layers`` that fit nothing.
    """

    def __init__(
        self, model: nn.Module, scoring: AnyScoring, *, normaliser: str | NormaliserSpec = "",
        normaliser_values: Mapping[str, Scalar] | None = None, layers: Layers = None,
        kinds: str | Collection[str] | None = None, positions: Literal["keep", "remove"] = "keep",
        example: Mapping[str, Any] | None = None, **values: Any,
    ) -> None:  # fmt: skip
        if not isinstance(model, nn.Module):
            raise ContractError(f"swap: need a torch.nn.Module, got {type(model).__name__}")
        if positions not in ("keep", "remove"):
            raise ContractError(f'swap: positions are "keep" or "remove", got {positions!r}')
        name = scoring_named(scoring, *_SAMPLE)
        factory, recipe = _factory(name, values, normaliser, normaliser_values or {}, positions)
        chosen = chosen_of(found_in(model, example, layers), layers, kinds)
        self._model = model
        self._swapped = [(each, Swapped(_made(factory, each, name), recipe, each.kind, each.own))
                         for each in chosen]  # fmt: skip
        self.sites = tuple(each.name for each in chosen)
        self._earlier = [(each.module, swapped_of(each.module)) for each in chosen]
        self._hang(example)

    def _hang(self, example: Mapping[str, Any] | None) -> None:
        mine = {each.module: swapped for each, swapped in self._swapped}
        touched = [one for one in libraries_in(self._model) if mine.keys() & set(one.modules())]
        try:
            for one in touched:
                inside, earlier = set(one.modules()), [*_swaps_in(one).values()]
                before = earlier[0].before if earlier else library.choose(one)
                rotates = any("Rotary" in type(module).__name__ for module in inside)
                for module in mine.keys() & inside:
                    mine[module].before, mine[module].rotates = before, rotates
            for each, swapped in self._swapped:
                if isinstance(each.module, nn.MultiheadAttention):
                    each.module.__class__ = SwappedMultiheadAttention
                swapped.hang(each.module)
            for one in touched:
                library.try_out(one, example)
        except BaseException:
            self.undo()
            raise

    def undo(self) -> None:
        """Put back what these modules attended with before; again is harmless."""
        own = {swapped for _, swapped in self._swapped}
        mine = {module: earlier for module, earlier in self._earlier if swapped_of(module) in own}
        _undo(self._model, mine)

    def parameters(self) -> Iterator[nn.Parameter]:
        """The new weights alone, for an optimiser that leaves the others as they are."""
        for _, swapped in self._swapped:
            yield from swapped.parameters()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        self.undo()

    def __repr__(self) -> str:
        recipe = self._swapped[0][1].recipe
        more = f" with {recipe.normaliser}" if recipe.normaliser else ""
        where = self.sites[0] if len(self.sites) == 1 else f"{len(self.sites)} modules"
        count = sum(each.numel() for each in self.parameters())
        return f"{recipe.scoring}{more} in {where}: {count:,} new weight{'s' * (count != 1)}"

    @staticmethod
    def save(model: nn.Module, path: str | Path, *, whole: bool = False) -> None:
        """Write a model's swaps to a file of safetensors, which says what was swapped in where.

        Args:
            whole: with all weights of the model, for a tuned one; else with those of the swaps.

        Raises:
            ContractError: nothing is swapped.
        """
        _write(path, model, _swaps_in(model), whole=whole)

    @staticmethod
    def load(
        model: nn.Module, path: str | Path, *, scorings: Sequence[AnyScoring] = (),
        normalisers: Sequence[NormaliserSpec] = (), example: Mapping[str, Any] | None = None,
    ) -> "tuple[Swap, ...]":  # fmt: skip
        """Swap as a file says that :meth:`save` wrote, with its weights.

        Args:
            model: such a one as was swapped; its own weights stay unless the file has all.
            scorings, normalisers: those of a notebook, which are not installed.
            example: as that of ``swap``.

        Returns:
            The swaps, one for each scoring with its values.

        Raises:
            ContractError: no such file, another model, a scoring that is not known here.
        """
        known = {each.name: each for each in normalisers}
        for each in scorings:
            scoring_named(each, *_SAMPLE)
        done = []
        try:
            for recipe, names in _recipes(path):
                _require(model, names, path)
                values: dict[str, Any] = {**recipe.values}
                done.append(Swap(
                    model, recipe.scoring, layers=set(names).__contains__,
                    normaliser=known.get(recipe.normaliser, recipe.normaliser),
                    normaliser_values=recipe.normaliser_values, positions=recipe.positions,
                    example=example, **values,
                ))  # fmt: skip
            _read_weights(path, model, _swaps_in(model))
        except BaseException:
            for each in reversed(done):
                each.undo()
            raise
        return tuple(done)


swap = Swap


def unswap(model: nn.Module) -> None:
    """Let every module of a model attend by its own scoring again; the new weights are lost."""
    _undo(model, dict.fromkeys(module for module in model.modules() if swapped_of(module)))


def _undo(model: nn.Module, modules: Mapping[nn.Module, Swapped | None]) -> None:
    befores = [(one, next(iter(_swaps_in(one).values())).before)
               for one in libraries_in(model) if _swaps_in(one)]  # fmt: skip
    for module, earlier in modules.items():
        take_down(module)
        if earlier is not None:
            earlier.hang(module)
        elif isinstance(module, nn.MultiheadAttention):
            module.__class__ = nn.MultiheadAttention
    for one, before in befores:
        if not _swaps_in(one):
            library.restore(before)


def _swaps_in(model: nn.Module) -> dict[str, Swapped]:
    held = ((name, swapped_of(module)) for name, module in model.named_modules())
    return {name: swapped for name, swapped in held if swapped is not None}


def _factory(
    scoring: str, values: Mapping[str, Any], normaliser: str | NormaliserSpec,
    normaliser_values: Mapping[str, Scalar], positions: Literal["keep", "remove"],
) -> tuple[ScoringFactory, Recipe]:  # fmt: skip
    spec, name = installed().scoring(scoring), normaliser
    if isinstance(normaliser, NormaliserSpec):
        name, made = normaliser.name, normaliser.factory(normaliser_values)
        factory = spec.factory(values, made)
    else:
        factory = installed().scoring_factory(scoring, values, normaliser, normaliser_values)
        name = "" if normaliser == SOFTMAX else normaliser
    return factory, Recipe(scoring, dict(values), name, dict(normaliser_values), positions)


def _made(factory: ScoringFactory, each: Found, name: str) -> Scoring:
    made = factory(each.sizes)
    if needs_memory(made):
        raise ContractError(
            f"{name!r} needs the weights of all earlier queries, for which a model's cache has no "
            f"room, and among which queries of padding would count, so it would be wrong in "
            f"{each.name!r}"
        )
    like = next((p for p in each.module.parameters() if p.is_floating_point()), None)
    return made if like is None else made.to(like.device, like.dtype)


def _require(model: nn.Module, names: Collection[str], path: object) -> None:
    known = dict(model.named_modules())
    if missing := [name for name in names if name not in known]:
        raise ContractError(f"{path} is of another model: this one has no {missing[0]!r}")


_KEY, _WHOLE = "attention_workbench_swaps", "attention_workbench_whole"


def _write(
    path: str | Path, model: nn.Module, swaps: Mapping[str, Swapped], *, whole: bool
) -> None:
    """ContractError: there is no swap."""
    if not swaps:
        raise ContractError("nothing is swapped in this model")
    said = {name: asdict(each.recipe) for name, each in swaps.items()}
    metadata = {_KEY: json.dumps(said), _WHOLE: str(int(whole))}
    if whole:
        save_model(model, str(path), metadata)
        return
    weights = {f"{name}.{NAME}.{key}": weight.contiguous() for name, each in swaps.items()
               for key, weight in each.state_dict().items()}  # fmt: skip
    save_file(weights, path, metadata)


def _recipes(path: str | Path) -> Iterator[tuple[Recipe, list[str]]]:
    """What a file says was swapped in, and in which modules."""
    found: dict[str, list[str]] = {}
    for name, recipe in json.loads(_metadata(path)[_KEY]).items():
        found.setdefault(json.dumps(recipe, sort_keys=True), []).append(name)
    for recipe, names in found.items():
        yield Recipe(**json.loads(recipe)), names


def _metadata(path: str | Path) -> dict[str, str]:
    try:
        with safe_open(path, "pt") as held:
            metadata: Any = held.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise ContractError(f"{path} is no file of safetensors: {error}") from error
    if _KEY not in metadata:
        raise ContractError(f"{path} holds no swap; need a file that swap.save wrote")
    return metadata


def _read_weights(path: str | Path, model: nn.Module, swaps: Mapping[str, Swapped]) -> None:
    """ContractError: weights of other shapes, or of something else."""
    said = _metadata(path)
    try:
        if said[_WHOLE] == "1":
            load_model(model, path)
            return
        weights, written = load_file(path), json.loads(said[_KEY])
        for name, each in swaps.items():
            start = f"{name}.{NAME}."
            own = {k.removeprefix(start): w for k, w in weights.items() if k.startswith(start)}
            if own or name in written:
                each.load_state_dict(own)
    except RuntimeError as error:
        raise ContractError(f"{path} does not fit this model: {error}") from error
