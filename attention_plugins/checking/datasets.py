"""Rules of data sets. Importing this registers them, in the order in which they run."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from torch.overrides import TorchFunctionMode

from attention_plugins.beside import beside
from attention_plugins.checking.findings import BESIDE, Broken, attempt, rule
from attention_plugins.checking.records import require_explained, twice, values_of
from attention_plugins.contract import (
    ContractError,
    DatasetSpec,
    Parameter,
    RegressionData,
    Scalar,
    SentencePair,
    Tokeniser,
    TokeniserSpec,
    settle,
)
from attention_plugins.encoding import tokenisers_of
from attention_plugins.experiment import counted_by
from attention_plugins.registry import installed
from attention_plugins.regression import check_data

_SAID = beside(__file__, "words.toml")["datasets"]

Data = RegressionData | Sequence[SentencePair]

_LOOKED_AT = 500  # pairs of a corpus
_DRAWS = frozenset(
    "rand randn randint randperm normal bernoulli multinomial poisson rand_like randn_like "
    "randint_like normal_ uniform_ bernoulli_ exponential_ random_ cauchy_ log_normal_ geometric_"
    .split()
)  # fmt: skip


@rule("datasets")
def check_the_record_explains_itself(spec: DatasetSpec) -> None:
    """A title, and where the data come from: a reference, or the formula that they follow."""
    require_explained(spec, formula=spec.formula, formula_is_enough=True)


@rule("datasets")
def check_it_loads_what_its_task_needs(spec: DatasetSpec) -> None:
    """Finite :class:`RegressionData` of fitting shapes, or non-empty :class:`SentencePair` s."""
    data = _load(spec)
    if spec.task == "regression":
        if not isinstance(data, RegressionData):
            got = type(data).__name__
            raise Broken(f"load returned {got}; return RegressionData(x, y, queries, truth)")
        with attempt("its data", "see the shapes in the docstring of RegressionData"):
            check_data(data, spec.name)
        return
    if not isinstance(data, Sequence) or isinstance(data, str):
        got = type(data).__name__
        raise Broken(f"load returned {got}; return a list or tuple of SentencePair")
    for number, pair in enumerate(data[:_LOOKED_AT], start=1):
        if not isinstance(pair, SentencePair):
            raise Broken(f"pair {number} is a {type(pair).__name__}; make it a SentencePair")
        for side in ("source", "target"):
            text = getattr(pair, side)
            if not isinstance(text, str) or not text.strip():
                raise Broken(f"pair {number} has no {side}; leave such pairs out")


def _is_corpus(spec: DatasetSpec) -> bool:
    return spec.task == "translation"


@rule("datasets", _is_corpus)
def check_gold_links_are_in_range(spec: DatasetSpec) -> None:
    """They count, from 0, tokens that each side has; there are some where ``aligned`` is True."""
    pairs = list(_load(spec)[:_LOOKED_AT])
    linked = [pair for pair in pairs if pair.alignment or pair.possible]
    if spec.aligned and not linked:
        raise Broken("its pairs have no gold alignments; say aligned=False")
    if not linked:
        return
    counted = counted_by(spec)
    source, target = _tokenisers(counted, pairs)
    for number, pair in enumerate(pairs, start=1):
        lengths = len(source.tokenise(pair.source)), len(target.tokenise(pair.target))
        for link in (*pair.alignment, *pair.possible):
            if not all(0 <= place < length for place, length in zip(link, lengths, strict=True)):
                raise Broken(
                    _SAID["link_out_of_range"], number=number, link=tuple(link), source=lengths[0],
                    target=lengths[1], counted=counted,
                )  # fmt: skip


@rule("datasets", _is_corpus)
def check_its_examples_are_read_by_its_tokeniser(spec: DatasetSpec) -> None:
    """Every example has tokens, and some of these occur in the data set's sources."""
    if not spec.examples:
        return
    pairs = list(_load(spec)[:_LOOKED_AT])
    reader, _ = _tokenisers(counted_by(spec), pairs)
    known = {token for pair in pairs for token in reader.tokenise(pair.source)}
    found = {example: reader.tokenise(example) for example in spec.examples}
    if empty := [example for example, tokens in found.items() if not tokens]:
        raise Broken(f"the example {empty[0]!r} has no token; take one of its sources")
    if not any(known.intersection(tokens) for tokens in found.values()):
        raise Broken("no example has a token of its sentences; take some of its sources")


