"""Attention maps: a file of weights, or the log of a training, which is followed as it grows."""

import re
from collections.abc import Sequence
from functools import partial
from itertools import count

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts import PANEL_COLOURS, map_names, theme, usual_map
from dashboard.charts.frames import MEAN, MapFrame, below_0, map_title, matrix, named_maps
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.series import draw_series, prepare_series
from dashboard.features.attention_maps import view as maps_view
from dashboard.features.attention_maps.view import LATEST, MapsView, is_log, log_name, steps
from dashboard.language import gettext, listed, translated
from dashboard.records.beside import beside
from dashboard.records.request import Result, is_upload
from dashboard.storage.attention_logs import log_index, logs, written
from dashboard.ui import charts, layout, maps, results, shown, upload
from dashboard.ui.fields import draw_choice, draw_setting, draw_text
from dashboard.ui.page import Page
from dashboard.ui.playing import TICK, Player
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["page"]
_RUNS = count()
_POLL = 2.0  # seconds between two looks at the logs
_HEIGHT = 420  # px
_WIDTH, _NUMBER_WIDTH = 240, 120  # px, of a control
_LOGGING = """# attention-workbench --logs logs
from attention_plugins import watch

with watch(model, log="logs/first", every=100):
    for batch in batches:  # {loop}
        ..."""
_WORDS = beside(__file__, "words.toml")
_FIGURES = _WORDS["figures"]
_PATCH = re.compile(r"row (\d+), column (\d+)\Z")


def laid_out(labels: Sequence[str], weights: np.ndarray) -> np.ndarray | None:
    """The weights ``(n,)`` of keys at the places that their labels name; None if they name none.

    NaN where no patch is.
    """
    found = [(_PATCH.match(label), weight) for label, weight in zip(labels, weights, strict=True)]
    places = {(int(at[1]) - 1, int(at[2]) - 1): weight for at, weight in found if at}
    if len(places) < 2:
        return None
    picture = np.full([max(axis) + 1 for axis in zip(*places, strict=True)], np.nan)
    for place, weight in places.items():
        picture[place] = weight
    return picture


def _picture(found: Sequence[MapFrame], selected: str, digest: str) -> None:
    """Where one token of a picture looks in it, if the keys are patches."""
    labels, queries = found[-1].key_labels, found[-1].query_labels
    weights = next(held for one, held in named_maps(found) if one.map == selected)
    if laid_out(labels, weights[0]) is None:
        return
    shown.header(gettext("Laid out as the picture is"))
    query = st.selectbox(
        gettext("The token that looks"), range(len(queries)), format_func=queries.__getitem__,
        key="maps-picture-query",
    )  # fmt: skip
    picture = laid_out(labels, weights[query])
    assert picture is not None  # it does not depend on the query
    rows, columns = (range(1, size + 1) for size in picture.shape)
    highest = float(np.nanmax(picture, initial=0.0)) or 1.0
    title = gettext("{query}: weight on each patch", query=queries[query])
    charts.show_filled(
        f"maps picture {digest} {selected} {query} {title}", draw_heatmap,
        lambda: prepare_heatmap(
            picture, rows, columns, vmax=highest, title=title, legend=True
        ),
        gettext("Weights over a picture: rows of patches down, columns across"),
    )  # fmt: skip
    shown.caption(gettext(
        "Each cell is a patch. Under the pointer “query” stands for its row, and “key” for "
        "its column."
    ))  # fmt: skip


def _controls(session: Session[MapsView]) -> None:
    before = session.view
    if not before.source and (found := maps_view.sources()):
        session.update(source=found[0])
    with layout.row("maps-what"):
        known = upload.known(session.view.source, upload.WEIGHTS)
        if session.view.source or known:
            draw_choice(session, maps_view.SOURCE, more=known, titles=_title, width=_WIDTH)
            theirs = upload.known(session.view.other, upload.WEIGHTS)
            draw_choice(session, maps_view.OTHER, more=theirs, titles=_title, width=_WIDTH)
        if is_upload(session.view.source):
            draw_text(session, maps_view.QUERIES, width=_WIDTH)
            draw_text(session, maps_view.KEYS, width=_WIDTH)
            draw_setting(session, maps_view.EXAMPLE, width=_NUMBER_WIDTH)
        upload.button(lambda file: session.change(source=file, step=LATEST), upload.WEIGHTS)
    view = session.view
    if before.source and view.source != before.source:
        session.change(step=LATEST, example=1)
    if view.other != before.other:
        first = steps(view.other)[:1] if view.other == view.source else []
        session.change(other_step=(*first, LATEST)[0])


def _title(source: str) -> str:
    if is_log(source):
        return log_name(source)
    return upload.title(source, upload.WEIGHTS) if source else gettext("nothing")


