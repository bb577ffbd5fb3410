"""Every map of a Transformer that is trained here, on the page *Translation*."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
PAGE = "translation?corpus=pairs&a=transformer.additive&text=i lost ."


@pytest.fixture(scope="module")
def app(tmp_path_factory, server):
    """An app with a Transformer of two layers with three heads each."""
    folder = tmp_path_factory.mktemp("transformer")
    corpus = folder / "pairs.tsv"
    corpus.write_text("go .\tva !\ni lost .\tj'ai perdu .\n" * 4, encoding="utf-8")
    command = [
        "attention_plugins", "train", "--model", "transformer", "--corpus", str(corpus),
        "--set", "hidden=24", "--set", "heads=3", "--set", "ffn=16", "--epochs", "80",
        "--output", str(folder / "trained" / "transformer-additive"),
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=os.environ, capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with server(folder, ATTENTION_CHECKPOINTS=str(folder / "trained")) as url:
        yield url


def large(seen):
    """The weights of the large map, NaN where a cell is masked; None before it is drawn."""
    drawn = seen.rows("q", "k", "value", key="panel-a")
    if not drawn:
        return None
    cells = drawn[0]
    grid = np.full((max(c["q"] for c in cells) + 1, max(c["k"] for c in cells) + 1), np.nan)
    for cell in cells:
        if cell["value"] is not None:
            grid[cell["q"], cell["k"]] = cell["value"]
    return grid


def open_page(window, more="", **settings):
    seen = window(PAGE + more, **settings)
    return seen.until(lambda: large(seen) is not None, "the large map").settle()


def title(seen):
    return next(line for line in seen.text().splitlines() if line.startswith("layer 2 ·"))


def test_a_click_enlarges_a_head_at_once_and_goes_into_the_link(window):
    seen = open_page(window)
    assert title(seen) == "layer 2 · mean of 3 heads, a summary"
    mean = large(seen)
    np.testing.assert_allclose(mean.sum(axis=1), 1.0, atol=5e-3)
    seen.charts("panel-a").evaluate("(chart) => { chart.id = 'marked' }")
    heads = []
    for head in (1, 2, 3):
        small = seen.charts("panel-a").locator(f"[aria-label='layer 2 · head {head}']")
        small.click()
        seen.until(lambda head=head: title(seen) == f"layer 2 · head {head}", "the head's title")
        seen.until(lambda head=head: f"map=cross.2.{head}" in seen.page.url, "the link").settle()
        heads.append(large(seen))
    np.testing.assert_allclose(np.mean(heads, axis=0), mean, atol=5e-4)
    assert seen.page.locator("#marked").count() == 1, "the chart was made anew by the page"
    again = window(seen.page.url.removeprefix(f"{seen.url}/"))
    again.until(lambda: large(again) is not None, "the large map").settle()
    np.testing.assert_array_equal(large(again), heads[2])


def test_decoder_maps_hide_what_comes_later_and_start_at_bos(window):
    seen = open_page(window, "&map=decoder.2.1", scheme="dark")
    grid = large(seen)
    np.testing.assert_array_equal(np.isnan(grid), ~np.tri(len(grid), dtype=bool))
    np.testing.assert_allclose(np.nansum(grid, axis=1), 1.0, atol=5e-3)
    masked = seen.charts("panel-a").locator("[aria-label$='weight masked']")
    assert masked.count() == np.isnan(grid).sum()
    first = seen.charts("panel-a").locator("[aria-label^='query'][aria-label*='key <bos>']")
    assert first.count() == len(grid)
    first.last.hover()
    tip = seen.page.locator("#vg-tooltip-element")
    tip.wait_for(state="visible")
    told = tip.inner_text()
    for word in ("query", "key", "<bos>", "weight", "layer", "head"):
        assert word in told
    seen.screenshot("transformer-decoder-dark")


def test_a_phone_shows_every_head(window):
    seen = open_page(window, "&b=transformer.additive&map=encoder", width=390)
    assert seen.overflow() <= 0
    assert seen.charts("panel-a").locator("[aria-label^='layer']").count() == 2 * (1 + 3)
    seen.screenshot("transformer-encoder-390")
