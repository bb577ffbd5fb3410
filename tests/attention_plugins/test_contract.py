from __future__ import annotations

import functools
import math
from pathlib import Path

import pytest
import torch
from torch import nn

from attention_plugins import (
    CheckpointSpec,
    ContractError,
    DatasetSpec,
    LayerSizes,
    LayerSpec,
    MetricSpec,
    ModelSizes,
    ModelSpec,
    NormaliserSpec,
    Parameter,
    Scoring,
    ScoringSpec,
    Sizes,
    attend,
    normaliser,
    scoring,
)
from attention_plugins.contract import is_formula, settle
from attention_plugins.contract.normalisers import ChosenNormaliser
from attention_plugins.models.protocols import Batch

WIDTH = Parameter(name="width", title="Width", default=1.0, low=0.5, high=8.0, learnable=True)
LAYERS = Parameter(name="layers", title="Layers", default=2, low=1, high=4)
KERNEL = Parameter(name="kernel", title="Kernel size", default=5, low=3, high=10, step=2)
MANY = Parameter(name="many", title="Many", default=2, low=-123_456, high=123_456)
DEEP = Parameter(name="deep", title="Deep", default=False)
NORM = Parameter(name="norm", title="Norm", default="l1", choices=("l1", "l2"))


class Product(Scoring):
    def forward(self, queries, keys):
        return queries @ keys.mT


def make_scoring(**fields):
    fields = {
        "name": "product", "title": "Product", "formula": "q k",
        "build": lambda sizes, values: Product(), **fields,
    }  # fmt: skip
    return ScoringSpec(**fields)


def make_model(**fields):
    fields = {
        "name": "thing", "title": "Thing", "task": "regression",
        "build": lambda factory, sizes, values: nn.Linear(sizes.source, 1), **fields,
    }  # fmt: skip
    return ModelSpec(**fields)


def make_dataset(**fields):
    fields = {
        "name": "points", "title": "Points", "task": "regression",
        "load": lambda values, seed: None, **fields,
    }  # fmt: skip
    return DatasetSpec(**fields)


def make_normaliser(**fields):
    fields = {
        "name": "half", "title": "Half", "formula": "s / 2",
        "build": lambda values: nn.Identity(), **fields,
    }  # fmt: skip
    return NormaliserSpec(**fields)