def _results(session: Session[MapsView], _: None) -> None:
    view = session.view
    player = _player(session)
    _follow(session, player)
    if not view.source:
        _empty()
        return
    if is_log(view.source):
        _steps(session, player)
    asked = maps_view.request(view)
    if asked is None:
        st.caption(gettext("This log has no steps yet, or is not on this server."))
        return
    with shown.container(gap="small"):
        results.results(
            session.jobs, asked, partial(_maps, session), _HEIGHT, "maps-result", grows=True
        )
    if subtracted := maps_view.difference(view):
        shown.header(gettext("What changes"))
        _other_step(session)
        results.results(
            session.jobs, subtracted, partial(_difference, session), _HEIGHT, "maps-difference",
            grows=True,
        )  # fmt: skip


def _player(session: Session[MapsView]) -> Player:
    return Player(
        page="maps", unit="step", stops=steps(session.view.source), at=session.view.step,
        latest=LATEST, choose=lambda step: session.change(step=step),
    )  # fmt: skip


def _follow(session: Session[MapsView], player: Player) -> None:
    """Draw the page anew when a log has grown, or when another step is to be played."""
    view, looks = session.view, count()

    def state() -> object:
        return logs(), [written(log_name(each)) for each in (view.source, view.other)]

    seen = state()

    def look() -> None:
        if not next(looks):
            return
        if player.playing:
            player.choose(player.advance())
            st.rerun()
        if state() != seen:
            st.rerun()

    # A fragment of its own in every run. Streamlit drops what a run has sent if a timer of the run
    # before asks just then for a fragment that is still there: the page would stand still.
    look.__qualname__ += f" {next(_RUNS)}"
    st.fragment(run_every=TICK if player.playing else _POLL)(look)()


def _empty() -> None:
    with st.container(border=True, key="maps-empty"):
        st.markdown(gettext(":material/grid_on: **Nothing to show yet**"))
        st.text(gettext(_SAID["empty"]))
        st.code(_LOGGING.format(loop=gettext("the loop as it was")), language=None)


def _steps(session: Session[MapsView], player: Player) -> None:
    view = session.view
    if len(player.stops) > 1:
        play, slider, scale = st.columns([1, 6, 2], vertical_alignment="bottom", gap="medium")
        with play:
            player.button()
        with slider:
            help = gettext("“Latest” follows the training while it runs.")
            player.slider(gettext("Step"), view.step, help)
        with scale:
            charts.legend(1.0, signed=maps.are_signed(session.jobs.done()))
    found = log_index(log_name(view.source))
    if player.stops:
        at = player.stops[-1] if view.step == LATEST else view.step
        said = gettext(
            _SAID["step"], step=at, name=log_name(view.source), count=len(player.stops),
            last=player.stops[-1],
        )  # fmt: skip
        if found.left_out:
            said = gettext(_SAID["left_out"], said=said, count=found.left_out)
        shown.caption(plain(said))


def _other_step(session: Session[MapsView]) -> None:
    view = session.view
    if len(steps(view.other)) > 1:
        player = Player(
            page="maps", unit="other-step", stops=steps(view.other), at=view.other_step,
            latest=LATEST, choose=lambda step: session.change(other_step=step),
        )  # fmt: skip
        player.slider(gettext("Step of what is subtracted"), view.other_step, "")


def _maps(session: Session[MapsView], result: Result) -> None:
    view, facts = session.view, result.facts
    site = facts["site"]
    if len(facts["sites"]) > 1:
        st.selectbox(
            gettext("Modules"), facts["sites"], facts["sites"].index(site), key="maps-site",
            format_func=_site_title, on_change=lambda: session.update(
                site=st.session_state["maps-site"], map=""
            ),
        )  # fmt: skip
    shown.title(f"{_title(view.source)} · {_site_title(site)}")
    for said in facts["doubts"]:
        shown.markdown(gettext(":orange-badge[not sure] {said}", said=plain(translated(said))))
    if shape := facts["shape"]:
        shown.caption(gettext(_SAID["summed"], queries=shape[0], keys=shape[1]))
    frames = maps.maps_of(result, site)
    selected = view.map if view.map in map_names(frames) else usual_map(frames)
    drawn, figures = shown.columns([2, 3], gap="large")
    with drawn:
        if len(steps(view.source)) < 2:  # else it stands beside the steps
            charts.legend(1.0, signed=maps.are_signed([result]))
        maps.attention_maps(
            result, "a", [result],
            maps.Choice(site, selected, lambda name: session.update(map=name)), _site_title(site),
        )  # fmt: skip
        _picture(frames, selected, result.digest)
    with figures:
        if is_log(view.source):
            _entropies(view, facts["modules"], selected)
        _heads(result)
        maps.say_signed(maps.are_signed([result]))


