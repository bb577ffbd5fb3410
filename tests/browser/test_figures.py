"""Figures for papers, as they are downloaded."""

from __future__ import annotations

import re

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

PATIENCE = 240_000  # ms, a picture takes seconds on a small machine
SINGLE, DOUBLE = 8.5 / 2.54 * 72, 17.5 / 2.54 * 72  # pt
LINK = "?a=uniform&b=gaussian&b.width=0.3&c=gaussian&d=laplacian&points=29&queries=31"


def menu(seen):
    seen.page.locator(".st-key-page-figure button:visible").first.click()
    seen.page.get_by_role("button", name="BibTeX", exact=True).wait_for(timeout=PATIENCE)
    return seen.settle()


def choose(seen, label, option):
    seen.page.locator(".st-key-page-figure-" + label).get_by_role("combobox").click()
    seen.page.get_by_role("option", name=option).click()
    return seen.settle()


def download(seen, name):
    with seen.page.expect_download(timeout=PATIENCE) as coming:
        seen.page.get_by_role("button", name=name, exact=True).click()
    return coming.value.suggested_filename, coming.value.path().read_bytes()


def width(pdf):
    (box,) = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) [\d.]+\]", pdf)
    return float(box)


def test_a_comparison_leaves_in_the_width_of_a_column(window):
    seen = window(LINK)
    seen.until(lambda: len(seen.rows("q", "x", "prediction")) == 5, "all curves").settle()
    menu(seen)
    name, pdf = download(seen, "PDF")
    assert name == "kernel-regression-all-panels-8.5cm.pdf"
    assert width(pdf) == pytest.approx(SINGLE, abs=0.1)
    choose(seen, "part", re.compile("^Side by side"))
    choose(seen, "width", re.compile("^Two columns"))
    seen.screenshot("figure-1280")
    name, pdf = download(seen, "PDF")
    assert name.startswith("kernel-regression-side-by-side-the-curves-of-all-panels")
    assert width(pdf) == pytest.approx(DOUBLE, abs=0.1)
    _, bibtex = download(seen, "BibTeX")
    assert b"Attention Workbench contributors" in bibtex
    assert b"b.width=0.3" in bibtex
    narrow = window(LINK, width=390, scheme="dark")
    narrow.until(lambda: len(narrow.rows("q", "x", "prediction")) == 5, "all curves").settle()
    menu(narrow)
    narrow.screenshot("figure-390-dark")
    assert narrow.overflow() <= 0