# Parameters


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "Width"}, "a parameter's name is 1 to 40 of a-z, 0-9 and _"),
        ({"name": "1st"}, "starting with a letter; got '1st'"),
        ({"name": "a" * 41}, "1 to 40"),
        ({"name": "a\n"}, "1 to 40"),
        ({"name": None}, "got None"),
        ({"title": ""}, "parameter 'width' needs a title"),
        ({"title": 3}, "need title to be a str, got int"),
        ({"help": None}, "need help to be a str, got NoneType"),
        ({"low": None}, "it needs low < high; got low=None, high=8.0"),
        ({"high": math.inf}, "it needs low < high"),
        ({"low": math.nan}, "it needs low < high"),
        ({"low": 8.0}, "it needs low < high; got low=8.0, high=8.0"),
        ({"default": 9.0}, "need 0.5 <= width <= 8, got 9"),
        ({"default": math.nan}, "need width to be a number, got nan"),
        ({"default": None, "learnable": False}, "need width to be a number, got None"),
        ({"step": 0.0}, "need 0 < step, got 0.0"),
        ({"step": math.inf}, "need 0 < step, got inf"),
        (
            {"default": "l1", "names": "models", "learnable": False},
            "scorings, normalisers or layers",
        ),
        (
            {"default": "l1", "names": "scorings", "choices": ("l1",), "learnable": False},
            "names scorings, so .* give it no choices",
        ),
        ({"names": "scorings", "learnable": False}, "its default is the name of one"),
        ({"default": "l1", "learnable": False}, "is a str, so it needs choices"),
        ({"default": "l1", "choices": "l1", "learnable": False}, "choices is a tuple of str"),
        (
            {"default": "l3", "choices": ("l1", "l2"), "learnable": False},
            "one of l1, l2, got 'l3'",
        ),
        ({"default": 2, "learnable": True}, "is learnable, so it must be a float"),
        ({"default": True, "learnable": True}, "is learnable, so it must be a float"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(fields, message):
    with pytest.raises(ContractError, match=message):
        Parameter(**{**vars(WIDTH), **fields})


@pytest.mark.parametrize(
    ("parameter", "value", "settled"),
    [
        (WIDTH, 0.5, 0.5),
        (WIDTH, 8, 8.0),
        (LAYERS, 3, 3),
        (LAYERS, 3.0, 3),
        (DEEP, True, True),
        (NORM, "l2", "l2"),
    ],
)
def test_a_value_gets_the_parameters_type(parameter, value, settled):
    found = parameter.check(value)
    assert found == settled
    assert type(found) is type(parameter.default)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        (WIDTH, 0.49, r"need 0.5 <= width <= 8, got 0.49 \(field 'Width'\)"),
        (WIDTH, 8.01, "need 0.5 <= width <= 8"),
        (WIDTH, math.nan, "need width to be a number, got nan"),
        (WIDTH, math.inf, "need width to be a number, got inf"),
        (WIDTH, "1", "need width to be a number, got '1'"),
        (WIDTH, True, "need width to be a number, got True"),
        (WIDTH, 10**400, "need width to be a number, got 1000"),
        (LAYERS, 10**400, "need layers to be a number, got 1000"),
        (LAYERS, 2.5, "need layers to be a whole number, got 2.5"),
        (LAYERS, 0, "need 1 <= layers <= 4, got 0"),
        (MANY, 123_457, "need -123456 <= many <= 123456, got 123457"),
        (DEEP, 1, "need deep to be one of False, True, got 1"),
        (NORM, "l3", "need norm to be one of l1, l2, got 'l3'"),
        (NORM, ["l1"], "need norm to be one of l1, l2"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(parameter, value, message):
    with pytest.raises(ContractError, match=message):
        parameter.check(value)


def test_values_are_settled_with_defaults():
    assert settle((WIDTH, LAYERS), {"layers": 4}) == {"width": 1.0, "layers": 4}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (4, r"need kernel in steps of 2 from 3, got 4; take 3 or 5 \(field 'Kernel size'\)"),
        (10, r"need kernel in steps of 2 from 3, got 10; take 9 \(field 'Kernel size'\)"),
    ],
)
@pytest.mark.parametrize(
    ("make", "given"),
    [
        (make_scoring, (Sizes(3, 3, 5),)),
        (make_model, (None, ModelSizes(3, 1))),
        (functools.partial(LayerSpec, name="mine", title="Mine"), (None, LayerSizes(4))),
        (functools.partial(NormaliserSpec, name="mine", title="Mine", formula="s"), ()),
    ],
)
def test_nothing_is_built_with_a_value_between_two_steps(make, given, value, message):
    def build(*given):
        raise AssertionError("built")

    spec = make(build=build, parameters=(KERNEL,))
    with pytest.raises(ContractError, match=message):
        spec.create(*given, {"kernel": value})


@pytest.mark.parametrize("value", [3, 5, 9.0])
def test_values_on_the_step_are_settled(value):
    assert settle((KERNEL,), {"kernel": value}, on_step=True) == {"kernel": value}


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"default": 200, "low": 1, "high": 10_000, "step": 100}, 7),  # 200 is not on 1, 101, 201
        ({"default": 0.5, "low": 0.0, "high": 1.0, "step": 0.25}, 0.3),
        ({"default": 2, "low": 0, "high": 9, "step": 0.5}, 3),
        ({"default": 2, "low": 0.5, "high": 9}, 3),
        ({"default": True, "step": 2}, False),
    ],
)
def test_other_steps_are_the_widgets_alone(fields, value):
    parameter = Parameter(name="count", title="Count", **fields)
    assert settle((parameter,), {"count": value}, on_step=True) == {"count": value}


def test_what_is_not_built_takes_values_between_steps():
    """Such as how many pairs of a corpus to read, which a page offers by hundreds."""
    assert settle((KERNEL,), {"kernel": 4}) == {"kernel": 4}


@pytest.mark.parametrize(
    ("parameters", "offered"), [((WIDTH, LAYERS), "width, layers"), ((), "it takes none")]
)
def test_an_unknown_parameter_is_named(parameters, offered):
    with pytest.raises(ContractError, match=f"no parameter 'widht'; offered: {offered}"):
        settle(parameters, {"widht": 1.0})


# Records


