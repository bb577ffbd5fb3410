"""Searching against trying everything: a model so small that all translations can be listed."""

import copy
import itertools

import pytest
import torch

from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import LENGTH_PENALTY, beam, force, greedy
from attention_plugins.models.bahdanau import BAHDANAU, CROSS
from attention_plugins.registry import load
from attention_plugins.tap import Intervention, Site
from attention_plugins.text import BOS_ID, EOS_ID, PAD_ID

LIMIT = 4
WORDS = (4, 5, 6)
SCORINGS = load(allow=[]).scorings


@pytest.fixture(scope="module")
def model():
    return made("additive")


def made(scoring):
    torch.manual_seed(2)
    values = {"embed": 6, "hidden": 10, "layers": 2}
    model = BAHDANAU.create(SCORINGS[scoring].factory(), ModelSizes(11, 7), values)
    for parameter in model.parameters():
        parameter.data.mul_(3)  # an untrained model is nearly indifferent: make it choose
    return model.double().eval()


@pytest.fixture(scope="module")
def sources():
    torch.manual_seed(3)
    source, lengths = torch.randint(4, 11, (5, 7)), torch.tensor([7, 3, 5, 2, 1])
    for row, length in zip(source, lengths, strict=True):
        row[length:] = PAD_ID
    return source, lengths


def _every_translation():
    for n in range(1, LIMIT + 1):
        for body in itertools.product(WORDS, repeat=n - 1):
            yield [*body, EOS_ID]
        if n == LIMIT:  # cut at the limit
            yield from (list(words) for words in itertools.product(WORDS, repeat=n))


def _best_by_trying_all(model, source, length):
    candidates = list(_every_translation())
    scored = []
    for ids in candidates:
        log_probabilities, _ = force(model, source[None, :length], length[None], _row(ids))
        total = log_probabilities.sum().item()
        scored.append((total / ((5 + len(ids)) / 6) ** LENGTH_PENALTY, ids, total))
    return max(scored)


def _row(ids):
    return torch.tensor([ids])


def test_a_wide_beam_finds_what_trying_everything_finds(model, sources):
    found = beam(model, *sources, width=40, limit=LIMIT)
    for row in range(5):
        _, ids, total = _best_by_trying_all(model, sources[0][row], sources[1][row])
        assert found[row][0].ids == ids
        assert found[row][0].log_probability == pytest.approx(total, abs=1e-9)


def test_a_beam_of_one_is_greedy(model, sources):
    alone = greedy(model, *sources, limit=LIMIT)
    assert [hypotheses[0].ids for hypotheses in beam(model, *sources, width=1, limit=LIMIT)] == [
        decoded.ids for decoded in alone
    ]


def test_greedy_takes_the_likeliest_word_at_every_step(model, sources):
    source, lengths = sources
    for row, decoded in enumerate(greedy(model, source, lengths, limit=LIMIT)):
        words, total = [], 0.0
        while len(words) < LIMIT and EOS_ID not in words:
            options = {}
            for word in (EOS_ID, *WORDS):
                scores, _ = force(
                    model, source[row : row + 1], lengths[row : row + 1], _row([*words, word])
                )
                options[word] = scores[0, -1].item()
            words.append(max(options, key=options.get))
            total += options[words[-1]]
        assert decoded.ids == words
        assert decoded.log_probability == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("scoring", ["additive", "coverage"])
def test_a_batch_decodes_like_single_sentences(scoring, sources):
    """Where rows leave the batch, earlier weights leave with them."""
    model = made(scoring)
    source, lengths = sources
    searches = (
        lambda *batch: [[best] for best in greedy(model, *batch, limit=11)],
        lambda *batch: beam(model, *batch, width=3, limit=11),
    )
    for search in searches:
        together = search(source, lengths)
        for row, length in enumerate(lengths):
            (alone,) = search(source[row : row + 1, :length], length[None])
            assert [h.ids for h in alone] == [h.ids for h in together[row]]
            assert [h.log_probability for h in alone] == pytest.approx(
                [h.log_probability for h in together[row]], abs=1e-9
            )


def test_hypotheses_come_best_first_and_differ(model, sources):
    for hypotheses in beam(model, *sources, width=3, limit=11):
        scores = [h.log_probability / ((5 + len(h.ids)) / 6) ** LENGTH_PENALTY for h in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(h.ids) for h in hypotheses}) == 3


def test_reserved_words_are_never_written(model, sources):
    for decoded in greedy(model, *sources, limit=11):
        assert set(decoded.ids) <= {EOS_ID, *WORDS}
        assert decoded.ids.count(EOS_ID) <= 1


