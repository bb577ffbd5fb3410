"""One panel of the page *Alignment*: the rates of a model's heads, and the pair that is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dashboard.charts import PANEL_COLOURS, attention_heatmap, head_grid, spots, usual_spot
from dashboard.charts.rates import rates_chart, spot_name
from dashboard.controls import plain
from dashboard.pages import export, figures
from dashboard.pages.translation_panel import title_of, unknown_words, with_spot
from dashboard.runs.alignment_link import OWN, Alignment
from dashboard.runs.link_parts import LETTERS
from dashboard.runs.offers import Catalogue, Checkpoint
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.translation_link import spots_of
from dashboard.state import Visit

HEIGHT = 330  # px, of a model's rates
_WORDS_TOLD = 5
_HELP = (
    "1 − (sure links found + sure or possible links found) / (links found + sure links), over "
    "all pairs (Och and Ney 2003). 0 is perfect. A French word is linked to the English word "
    "that its row looks at most."
)


def rates(here: Visit, letter: str, request: Request, result: Result) -> None:
    """The best head's rate, and those of all heads."""
    facts, table = result.facts, result.tables["rates"]
    rows = {row["spot"]: row for row in table.to_pylist()}
    best = rows[facts["best"]]
    name = spot_name(facts["best"]) if len(rows) > 1 else "its one head"
    st.metric(
        f"Alignment error rate, {'best: ' if len(rows) > 1 else ''}{name}",
        f"{best['error_rate']:.3f}",
        help=_HELP,
    )
    words = [f"{name} {_number(best[name])}" for name in ("precision", "recall")]
    words.append(f"{facts['scored']:,} pair{'s' * (facts['scored'] != 1)}")
    if facts["too_long"]:
        words.append(f"{facts['too_long']:,} more too long for this model")
    st.caption(" · ".join(words))
    chosen = spot_of(here.view, letter, result)
    figures.show(
        f"rates {request.key} {letter} {chosen}",
        lambda: rates_chart(table, chosen=chosen, colour=PANEL_COLOURS[letter]),
        f"Alignment error rates of all heads of panel {letter}, the best one first",
    )


def spot_of(view: Alignment, letter: str, scored: Result | None) -> str:
    """The head that a panel shows: as chosen, or the best one as far as that is known."""
    spot = dict(zip(LETTERS, spots_of(view), strict=False)).get(letter, "")
    return spot or (scored.facts["best"] if scored else "")


def pair_map(
    here: Visit,
    letter: str,
    request: Request,
    result: Result,
    scored: Result | None,
    shared: Sequence[Result],
) -> None:
    """Where the model looks while it writes the pair's target, gold outlined; what it links."""
    found = figures.maps_of(result, "cross")
    usual = usual_spot(found)
    best = scored.facts["best"] if scored else usual
    spot = spot_of(here.view, letter, scored)
    spot = spot if spot in spots(found) else best

    def pick(chosen: str) -> None:
        chosen = chosen or usual
        here.settle(with_spot(here.view, letter, "" if chosen == best else chosen))

    figures.attention_maps(request, result, letter, shared, "cross", spot, pick, _gold(result))
    st.caption(_verdict(result, spot))
    unknown_words(result)


def _gold(result: Result) -> dict[str, list[tuple[int, int]]]:
    """The cells that gold links, as charts count them: a row is a target word."""
    return {
        name: [(target, source) for source, target in result.facts[links]]
        for name, links in (("outlined", "sure"), ("possible", "possible"))
    }


def _verdict(result: Result, spot: str) -> str:
    """How a head's links agree with gold on this pair, and which words do not."""
    links = [row for row in result.tables["links"].to_pylist() if row["spot"] == spot]
    facts, said = result.facts, []
    for verdict in ("right", "missed", "wrong"):
        own = [link for link in links if link["verdict"] == verdict]
        words = [
            f"{facts['target_tokens'][link['target']]} → {facts['source_tokens'][link['source']]}"
            for link in own
        ]
        count = f"**{len(own)} {'found' if verdict == 'right' else verdict}**"
        if verdict != "right" and words:
            more = [f"{len(words) - _WORDS_TOLD} more"] if len(words) > _WORDS_TOLD else []
            count += f" ({', '.join([*map(plain, words[:_WORDS_TOLD]), *more])})"
        said.append(count)
    several = len({row["spot"] for row in result.tables["links"].to_pylist()}) > 1
    return (f"{spot_name(spot)}: " if several else "") + " · ".join(said)


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.3f}"


def compared(
    view: Alignment,
    catalogue: Catalogue,
    checkpoints: Mapping[str, Checkpoint],
    scored: Mapping[str, Result],
) -> None:
    """All panels in one table."""
    rows = []
    for letter, result in scored.items():
        best = next(
            row for row in result.tables["rates"].to_pylist()
            if row["spot"] == result.facts["best"]
        )  # fmt: skip
        panel = dict(zip(LETTERS, view.panels, strict=False))[letter]
        rows.append(
            {
                "Panel": letter,
                "Model": title_of(catalogue, checkpoints[letter], panel),
                "Best head": spot_name(result.facts["best"]),
                "Error rate": best["error_rate"],
                "Precision": best["precision"],
                "Recall": best["recall"],
                "Untrained, best head": min(result.tables["rates"]["untrained"].to_pylist()),
                "Average head": _mean(result),
            }
        )
    st.subheader("Side by side", anchor=False)
    table = pd.DataFrame(rows).set_index("Panel")
    digits = st.column_config.NumberColumn(format="%.3f")
    numbers = [name for name in table if name not in ("Model", "Best head")]
    st.dataframe(table, width="stretch", column_config=dict.fromkeys(numbers, digits))
    st.caption(_caveat(view, list(scored.values())))


def _mean(result: Result) -> float:
    """The mean rate of single heads."""
    rows = result.tables["rates"].to_pylist()
    own = [row["error_rate"] for row in rows if not row["spot"].endswith("mean")]
    return sum(own) / len(own)


def _caveat(view: Alignment, scored: Sequence[Result]) -> str:
    words = [
        "Best is the head, or mean of a layer's heads, with the lowest rate on these pairs; "
        "so is the untrained one, of the same model with the weights that it began with."
    ]
    if view.gold == OWN:
        words.append("One pair says little: choose a corpus to compare models.")
    elif scored[0].facts["corpus"] == view.gold:
        words.append("No model here has learned any of these source sentences.")
    else:
        words.append(
            "These pairs are of another corpus than the models learned, of which some source "
            "sentences may be known to them."
        )
    return " ".join(words)


def export_menu(here: Visit, letter: str, scored: Result | None, seen: Result | None) -> None:
    """The rates and the map as files."""
    key = f"panel-{letter}"
    if scored is None or seen is None:
        export.waiting(key)
        return
    table, found = scored.tables["rates"], figures.maps_of(seen, "cross")
    spot = spot_of(here.view, letter, scored)
    charts = {
        "error rates": partial(rates_chart, table, chosen=spot, colour=PANEL_COLOURS[letter])
    }
    if len(spots(found)) == 1:
        frame = found[0]
        labels = frame.query_labels, frame.key_labels
        charts["map"] = partial(attention_heatmap, frame.weights, *labels, **_gold(seen))
    else:
        charts["map"] = partial(head_grid, found, chosen=spot, **_gold(seen))
    result = Result(tables={**scored.tables, **seen.tables})
    name = here.view.panels[LETTERS.index(letter)]
    export.menu(None, result, charts, key, title=f"Alignment, {name}", keeps=False)