@pytest.mark.parametrize("make", [make_scoring, make_model, make_dataset])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "two words"}, "name is 1 to 40 of a-z, 0-9 and _, .* got 'two words'"),
        ({"name": ""}, "got ''"),
        ({"title": ""}, "needs a title"),
        ({"title": b"Title"}, "need title to be a str, got bytes"),
        ({"description": None}, "need description to be a str, got NoneType"),
        ({"reference": 1976}, "need reference to be a str, got int"),
        ({"parameters": [WIDTH]}, "parameters is a tuple of Parameter"),
        ({"parameters": (WIDTH, "layers")}, "parameters is a tuple of Parameter"),
        ({"parameters": (WIDTH, LAYERS, WIDTH)}, "two parameters of one name"),
    ],
)
def test_a_record_that_cannot_be_is_refused(make, fields, message):
    with pytest.raises(ContractError, match=message):
        make(**fields)


@pytest.mark.parametrize(
    ("make", "fields", "message"),
    [
        (make_scoring, {"formula": ""}, "scoring 'product' needs a formula"),
        (make_scoring, {"build": None}, "scoring 'product': build must be callable"),
        (make_scoring, {"same_size": "yes"}, "same_size is True or False"),
        (make_scoring, {"own_normaliser": "yes"}, "own_normaliser is True or False"),
        (make_normaliser, {"sums_to_one": 1}, "normaliser 'half': sums_to_one is True or False"),
        (make_normaliser, {"signed": "yes"}, "normaliser 'half': signed is True or False"),
        (make_normaliser, {"formula": ""}, "normaliser 'half' needs a formula in LaTeX"),
        (make_model, {"build": 3}, "model 'thing': build must be callable"),
        (
            make_model,
            {"task": "poetry"},
            "task to be one of regression, translation, encoding, got 'poetry'",
        ),
        (make_dataset, {"load": 3}, "data set 'points': load must be callable"),
        (make_dataset, {"task": ""}, "task to be one of regression, translation"),
        (make_dataset, {"task": "encoding"}, "regression, translation, got 'encoding'"),
    ],
)
def test_what_only_some_records_need(make, fields, message):
    with pytest.raises(ContractError, match=message):
        make(**fields)


def test_a_data_set_says_no_more_of_itself_than_it_is_told():
    usual = make_dataset()
    assert (usual.aligned, usual.continues, usual.sides) == (False, False, ("source", "target"))
    assert (usual.metric, usual.tokeniser, usual.examples) == ("bleu", "", ())


def test_a_metric_is_of_percent_unless_it_says_otherwise():
    metric = MetricSpec(name="mine", title="Mine", score=len)
    assert (metric.worst, metric.best, metric.higher_is_better) == (0.0, 100.0, True)


def test_sizes_say_no_more_than_they_are_told():
    assert Sizes(3, 5, 7) == (3, 5, 7, 1, 0, "")
    assert LayerSizes(4) == (4, 1, 0.0, "")


def test_records_are_keyword_only_and_frozen():
    with pytest.raises(TypeError):
        Parameter("width", "Width", 1.0)
    with pytest.raises(AttributeError):
        make_scoring().name = "other"


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"name": "best-one"}, "a checkpoint's name"), ({"path": "trained/best"}, "to be a Path")],
)
def test_a_checkpoint_record_that_cannot_be_is_refused(fields, message):
    with pytest.raises(ContractError, match=message):
        CheckpointSpec(**{"name": "best", "path": Path("trained/best"), **fields})


@pytest.mark.parametrize(
    ("name", "so"),
    [
        ("=q.k", True), ("=" + "q" * 300, True), ("=" + "q" * 301, False), ("=", False),
        ("q.k", False), ("=q\n", False), ("=q\x1f", False), ("=q\ud800", False), (None, False),
    ],
)  # fmt: skip
def test_a_scoring_may_have_a_formula_for_a_name_and_nothing_else(name, so):
    assert is_formula(name) is so
    with pytest.raises(ContractError, match="name is 1 to 40"):
        make_model(name=name)
    if so:
        assert make_scoring(name=name).name == name
    else:
        with pytest.raises(ContractError, match="name is 1 to 40"):
            make_scoring(name=name)


# Building


