"""What stood on a page as one HTML file that needs neither a server nor a network.

The file holds its content as JSON, each table once, and the scripts that draw it. Under its policy
no other script runs and nothing is loaded, whatever a name, a note or a token says: the browser
knows the scripts by their sha256, and texts become text nodes, never markup.
"""

import base64
import functools
import gzip
import hashlib
import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

import altair as alt
import pyarrow as pa

from dashboard.charts.live import PARAMETERS
from dashboard.charts.theme import BACKGROUND, standalone
from dashboard.language import gettext_noop, languages, said_in, tag

_MOST_ROWS = 1_000  # of a table; charts have all of theirs
_MOST_FRAMES = 1_400_000  # characters of all sliders, so that a file stays below 3 MB
_WORDS = {
    "live": gettext_noop("Open the page itself"), "scheme": gettext_noop("Light or dark"),
    "inWords": gettext_noop("In words"), "moved": gettext_noop(
        "The charts follow the slider; the tables show the values from before it was moved. "
        "Figures behind ≈ are those of the nearest position that was computed. "
        "Moving another slider resets this one."
    ), "colon": gettext_noop("{title}: {shown}"),
}  # fmt: skip
_LEFT = gettext_noop("The first {shown:,} of {count:,} rows.")
_WITHOUT = gettext_noop("This file is drawn by its own script, which this browser does not run.")
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {scripts}; "
    "base-uri 'none'; form-action 'none'"
)
_EXPORTS = re.compile(r"export\{(\w+) as default\};?\s*\Z")


@dataclass(frozen=True, kw_only=True)
class Edition:
    """A page in one language.

    Args:
        title, note: as they stand.
        link: where the page itself is, with its server; empty if that is not known.
        seen: its blocks as JSON, as :mod:`dashboard.storage.seen` describes them.
        charts: specifications whose data sets are lists of rows, by the names that ``seen`` has.
        tables: by such names.
        pictures: data URIs by names of charts, for those without a specification.
        sliders: that charts and words follow: ``low``, ``high``, ``step``, ``at``, ``of``, and
            ``frames`` as ``live.js`` reads them, as compressed JSON.
        follows: what a block is, counted from 0 and a group before its own: ``{"slider": n}``, or
            ``{"words": name}`` where it follows the frames' words of that name.
    """

    title: str
    note: str = ""
    link: str = ""
    seen: Iterable[Mapping[str, Any]] = ()
    charts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    pictures: Mapping[str, str] = field(default_factory=dict)
    sliders: Sequence[Mapping[str, Any]] = ()
    follows: Mapping[int, Mapping[str, str | int]] = field(default_factory=dict)


def written(editions: Mapping[str, Edition], vega: str) -> bytes:
    """The file; equal pages give equal bytes.

    Args:
        editions: by the codes of their languages; a reader sees the first one first.
        vega: the scripts that define ``vegaEmbed``.

    Raises:
        ValueError: a script could end before its own end.
    """
    sets: dict[str, str] = {}
    frames: dict[str, int] = {}
    told = {language: _told(language, one, sets) for language, one in editions.items()}
    for language, one in editions.items():
        told[language]["sliders"] = [_slider(slider, frames) for slider in one.sliders]
    configs = {scheme: standalone(alt.Chart(), scheme).config for scheme in BACKGROUND}
    content = {"editions": told, "configs": configs, "frames": [*frames]}
    # The tables are JSON already.
    held = f'{_json(content)[:-1]},"sets":[{",".join(sets)}]}}'
    scripts = [vega, _beside(".js")]
    if frames:
        scripts.insert(1, _following())
    seen = _json([[*one.seen] for one in editions.values()])
    if '"latex"' in seen or "$" in seen:
        scripts.insert(1, katex())
    if any(re.search(r"</script|<!--", script, re.IGNORECASE) for script in scripts):
        raise ValueError("a script that draws pages cannot stand in one")
    first, language = next(iter(editions.values())), next(iter(editions))
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return Template(_beside(".html")).substitute(
        tag=tag(language), title=html.escape(first.title), style=_beside(".css"),
        policy=_POLICY.format(scripts=allowed), noscript=said_in(language, _WITHOUT, __name__),
        content=re.sub("[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", held),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    ).encode()  # fmt: skip


