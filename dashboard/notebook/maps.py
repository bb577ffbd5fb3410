"""Attention maps in a notebook: drawn, as tables, as files."""

import re
import sys
import tempfile
import webbrowser
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Self, cast

import altair as alt
import numpy as np
import pandas as pd
from torch import Tensor, nn

from attention_plugins import maps, model_watch, record
from attention_plugins.maps import WatchedMap
from attention_plugins.watched_map import is_causal
from dashboard.charts import MapFrame, attention_heatmap, head_grid, standalone
from dashboard.charts.theme import Scheme
from dashboard.jobs.task_tables import maps_table
from dashboard.records.request import Request, Result
from dashboard.storage.bundle import Bundle, versions, write

MOST_ROWS = 20_000_000  # of a table: 0.7 GB
_COLUMNS = "query key weight map call batch head query_position key_position".split()


class Shown:
    """What can be drawn can be shown."""

    plot: Any

    def show(self) -> None:
        """Display the chart below the cell; outside of notebooks, open it in the browser."""
        python, chart = sys.modules.get("IPython"), self.plot()
        if python is not None and getattr(python.get_ipython(), "kernel", None) is not None:
            python.display.display(chart)
            return
        path = Path(tempfile.mkdtemp(prefix="attention-")) / "chart.html"
        cast("Any", chart).save(path, inline=True)
        webbrowser.open(path.as_uri())