@rule("datasets", _is_corpus)
def check_its_metric_is_installed(spec: DatasetSpec) -> None:
    """The metric that it is scored by exists."""
    if ("metrics", spec.metric) in BESIDE.get({}):
        return
    with attempt("looking up its metric", "name one that is installed"):
        installed().metric(spec.metric)


@rule("datasets")
def check_one_seed_gives_the_same_data(spec: DatasetSpec) -> None:
    """Equal seeds, equal data, whatever was drawn before; others' generators stay alone."""
    if not _same(*twice("load", lambda: _load(spec))):
        raise Broken(_SAID["seed_gives_two"])


@rule("datasets")
def check_another_seed_draws_other_data(spec: DatasetSpec) -> None:
    """What draws at random draws otherwise for another seed."""
    with _Draws() as watch:
        one = _load(spec)
    if watch.seen and _same(one, _load(spec, seed=1)):
        raise Broken(_SAID["seeds_give_one"], seen=watch.seen)


@rule("datasets")
def check_every_parameter_is_used(spec: DatasetSpec) -> None:
    """It loads at both bounds and at the default, and not all of these are alike.

    A value may be refused by a ``ContractError`` that says what would be right.
    """
    for parameter in spec.parameters:
        found: list[Data] = []
        for value in _values(parameter):
            advice = "let it take every value that the parameter allows, or allow less"
            with attempt(f"with {parameter.name}={value!r}", advice), suppress(ContractError):
                found.append(_load(spec, values={parameter.name: value}))
        if len(found) > 1 and all(_same(one, found[0]) for one in found):
            raise Broken(_SAID["unused_parameter"], name=parameter.name)


@rule("datasets")
def check_it_has_the_size_it_says(spec: DatasetSpec) -> None:
    """``len`` counts what comes, and parameters ``points`` and ``pairs`` are kept to."""
    data = _load(spec)
    size = len(data.x) if isinstance(data, RegressionData) else len(data)
    if not isinstance(data, RegressionData) and size != sum(1 for _ in data):
        raise Broken(f"len says {size}, but another number of pairs comes; let both agree")
    if size < 2:
        raise Broken(f"it holds {size} records; need at least 2")
    counts = [p for p in spec.parameters if p.name in ("points", "pairs") and p.numeric]
    for name, count in ((p.name, int(p.default)) for p in counts):
        if size > count > 0 or (size < count and name == "points"):
            raise Broken(f"{name} is {count}, but {size} come; return as many as were asked for")


def _load(spec: DatasetSpec, seed: int = 0, values: Mapping[str, Scalar] | None = None) -> Any:
    return spec.load(settle(spec.parameters, values or {}), seed)


def _tokenisers(name: str, pairs: Sequence[SentencePair]) -> tuple[Tokeniser, Tokeniser]:
    with attempt(f"with the tokeniser {name!r}", "name one that is installed"):
        beside = BESIDE.get({}).get(("tokenisers", name))
        spec = cast("TokeniserSpec", beside) if beside else installed().tokeniser(name)
        return tokenisers_of(spec, pairs)[1]


def _values(parameter: Parameter) -> list[Scalar]:
    """Those to try; also some small counts, since 0 may stand for all."""
    found = values_of(parameter)
    if isinstance(parameter.default, int) and parameter.numeric:
        low, high = parameter.bounds
        found += [low + more for more in (1, 2) if low + more < high]
    return [type(parameter.default)(value) for value in found]


def _same(one: Data, other: Data) -> bool:
    if isinstance(one, RegressionData) and isinstance(other, RegressionData):
        return all(
            a is b if a is None or b is None else a.shape == b.shape and bool(a.equal(b))
            for a, b in zip(one, other, strict=True)
        )
    return len(one) == len(other) and all(a == b for a, b in zip(one, other, strict=True))


class _Draws(TorchFunctionMode):
    seen = ""

    def __torch_function__(
        self, function: Any, types: object, given: Sequence = (), named: Mapping | None = None
    ) -> Any:
        name = getattr(function, "__name__", "")
        if name in _DRAWS:
            self.seen = name
        return function(*given, **(named or {}))
