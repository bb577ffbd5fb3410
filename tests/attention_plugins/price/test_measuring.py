"""From what somebody has to the prices of swaps: names, texts, models, and what is refused."""

import pytest
import torch
from support.tiny_families import WORDS, save

from attention_plugins import scoring
from attention_plugins.contract import ContractError
from attention_plugins.huggingface.numbers import Numbers
from attention_plugins.price.measuring import Subject, opened, price_of_swap, swap_of, trials
from attention_plugins.price.records import Budget, Outcome, Swap
from attention_plugins.price.tuning import cut
from tests.attention_plugins.price.conftest import BUDGET


def test_a_swap_is_read_as_it_is_typed():
    assert swap_of("additive") == Swap(scoring="additive")
    assert swap_of(" scaled_dot + entmax15 ") == Swap(scoring="scaled_dot", normaliser="entmax15")
    assert swap_of("scaled_dot", "entmax15") == swap_of("scaled_dot+entmax15")
    assert swap_of("scaled_dot+entmax15", "sparsemax") == swap_of("scaled_dot+entmax15")
    assert swap_of(" =q.k + 1 ") == swap_of("=q.k + 1")
    assert swap_of("alibi") == Swap(scoring="alibi", positions="remove")
    assert swap_of("alibi", positions="keep") == Swap(scoring="alibi")
    formula = swap_of("=-|q - k| + 1", "sparsemax")
    assert formula.scoring.startswith("=")
    assert formula.normaliser == "sparsemax"
    for bad, said in (("nobody", 'no scoring "nobody"'), ("scaled_dot+nobody", "no normaliser"),
                      ("=q +", "formula"), ("monotonic+entmax15", "in its own way")):  # fmt: skip
        with pytest.raises(ContractError, match=said):
            swap_of(bad)


def test_a_budget_has_one_to_four_rates_up_to_1():
    assert Budget(rates=(1e-9, 0.1, 0.5, 1.0)).rates[-1] == 1.0
    for rates in ((), (0.1,) * 5, (0.0,), (1.1,)):
        with pytest.raises(ContractError, match="need one to four rates above 0 and up to 1, got"):
            Budget(rates=rates)
    most = {"steps": 100_000, "batch_size": 4096, "held_out": 100_000, "seeds": 1000}
    for name, highest in most.items():
        assert getattr(Budget(**{name: highest}), name) == highest
        for value in (0, highest + 1):
            with pytest.raises(ContractError, match=f"need 1 <= {name} <= {highest:,}, got"):
                Budget(**{name: value})
    usual = Budget()
    assert [getattr(usual, name) for name in most] == [100, 16, 100, 6]
    assert usual.rates == (1e-3, 3e-3)


def test_lines_are_read_with_what_counts_behind_a_tab(llama, bart):
    subject, pairs = Subject(llama), Subject(bart)
    assert subject.read("4 5 6") == ((4,), (5, 6))
    assert subject.read("4 5\t6 7") == ((4, 5), (6, 7))
    end = bart.config.eos_token_id
    assert pairs.read("4 5\t6 7") == pairs.read(f"4 5\t6 7 {end}") == ((4, 5), (6, 7, end))
    assert subject.longest == pairs.longest == 64  # its positions
    subject.longest = pairs.longest = 5
    assert subject.read("4 5 6\t7 8 9") == ((4, 5, 6), (7, 8))
    assert pairs.read("4 5 6\t7 8 9 3") == ((4, 5, 6), (7, 8, 9, 3, end))
    assert subject.read("4 5 6 7 8 9") == ((4,), (5, 6, 7, 8))
    (text,) = subject.texts(["4 5", " "], write=3)
    assert text.given == (4, 5)
    assert 1 <= len(text.counted) <= 3
    (text,) = pairs.texts(["4 5\t6 7"], write=2)
    assert text.given == (4, 5)  # nothing of the target
    with pytest.raises(ContractError, match="at least one token to go on from in every line"):
        pairs.texts(["4\t5", "\t5"], write=2)
    for one, given, said in (
        (subject, ["4"], "need two tokens or more in every line, got '4'"),
        (subject, [" "], "need texts, a line each, got none"),
        (subject, ["4 x"], "got 'x'"),
        (pairs, ["4 5"], "need a source, a tab and a target in every line, got '4 5'"),
    ):
        with pytest.raises(ContractError, match=said):
            one.texts(given)


class _Begun(Numbers):
    """A tokenizer that begins every text with a special token, unless it is asked not to."""

    def __call__(self, text, add_special_tokens=True, **more):
        found = super().__call__(text)
        return {**found, "input_ids": [3] * add_special_tokens + [*found["input_ids"]]}


def test_a_models_own_tokenizer_begins_what_is_given_and_not_what_counts(llama, monkeypatch):
    monkeypatch.setattr(
        "attention_plugins.price.measuring.trials", lambda subject, swaps, *more: more
    )
    monkeypatch.setattr("attention_plugins.price.measuring.Prices", lambda **given: given)
    begun = _Begun(llama.config.to_dict())
    (texts, _) = price_of_swap(llama, ["4 5\t6 7"], ["dot"], tokenizer=begun)["outcomes"]
    assert texts == [((3, 4, 5), (6, 7))]


