import pytest
import torch

from attention_plugins import ModelSizes, RegressionData, registry
from attention_plugins.regression import predict
from dashboard.features.regression.task_result import equal_weights, remarks

SIGN = "sees only the sign of x"


def asked(scoring, x, **parameters):
    """What is said of a scoring on points, and the weight that all have."""
    points = torch.tensor(x, dtype=torch.float64)[:, None]
    data = RegressionData(points, points[:, 0], points[:5], None)
    factory = registry.installed().scoring_factory(scoring, parameters)
    spec = registry.installed().model("nadaraya_watson")
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        model = spec.create(factory, ModelSizes(1, 1), {})
    finally:
        torch.set_default_dtype(before)
    weight = equal_weights(predict(model, data, keep_weights=True))
    return weight, remarks(weight, model, data)


RIGHT, BOTH = [1.0, 2.0, 3.0, 5.0, 7.0], [1.0, 2.0, -3.0, 5.0, -7.0]


def test_equal_weights_are_said_with_their_value():
    weight, said = asked("uniform", RIGHT)
    assert weight == pytest.approx(0.2)
    assert said == ["All weights are equal: each is 0.2."]
    assert asked("gaussian", RIGHT) == (None, [])


@pytest.mark.parametrize("scoring", ["cosine", "=cosine(q, k)"])
def test_the_reason_is_said_where_only_the_sign_is_seen(scoring):
    weight, said = asked(scoring, RIGHT)
    assert weight == pytest.approx(0.2)
    assert [SIGN in one for one in said] == [False, True]
    assert asked(scoring, BOTH) == (None, [])


def test_a_kernel_so_wide_that_weights_are_equal_has_no_such_reason():
    weight, said = asked("=-|q - k| / 10000000000", RIGHT)
    assert weight == pytest.approx(0.2)
    assert len(said) == 1
