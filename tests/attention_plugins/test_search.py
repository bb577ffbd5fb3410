"""Beam search against a search written with plain lists, and against trying all translations.

The length penalty stands here as a number: Wu et al. 2016, equation 14, with alpha 0.6.
"""

from __future__ import annotations

import itertools

import pytest
import torch

from attention_plugins.decoding import beam, greedy
from attention_plugins.text import BOS_ID, EOS_ID, PAD_ID, UNK_ID

WORDS = (4, 5, 6)
SIZE, SENTENCES, LIMIT = 7, 60, 4


def penalised(total, length):
    return total / ((5 + length) / 6) ** 0.6


class Table(torch.nn.Module):
    """What comes next follows from the sentence, the place and the word before."""

    def __init__(self, ends=0.0, seed=0):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        shape = SENTENCES, LIMIT, SIZE, SIZE
        scores = 1.5 * torch.randn(shape, generator=generator, dtype=torch.float64)
        scores[..., EOS_ID] += ends
        self.table = scores.log_softmax(-1)

    def start(self, source, lengths, tap):
        return {"sentence": source[:, 0], "place": torch.zeros_like(lengths)}

    def step(self, state, tokens, tap):
        scores = self.table[state["sentence"], state["place"], tokens]
        return scores, {**state, "place": state["place"] + 1}

    def total(self, sentence, ids):
        before = [BOS_ID, *ids[:-1]]
        return sum(
            self.table[sentence, place, last, word].item()
            for place, (last, word) in enumerate(zip(before, ids, strict=True))
        )


def searched(model, width):
    source, lengths = torch.arange(SENTENCES)[:, None], torch.ones(SENTENCES, dtype=torch.long)
    return [
        [(found.ids, found.log_probability) for found in hypotheses]
        for hypotheses in beam(model, source, lengths, width=width, limit=LIMIT)
    ]


def every_translation():
    for n in range(1, LIMIT + 1):
        for body in itertools.product(WORDS, repeat=n - 1):
            yield [*body, EOS_ID]
    yield from (list(words) for words in itertools.product(WORDS, repeat=LIMIT))


@pytest.mark.parametrize("ends", [-1.0, 1.0])
def test_a_beam_of_everything_lists_all_translations_by_their_penalised_probability(ends):
    model, candidates = Table(ends), list(every_translation())
    assert len(candidates) == 1 + 3 + 9 + 27 + 81
    for sentence, found in enumerate(searched(model, len(candidates))):
        expected = sorted(
            ((ids, model.total(sentence, ids)) for ids in candidates),
            key=lambda one: -penalised(one[1], len(one[0])),
        )
        assert [ids for ids, _ in found] == [ids for ids, _ in expected]
        assert [t for _, t in found] == pytest.approx([t for _, t in expected], abs=1e-9)


def plain_beam(model, sentence, width, *, stops):
    """One sentence, by lists: of 2 x width candidates those that end are kept, others go on.

    Args:
        stops: whether it ends once ``width`` are finished and none that is open can beat the best
            of them, which at best costs nothing more and is as long as it may be.
    """
    opened, finished = [([], 0.0)], []
    for length in range(1, LIMIT + 1):
        candidates = sorted(
            (
                ([*ids, word], model.total(sentence, [*ids, word]))
                for ids, _ in opened
                for word in (EOS_ID, *WORDS)
            ),
            key=lambda one: -one[1],
        )[: 2 * width]
        ended = [one for one in candidates if one[0][-1] == EOS_ID or length == LIMIT]
        finished += [(penalised(total, length), ids, total) for ids, total in ended]
        finished.sort(key=lambda one: -one[0])
        opened = [one for one in candidates if one[0][-1] != EOS_ID][:width]
        reachable = max((penalised(total, LIMIT) for _, total in opened), default=-torch.inf)
        if stops and len(finished) >= width and finished[0][0] >= reachable:
            break
    return [(ids, total) for _, ids, total in finished[:width]]


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("ends", [-1.0, 1.0, 3.0])
def test_a_beam_finds_what_a_search_by_lists_finds(width, ends):
    """All hypotheses, not the best alone; stopping early never costs the best one."""
    model = Table(ends)
    for sentence, found in enumerate(searched(model, width)):
        expected = plain_beam(model, sentence, width, stops=True)
        assert [ids for ids, _ in found] == [ids for ids, _ in expected]
        assert [t for _, t in found] == pytest.approx([t for _, t in expected], abs=1e-9)
        assert len(found) == width
        to_the_end = plain_beam(model, sentence, width, stops=False)
        assert found[0][0] == to_the_end[0][0]


def test_a_search_ends_early_where_nothing_better_can_come():
    """Or stopping would not be tested above."""
    model, rows = Table(1.0), []
    step = model.step

    def counted(state, tokens, tap):
        rows.append(len(tokens))
        return step(state, tokens, tap)

    model.step = counted
    searched(model, 2)
    assert rows[0] == SENTENCES
    assert 0 < rows[-1] < rows[1] / 2


@pytest.mark.parametrize("forbidden", [UNK_ID, PAD_ID, BOS_ID])
def test_what_is_no_word_is_never_written_however_likely_it_is(forbidden):
    model = Table()
    model.table[..., forbidden] = 9.0
    source, lengths = torch.arange(SENTENCES)[:, None], torch.ones(SENTENCES, dtype=torch.long)
    written = [found.ids for found in greedy(model, source, lengths, limit=LIMIT)]
    written += [ids for found in searched(model, 3) for ids, _ in found]
    assert {word for ids in written for word in ids} == {EOS_ID, *WORDS}


def test_greedy_search_is_the_textbooks_prediction():
    """Word after word the likeliest, until the sentence ends or is as long as it may be."""
    model, lengths = Table(), torch.ones(SENTENCES, dtype=torch.long)
    model.table[..., [UNK_ID, PAD_ID, BOS_ID]] = -99.0  # the textbook may write these, we do not
    found = greedy(model, torch.arange(SENTENCES)[:, None], lengths, limit=LIMIT)
    for sentence, decoded in enumerate(found):
        state = model.start(torch.tensor([[sentence]]), lengths[:1], None)
        word, output = BOS_ID, []
        for _ in range(LIMIT):
            scores, state = model.step(state, torch.tensor([word]), None)
            word = int(scores.argmax(dim=1))
            output.append(word)
            if word == EOS_ID:
                break
        assert decoded.ids == output
        assert decoded.log_probability == pytest.approx(model.total(sentence, output), abs=1e-9)
    assert {len(decoded.ids) for decoded in found} == {1, 2, 3, 4}
