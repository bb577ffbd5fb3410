import math
import random
from collections import Counter, defaultdict

import pytest
import sacrebleu

from attention_plugins.contract import ContractError
from attention_plugins.scores import bleu_k, corpus_bleu

WORDS = ["le", "chat", "dort", "sur", "la", "table", "bleue", ".", "!", "l'eau"]


def made_up(seed, sentences=37):
    """Hypotheses and one to five references each, sharing enough words to score between."""
    generator = random.Random(seed)
    hypotheses, references = [], []
    for _ in range(sentences):
        truth = generator.choices(WORDS, k=generator.randint(3, 11))
        noisy = [[w if generator.random() < 0.8 else generator.choice(WORDS) for w in truth]
                 for _ in range(generator.randint(2, 6))]  # fmt: skip
        texts = [" ".join(words).capitalize() for words in noisy]
        hypotheses.append(texts[0])
        references.append(texts[1:])
    return hypotheses, references


@pytest.mark.parametrize("seed", range(5))
def test_corpus_bleu_agrees_with_sacrebleu_for_varying_numbers_of_references(seed):
    hypotheses, references = made_up(seed)
    longest = max(map(len, references))
    columns = [[row[i] if i < len(row) else None for row in references] for i in range(longest)]
    expected = sacrebleu.corpus_bleu(hypotheses, columns, lowercase=True)
    result = corpus_bleu(hypotheses, references)
    assert 5 < result.score < 95
    assert result.score == expected.score
    assert result.sentences == 37


@pytest.mark.parametrize(
    ("said", "right", "expected"),
    [
        ("le chat dort sur", "le chat dort sur la table", math.exp(1 - 6 / 4)),
        ("le le chat dort sur la", "le chat dort sur la table", (1 / 3) ** (1 / 4)),
    ],
)
def test_a_short_corpus_is_penalised_and_a_repeated_word_counts_once(said, right, expected):
    # All n-grams of the first match, and 5/6, 4/5, 3/4 and 2/3 of the second's.
    score = corpus_bleu([said], [[right]]).score
    assert score == pytest.approx(100 * expected, abs=1e-9)
    assert score == sacrebleu.corpus_bleu([said], [[right]]).score


def test_the_signature_tells_whether_the_number_of_references_varies():
    hypotheses, references = made_up(3)
    version = sacrebleu.__version__
    settings = f"case:lc|eff:no|tok:13a|smooth:exp|version:{version}"
    assert corpus_bleu(hypotheses, references).signature == f"nrefs:var|{settings}"
    pairs = [row[:1] * 2 for row in references]
    assert corpus_bleu(hypotheses, pairs).signature == f"nrefs:2|{settings}"


def test_a_corpus_equal_to_any_of_its_references_scores_100():
    references = [["Il dort mal ici.", "Elle dort."], ["Va vite au lit !"]]
    assert corpus_bleu(["il dort mal ici.", "va vite au lit !"], references).score == (
        pytest.approx(100.0, abs=1e-9)
    )


def test_a_corpus_without_a_common_word_scores_0():
    assert corpus_bleu(["aa bb cc dd ee"], [["ff gg hh ii jj", "kk"]]).score == 0.0
    assert corpus_bleu(["", ""], [["il dort mal ici ."], ["va vite au lit ."]]).score == 0.0


def test_the_order_of_sentences_and_of_references_does_not_matter():
    hypotheses, references = made_up(1)
    expected = corpus_bleu(hypotheses, references)
    order = random.Random(2).sample(range(len(hypotheses)), len(hypotheses))
    shuffled = corpus_bleu([hypotheses[i] for i in order], [references[i][::-1] for i in order])
    assert shuffled == expected


def test_typographic_apostrophes_and_spaces_score_like_plain_ones():
    assert corpus_bleu(["j’ai peur d'elle !"], [["J'ai peur d’elle\u202f!"]]).score == (
        pytest.approx(100.0, abs=1e-9)
    )


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        ([], [], "need one list of references .* got 0 hypotheses and 0 lists"),
        (["a"], [["a"], ["b"]], "got 1 hypotheses and 2 lists"),
        (["a", "b"], [["a"], []], r"sentence 2 needs a list of at least one reference, got \[\]"),
        (["a"], ["a"], "sentence 1 needs a list of at least one reference, got 'a'"),
    ],
)
def test_what_cannot_be_scored_is_refused(hypotheses, references, message):
    with pytest.raises(ContractError, match=message):
        corpus_bleu(hypotheses, references)


