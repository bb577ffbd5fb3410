"""Writes pages as HTML files for any static host: ``attention-workbench publish FOLDER LINK...``.

Pages are drawn here, without a server and a browser, once in every language. What they need is
computed by workers of this machine, whatever it costs.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from dashboard.charts import export
from dashboard.charts.one_file import Edition
from dashboard.language import ENGLISH, languages
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.records.text import plain
from dashboard.storage.bundle import slug
from dashboard.storage.files import StorageError
from dashboard.ui import navigation, one_file, page_menu
from dashboard.ui.figure_parts import TITLE
from dashboard.ui.owner import run_store
from dashboard.ui.speaking import lent
from dashboard.ui.workbench import workbench

_RUNS = "runs"  # the page whose links name a run by its id
# Here nobody closes a tab, and whoever gives a link wants all of it.
_PATIENT = {"ATTENTION_FREE_WORK": "1e12", "ATTENTION_SESSION_GRACE": "1e9"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``attention-workbench publish``."""
    parser.add_argument("folder", type=Path, help="where the files go; it may be there already")
    parser.add_argument(
        "links", nargs="+", metavar="LINK",
        help="a page's link, such as /regression?a=gaussian, or /lessons for the whole course, "
        "or that of a run that was kept here",
    )  # fmt: skip
    parser.add_argument(
        "--server", default="", metavar="ADDRESS",
        help="where the pages themselves are; each file then leads there",
    )  # fmt: skip
    parser.add_argument("--title", default=TITLE, help="of the index (default: %(default)s)")
    parser.add_argument(
        "--patience", type=float, default=600, metavar="SECONDS",
        help="how long a page may take in one language (default: %(default)g)",
    )  # fmt: skip


def run(given: argparse.Namespace) -> int:
    """Write the files; return 1 where one of them could not be, else 0."""
    for name, value in _PATIENT.items():
        os.environ.setdefault(name, value)
    one_file.begin()
    given.folder.mkdir(parents=True, exist_ok=True)
    titles: dict[str, Mapping[str, str]] = {}
    failed = False
    try:
        for link in _each(given.links):
            began = time.monotonic()
            try:
                found = _editions(link, given.server.rstrip("/"), given.patience)
                file = export.page(found)
            except (ValueError, KeyError, StorageError) as error:
                failed = True
                sys.stderr.write(f"{link}: {error.args[0]}\n")
                continue
            told = {language: one.title for language, one in found.items()}
            name = f"{len(titles) + 1:02}-{slug(next(iter(told.values())), 'page')}.html"
            (given.folder / name).write_bytes(file)
            titles[name] = told
            seconds, size = time.monotonic() - began, len(file) / 1e6
            sys.stdout.write(f"{name}: {size:.2f} MB, {', '.join(told)}, {seconds:.1f} s\n")
        (given.folder / "index.html").write_bytes(export.page(_index(given.title, titles)))
    finally:
        workbench().close()
    return int(failed)


def _each(links: list[str]) -> Iterator[str]:
    """Every link without its server; of a page in parts, such as the lessons, all of them."""
    for link in links:
        whole = urlsplit(link)
        path, query = whole.path.strip("/").rpartition("/")[2], whole.query
        entry = next((one for one in navigation.installed() if one.path == path), None)
        if query or entry is None:
            yield f"/{path}?{query}" if query else f"/{path}"
            continue
        catalogue = workbench().catalogue(_START)
        if not isinstance(catalogue, Catalogue):
            raise ValueError("the plugins could not be listed")
        for part in navigation.parts(entry.name, catalogue, _computed):
            yield f"/{path}?{urlencode(part)}" if part else f"/{path}"


_START = 180.0  # seconds in which workers start on a busy machine


def _computed(request: Request) -> Result | None:
    backend = workbench().backend
    event = backend.wait(backend.submit(request), _START)
    return event.result if event else None


def _editions(link: str, server: str, patience: float) -> Mapping[str, Edition]:
    """The page in all languages, or a run as it was kept; ValueError or KeyError says why not."""
    path, query = urlsplit(link).path.strip("/"), parse_qs(urlsplit(link).query)
    whole = f"{server}{link}" if server else ""
    if path and path not in {entry.path for entry in navigation.installed()}:
        raise ValueError("there is no such page")
    if path == _RUNS and (ids := query.get("id")):
        with lent(ENGLISH):
            return page_menu.kept_editions(run_store().find(ids[0]).id, whole, patience)
    seen = one_file.drawn(link, ENGLISH, patience)
    if seen is None:
        raise ValueError("the page has nothing for a file, or was not complete in time")
    with lent(ENGLISH):
        return page_menu.editions(seen, "", "", whole, patience)


def _index(title: str, files: Mapping[str, Mapping[str, str]]) -> dict[str, Edition]:
    """A page of links to the files, in every language as far as these have it."""
    made = {}
    for language in languages():
        lines = [f"- [{plain(told.get(language) or next(iter(told.values())))}]({file})"
                 for file, told in files.items()]  # fmt: skip
        block = {"kind": "markdown", "text": "\n".join(lines)}
        made[language] = Edition(title=title, seen=[block])
    return made