def test_a_scoring_is_built_with_settled_parameters_and_its_sizes():
    seen = []
    spec = make_scoring(
        parameters=(WIDTH, NORM),
        build=lambda sizes, values: seen.append((sizes, values)) or Product(),
    )
    spec.create(Sizes(3, 5, 7), {"norm": "l2"})
    spec.factory({"width": 2})(Sizes(5, 3, 2))
    assert seen == [
        (Sizes(3, 5, 7), {"width": 1.0, "norm": "l2"}),
        (Sizes(5, 3, 2), {"width": 2.0, "norm": "l1"}),
    ]


def test_every_site_gets_a_scoring_of_its_own():
    factory = make_scoring().factory()
    assert factory(Sizes(3, 3, 3)) is not factory(Sizes(3, 3, 3))


@pytest.mark.parametrize("built", [None, nn.Linear(3, 3), lambda queries, keys: None])
def test_a_build_that_makes_no_scoring_is_named(built):
    spec = make_scoring(build=lambda sizes, values: built)
    with pytest.raises(ContractError, match=f"'product': build returned {type(built).__name__}"):
        spec.create(Sizes(3, 3, 3))


def test_keys_are_brought_to_the_queries_size_where_a_scoring_needs_it():
    torch.manual_seed(0)
    built = make_scoring(same_size=True).create(Sizes(query=3, key=5, hidden=7))
    queries, keys = torch.randn(2, 11, 3), torch.randn(2, 13, 5)
    (matrix,) = built.parameters()
    assert matrix.shape == (3, 5)
    found = built(built.project_queries(queries), built.project_keys(keys))
    torch.testing.assert_close(found, torch.einsum("bqi,ij,bkj->bqk", queries, matrix, keys))


class Odd(Scoring):
    """Unlike a usual scoring in all that it says and does."""

    signed, sums_to_one, elements_per_pair, needs = True, False, 2, ("positions",)

    def project_queries(self, queries):
        return 2 * queries

    def project_keys(self, keys):
        return 3 * keys

    def forward(self, queries, keys, *, positions):
        return queries @ keys.mT

    def normalise(self, scores):
        return scores / 2

    def pool(self, weights, values, *, positions):
        return weights @ values + 1


def test_behind_resized_keys_a_scoring_is_what_it_is():
    spec = make_scoring(same_size=True, build=lambda sizes, values: Odd())
    plain, resized = spec.create(Sizes(3, 3, 7)), spec.create(Sizes(3, 5, 7))
    for name in ("signed", "sums_to_one", "elements_per_pair", "needs"):
        assert getattr(resized, name) == getattr(plain, name)
    queries, keys, values = torch.randn(11, 3), torch.randn(13, 5), torch.randn(13, 2)
    (matrix,) = resized.parameters()
    wanted = attend(plain, queries, keys @ matrix.T, values)
    for found, other in zip(attend(resized, queries, keys, values), wanted, strict=True):
        torch.testing.assert_close(found, other)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("chosen", [False, True])
def test_what_is_said_of_weights_is_the_scorings_and_its_normalisers(own, chosen):
    told = []

    def choose(sizes):
        told.append(sizes)
        return ChosenNormaliser(nn.Identity(), sums_to_one=chosen, signed=chosen)

    def build(sizes, values):
        made = Product()
        made.sums_to_one = made.signed = own
        return made

    sizes = Sizes(3, 5, 7, heads=2, kind="cross")
    made = make_scoring(build=build, same_size=True).create(sizes, {}, choose)
    assert (made.sums_to_one, made.signed) == (own and chosen, own or chosen)
    make_scoring(build=build).factory({}, choose)(sizes)
    assert told == [sizes, sizes]
    with pytest.raises(ContractError, match="makes its weights in its own way"):
        make_scoring(build=build, own_normaliser=True).create(sizes, {}, choose)


def test_what_a_decorator_is_told_is_in_its_record():
    told = {"title": "Mine", "reference": "nobody", "description": "It is.", "formula": "q k"}
    near = scoring(
        "near_by", **told, same_size=True, tasks=("regression",), needs=("positions",),
        elements_per_pair=3,
    )(lambda queries, keys, *, positions: queries @ keys.mT)  # fmt: skip
    built = near.create(Sizes(3, 3, 1))
    assert (near.same_size, near.tasks) == (True, ("regression",))
    assert (built.needs, built.elements_per_pair) == (("positions",), 3)
    half = normaliser(
        "half_of_it", **told, parameters=(WIDTH,), sums_to_one=False, signed=True,
    )(lambda scores, width: width * scores)  # fmt: skip
    assert (half.sums_to_one, half.signed) == (False, True)
    for record in (near, half):
        assert {name: getattr(record, name) for name in told} == told
    usual = normaliser("all_of_it", formula="s")(lambda scores: scores)
    assert (usual.title, usual.sums_to_one, usual.signed) == ("All of it", True, False)
    made = half.factory({"width": 4.0})()
    assert (made.sums_to_one, made.signed) == (False, True)
    made.module(torch.ones(2, 3)).sum().backward()
    assert [weight.grad.item() for weight in made.module.parameters()] == [6.0]