def test_switching_attention_off_changes_scores_and_switching_nothing_does_not(model, sources):
    target = torch.tensor([[4, 5, EOS_ID]] * 5)
    plain, sites = force(model, *sources, target)
    again, _ = force(model, *sources, target, interventions=[])
    off, off_sites = force(
        model, *sources, target, interventions=[Intervention(site=CROSS, action="off")]
    )
    other, _ = force(
        model, *sources, target, interventions=[Intervention(site=Site("encoder"), action="off")]
    )
    assert torch.equal(plain, again)
    assert torch.equal(plain, other)
    assert not torch.allclose(plain, off)
    assert sites[CROSS].sum(-1).allclose(torch.ones(5, 3, dtype=torch.float64))
    assert off_sites[CROSS].abs().max() == 0


def test_a_row_is_pinned_by_its_number_through_decoding(model, sources):
    pin = Intervention(site=CROSS, action="pin", row=1, key=0)
    target = torch.tensor([[4, 5, EOS_ID]] * 5)
    plain, _ = force(model, *sources, target)
    pinned, sites = force(model, *sources, target, interventions=[pin])
    assert sites[CROSS][:, 1, 0].eq(1).all()
    assert torch.equal(plain[:, 0], pinned[:, 0])
    assert not torch.allclose(plain[:3, 1], pinned[:3, 1])


def _reordered(model, monkeypatch):
    """What a beam search reorders: a set of names for each step."""
    seen = []
    plain = torch.Tensor.index_select
    step = model.step

    def watched_step(state, tokens, tap):
        seen.append(set())
        names = {id(tensor): name for name, tensor in state.items()}
        scores, after = step(state, tokens, tap)
        names |= {id(tensor): name for name, tensor in after.items()}
        seen_names.update(names)
        return scores, after

    seen_names = {}

    def index_select(tensor, dim, rows):
        if id(tensor) in seen_names and seen:
            seen[-1].add(seen_names[id(tensor)])
        return plain(tensor, dim, rows)

    monkeypatch.setattr(model, "step", watched_step)
    monkeypatch.setattr(torch.Tensor, "index_select", index_select)
    return seen


def test_only_what_differs_between_hypotheses_is_reordered(model, sources, monkeypatch):
    seen = _reordered(model, monkeypatch)
    source, lengths = sources
    beam(model, source[:1], lengths[:1], width=3, limit=7)
    assert seen[0] == {"hidden", "memory", "keys", "mask"}  # one row becomes three
    assert seen[1:-1] == [{"hidden"}] * (len(seen) - 2)
    assert len(seen) > 3


class _Remembers(torch.nn.Module):
    """Writes a word by those before, but takes them in at some places only."""

    def __init__(self, changes):
        super().__init__()
        self.changes = changes
        torch.manual_seed(4)
        self.table = torch.randn(50, 9).double()
        self.table[:, EOS_ID] -= 4.0  # sentences are long

    def start(self, source, lengths, tap):
        return {"said": source[:, 0], "place": torch.zeros_like(lengths)}

    def step(self, state, tokens, tap):
        place = state["place"] + 1
        said = state["said"]
        if int(place[0]) in self.changes:
            said = (3 * said + tokens) % 50
        return self.table[said].log_softmax(-1), {"said": said, "place": place}


@pytest.mark.parametrize("changes", [range(1, 10), range(2, 10), range(3, 10), {2}, {1, 3}])
def test_a_part_that_begins_to_differ_is_reordered_from_then_on(changes):
    model = _Remembers(changes)
    source = torch.arange(20)[:, None]
    found = beam(model, source, torch.ones(20, dtype=torch.long), width=4, limit=9)
    for row, hypotheses in enumerate(found):
        for hypothesis in hypotheses:
            state = model.start(source[row : row + 1], torch.ones(1, dtype=torch.long), None)
            total, last = 0.0, torch.full((1,), BOS_ID)
            for word in hypothesis.ids:
                scores, state = model.step(state, last, None)
                total, last = total + scores[0, word].item(), torch.tensor([word])
            assert hypothesis.log_probability == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("width", [1, 3])
def test_finished_sentences_leave_the_batch(model, sources, width, monkeypatch):
    """Rows only become fewer, and the last step is not made for all."""
    model = copy.deepcopy(model)
    with torch.no_grad():  # sentences that end, at different places
        model.output.bias[EOS_ID] += 6.0
    rows, step = [], model.step

    def watched(state, tokens, tap):
        rows.append(len(tokens))
        return step(state, tokens, tap)

    monkeypatch.setattr(model, "step", watched)
    source, lengths = (part.repeat(3, *[1] * (part.dim() - 1)) for part in sources)
    if width == 1:
        ends = [len(found.ids) for found in greedy(model, source, lengths, limit=11)]
        assert len(set(ends)) > 1
    else:
        beam(model, source, lengths, width=width, limit=11)
    assert rows[0] == 15
    assert rows[1:] == sorted(rows[1:], reverse=True)
    assert rows[-1] < 15 * width
