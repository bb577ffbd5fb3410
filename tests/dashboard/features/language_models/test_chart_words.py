import pandas as pd
import pytest

from dashboard.charts.template import chart_maker
from dashboard.features.language_models.panel import draw_words, prepare_words

WORDS = pd.DataFrame(
    {"token": ["on", "'s", " "], "probability": [0.5, 0.25, 0.0125],
     "log_probability": [-0.693, -1.386, -4.382]}
)  # fmt: skip
bars = chart_maker(prepare_words, draw_words)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_bar_is_as_long_as_its_word_is_likely(painted, scheme):
    scene = painted(bars(WORDS), scheme, width=352)
    found = scene.items("bars_marks")
    widths = [item["width"] for item in found]
    assert widths[1] == pytest.approx(widths[0] / 2)
    assert widths[2] == pytest.approx(widths[0] / 40)
    assert [item["description"] for item in found] == ["on", "'s", "␣"]
    assert [item["y"] for item in found] == sorted(item["y"] for item in found)
    said = {item["text"] for item in scene.items(role="mark") if "text" in item}
    assert {"50%", "25%", "1.3%"} <= said


def test_a_chart_survives_and_says_itself_in_words(survives):
    survives(lambda: bars(WORDS))
    words = prepare_words(WORDS).summary.words
    assert "Of 3 values of the probability of the next token the highest is 0.5 (on)" in words


def test_a_table_without_probabilities_is_refused():
    with pytest.raises(ValueError, match="need rows with token, probability, log_probability"):
        prepare_words(WORDS.drop(columns="probability"))
    with pytest.raises(ValueError, match="got 0 rows"):
        prepare_words(WORDS.iloc[:0])
