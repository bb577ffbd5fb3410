from dataclasses import replace

from dashboard.records.request import Request
from dashboard.records.training import (
    ENDED,
    FOLDER,
    MOST_PARAMETERS,
    MOST_SECONDS,
    OF_SERVER,
    Epoch,
    Training,
    explained,
    parts_of,
    said,
)

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


def test_an_epoch_is_scored_by_the_data_sets_own_metric_where_there_is_one():
    epoch = Epoch(epoch=1, loss=2.0, seconds=3.0, tokens_per_second=5.0, bleu=7.0, probe="",
                  score=11.0)  # fmt: skip
    training = Training(id="", request=Request.make("training"), created=0.0, state="done",
                        note="", epochs=(epoch,), losses=((13, 1.7),),
                        facts={"title": "T"})  # fmt: skip
    assert training.held_out(epoch) == 7.0
    assert replace(training, facts={"metric": {"title": "chrF"}}).held_out(epoch) == 11.0
    result = training.result()
    assert result.facts == {"title": "T", "state": "done"}
    assert result.tables["epochs"].to_pylist() == [
        {"epoch": 1, "loss": 2.0, "seconds": 3.0, "tokens_per_second": 5.0, "bleu": 7.0,
         "score": 11.0, "probe": ""}
    ]  # fmt: skip
    assert result.tables["losses"].to_pylist() == [{"step": 13, "loss": 1.7}]


def test_a_paused_training_has_not_ended_and_a_servers_limits_determine_none():
    assert {"done", "failed", "cancelled"} == ENDED
    assert {FOLDER, MOST_SECONDS, MOST_PARAMETERS} == OF_SERVER
