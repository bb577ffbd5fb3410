"""Attention maps: those of an uploaded file or of a step of a logged training, and differences."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
import torch

from attention_plugins import health
from attention_plugins.attention_log import log_key, read_step, thinned
from attention_plugins.comparison import jensen_shannon
from attention_plugins.contract import ContractError
from attention_plugins.maps import AttentionMaps
from attention_plugins.record import AttentionMap, Site
from attention_plugins.watched_map import WatchedMap, is_causal, labels_of, wrong_sum
from dashboard.jobs.task_tables import map_names, maps_table, matrix_table
from dashboard.jobs.task_translator import read_texts, refuse_others
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import UPLOAD, Request, Result
from dashboard.storage.attention_logs import log_folder
from dashboard.storage.blobs import Blobs

_SHOWN = 2_500_000  # weights of one site: 144 heads of 128 × 128
_SUBTRACTED = 60  # queries and keys of a difference
_LAST_LAYER = 98  # whose number a link can name
_TEXTS = ("site", "queries", "keys", "other", "map")


class Layer(NamedTuple):
    """A map of a site with its place among the others."""

    number: int
    one: WatchedMap


def perform(request: Request, context: Context) -> Result:
    """Read the maps of a source, or subtract another source's map from one of them.

    ``data`` is ``upload:<sha256>``, or ``log:<name>@<step>@<stamp>``. Options: ``site`` (the first
    where it is empty or not there), ``example`` of a batch, ``queries`` and ``keys``, tokens of an
    uploaded file. With ``other``, another source, and ``map``, such as ``2.3`` or ``2.mean``, that
    of ``other`` is subtracted.

    Returns:
        Of one source: tables ``maps``, one row per layer of the site, and ``heads``, a row per
        head (``map``, ``entropy``: over the largest possible, ``concentration``, ``diagonality``,
        ``row_error``, ``verdicts``). Facts ``sites`` (all), ``site``, ``modules`` (names by
        layer), ``examples`` (of the batch), ``doubts``, ``shape`` (as it was, where the maps are
        thinned, else None).

        Of two: tables ``one`` and ``other`` (weights) and ``rows`` (``query``,
        ``jensen_shannon_bits``), facts ``queries``, ``keys``, ``mean_divergence``,
        ``most_different`` (a query's number), ``labels_differ``, ``shape``.

    Raises:
        ValueError: a source absent or refused, tokens that do not fit, maps of different shapes.
    """
    texts, others = read_texts(request, _TEXTS)
    example = int(others.pop("example", 1))
    refuse_others(others, (*_TEXTS, "example"))
    context.report(0.2, gettext_noop("reading the maps"))
    maps, queries, keys = _read(request.data), _tokens(texts["queries"]), _tokens(texts["keys"])
    if queries or keys:
        maps = maps.labelled(queries or keys, keys or queries)
    examples = min(len(each.weights) for each in maps)
    if not 1 <= example <= examples:
        raise ContractError(f"need 1 <= example <= {examples:,}, got {example:,}")
    found = _sites(maps, example)
    site = texts["site"] if texts["site"] in found else next(iter(found))
    layers = found[site]
    if texts["other"]:
        theirs = _sites(_read(texts["other"]), 1)
        return _difference(layers, theirs.get(site) or next(iter(theirs.values())), texts["map"])
    heads = sum(layer.one.weights.shape[1] for layer in layers)
    drawn, shape = _thinned(layers, max(2, math.isqrt(_SHOWN // heads)))
    context.report(0.6, gettext_noop("looking at the heads"))
    return Result(
        tables={
            "maps": _table(drawn, site),
            "heads": pa.Table.from_pylist([row for layer in layers for row in _health(layer)]),
        },
        facts={
            "sites": [*found], "site": site, "examples": examples, "shape": shape,
            "modules": {str(layer.number + 1): log_key(layer.one) for layer in layers},
            "doubts": list(dict.fromkeys(said for layer in layers for said in layer.one.doubts)),
        },
    )  # fmt: skip


def _read(data: str) -> AttentionMaps:
    if data.startswith(UPLOAD):
        path = Blobs().path(data.removeprefix(UPLOAD))
        try:
            maps = AttentionMaps.load(path, sums=False)
        except ValueError as error:
            raise ContractError(str(error).replace(path.name, "the file")) from error
        if not len(maps):
            raise ContractError("the file holds no maps")
        return maps
    found = re.fullmatch(r"log:([^@]+)@(\d{1,12})@[^@]*", data)
    if found is None:
        raise ContractError(f"need an uploaded file or a step of a log, got {data[:80]!r}")
    return read_step(log_folder(found[1]), int(found[2]))


def _tokens(text: str) -> list[str]:
    if not text.startswith("["):
        return text.split()
    try:
        return [str(token) for token in json.loads(text)]
    except (ValueError, RecursionError, TypeError) as error:
        raise ContractError(
            f"need tokens with spaces between them, or a list in JSON: {error}"
        ) from error


def _sites(maps: AttentionMaps, example: int) -> dict[str, list[Layer]]:
    """The maps by the names of their modules, whose numbers are left out, and by their shapes."""
    groups: dict[tuple[str, object], list[WatchedMap]] = defaultdict(list)
    for each in maps:
        queries, keys = labels_of(each, example - 1)
        weights = each.weights[example - 1 : example].float()
        own = replace(each, weights=weights, queries=(queries,), keys=(keys,))
        groups[re.sub(r"\d+", "*", each.name) or "(model)", (own.queries, own.keys)].append(own)
    names = [name for name, _ in groups]
    found = {}
    for number, ((name, _), own) in enumerate(groups.items()):
        several = names[: number + 1].count(name) if names.count(name) > 1 else 0
        found[f"{name} ({several})" if several else name] = _layers(own)
    return found


def _layers(maps: Sequence[WatchedMap]) -> list[Layer]:
    """Their numbers are those in their names, where just one of these tells all apart."""
    numbers = [tuple(map(int, re.findall(r"\d+", each.name))) for each in maps]
    columns = [column for column in zip(*numbers, strict=True) if len({*column}) == len(maps)]
    order = columns[0] if columns else range(len(maps))
    if max(order) > _LAST_LAYER:
        order = range(len(maps))
    if len(maps) - 1 > _LAST_LAYER:
        maps = maps[: _LAST_LAYER + 1]
    return [Layer(number, one) for number, one in sorted(zip(order, maps, strict=False))]


def _thinned(layers: Sequence[Layer], most: int) -> tuple[list[Layer], list[int] | None]:
    """The layers with at most so many queries and keys; the shape before, if that was larger."""
    shape = list(layers[0].one.weights.shape[2:])
    if max(shape) <= most:
        return list(layers), None
    return [Layer(number, thinned(one, most)) for number, one in layers], shape


def _table(layers: Sequence[Layer], site: str) -> pa.Table:
    table = maps_table([
        AttentionMap(
            site=Site("pooling", number), weights=one.weights[0], normalised=False,
            query_labels=one.query_labels or (), key_labels=one.key_labels or (),
            signed=one.signed,
        )
        for number, one in layers
    ])  # fmt: skip
    causal = pa.array([is_causal(one.weights[0]) for _, one in layers])
    names = table.column_names
    table = table.set_column(names.index("kind"), "kind", pa.array([site] * len(layers)))
    return table.set_column(names.index("causal"), "causal", causal)


def _health(layer: Layer) -> list[dict[str, object]]:
    weights = layer.one.weights[0].double()
    if (weights < 0).any():
        return []  # these are no shares
    seen = (weights.sum(dim=-1) > 0).all(dim=0)
    names = map_names(layer.number, len(weights))
    if not seen.any():
        return []
    sums = weights[:, seen].sum(dim=-1, keepdim=True)
    shares = weights[:, seen] / sums
    allowed = torch.ones_like(weights[0], dtype=torch.bool)
    allowed = (allowed.tril() if is_causal(weights) else allowed)[seen]
    figures = {
        "entropy": health.relative_entropy(shares, allowed),
        "concentration": health.column_concentration(shares),
        "diagonality": health.diagonality(shares),
        "row_error": health.row_error(weights[:, seen]),
    }
    rows = []
    for head in range(len(weights)):
        own = {name: found[head].item() for name, found in figures.items()}
        # Half precision alone misses the sum by more than a model's own map may.
        error = own["row_error"] if wrong_sum(weights[head]) else 0.0
        nothing = dict.fromkeys(("eos", "padding", "distance"), math.nan)
        said = health.verdicts({**own, **nothing, "row_error": error})
        rows.append({"map": names[head], **own, "verdicts": " ".join(said)})
    return rows


def _difference(layers: Sequence[Layer], theirs: Sequence[Layer], name: str) -> Result:
    if layers[0].one.weights.shape[2:] != theirs[0].one.weights.shape[2:]:
        sizes = [" × ".join(map(str, of[0].one.weights.shape[2:])) for of in (layers, theirs)]
        raise ContractError(
            f"need maps with as many queries and keys as each other, got {sizes[0]} and {sizes[1]}"
        )
    drawn, shape = _thinned(layers, _SUBTRACTED)
    other, _ = _thinned(theirs, _SUBTRACTED)
    (one, labels), (subtracted, their_labels) = (_chosen(of, name) for of in (drawn, other))
    bits = jensen_shannon(one, subtracted)
    known = bits[~bits.isnan()]
    divergence = pa.array(bits.tolist(), pa.float64(), from_pandas=True)
    return Result(
        tables={
            "one": matrix_table(one), "other": matrix_table(subtracted),
            "rows": pa.table({"query": labels[0], "jensen_shannon_bits": divergence}),
        },
        facts={
            "queries": labels[0], "keys": labels[1], "labels_differ": labels != their_labels,
            "mean_divergence": known.mean().item() if len(known) else None,
            "most_different": int(bits.nan_to_num(-1.0).argmax()) if len(known) else None,
            "shape": shape,
        },
    )  # fmt: skip


def _chosen(layers: Sequence[Layer], name: str) -> tuple[torch.Tensor, list[list[str]]]:
    """The map of that name, or the last layer's mean, with its labels."""
    one = layers[-1].one
    head = "mean"
    if name:
        wanted, _, head = name.partition(".")
        found = [layer for layer in layers if layer.number == int(wanted) - 1]
        if not found or (head != "mean" and int(head) > found[0].one.weights.shape[1]):
            raise ContractError(f"one of the two has no map {name}: choose another map")
        one = found[0].one
    weights = one.weights[0].double()
    chosen = weights.mean(dim=0) if head == "mean" else weights[int(head) - 1]
    return chosen, [list(one.query_labels or ()), list(one.key_labels or ())]