def _site_title(site: str) -> str:
    if site == "*":
        return gettext("all layers")
    return gettext("the model") if site == "(model)" else site


def _entropies(view: MapsView, modules: dict[str, str], selected: str) -> None:
    """The mean entropy of each head of the selected layer, step by step."""
    layer, _, chosen = selected.partition(".")
    rows = []
    for line in log_index(log_name(view.source)).lines:
        given = line.get("entropy", {}).get(modules.get(layer, ""), [])
        nats = [float(each) for each in given if isinstance(each, int | float)]
        named = {f"{number}": value for number, value in enumerate(nats, start=1)}
        if len(nats) > 1:
            named[MEAN] = float(np.mean(nats))
        rows += [(line["step"], value, name) for name, value in named.items()]
    if len({step for step, _, _ in rows}) < 2:
        return
    titles = {name: map_title(f"{layer}.{name}") for _, _, name in rows}
    frame = pd.DataFrame(rows, columns=["x", "y", "series"])
    frame["series"] = [titles[name] for name in frame["series"]]
    colours = dict.fromkeys(titles.values(), theme.QUIET)
    colours[titles.get(chosen, "")] = PANEL_COLOURS["a"]
    shown.header(gettext("Entropy of the heads"))
    prepared = prepare_series(
        frame, colours, x_title=gettext("step"), y_title=gettext("entropy, nats"),
        y_format=".2f", legend=False,
    )  # fmt: skip
    charts.show_prepared(draw_series, prepared, gettext("Entropy of every head by step"))
    shown.caption(gettext(_SAID["mean_entropy" if chosen == MEAN else "entropies"]))


def _heads(result: Result) -> None:
    table = result.tables["heads"]
    if not len(table):
        return
    frame = table.to_pandas()[[*_FIGURES]]
    frame["map"] = [map_title(name) for name in frame["map"]]
    frame["verdicts"] = [
        listed(gettext(_WORDS["says"][each]) for each in said.split())
        for said in frame["verdicts"]
    ]
    shown.header(gettext("Map health"))
    title = gettext("Figures of every head")
    number = st.column_config.NumberColumn(format="%.2f")
    formats = dict.fromkeys((gettext(_FIGURES[name]) for name in [*_FIGURES][1:4]), number)
    shown.table(
        frame.rename(columns={name: gettext(title) for name, title in _FIGURES.items()}),
        hide_index=True, alt=title, column_config=formats,
    )  # fmt: skip


def _difference(session: Session[MapsView], result: Result) -> None:
    facts = result.facts
    one, other = matrix(result.tables["one"]), matrix(result.tables["other"])
    rows, labels = result.tables["rows"], (facts["queries"], facts["keys"])
    if facts["labels_differ"]:
        shown.caption(gettext("Their tokens differ: cells are compared by their positions."))
    title = gettext(
        "{one} − {other}", one=_named(session.view.source, session.view.step),
        other=_named(session.view.other, session.view.other_step),
    )  # fmt: skip
    charts.show_filled(
        f"maps difference {result.digest} {title}", draw_heatmap,
        lambda: prepare_heatmap(one, *labels, reference=other, title=title),
        gettext("Difference of two maps: queries down, keys across"),
    )  # fmt: skip
    maps.say_signed(below_0(one) or below_0(other))
    if facts["most_different"] is not None:
        at = facts["most_different"]
        said = gettext(
            _SAID["difference"], word=labels[0][at], bits=rows["jensen_shannon_bits"][at].as_py(),
            count=len(rows), mean=facts["mean_divergence"],
        )  # fmt: skip
        shown.markdown(plain(said))
    title = gettext("Jensen–Shannon divergence of every row")
    named = {"query": gettext("query"), "jensen_shannon_bits": gettext("bit")}
    with st.expander(title):
        shown.table(
            rows.to_pandas().rename(columns=named), hide_index=True, alt=title,
            column_config={gettext("bit"): st.column_config.NumberColumn(format="%.3f")},
        )  # fmt: skip


def _named(source: str, step: int) -> str:
    if not is_log(source):
        return _title(source)
    at = max(steps(source), default=0) if step == LATEST else step
    return gettext("{log}, step {step:,}", log=_title(source), step=at)


PAGE = Page(
    name="attention_maps", **_WORDS["heading"], link=maps_view.LINK, controls=_controls,
    requests=lambda view, _: filter(None, (maps_view.request(view), maps_view.difference(view))),
    results=_results, height=_HEIGHT, catalogue=False, folds=True,
)  # fmt: skip
