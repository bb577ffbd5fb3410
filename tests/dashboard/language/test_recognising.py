"""Finished English texts are translated by their form."""

import re
from pathlib import Path

import pytest

from dashboard.language import translated
from dashboard.language.catalogues import Recogniser

TRAINED = Path(__file__).parents[3] / "trained"

KNOWN = {
    "Scaled dot product": "缩放点积",
    "Gaussian": "高斯",
    "sine": "正弦",
    "step": "步",
    "Mixture of dot product and Gaussian": "点积与高斯的混合",
    "Transformer": "Transformer",
    "need 1 <= head <= {most}, got {head}": "注意力头须在 1 到 {most} 之间，收到 {head}",
    "{job}: {message}": "{job}：{message}",
    "{first}, {second}": "{first}、{second}",
    "{before} {sentence}": "{before}{sentence}",
    "{task} with {parts}": "{task}（{parts}）",
    "{title} with {scoring} on {corpus}": "{title}，{scoring}，语料 {corpus}",
    "{title} with {scoring} and {way} on {corpus}": "{title}，{scoring}，{way}，语料 {corpus}",
    "{scoring} refused: {why}": "{scoring} 被拒绝：{why}",
    "{scoring} refused: {why}; {advice}": "{scoring} 被拒绝：{why}；{advice}",
    "its {end}": "它的进程{end}",
    "{count:,} pairs of {count} were read": "共读入 {count:,} 对",
    "{count} steps": "{count} 步",
    "about {hours:,} hours": "约 {hours:,} 小时",
    "a set {{x}} of {size} points": "{size} 个点的集合 {{x}}",
    r"the root \sqrt{d}": r"根号 \sqrt{d}",
    "not yet translated {here}": "",
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Scaled dot product", "缩放点积"),
        ("map=‘foo’：应为 sine, step 之一", "map=‘foo’：应为 sine, step 之一"),
        ("need 1 <= head <= 4, got 7", "注意力头须在 1 到 4 之间，收到 7"),
        ("need 1 <= head <= 4, got 7\n8", "注意力头须在 1 到 4 之间，收到 7\n8"),
        ("need 1 <= head <= 4, got 'Gaussian'", "注意力头须在 1 到 4 之间，收到 '高斯'"),
        ("need 1 <= head <= 4", "need 1 <= head <= 4"),
        ("so need 1 <= head <= 4, got 7", "so need 1 <= head <= 4, got 7"),
        ("Scaled dot product refused: why", "缩放点积被拒绝：why"),
        ("x refused: need 1 <= head <= 4, got 7", "x 被拒绝：注意力头须在 1 到 4 之间，收到 7"),
        ("x refused: so; try again", "x 被拒绝：so；try again"),
        ("1,200 pairs of 1,200 were read", "共读入 1,200 对"),
        ("12 pairs of 13 were read", "12 pairs of 13 were read"),
        ("a set {x} of 3 points", "3 个点的集合 {x}"),
        (r"the root \sqrt{d}", r"根号 \sqrt{d}"),
        ("not yet translated here", "not yet translated here"),
    ],
)  # fmt: skip
def test_a_text_is_known_whole_or_by_its_form(text, said):
    assert Recogniser(KNOWN)(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: b", "a: b"),
        ("Gaussian: why it is so", "Gaussian: why it is so"),
        ("Gaussian: need 1 <= head <= 4, got 7", "高斯：注意力头须在 1 到 4 之间，收到 7"),
        ("Gaussian, Scaled dot product", "高斯、缩放点积"),
        ("sine, step", "sine, step"),  # names of data sets
        ("需要：sine, step，因此使用 sine", "需要：sine, step，因此使用 sine"),
        ("need 1 <= head <= 4, got 'step'", "注意力头须在 1 到 4 之间，收到 'step'"),
        ("Gaussian Transformer", "Gaussian Transformer"),
        ("1,200 steps", "1,200 步"),
        ("about 1.5e+06 hours", "约 1.5e+06 小时"),
        ("Random steps", "Random steps"),
        ("about 3 hours", "约 3 小时"),
        ("about opening hours", "about opening hours"),
        ("regression with mine", "regression（mine）"),
        ("translation with bahdanau and additive", "translation（bahdanau and additive）"),
        ("Gaussian with holes in it", "Gaussian with holes in it"),
        ("x refused: a number with digits in it", "x 被拒绝：a number with digits in it"),
    ],
)
def test_a_form_that_says_little_needs_values_that_are_understood(text, said):
    assert Recogniser(KNOWN)(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Transformer with Gaussian on fra", "Transformer，高斯，语料 fra"),
        ("Transformer with Gaussian and Gaussian on fra", "Transformer，高斯，高斯，语料 fra"),
        (
            "Transformer with Mixture of dot product and Gaussian on fra",
            "Transformer，点积与高斯的混合，语料 fra",
        ),
    ],
)
def test_of_several_forms_that_fit_the_one_of_which_most_is_understood_counts(text, said):
    assert Recogniser(KNOWN)(text) == said


def test_a_stranger_s_long_text_takes_no_time():
    known = KNOWN | {f"{{a}} with {{b}} and {{c}} on {{d}} {number}": "x" for number in range(300)}
    known |= {f"{{a}}{number} with {{b}} on {{c}}": "x" for number in range(300)}
    calls = 0

    class Counted(Recogniser):
        def _translated(self, text, depth):
            nonlocal calls
            calls += 1
            return super()._translated(text, depth)

    Counted(known)("with and on 1 " * 142)
    assert 1 < calls < 2000
    calls = 0
    Counted(known)("with and on 1 " * 2000)
    assert calls == 1


@pytest.mark.usefixtures("chinese")
def test_what_shipped_results_record_of_their_making_is_told_in_chinese():
    read = [path.read_text("utf-8") for path in TRAINED.glob("race*/race.json")]
    read += [path.read_text("utf-8").partition("\n")[0] for path in TRAINED.glob("swaps/*.jsonl")]
    made = {one for text in read for one in re.findall(r'"(?:machine|commit)": "([^"]*)"', text)}
    assert len(made) > 8
    # A page counts the threads itself.
    assert not [
        said for said in map(translated, made) if re.search(r" (?!threads)[a-z]{2,}", said)
    ]