def plain_bleu_k(prediction, reference, k):
    """The published formula by itself, with counts; undefined for predictions shorter than k."""
    p, r = prediction.split(" "), reference.split(" ")
    logs = min(0.0, 1 - len(r) / len(p))
    for n in range(1, k + 1):
        have = Counter(" ".join(p[i : i + n]) for i in range(len(p) - n + 1))
        want = Counter(" ".join(r[i : i + n]) for i in range(len(r) - n + 1))
        matches = sum(min(count, want[gram]) for gram, count in have.items())
        if matches == 0:
            return 0.0
        logs += math.log(matches / (len(p) - n + 1)) / 2**n
    return math.exp(logs)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_bleu_k_is_the_published_formula_wherever_that_is_defined(k):
    generator = random.Random(k)
    seen = set()
    for _ in range(500):
        prediction = " ".join(generator.choices(WORDS[:4], k=generator.randint(k, 9)))
        reference = " ".join(generator.choices(WORDS[:4], k=generator.randint(1, 9)))
        score = bleu_k(prediction, reference, k)
        assert score == pytest.approx(plain_bleu_k(prediction, reference, k), abs=1e-12)
        seen.add(score)
    assert len(seen) > 10


def bleu(pred_seq, label_seq, k):
    """The documents' lines as they print them; one word has no bigram, and divides by zero."""
    pred_tokens, label_tokens = pred_seq.split(" "), label_seq.split(" ")
    len_pred, len_label = len(pred_tokens), len(label_tokens)
    score = math.exp(min(0, 1 - len_label / len_pred))
    for n in range(1, k + 1):
        num_matches, label_subs = 0, defaultdict(int)
        for i in range(len_label - n + 1):
            label_subs[" ".join(label_tokens[i : i + n])] += 1
        for i in range(len_pred - n + 1):
            if label_subs[" ".join(pred_tokens[i : i + n])] > 0:
                num_matches += 1
                label_subs[" ".join(pred_tokens[i : i + n])] -= 1
        score *= math.pow(num_matches / (len_pred - n + 1), math.pow(0.5, n))
    return score


def test_bleu_at_two_is_the_documents_formula_but_for_predictions_of_one_word():
    generator = random.Random(0)
    found = set()
    for _ in range(300):
        prediction = " ".join(generator.choices(WORDS[:4], k=generator.randint(2, 9)))
        reference = " ".join(generator.choices(WORDS[:4], k=generator.randint(1, 9)))
        found.add(bleu_k(prediction, reference))
        assert bleu_k(prediction, reference) == pytest.approx(bleu(prediction, reference, 2))
    assert len(found) > 20
    with pytest.raises(ZeroDivisionError):
        bleu("va", "va !", 2)
    assert bleu_k("va", "va !") == pytest.approx(math.exp(-1))


def test_bleu_k_by_hand():
    # 5 of 6 unigrams, 4 of 5 bigrams, and one token too long, which costs nothing
    assert bleu_k("a b c d d e", "a b c d e", 2) == pytest.approx((5 / 6) ** 0.5 * (4 / 5) ** 0.25)
    assert bleu_k("va !", "va !") == 1.0
    assert bleu_k("va !", "j'ai perdu .") == 0.0


def test_bleu_k_leaves_out_orders_that_the_prediction_is_too_short_for():
    assert bleu_k("va", "va", 2) == 1.0
    assert bleu_k("va", "va !", 2) == pytest.approx(math.exp(-1))
    assert bleu_k("va", "cours", 4) == 0.0
    assert bleu_k("va !", "va !", 4) == 1.0


def test_bleu_k_of_nothing():
    assert bleu_k("", "va !", 2) == 0.0
    assert bleu_k(" ", "va !", 1) == 0.0
    assert bleu_k("", "", 2) == 1.0
    assert bleu_k("va !", "", 2) == 0.0


def test_bleu_k_needs_an_order():
    with pytest.raises(ContractError, match="need 1 <= k, got k=0"):
        bleu_k("va !", "va !", 0)
