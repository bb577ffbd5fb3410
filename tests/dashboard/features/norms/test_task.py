"""The task of the page on layer and batch norm, against numpy."""

import numpy as np
import pytest

from dashboard.charts.frames import matrix
from dashboard.features.norms.task import LENGTHS
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request, Result

EPS = 1e-5
X = np.array([[1.0, -2.0, 5.0], [0.5, 3.0, 3.0], [7.0, 0.0, -1.0], [2.0, 2.5, 11.0], [0, 0, 1]])
TEXT = ";".join(",".join(f"{cell:g}" for cell in row) for row in X)


class Silent:
    def report(self, fraction, note="", facts=None):
        pass

    def stopped(self):
        return False


def run(seed=0, **options):
    made = perform(Request.make("norms", options=options, seed=seed), Silent())
    return Result.from_bytes(made.to_bytes())


def normed(x, axis, mean=None, variance=None):
    mean = x.mean(axis, keepdims=True) if mean is None else mean
    variance = x.var(axis, keepdims=True) if variance is None else variance
    return (x - mean) / np.sqrt(variance + EPS)


def test_the_documents_example():
    """Section "Residual connections and layer normalisation": rows become −1, 1; columns too."""
    result = run()
    layer, batch = (matrix(result.tables[name]) for name in ("layer", "batch"))
    np.testing.assert_allclose(layer, [[-1, 1], [-1, 1]], atol=1e-4)
    np.testing.assert_allclose(batch, [[-1, -1], [1, 1]], atol=1e-4)
    assert result.facts["statistics"]["layer"] == [[1.5, 2.5], [0.25, 0.25]]
    assert result.facts["statistics"]["batch"] == [[1.5, 2.5], [0.25, 0.25]]


def test_layer_norm_goes_by_rows_and_batch_norm_by_columns():
    result = run(x=TEXT)
    np.testing.assert_allclose(matrix(result.tables["layer"]), normed(X, 1))
    np.testing.assert_allclose(matrix(result.tables["batch"]), normed(X, 0))
    statistics = result.facts["statistics"]
    np.testing.assert_allclose(statistics["layer"], [X.mean(1), X.var(1)])
    np.testing.assert_allclose(statistics["batch"], [X.mean(0), X.var(0)])
    assert result.facts["eps"] == EPS


@pytest.mark.parametrize(("batches", "momentum"), [(0, 0.1), (1, 0.1), (7, 0.35)])
def test_evaluation_takes_running_statistics(batches, momentum):
    mean, variance = np.zeros(3), np.ones(3)
    for _ in range(batches):
        mean = (1 - momentum) * mean + momentum * X.mean(0)
        variance = (1 - momentum) * variance + momentum * X.var(0, ddof=1)
    result = run(x=TEXT, batches=batches, momentum=momentum)
    np.testing.assert_allclose(result.facts["statistics"]["evaluated"], [mean, variance])
    evaluated = matrix(result.tables["evaluated"])
    np.testing.assert_allclose(evaluated, normed(X, 0, mean, variance))


def test_more_padding_moves_all_but_layer_norm_over_features():
    facts = run(padding=3).facts
    assert facts["change"]["features"] == 0.0
    assert facts["change"]["sequence"] > 0.1
    assert facts["change"]["batch"] > 0.1


def test_the_change_is_that_of_the_same_tokens_with_more_zeros():
    import torch

    padding, longest = 5, max(LENGTHS)
    draw = torch.Generator().manual_seed(3)
    tokens = torch.randn(2, longest, 4, dtype=torch.float64, generator=draw).numpy()
    valid = np.arange(longest) < np.array(LENGTHS)[:, None]
    short = tokens * valid[..., None]
    long = np.concatenate([short, np.zeros((2, padding, 4))], axis=1)
    result = run(seed=3, padding=padding)
    for name, axis in (("sequence", (1, 2)), ("batch", (0, 1))):
        expected = normed(long, axis)[:, :longest][valid] - normed(short, axis)[valid]
        change = matrix(result.tables[f"change_{name}"])
        np.testing.assert_allclose(change, expected, atol=1e-12)
        assert result.facts["change"][name] == pytest.approx(np.abs(expected).max())
        assert len(change) == sum(LENGTHS)
    signs = set[bool]()
    for other in range(4):
        made = run(seed=other, padding=padding)
        for name in ("sequence", "batch"):
            change = matrix(made.tables[f"change_{name}"])
            assert made.facts["change"][name] == np.abs(change).max()
            signs.add(bool(change.max() == np.abs(change).max()))
    assert signs == {True, False}, "the largest is of either sign"


def test_add_and_norm_drops_adds_and_normalises():
    result = run(seed=2, x=TEXT, dropout=0.5)
    dropped, added, made = (matrix(result.tables[n]) for n in ("dropped", "added", "normed"))
    kept = dropped != 0
    np.testing.assert_allclose(dropped[kept], 2 * X[kept])
    assert 0 < kept.sum() < np.count_nonzero(X)
    np.testing.assert_allclose(added, X + dropped)
    np.testing.assert_allclose(made, normed(added, 1))
    other = matrix(run(seed=3, x=TEXT, dropout=0.5).tables["dropped"])
    assert not np.array_equal(other, dropped)
    np.testing.assert_array_equal(matrix(run(x=TEXT, dropout=0.0).tables["dropped"]), X)


def test_a_request_draws_from_its_own_seed_alone():
    import torch

    torch.manual_seed(5)
    first = torch.rand(1)
    torch.manual_seed(5)
    run()
    assert torch.equal(torch.rand(1), first)


@pytest.mark.parametrize("text", ["1,2", "1,2;3", "1,2;3,x", "1,2;3,inf", "", "1e9,2;3,4"])
def test_text_that_is_no_matrix_is_refused(text):
    with pytest.raises(ValueError, match="need"):
        run(x=text)