def test_what_is_shown_is_a_text_that_nobody_tuned_on(llama, texts, monkeypatch):
    monkeypatch.setattr(
        "attention_plugins.price.measuring.trial", lambda *given, show, watch: show
    )
    show = next(trials(Subject(llama), [Swap(scoring="dot")], texts, BUDGET))
    assert show.keywords["text"] == cut(texts, BUDGET.held_out, 0)[1][0]


def test_a_folders_model_has_the_folders_name_and_tokenizer_or_the_one_given(
    gpt2_folder, monkeypatch
):
    monkeypatch.setattr("attention_plugins.huggingface.folder.tokenizer", lambda path: _Begun({}))
    found = opened(gpt2_folder)
    assert (found.name, type(found.tokenizer)) == (gpt2_folder.name, _Begun)
    assert opened(gpt2_folder, "other").name == "other"


def test_a_text_is_cut_in_pieces_of_one_length(llama):
    subject = Subject(llama)
    numbers = [n % (WORDS - 3) + 3 for n in range(103)]
    pieces = subject.pieces(" ".join(map(str, numbers)))
    assert [one.given + one.counted for one in pieces] == [
        tuple(numbers[at : at + 8]) for at in range(0, 96, 8)
    ]
    subject.longest = 99
    assert {len(one.counted) for one in subject.pieces("4 " * 1200)} == {63}
    with pytest.raises(ContractError, match="need a text of at least 96 tokens, got 95"):
        subject.pieces(" ".join(map(str, numbers[:95])))


def test_only_a_model_that_begins_by_itself_writes_its_own_texts(llama, bart):
    budget = Budget(steps=2, batch_size=3, held_out=5)
    own = Subject(llama).own_texts(budget, 4)
    assert len(own) == 11
    few = Subject(llama).own_texts(Budget(steps=1, batch_size=1, held_out=5), 1)
    assert len(few) == 10  # as many as are cut in two
    assert {one.given for one in own} == {(llama.config.bos_token_id,)}
    short = Subject(llama)
    short.longest = 3  # the first token among them
    assert {len(one.counted) for one in short.own_texts(budget, 9)} <= {1, 2}
    with pytest.raises(ContractError, match="an encoder–decoder writes nothing by itself"):
        Subject(bart).own_texts(budget, 4)
    with pytest.raises(ContractError, match="need a decoder or an encoder–decoder of transf"):
        Subject(torch.nn.Linear(2, 2))


def test_models_that_are_not_priced_are_refused_by_name(tmp_path):
    folder = save("bert", tmp_path / "bert")
    with pytest.raises(ContractError, match="bert is encoder; a swap is priced in decoders"):
        opened(folder)


def test_somebodys_own_scoring_is_priced_beside_a_name_and_seeds_are_paired(llama):
    @scoring("taxicab_price", formula=r"-\lVert q-k\rVert_1", same_size=True)
    def taxicab(queries, keys):
        return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).abs().sum(-1)

    made = torch.Generator().manual_seed(5)
    lines = [
        " ".join(map(str, row))
        for row in torch.randint(3, WORDS, (20, 6), generator=made).tolist()
    ]
    told = []
    prices = price_of_swap(llama, lines, ["additive", taxicab], budget=BUDGET, watch=told.append)
    assert told == [*prices.outcomes]
    assert [(one.swap.scoring, one.seed) for one in told] == [
        (name, seed) for seed in (0, 1) for name in ("", "additive", "taxicab_price")
    ]
    assert not any(one.problem for one in told)
    assert [bool(one.shown_before) for one in told] == [True] * 3 + [False] * 3
    text = str(prices)
    assert all(name in text for name in ("the original", "additive", "taxicab_price"))


def test_prices_say_whose_words_were_counted(llama, monkeypatch):
    monkeypatch.setattr("attention_plugins.price.measuring.trials", lambda *given: ())
    given, written = (price_of_swap(llama, ["4 5 6"], ["dot"], write=n) for n in (0, 2))
    assert given.texts == "texts that were given"
    assert written.texts == "the model's own words after what was given"


def test_what_is_done_is_not_done_again(llama, texts):
    subject = Subject(llama)
    swaps = [Swap(scoring="cosine")]
    done = [*trials(subject, swaps, texts, BUDGET)]
    assert not [*trials(subject, swaps, texts, BUDGET, done)]
    failed = [Outcome(swap=one.swap, seed=one.seed, problem="no room") for one in done]
    assert not [*trials(subject, swaps, texts, BUDGET, failed)]
    shares = []
    (*_, last) = trials(subject, [*swaps, *swaps], texts, BUDGET, done[:-2], shares.append)
    assert (last.seed, len(shares)) == (1, 2 * 2 * BUDGET.steps)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    (again,) = trials(subject, swaps, texts, BUDGET, done[:-1])
    assert (again.before, again.after) == (done[-1].before, done[-1].after)
    with pytest.raises(ContractError, match="need 1 to 16 different swaps, got 0"):
        next(trials(subject, [], texts, BUDGET))
