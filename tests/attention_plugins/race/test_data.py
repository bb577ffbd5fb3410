import pytest

from attention_plugins.contract import ContractError
from attention_plugins.datasets.parallel import references, source_key
from attention_plugins.race.data import REPORTED, VALIDATION, pairs_of, problem_of


@pytest.mark.parametrize("task", ["copy", "phrasebook"])
def test_no_sentence_is_in_two_parts_and_each_seed_has_others(task):
    data = pairs_of(task, 300, 0)
    parts = [{source_key(p.source) for p in part}
             for part in (data.learned, data.validation, data.reported)]  # fmt: skip
    assert len(data.learned) == 300
    assert len(parts[1]) == VALIDATION
    assert len(parts[2]) == REPORTED
    assert not (parts[0] & parts[1])
    assert not (parts[0] & parts[2])
    assert not (parts[1] & parts[2])
    assert {source_key(p.source) for p in pairs_of(task, 300, 1).reported} != parts[2]
    assert set(data.neighbours) == set(references(data.reported))
    learned = {p.source for p in data.learned}
    assert all(near.pair.source in learned for near in data.neighbours.values())


def test_sequences_of_each_length_are_new_ones():
    data = pairs_of("copy", 1000, 0)
    learned = {p.source for p in data.learned}
    assert list(data.by_length) == [4, 6, 8, 10, 12, 16]
    for length, pairs in data.by_length.items():
        assert all(len(p.source.split()) == length for p in pairs)
        assert learned.isdisjoint(p.source for p in pairs)
    assert max(len(p.source.split()) for p in data.learned) == 8
    assert pairs_of("copy", 1000, 1).by_length[16] != data.by_length[16]


def test_lengths_that_a_task_cannot_draw_are_left_out():
    assert list(pairs_of("recall", 300, 0).by_length) == [4, 6, 8]  # keys, of eight letters


def test_of_a_corpus_the_reported_sentences_are_sorted_by_length():
    data = pairs_of("phrasebook", 300, 0)
    reported = {p.source for p in data.reported}
    assert data.by_length
    for length, pairs in data.by_length.items():
        assert all(p.source in reported and len(p.source.split()) == length for p in pairs)


def test_a_problem_has_its_points_and_its_truth():
    data, truth = problem_of("sine", 30, 0)
    assert data.x.shape == (30, 1)
    assert truth.shape == data.queries.shape[:1]
    assert not data.x.equal(problem_of("sine", 30, 1).data.x)


@pytest.mark.parametrize(("task", "why"), [("five_points", "no points"), ("copy", "no points")])
def test_what_cannot_be_raced_on_is_refused(task, why):
    with pytest.raises(ContractError, match=why):
        problem_of(task, 30, 0)