def test_a_normaliser_is_told_its_sizes_where_it_takes_them():
    told, sizes = [], Sizes(3, 3, 7, heads=2)
    make = make_normaliser(build=lambda *given: told.append(given) or nn.Identity())
    make.factory()(sizes)
    make_normaliser(build=lambda sizes, values: make.build(sizes)).factory()(sizes)
    assert told == [({},), (sizes,)]
    assert not make_normaliser(build=torch.inner).takes_sizes, "it tells nothing of itself"
    assert not make_normaliser(build=lambda values, more=1: more).takes_sizes


def test_a_scoring_of_one_size_is_told_what_values_have():
    told = []
    spec = make_scoring(same_size=True, build=lambda sizes, _: told.append(sizes) or Product())
    for sizes in (Sizes(3, 5, 7), Sizes(3, 5, 7, value=2), Sizes(3, 3, 7)):
        spec.create(sizes)
    assert told == [Sizes(3, 3, 7, value=5), Sizes(3, 3, 7, value=2), Sizes(3, 3, 7)]


def test_a_scoring_needs_what_its_class_and_its_record_say():
    class Free(Scoring):
        needs = ("positions",)

        def forward(self, queries, keys, **needs):
            return queries @ keys.mT

        def pool(self, weights, values, **needs):
            return weights @ values

    spec = make_scoring(build=lambda sizes, values: Free(), needs=("mask", "positions"))
    assert spec.create(Sizes(3, 3, 3)).needs == ("positions", "mask")


def test_a_scoring_may_take_more_than_it_needs_and_may_tell_nothing_of_itself():
    class Willing(Scoring):
        def forward(self, queries, keys, positions=None):
            return queries @ keys.mT

    class Inner(Scoring):
        forward = staticmethod(torch.inner)

    for kind in (Willing, Inner):
        assert make_scoring(build=lambda *_, kind=kind: kind()).create(Sizes(3, 3, 3)).needs == ()


def test_equal_sizes_get_no_projection():
    assert not list(make_scoring(same_size=True).create(Sizes(5, 5, 7)).parameters())
    assert not list(make_scoring(same_size=False).create(Sizes(3, 5, 7)).parameters())


def test_a_model_is_built_with_its_factory_sizes_and_parameters():
    seen = []
    spec = make_model(
        parameters=(LAYERS,), build=lambda *given: seen.append(given) or nn.Identity()
    )
    factory = make_scoring().factory()
    assert isinstance(spec.create(factory, ModelSizes(3, 5), {"layers": 4}), nn.Identity)
    assert seen == [(factory, (3, 5), {"layers": 4})]


def test_a_build_that_makes_no_model_is_named():
    spec = make_model(build=lambda factory, sizes, values: Product)
    with pytest.raises(
        ContractError, match=r"model 'thing': build returned type; .* an nn.Module"
    ):
        spec.create(make_scoring().factory(), ModelSizes(3, 5))


# @scoring


def test_a_function_is_a_scoring():
    @scoring("near_enough", formula="-|q - k|", parameters=(WIDTH, NORM), same_size=True)
    def near(queries, keys, width, norm):
        assert norm == "l2"
        return -torch.cdist(queries, keys) / width

    assert near.title == "Near enough"
    built = near.create(Sizes(3, 3, 1), {"width": 4.0, "norm": "l2"})
    queries, keys = torch.randn(7, 3), torch.randn(11, 3)
    found = built(queries, keys)
    torch.testing.assert_close(found, -torch.cdist(queries, keys) / 4)
    found.sum().backward()
    (weight,) = built.parameters()
    assert weight.item() == 4.0
    torch.testing.assert_close(weight.grad, torch.cdist(queries, keys).sum() / 16)
    assert built.learned == {"width": weight}


