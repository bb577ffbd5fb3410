from dashboard.records.training import explained, parts_of, said

SCORE = {
    "bleu": 44.97, "near": {"sentences": 1082, "bleu": 53.93},
    "far": {"sentences": 921, "bleu": 36.8}, "copied": {"sentences": 2003, "bleu": 22.94},
}  # fmt: skip


def test_the_parts_of_a_score_in_words():
    parts = parts_of(SCORE)
    assert parts["far"] == {"sentences": 921, "score": 36.8}
    assert said(parts) == "near 53.9, far 36.8, copied 22.9"
    first, second, third = explained(parts).split("\n\n")
    assert first.startswith("**Near**, 1,082 sentences. The score of held-out sentences that")
    assert second == "**Far**, 921 sentences. The score of all other held-out sentences."
    assert third.startswith("**Copied**, 2,003 sentences. What the translation of the nearest")


def test_counts_that_travelled_as_numbers_with_a_point_are_whole():
    assert "**Far**, 7 sentences." in explained({"far": {"sentences": 7.0, "score": 3.0}})


def test_a_metric_of_its_own_comes_before_bleu():
    own = {"metric": {"title": "Exact match"}, "far": {"sentences": 7, "bleu": 3.0, "value": 42.9}}
    assert said(parts_of(own)) == "far 42.9"


def test_a_score_without_parts_says_nothing_of_them():
    assert parts_of({"bleu": 1.0}) == {}
    assert said({}) == explained({}) == ""
