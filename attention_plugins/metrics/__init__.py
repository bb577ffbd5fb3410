"""The built-in metrics, registered by the same hook as anybody's."""

from __future__ import annotations

from collections.abc import Iterator

from attention_plugins.contract import MetricSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.metrics.bleu import BLEU
from attention_plugins.metrics.chrf import CHRF
from attention_plugins.metrics.matches import EXACT_MATCH, TOKEN_ACCURACY


@hookimpl
def attention_metrics() -> Iterator[MetricSpec]:
    """The metrics, in the order in which pages list them."""
    yield from (BLEU, CHRF, EXACT_MATCH, TOKEN_ACCURACY)
