"""The page *Train*: two scorings learn, one is cancelled, the other is kept and translates."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

import numpy as np
import pytest

from tests.browser.dragging import Drag, words

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

# Small enough for a minute, long enough to be watched.
SMALL = (
    "train?scorings=additive,scaled_dot&pairs=150&held_out=7&epochs=140&batch_size=50"
    "&min_frequency=1&model.hidden=16&model.embed=16&learning_rate=0.02&probe=Go away."
)


@pytest.fixture(scope="module")
def app(tmp_path_factory, server):
    """An app of its own, where nothing was trained before."""
    with server(tmp_path_factory.mktemp("train"), ATTENTION_TRAINERS="2") as url:
        yield url


def card(seen, scoring):
    """The card of the training of that scoring."""
    cards = seen.page.locator('[class*="st-key-training-"]')
    return cards.filter(has_text=f"· {scoring} ·").first


def loss(seen, scoring):
    """As the card says; None before the first step."""
    found = re.search(r"Loss ([\d.]+)", card(seen, scoring).inner_text())
    return float(found[1]) if found else None


def says(seen, scoring, *states):
    there = card(seen, scoring)
    # The badge's line begins with the name of its icon.
    lines = there.inner_text().split("\n") if there.count() else []
    return any(line.split()[1:] == [state] for line in lines for state in states)


def curve(seen, series):
    """The points of a loss as painted, ``(steps, 2)``: where in the epochs, and nats."""
    found = seen.rows("epoch", "value", "series", key="train-loss")
    rows = [row for row in found[0] if row["series"].endswith(series)] if found else []
    return np.array([(row["epoch"], row["value"]) for row in rows]).reshape(-1, 2)


def test_two_scorings_learn_one_is_cancelled_the_other_is_kept_and_translates(window):
    seen = window(SMALL)
    seen.until(lambda: "Nothing trained yet" in seen.text(), "an empty page")
    seen.screenshot("train-empty")
    seen.page.locator(".st-key-train-start button").click()
    for scoring in ("Additive", "Scaled dot product"):
        seen.until(lambda name=scoring: loss(seen, name), f"live figures of {scoring}")
    first = loss(seen, "Additive")
    assert says(seen, "Additive", "running")
    card(seen, "Scaled dot product").get_by_role("button", name="Cancel").click()
    seen.until(lambda: says(seen, "Scaled dot product", "cancelled"), "the cancelled training")
    seen.until(lambda: loss(seen, "Additive") < 0.9 * first, "a falling loss")

    seen.until(lambda: len(curve(seen, "Additive")) >= 2, "a learning curve")
    assert curve(seen, "Additive")[0, 0] < 1, "it begins with the first step"
    chart = seen.page.locator(".st-key-train-loss [role=graphics-document]").first
    chart.evaluate("(element) => { element.dataset.stays = 'yes'; }")
    drawn = len(curve(seen, "Additive"))
    seen.until(lambda: len(curve(seen, "Additive")) > drawn, "more steps")
    assert chart.get_attribute("data-stays") == "yes", "the chart was made anew"

    card(seen, "Additive").get_by_role("button", name="Pause").click()
    seen.until(lambda: says(seen, "Additive", "paused"), "the paused training")
    seen.page.reload(wait_until="domcontentloaded")
    seen.until(lambda: says(seen, "Additive", "paused"), "the training after a reload").settle()
    assert says(seen, "Scaled dot product", "cancelled")
    assert 0 < curve(seen, "Additive")[-1, 0] < 140
    card(seen, "Additive").get_by_role("button", name="Resume").click()
    seen.until(lambda: says(seen, "Additive", "done"), "the end of the training")
    seen.settle()
    learned = curve(seen, "Additive")
    assert (np.diff(learned[:, 0]) > 0).all()
    assert learned[-1, 0] == 140
    assert learned[-1, 1] < 0.5 * learned[0, 1]
    (weights,) = seen.rows("q", "k", "value", key="probe-a")
    weights = [cell for cell in weights if cell["value"] is not None]  # of the longest translation
    for row in {cell["q"] for cell in weights}:
        assert sum(c["value"] for c in weights if c["q"] == row) == pytest.approx(1, abs=5e-3)
    seen.screenshot("train-1280-light")

    card(seen, "Additive").get_by_role("button", name="Keep the model").click()
    name = seen.page.get_by_role("textbox", name="Name")
    name.fill("1st")
    seen.page.get_by_role("button", name="Keep it").click()
    refusal = seen.page.get_by_role("alert").filter(has_text="starting with a letter")
    seen.until(refusal.count, "the refusal")
    assert refusal.evaluate(
        """(refusal) => {
          const { x, y, width, height } = refusal.getBoundingClientRect();
          return refusal.contains(document.elementFromPoint(x + width / 2, y + height / 2));
        }"""
    ), "something covers it"
    name.fill("my-first")
    seen.page.get_by_role("button", name="Keep it").click()
    # Pressed at once, before any worker has read the list of models again.
    link = seen.page.get_by_role("link", name="See it translate")
    seen.until(link.count, "a way to the Translation page")
    link.click()
    seen.until(lambda: seen.rows("q", "k", "value", key="panel-a"), "its map on that page")
    assert "my_first" in seen.page.url
    assert "text=Go" in seen.page.url
    seen.settle().screenshot("train-kept-translates")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_what_was_trained_is_there_in_another_window(window, width, scheme):
    seen = window("train", width=width, scheme=scheme)
    seen.until(lambda: says(seen, "Additive", "done"), "the training of another tab")
    seen.until(lambda: curve(seen, "Additive")[-1:, 0].tolist() == [140], "its learning curve")
    assert seen.overflow() <= 0
    assert "Kept as my_first" in seen.text()
    seen.screenshot(f"train-{width}-{scheme}")


# At once: after the last epoch the same button plays again.
PAUSE = """() => [...document.querySelectorAll("button")]
  .find((button) => button.textContent.includes("Pause"))?.click()"""


def test_the_probe_plays_through_the_epochs_in_a_chart_that_stays(window):
    seen = window("train?epoch=1")
    seen.until(lambda: seen.rows("q", "k", "value", key="probe-a"), "the probe's map").settle()
    chart = seen.page.locator(".st-key-probe-a [role=graphics-document]").first
    chart.evaluate("(element) => { element.dataset.stays = 'yes'; }")

    def epoch():
        return int(re.search(r"after epoch (\d+)", seen.text())[1])

    assert epoch() == 1
    seen.page.get_by_role("button", name="Play").click()
    seen.until(lambda: epoch() >= 4, "the fourth epoch")

    def paused():  # a press is lost where a busy browser draws the button anew just then
        seen.page.evaluate(PAUSE)
        return any("Play" in seen.text() for _ in range(50) if not seen.page.wait_for_timeout(200))

    seen.until(paused, "the end of the play").settle()
    assert chart.get_attribute("data-stays") == "yes", "the chart was made anew"
    # The link follows what is seen, a moment later on a busy machine.
    seen.until(lambda: f"epoch={epoch()}" in seen.page.url, "the link of the epoch that is seen")
    seen.screenshot("train-probe-plays")

    def cells():
        (rows,) = seen.rows("q", "k", "value", key="probe-a")
        return [(row["query"], row["key"], row["value"]) for row in rows]

    before, held = epoch(), cells()
    drag = Drag(seen, "train-epoch")
    drag.move(60)
    assert drag.told() == 0, "the server heard of the drag"
    during, moved = cells(), words(seen)
    assert during != held
    assert before < int(re.search(r"after epoch (\d+)", moved["reads-a"])[1])
    drag.drop()
    assert drag.told() >= 1
    seen.until(lambda: f"epoch={epoch()}" in seen.page.url, "its link")
    assert words(seen) == moved
    assert cells() == during
    assert chart.get_attribute("data-stays") == "yes", "the chart was made anew"


def test_a_scoring_that_is_typed_is_added_and_learns(window):
    link = SMALL.replace("epochs=140", "epochs=2").replace("additive,scaled_dot", "additive")
    for width, scheme in ((390, "dark"), (1280, "dark"), (390, "light"), (1280, "light")):
        seen = window(link, width=width, scheme=scheme).settle()
        seen.page.locator(".st-key-training-scorings input").first.click()
        seen.page.keyboard.type("Type a")
        seen.page.get_by_role("option", name="Type a formula").click()
        field = seen.page.locator(".st-key-training-formula input")
        field.press_sequentially("q.k / sqrt(d) - m |i - j|", delay=20)
        seen.until(lambda: "Add this scoring" in seen.text(), "the button").settle()  # noqa: B023
        assert "i is the place of the word that asks" in seen.text()
        assert seen.overflow() == 0
        seen.screenshot(f"train-formula-{width}-{scheme}")
    seen.page.get_by_role("button", name="Add this scoring").click()
    seen.until(lambda: "scorings=additive,=dot" in unquote_plus(seen.page.url), "it in the link")
    seen.settle().page.locator(".st-key-train-start button").click()
    name = "dot(q, k) / sqrt(d) − m * abs(i − j)"
    seen.until(lambda: says(seen, name, "done"), "the typed scoring to be trained")
    seen.screenshot("train-formula-done")
