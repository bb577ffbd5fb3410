"""MAD's six tasks, rule by rule of their definitions."""

from dataclasses import replace

import pytest
import torch

from attention_plugins.race.field.tasks import IGNORED, TASKS

MAD = {name: task for name, task in TASKS.items() if name.startswith("mad_")}


def rows(name, count=40, *, learned=False):
    """Tokens, and labels by place, of each row."""
    found = TASKS[name].drawn(count, 3, learned=learned)
    for tokens, places, labels in zip(*(part.tolist() for part in found), strict=True):
        asked = zip(places, labels, strict=True)
        yield tokens, {place: label for place, label in asked if label != IGNORED}


@pytest.mark.parametrize("name", MAD)
def test_budgets_are_the_papers(name):
    task = MAD[name]
    budget = task.budget
    examples = 256 if "memorisation" in name else 800 if name.endswith("_800") else 12_800
    assert (budget.examples, task.reported) == (examples, 1_280)
    assert (budget.epochs, budget.batch_size, task.last_rate) == (200, 128, 1e-6)
    assert sorted(budget.rates) == [1e-4, 5e-4, 1e-3]


def test_other_settings_change_one_thing_of_their_task():
    found = [task for task in MAD.values() if task.of]
    assert len(found) == 10
    for task in found:
        first = MAD[task.of]
        changed = {"examples": task.budget.examples, "vocabulary": task.vocabulary}
        usual = {"examples": first.budget.examples, "vocabulary": first.vocabulary}
        (what,) = [name for name in usual if changed[name] != usual[name]]
        assert task.name == f"{task.of}_{changed[what]}"
        assert not task.published
        assert replace(
            task, name=first.name, title=first.title, of="", vocabulary=first.vocabulary,
            budget=first.budget, floors=first.floors, published=first.published,
            averaged=first.averaged,
        ) == first  # fmt: skip


@pytest.mark.parametrize("name", ["mad_recall", "mad_noisy", "mad_fuzzy"])
def test_while_learning_every_next_token_is_asked_for(name):
    for tokens, labels in rows(name, 5, learned=True):
        assert [labels[place] for place in range(len(tokens) - 1)] == tokens[1:]
        assert len(labels) == len(tokens)


@pytest.mark.parametrize(("name", "noise"), [("mad_recall", 0), ("mad_noisy", 16)])
def test_recall_asks_for_the_values_of_keys_that_came_before(name, noise):
    for tokens, labels in rows(name):
        assert len(tokens) == 127
        known = {}
        for place in range(0, 127, 2):
            key = tokens[place]
            if key >= 16:
                assert noise
                assert place not in labels
                assert tokens[place + 1] >= 16
                continue
            assert key < 8
            assert (place in labels) == (key in known)
            if place < 126:
                assert 8 <= tokens[place + 1] < 16
                assert known.setdefault(key, tokens[place + 1]) == tokens[place + 1]
            assert labels.get(place, known[key]) == known[key]
        assert 126 in labels
        assert all(place % 2 == 0 for place in labels)


def test_a_fifth_of_the_pairs_is_noise():
    tokens = TASKS["mad_noisy"].drawn(400, 1, learned=False).inputs[:, :126:2]
    assert (tokens >= 16).double().mean() == pytest.approx(0.2 * 63 / 64, abs=0.01)


def fuzzy_pairs(tokens):
    """Keys and values in their order, as tuples; keys are below 7, 15 fills a row up."""
    filled = [token for token in tokens if token != 15]
    assert tokens[len(tokens) - len(filled) :] == filled
    found, last = [], None
    for token in filled:
        is_key = token < 7
        if is_key != last:
            found.append([])
        found[-1].append(token)
        last = is_key
    return [tuple(one) for one in found]


def test_fuzzy_recall_asks_for_all_tokens_of_values_whose_keys_came_before():
    sizes, misses = set(), 0
    for tokens, labels in rows("mad_fuzzy", 400):
        assert len(tokens) == 128
        last = labels[127]
        motifs = fuzzy_pairs([*tokens, last])
        known, place, expected = {}, 129 - sum(map(len, motifs)), {}
        pairs = list(zip(motifs[::2], motifs[1::2], strict=True))
        for number, (key, value) in enumerate(pairs):
            assert len(key) == len({*key}) == 3
            assert 1 <= len(value) == len({*value}) <= 3
            sizes.add(len(value))
            if key in known or number == len(pairs) - 1:
                misses += key not in known
                start = place + len(key) - 1  # the label of a token stands one before it
                expected |= {start + i: token for i, token in enumerate(value)}
            assert known.setdefault(key, value) == value
            place += len(key) + len(value)
        assert labels == expected
    assert sizes == {1, 2, 3}
    assert 0 < misses < 40  # of 400 last keys


def test_keys_of_fuzzy_recall_have_one_to_three_tokens_while_learning():
    found = [motif for tokens, _ in rows("mad_fuzzy", 20, learned=True)
             for motif in fuzzy_pairs(tokens)[::2]]  # fmt: skip
    assert {len(motif) for motif in found} == {1, 2, 3}


def test_what_is_memorised_is_the_same_in_every_draw():
    known = {}
    for learned in (True, False):
        for tokens, labels in rows("mad_memorisation", 200, learned=learned):
            assert tokens[1::2] == [255] * 16
            assert [*labels] == [*range(1, 32, 2)]
            for place, label in labels.items():
                assert 0 <= tokens[place - 1] < 127 <= label < 255
                assert known.setdefault(tokens[place - 1], label) == label
    assert len(known) == len({*known.values()}) == 127


def test_copying_asks_for_the_tokens_behind_the_sign_in_their_order():
    before_last = []
    for tokens, labels in rows("mad_copying"):
        assert tokens.index(15) == 239
        assert tokens[240:] == [14] * 16
        copied = [token for token in tokens[:239] if token != 14]
        assert len(copied) == 16
        assert labels == {240 + place: token for place, token in enumerate(copied)}
        before_last.append(max(place for place in range(239) if tokens[place] != 14))
    assert {*before_last} == {238}  # no blank stands behind the last token


def test_compression_asks_for_all_of_its_tokens():
    for tokens, labels in rows("mad_compression"):
        assert tokens[-1] == 15 > max(tokens[:-1])
        assert labels == dict(enumerate(tokens))


def test_draws_use_every_token():
    for name, task in MAD.items():
        found = task.drawn(2000, 0, learned=True)
        seen = {*found.inputs.unique().tolist(), *found.labels.unique().tolist()} - {IGNORED}
        unused = {*range(task.vocabulary)} - seen  # one value more than there are keys
        assert len(unused) == (task.draw == "memorisation") or task.vocabulary > 4000, name
        assert found.inputs.dtype == torch.int32
