"""Finished English texts are translated by their form."""

import pytest

from dashboard.language.recognising import Recogniser

KNOWN = {
    "Scaled dot product": "缩放点积",
    "need 1 <= head <= {most}, got {head}": "注意力头须在 1 到 {most} 之间，收到 {head}",
    "{job}: {message}": "{job}：{message}",
    "{scoring} refused: {why}": "{scoring} 被拒绝：{why}",
    "{scoring} refused: {why}; {advice}": "{scoring} 被拒绝：{why}；{advice}",
    "{count:,} pairs of {count} were read": "共读入 {count:,} 对",
    "a set {{x}} of {size} points": "{size} 个点的集合 {{x}}",
    r"the root \sqrt{d}": r"根号 \sqrt{d}",
    "not yet translated {here}": "",
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Scaled dot product", "缩放点积"),
        ("need 1 <= head <= 4, got 7", "注意力头须在 1 到 4 之间，收到 7"),
        ("need 1 <= head <= 4, got 7\n8", "注意力头须在 1 到 4 之间，收到 7\n8"),
        ("need 1 <= head <= 4", "need 1 <= head <= 4"),
        ("so need 1 <= head <= 4, got 7", "so need 1 <= head <= 4, got 7"),
        ("a: b", "a: b"),
        ("Scaled dot product refused: why", "缩放点积 被拒绝：why"),
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