class AttentionMap(WatchedMap, Shown):
    """The weights ``(batch, heads, queries, keys)`` of one call of one module; see its base."""

    def plot(
        self, head: int | None = None, *, batch: int = 0, scheme: Scheme = "light", **looks: Any
    ) -> alt.TopLevelMixin:
        """A heatmap, or one of each head; ``looks`` are arguments of ``attention_heatmap``.

        ``head`` and ``batch`` count from 0, titles from 1. IndexError: there is no such head or
        input. ValueError: weights that are none.
        """
        found = maps.AttentionMaps([self]).map(0, batch)
        weights, title = _hatched(found.weights), ""
        numbers = [*(self.heads or range(len(weights)))]
        if head is not None and head not in numbers:
            raise IndexError(f"map of {self.name!r} has the heads {numbers}, not {head}")
        if head is not None:
            weights, numbers = weights[numbers.index(head)], [head]
        if head is not None or self.heads:
            title = f", head {', '.join(str(number + 1) for number in numbers)}"
        looks = {"title": f"{self.name}{title}", "legend": True, **looks}
        chart = attention_heatmap(weights, found.query_labels, found.key_labels, **looks)
        return standalone(cast("alt.LayerChart", chart), scheme)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each weight; see :meth:`AttentionMaps.to_pandas`."""
        return AttentionMaps([self]).to_pandas()


class AttentionMaps(maps.AttentionMaps, Shown):
    """Maps in the order of their calls, as a sequence; nothing in it changes.

    ``of`` takes whatever holds weights; ``named`` finds maps by their names, ``labelled`` gives
    them labels; ``load`` reads what ``save`` wrote.

    >>> maps = AttentionMaps.of([[[0.75, 0.25], [0.5, 0.5]]], ["je", "pars"], ["i", "leave"])
    >>> maps[0].to_pandas()[["query", "key", "weight"]]
      query    key  weight
    0    je      i    0.75
    1    je  leave    0.25
    2  pars      i    0.50
    3  pars  leave    0.50
    >>> maps.to_pandas().pivot(index="query", columns="key", values="weight").loc["je", "i"].item()
    0.75
    >>> chart = maps.plot()
    >>> maps.save("maps.safetensors")
    >>> AttentionMaps.load("maps.safetensors")[0].query_labels
    ('je', 'pars')
    """

    def __init__(self, several: Iterable[WatchedMap] = ()) -> None:
        names = [field.name for field in fields(WatchedMap)]
        super().__init__(AttentionMap(**{n: getattr(one, n) for n in names}) for one in several)

    def __getitem__(self, index: int | slice) -> Any:
        return super().__getitem__(index)

    def plot(self, *, batch: int = 0, scheme: Scheme = "light", **looks: Any) -> alt.TopLevelMixin:
        """One map large, all layers and heads small below it; a click enlarges another.

        It draws the last map and all others of its kind, which have its name but for the numbers,
        and as many queries and keys: of an encoder-decoder those between its sides. ``named``
        chooses others. Layers and heads count from 1, as on the pages: layers by the first number
        in the modules' names, or where several have the same, by their order. The title has the
        name. What a causal mask hides is hatched. ``looks`` are arguments of
        :func:`~dashboard.charts.head_grid`, such as ``vmax=0.5``. ValueError: there are no maps.
        """
        self._check_any("draw")
        kinds = [(re.sub(r"\d+", "*", one.name), one.weights.shape[2:]) for one in self]
        chosen = [n for n, kind in enumerate(kinds) if kind == kinds[-1]]
        names = [self[n].name for n in chosen]
        numbers = [int(found[0]) if (found := re.findall(r"\d+", name)) else -1 for name in names]
        if len({*numbers}) < len(numbers) or -1 in numbers:
            numbers = [*range(len(names))]
        frames = [
            MapFrame(
                kind="", layer=layer, weights=_hatched(one.weights),
                query_labels=one.query_labels, key_labels=one.key_labels,
            )
            for layer, one in zip(numbers, (self.map(n, batch) for n in chosen), strict=True)
        ]  # fmt: skip
        chart = cast("alt.LayerChart", standalone(head_grid(frames, **looks), scheme))
        cast("Any", chart.title).subtitle = names[0] if len({*names}) == 1 else kinds[-1][0]
        return chart

    def to_pandas(self) -> pd.DataFrame:
        """A row for each weight.

        Columns: ``query``, ``key`` (labels, or numbers where there are none), ``weight``, ``map``
        (the module's name), ``call``, ``batch``, ``head``, ``query_position``, ``key_position``.
        All numbers count from 0. ValueError: more than 20,000,000 weights.
        """
        total = sum(each.weights.numel() for each in self)
        if total > MOST_ROWS:
            raise ValueError(
                f"need at most {MOST_ROWS:,} weights for a table, got {total:,}: choose fewer by "
                "an index, or by layers=, heads= or rows= of watch"
            )
        if not len(self):
            return pd.DataFrame(columns=_COLUMNS)
        parts = [_columns(each) for each in self]
        texts = {
            name: pd.CategoricalDtype(pd.unique(np.concatenate([part[name] for part in parts])))
            for name in ("map", "query", "key")
        }
        return pd.concat([pd.DataFrame(part).astype(texts) for part in parts], ignore_index=True)

    def save(self, path: str | Path) -> None:
        """Write ``.safetensors``, which ``load`` reads, or ``.zip``, which *Runs* imports.

        ValueError: another kind of file, no maps, or a zip of more than 20 MB.
        """
        kind = Path(path).suffix
        if kind not in (".safetensors", ".zip"):
            raise ValueError(f"need a file that ends in .safetensors or .zip, got {str(path)!r}")
        self._check_any("save")
        if kind == ".safetensors":
            super().save(path)
            return
        rows = [
            record.AttentionMap(
                site=record.Site(cast("Any", f"{one.name or 'model'}{f' {batch}' * (batch > 0)}"),
                                 one.call),
                weights=(found := self.map(number, batch)).weights,
                query_labels=found.query_labels, key_labels=found.key_labels, normalised=False,
                signed=one.signed,
            )
            for number, one in enumerate(self)
            for batch in range(len(one.weights))
        ]  # fmt: skip
        result = Result(tables={"maps": maps_table(rows)})
        bundle = Bundle(request=Request.make("notebook"), result=result, versions=versions())
        Path(path).write_bytes(write(bundle))

    def _check_any(self, to: str) -> None:
        if not len(self):
            raise ValueError(f"there are no maps to {to}; after a watch, its unseen says why")


def _hatched(weights: Tensor) -> np.ndarray:
    """The weights with NaN, which is drawn as masked, wherever only a causal mask has all 0."""
    drawn = weights.numpy().copy()
    if is_causal(weights):
        drawn[:, ~np.tri(*drawn.shape[1:], dtype=bool)] = np.nan
    return drawn


def _columns(of: WatchedMap) -> dict[str, Any]:
    batch, head, query, key = (
        axis.ravel() for axis in np.indices(tuple(of.weights.shape), dtype=np.int32)
    )
    heads, rows = (
        np.array(numbers or range(size), np.int32)
        for numbers, size in zip((of.heads, of.rows), of.weights.shape[1:3], strict=True)
    )
    columns = (
        _texts(of.queries, batch, query, rows[query]), _texts(of.keys, batch, key, key),
        of.weights.float().numpy().ravel(), np.full(len(batch), of.name or "model", object),
        of.call, batch, heads[head], rows[query], key,
    )  # fmt: skip
    return dict(zip(_COLUMNS, columns, strict=True))


def _texts(
    labels: Sequence[Sequence[str]] | None, batch: np.ndarray, at: np.ndarray, number: np.ndarray
) -> np.ndarray:
    if labels is None:
        return number.astype(str).astype(object)
    return np.array([[*row] for row in labels], object)[batch, at]


class _OfMaps(Shown):
    """What has maps is drawn, tabled and saved as these are."""

    maps: Any

    def plot(self, **looks: Any) -> alt.TopLevelMixin:
        """All maps; see :meth:`AttentionMaps.plot`."""
        return self.maps.plot(**looks)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each weight; see :meth:`AttentionMaps.to_pandas`."""
        return self.maps.to_pandas()

    def save(self, path: str | Path) -> None:
        """A file of all maps; see :meth:`AttentionMaps.save`."""
        self.maps.save(path)


class Watched(_OfMaps):
    """What :func:`watch` gives: ``maps``, and ``unseen``, what attended and could not be seen."""

    def __init__(self, inner: model_watch.Watch) -> None:
        self._inner = inner

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._inner.__exit__(*error)

    def __repr__(self) -> str:
        return str(self._inner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def maps(self) -> AttentionMaps:
        """All that was kept so far."""
        return AttentionMaps(self._inner.maps)


def watch(model: nn.Module, **chosen: Any) -> Watched:
    """Keep the attention weights of whatever a model runs inside ``with watch(model) as seen:``.

    ``seen.show()`` displays all maps, ``seen.maps`` are the maps, and ``print(seen)`` says what
    was kept. ``chosen`` are ``layers``, ``heads``, ``rows``, ``keep`` and ``limit_bytes``:
    :func:`attention_plugins.watch` says what they do, what is seen, and what is raised.

    >>> import torch
    >>> model = torch.nn.MultiheadAttention(12, num_heads=3)
    >>> with watch(model) as seen:
    ...     output = model(*[torch.zeros(4, 12)] * 3)
    >>> chart = seen.plot()
    >>> len(seen.to_pandas())
    48
    >>> seen.save("look.zip")
    """
    return Watched(model_watch.watch(model, **chosen))


class Explanation(_OfMaps):
    """One sentence's translation.

    Attributes:
        text: the translation.
        tokens, log_probabilities: its words, and how sure the model is of each, in nats.
        source_tokens, unknown: the words that were read, and those that the model does not know.
        maps: of every layer, called such as ``encoder.0``, ``decoder.0`` and ``decoder.0.cross``.
    """

    def __init__(self, found: record.Translation) -> None:
        self.text, self.tokens, self.source_tokens = found.text, found.tokens, found.source_tokens
        self.log_probabilities, self.unknown = found.log_probabilities, found.unknown
        self.maps = AttentionMaps(
            WatchedMap(
                name=_name(one.site), weights=one.weights[None],
                queries=(one.query_labels,), keys=(one.key_labels,), signed=one.signed,
            )
            for one in found.maps
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"{' '.join(self.source_tokens)} -> {' '.join(self.tokens)}"


def _name(site: record.Site) -> str:
    side, end = ("decoder", ".cross") if site.kind == "cross" else (site.kind, "")
    return f"{side}.{site.layer}{end}"
