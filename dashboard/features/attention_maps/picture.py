"""The weights of one query over the patches of a picture, laid out as the picture is."""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from dashboard.charts.frames import MapFrame, named_maps
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.language import gettext
from dashboard.ui import charts, shown

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


def draw(found: Sequence[MapFrame], selected: str, digest: str) -> None:
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
