"""Which head the translation needs most, said of made-up heads."""

import pyarrow as pa
import pytest

from dashboard.features.heads import outcome
from dashboard.features.heads.outcome import answer
from dashboard.records.request import Result

WORDS = {"translation": "le chat dort .", "without": "le chat dort ."}
NAN = float("nan")


def result(*changes, needed=WORDS, kind="cross"):
    """A model of one layer whose heads change the log-probability so."""
    rows = [
        {"kind": kind, "layer": 0, "head": head, "leave_one_out": change}
        for head, change in enumerate(changes)
    ]
    return Result(
        tables={"heads": pa.Table.from_pylist(rows)},
        facts={"needed": needed, "card": {"kind": kind}},
    )


def test_the_head_of_the_largest_loss_is_named_with_its_words():
    assert answer(result(0.5, -0.24, NAN, -0.1)) == (
        "**Cross-attention layer 1, head 2** matters most for this sentence: without it, the "
        "translation is less likely by 0.24 nats, with no words changed."
    )
    changed = answer(result(-0.24, needed=WORDS | {"without": "la chatte dort ."}))
    assert changed.endswith("by 0.24 nats, with 2 words changed.")
    assert answer(result(-0.24, NAN, needed=None)).endswith("less likely by 0.24 nats.")


def test_the_only_head_of_a_model_is_called_so():
    said = answer(result(-0.24))
    assert said.startswith("**Cross-attention layer 1, head 1** is the only head of this model:")
    assert said.endswith("less likely by 0.24 nats, with no words changed.")
    assert answer(result(-0.24, needed=None)).endswith("less likely by 0.24 nats.")


def test_heads_that_are_close_are_named_as_far_as_they_fit():
    assert answer(result(-1.0, -0.79)).endswith("with no words changed.")
    assert answer(result(-1.0, -0.81)).endswith(" Close behind: cross 1.2 (0.81 nats).")
    assert answer(result(-1.0, -0.9, -0.9, -0.9, -0.9)).endswith("(0.90 nats), and 1 more.")


@pytest.mark.parametrize(("largest", "said"), [(-0.04, "0.04"), (0.3, "0.00")])
def test_where_no_head_matters_the_largest_loss_is_given(largest, said):
    found = answer(result(0.5, largest))
    assert found.startswith("**No single head matters much for this sentence**")
    assert found.endswith(f"less likely by at most {said} nats.")


@pytest.mark.parametrize(
    ("kind", "what"), [("decoder", "the continuation"), ("encoder", "the text")]
)
def test_of_a_model_that_does_not_translate_it_is_said_of_its_words(kind, what):
    found = answer(result(-0.24, -0.1, needed=None, kind=kind))
    assert found == (
        f"**{kind.capitalize()} self-attention layer 1, head 1** matters most: without it, "
        f"{what} is less likely by 0.24 nats."
    )
    assert answer(result(-0.24, kind=kind)).endswith("by 0.24 nats: no words changed.")
    none = answer(result(0.5, -0.001, kind=kind))
    assert none.startswith("**No single head matters much here**: ")
    assert none.endswith(f"{what} is less likely by at most 0.05 nats.")


def test_without_any_effect_nothing_is_said():
    assert answer(result(NAN)) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [(-1.25, "more likely by 0.25 nats"), (-1.75, "less likely by 0.25 nats"),
     (-1.504, "as likely as before"), (-1.496, "as likely as before"),
     (-1.49, "more likely by 0.01 nats")],
)  # fmt: skip
def test_unchanged_words_become_more_or_less_likely(changed, said):
    now = {"log_probability": -1.5, "changed_log_probability": changed}
    assert outcome._loss(now) == said


def test_small_shares_keep_two_digits_and_what_is_no_number_says_so():
    assert [outcome._share(value) for value in (0.5, 0.01, 0.0042)] == ["50%", "1%", "0.0042"]
    assert outcome._number(NAN) == "NaN"


@pytest.mark.parametrize(
    ("heads", "more"), [(6, ""), (7, "and 1 more head,"), (9, "3 more heads,")]
)
def test_a_map_lists_six_heads_and_counts_the_rest(monkeypatch, heads, more):
    said = []
    monkeypatch.setattr(outcome.shown, "markdown", said.append)
    spoken = [{"head": head, "said": ["uniform"], "row_entropy": 1.0} for head in range(heads)]
    monkeypatch.setattr(outcome, "_SAYS", {"uniform": lambda head: f"no {head['head']}"})
    assert outcome._map("Encoder 1", [*spoken, {"head": 99, "said": []}])
    assert "head 6: no 5" in said[0]
    assert "head 7" not in said[0]
    assert said[0].count("more head") == bool(more)
    assert more in said[0]
    assert not outcome._map("Encoder 1", [{"head": 0, "said": []}])