def _told(language: str, page: Edition, sets: dict[str, str]) -> dict[str, Any]:
    words = {name: said_in(language, text, __name__) for name, text in _WORDS.items()}
    words["colon"] = words["colon"].format(title="", shown="")
    charts = {}
    for name, spec in page.charts.items():
        held = spec.get("datasets", {}).items()
        # Each table stands in the file once, whatever charts and languages show it.
        numbers = {key: sets.setdefault(_json(_columns(r)), str(len(sets))) for key, r in held}
        charts[name] = {**spec, "datasets": {key: int(n) for key, n in numbers.items()}}
    return {
        "tag": tag(language), "name": languages()[language], "title": page.title,
        "note": page.note, "link": page.link, "words": words, "seen": [*page.seen],
        "charts": charts, "pictures": page.pictures, "follows": page.follows,
        "tables": {name: _table(table, language) for name, table in page.tables.items()},
    }  # fmt: skip


def _slider(slider: Mapping[str, Any], frames: dict[str, int]) -> dict[str, Any]:
    """The slider with its words, and the number of its frames; None where there is no room.

    Frames without words and charts' values, maybe names, are the same in all languages.
    """
    held = json.loads(gzip.decompress(slider["frames"]))
    words = held.pop("words", {})
    values = {chart: tables.pop(PARAMETERS) for chart, tables in held.get("tables", {}).items()
              if PARAMETERS in tables}  # fmt: skip
    packed = base64.b64encode(gzip.compress(_json(held).encode(), mtime=0)).decode()
    room = _MOST_FRAMES - sum(map(len, frames))
    if packed not in frames and len(packed) > room:
        return {"frames": None}
    own = {"words": words, "values": values}
    return {**slider, **own, "frames": frames.setdefault(packed, len(frames))}


def _columns(rows: list[Any]) -> Any:
    """Rows of the same fields as columns, which is much shorter."""
    if not rows or not all(isinstance(row, dict) and row.keys() == rows[0].keys() for row in rows):
        return rows
    return {name: [row[name] for row in rows] for name in rows[0]}


def _table(table: pa.Table, language: str) -> dict[str, Any]:
    # NaN is no JSON.
    rows = [
        [None if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in row]
        for row in (held.values() for held in table.slice(0, _MOST_ROWS).to_pylist())
    ]
    left = said_in(language, _LEFT, __name__).format(shown=_MOST_ROWS, count=table.num_rows)
    return {
        "columns": table.column_names, "rows": rows,
        "left": left if table.num_rows > _MOST_ROWS else "",
    }  # fmt: skip


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@functools.cache
def _beside(suffix: str) -> str:
    return Path(__file__).with_suffix(suffix).read_text("utf-8")


@functools.cache
def _following() -> str:
    """The script by which charts follow a slider on pages, as ``live``."""
    text = (Path(__file__).parents[1] / "ui" / "live.js").read_text("utf-8")
    text = re.sub("^export default", "const bridge =", text, flags=re.MULTILINE)
    text = re.sub("^export ", "", text, flags=re.MULTILINE)
    return f"globalThis.live = (() => {{{text}; return {{ show }}; }})();"


@functools.cache
def katex() -> str:
    """The script that sets formulas, as the pages themselves do; empty where it is not found."""
    streamlit = find_spec("streamlit")
    places = streamlit.submodule_search_locations if streamlit else None
    for place in places or ():
        for path in Path(place).glob("static/static/js/katex.*.js"):
            text, found = _EXPORTS.subn(r"globalThis.katex=\1;", path.read_text("utf-8"))
            if found:
                return f"(() => {{{text}}})();"
    return ""
