"""Makes the pictures of README and of the documents, from the real app.

    python -m tests.pictures [NAME …]

They go to ``.github/pictures``. Chromium must be installed, or named in ``CHROMIUM``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

from tests.browser.conftest import CHROMIUM_ARGUMENTS, ROOT, Window, serve

FOLDER = ROOT / ".github" / "pictures"
WIDTH = 1280  # px


class Picture(NamedTuple):
    """What is seen.

    Args:
        link: of the page, below the app's address.
        height: of the window, px.
    """

    link: str
    height: int


PICTURES = {
    "start": Picture("", 830),
    "regression": Picture("regression", 1500),
    "translation": Picture("translation", 1200),
    "differences": Picture("differences", 1100),
}


def make(browser: Browser, url: str, name: str) -> Path:
    """Make one picture; returns its file."""
    picture = PICTURES[name]
    page = browser.new_page(
        viewport={"width": WIDTH, "height": picture.height}, color_scheme="light", locale="en-GB"
    )
    window = Window(page, url).open(picture.link)
    window.until(window.views, "the charts").settle(quiet=2.0)
    made = FOLDER / f"{name}.png"
    page.screenshot(path=made)
    page.close()
    return made


def main() -> None:
    """Make those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}")
    names = parser.parse_args().names or [*PICTURES]
    if unknown := sorted({*names} - PICTURES.keys()):
        parser.error(f"need names of {', '.join(PICTURES)}, got {', '.join(unknown)}")
    binary = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as scratch, serve(Path(scratch)) as url,
        sync_playwright() as playwright,
    ):  # fmt: skip
        browser = playwright.chromium.launch(executable_path=binary, args=CHROMIUM_ARGUMENTS)
        for name in names:
            made = make(browser, url, name)
            print(f"{made.relative_to(ROOT)}: {made.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main()