@pytest.mark.parametrize("name", ["half", "values", "training", "type", "pop"])
def test_a_learnable_parameter_may_have_the_name_of_a_modules_method(name):
    parameter = Parameter(**{**vars(WIDTH), "name": name})

    @scoring("example", formula="q k", parameters=(parameter,))
    def example(queries, keys, **given):
        return given[name] * queries @ keys.mT

    built = example.create(Sizes(3, 3, 1), {name: 2.0}).eval().double()
    queries, keys = torch.ones(7, 3).double(), torch.ones(11, 3).double()
    torch.testing.assert_close(built(queries, keys), torch.full((7, 11), 6.0).double())


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("width", lambda queries, keys: queries @ keys.mT),
        ("width", lambda queries, keys, *, sigma: queries @ keys.mT),
        ("keys", lambda queries, keys: queries @ keys.mT),
        ("width", "no function"),
    ],
)
def test_a_function_with_other_arguments_is_refused_at_once(name, function):
    parameter = Parameter(**{**vars(WIDTH), "name": name})
    with pytest.raises(
        ContractError, match=rf"'example': need a function of \(queries, keys, {name}\): "
    ):
        scoring("example", formula="q k", parameters=(parameter,))(function)


def test_what_a_function_lacks_is_said_where_it_takes_what_only_scorings_are_given():
    with pytest.raises(ContractError, match=r"normaliser 'odd': need a function of \(scores\): "):
        normaliser("odd", formula="s")(lambda scores, positions: scores)
    with pytest.raises(
        ContractError, match=r"'odd': need a function of \(queries, keys, positions"
    ):
        scoring("odd", formula="q k", needs=("positions",))(lambda queries, positions: queries)


def test_a_function_without_a_signature_is_taken_on_trust():
    spec = scoring("inner", formula=r"q^\top k", same_size=True)(torch.inner)
    queries, keys = torch.ones(7, 3), torch.ones(11, 3)
    assert torch.equal(spec.create(Sizes(3, 3, 1))(queries, keys), torch.full((7, 11), 3.0))


def test_a_parameter_that_names_a_scoring_takes_names_alone():
    """Whether one is installed is seen where it is built: others may come later."""
    parameter = Parameter(name="first", title="First", default="dot", names="scorings")
    assert parameter.check("not_here_yet") == "not_here_yet"
    for wrong in ("Not A Name", 3, True, "../x"):
        with pytest.raises(ContractError, match="a scoring's name is"):
            parameter.check(wrong)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sides": ("English",)}, "sides says what goes in and what comes out"),
        ({"sides": ["English", "French"]}, "sides says what goes in and what comes out"),
        ({"sides": ("English", "French", "German")}, "sides says what goes in and what comes out"),
        ({"sides": ("English", " ")}, "sides says what goes in and what comes out"),
        ({"examples": "go ."}, "examples is a tuple of sentences, got 'go .'"),
        ({"examples": ("go .", " ")}, "examples is a tuple of sentences"),
        ({"tokeniser": "Byte pairs"}, "a tokeniser's name is 1 to 40"),
        ({"metric": ""}, "a metric's name is 1 to 40"),
        ({"continues": "yes"}, "continues is True or False, got 'yes'"),
    ],
)
def test_a_data_set_that_says_something_else_of_itself_is_refused(changes, message):
    with pytest.raises(ContractError, match=message):
        DatasetSpec(name="mine", title="Mine", task="translation", load=lambda p, s: [], **changes)


def test_models_of_the_first_contract_unpack_sizes_and_batches_as_they_did():
    source, target = ModelSizes(3, 5, (0, 1, 2))
    assert (source, target) == (3, 5) == ModelSizes(3, 5)
    assert ModelSizes(3, 5, (0, 1, 2)).copies == (0, 1, 2)
    tensors = [torch.ones(1, 1) * number for number in range(5)]
    assert [*Batch(*tensors)] == tensors[:4]
    assert Batch(*tensors).alignment is tensors[4]
    assert Batch(*tensors[:4]).alignment is None


def test_a_widgets_step_is_a_hundredth_of_its_range_or_a_whole_number():
    given = {"name": "x", "title": "X", "low": 0, "high": 5}
    steps = [Parameter(**given, **more).described()["step"] for more in (
        {"default": 1.0}, {"default": 1}, {"default": 1.0, "step": 0.5}, {"default": 1, "step": 2},
    )]  # fmt: skip
    assert steps == [0.05, 1, 0.5, 2]
