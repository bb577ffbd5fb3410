"""Trained models held against gold alignments, on the page *Alignment*."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

GOOD = "Go.\tVa !\t0-0 1-1\nI'm home.\tJe suis chez moi.\t0-0 1-1 2-2 2?3 3-4\n"
BAD = GOOD + "I lost.\tJ'ai perdu.\t0-0 7-1\n"


def rates(seen):
    """The best rate of every panel."""
    return [float(text) for text in seen.page.get_by_test_id("stMetricValue").all_inner_texts()]


def gold(seen, letter):
    """The cells that a panel outlines, as source and target word."""
    drawn = seen.rows("q", "k", "gold", key=f"panel-{letter}")
    cells = [cell for cell in drawn[0] if cell["gold"] != "not gold"] if drawn else []
    return sorted({(cell["k"], cell["q"]) for cell in cells})


def upload(seen, text):
    before = seen.page.url
    seen.page.get_by_role("button", name="Your data").click()
    field = seen.page.locator(".st-key-alignment-upload input[type=file]")
    field.set_input_files({"name": "pairs.tsv", "mimeType": "text/plain", "buffer": text.encode()})
    seen.until(lambda: seen.page.url != before, "the uploaded file in the link")
    assert "gold=upload" in seen.page.url
    seen.page.keyboard.press("Escape")


def test_models_are_held_against_gold_without_a_click_and_pair_by_pair(window):
    seen = window("alignment")
    seen.until(lambda: len(rates(seen)) == 2 and gold(seen, "b"), "both panels").settle()
    seen.until(lambda: "Side by side" in seen.text(), "the table, which comes last").settle()
    bahdanau, transformer = rates(seen)
    assert 0.05 < transformer < bahdanau < 0.25
    links = gold(seen, "a")
    assert links == gold(seen, "b")
    seen.charts("panel-b-pair").locator("[aria-label='layer 2 · head 3']").click()
    seen.until(lambda: "b.map=2.3" in seen.page.url, "the head in the link")
    seen.until(lambda: "layer 2 · head 3: " in seen.text(), "its links counted")
    seen.page.get_by_role("button", name="Next", exact=True).click()
    seen.until(lambda: "pair=2" in seen.page.url, "the next pair in the link")
    seen.until(lambda: gold(seen, "b") not in ([], links), "other gold links").settle()
    assert "Pair 2 of 2,005" in seen.text()
    assert "b.map=2.3" in seen.page.url
    assert seen.overflow() <= 0
    narrow = window("alignment?pair=2", width=390, scheme="dark")
    narrow.until(lambda: len(rates(narrow)) == 2 and gold(narrow, "b"), "both panels").settle()
    assert narrow.overflow() <= 0


def test_a_file_of_one_s_own_is_scored_or_refused_with_its_line(window):
    seen = window("alignment")
    seen.until(lambda: len(rates(seen)) == 2, "both panels").settle()
    upload(seen, BAD)
    refusal = "line 3 of the file links 7-1, but its source has 3 tokens"
    seen.until(lambda: refusal in seen.text(), "the refusal").settle()
    assert seen.text().count(refusal) == 1
    upload(seen, GOOD)
    seen.until(lambda: len(rates(seen)) == 2 and gold(seen, "b"), "both panels").settle()
    assert gold(seen, "a") == [(0, 0), (1, 1)]
    assert "Pair 1 of 2" in seen.text()
