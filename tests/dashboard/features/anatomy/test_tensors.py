import math
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.features.anatomy import tensors
from dashboard.features.anatomy.tensors import TensorError

NUMBERS = st.floats(-tensors.LARGEST, tensors.LARGEST).map(tensors.rounded)


@st.composite
def made(draw):
    batch, count, size = (draw(st.integers(1, 5)) for _ in range(3))
    row = st.tuples(*[NUMBERS] * size)
    return draw(st.tuples(*[st.tuples(*[row] * count)] * batch)), (batch, count, size)


@settings(max_examples=60, deadline=None)
@given(made())
def test_a_tensor_survives_its_text(drawn):
    tensor, shape = drawn
    text = tensors.write(tensor)
    assert tensors.shape_of(text) == shape
    assert tensors.read(text, shape) == tensor
    assert not set(text) - set("0123456789.,/:-e")
    assert tensors.read_lines(tensors.write_lines(tensor[0]), shape[1:]) == tensor[0]


@pytest.mark.parametrize(
    "text", ["[[1, 2, 3], [4, 5, 6.5]]", "1 2 3\n4 5 6.5\n", "1,2,3;4,5,6.5",
             "tensor([[1., 2., 3.],\n        [4., 5., 6.5]])"]
)  # fmt: skip
def test_a_matrix_may_be_typed_as_python_prints_it(text):
    text = text.removeprefix("tensor")
    assert tensors.read_lines(text, (2, 3)) == ((1, 2, 3), (4, 5, 6.5))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2/3,4", "need one matrix per batch row, 2 in all, got 1"),
        ("1,2/3,4:1,2", "need 2 rows of 2 numbers, got 1 of 2"),
        ("1,2/3,4:1,2/3", "need 2 rows of 2 numbers, got 2 of 1, 2"),
        ("1,2/3,4:1,2/3,nan", "need numbers such as 0.5 or -2, got ‘nan’"),
        ("1,2/3,4:1,2/3,1e7", "need numbers of at most 1,000,000, got 1e7"),
        ("1,2/3,4:1,2/3,1_0", "got ‘1_0’"),
        ("1,2/3,4:1,2/3,٣", "got ‘٣’"),
        ("1," * 100_000, "need at most 4,000 numbers"),
    ],
)
def test_what_is_no_tensor_is_named(text, said):
    with pytest.raises(TensorError, match=said):
        tensors.read(text, (2, 2, 2))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2, 6", "2,6"), ("2,6", "2,6"), (" [2 6] ", "2,6"), ("", ""), ("007, 1", "7,1"),
        ("[[1, 2, 3], [4, 5, 6]]".replace("],", "]/"), "1,2,3/4,5,6"),
        ("1,2,3/4,5,6", "1,2,3/4,5,6"),
    ],
)  # fmt: skip
def test_lengths_have_one_way_to_be_written(text, read):
    assert tensors.read_lengths(text, 2, 3) == read
    assert tensors.read_lengths(read, 2, 3) == read


def test_lengths_as_numbers():
    assert tensors.lengths("2,6") == ((2, 6),)
    assert tensors.lengths("1,2,3/4,5,6") == ((1, 2, 3), (4, 5, 6))
    assert tensors.lengths("") == ()


@pytest.mark.parametrize(
    ("text", "kinds", "said"),
    [
        (
            "1,2,3",
            "row query",
            "such as 1,1 or one per query, such as 1,1,1/1,1,1; got 3 n",
        ),
        ("1,2,3/4,5,6", "row", "need a length per batch row, such as 1,1; got 3, 3 numbers"),
        ("1,2", "query", "need one per query, such as 1,1,1/1,1,1; got 2 numbers"),
        ("1,-2", "row query", "need whole numbers from 0, got ‘-2’"),
        ("1,2.5", "row query", "need whole numbers from 0, got ‘2.5’"),
    ],
)
def test_lengths_that_do_not_fit_are_named(text, kinds, said):
    with pytest.raises(TensorError, match=said):
        tensors.read_lengths(text, 2, 3, kinds)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_the_readers(text):
    for read in (lambda: tensors.read(text, (2, 2, 2)), lambda: tensors.read_lines(text, (2, 2)),
                 lambda: tensors.read_lengths(text, 2, 2)):  # fmt: skip
        with suppress(TensorError):
            read()


def test_rounding_keeps_four_digits():
    assert tensors.rounded(0.123456) == 0.1235
    assert math.copysign(1, float(tensors.write([[[-0.0]]]))) == 1
