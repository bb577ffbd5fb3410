"""The built-in data sets, registered by the same hook as anybody's."""

from collections.abc import Iterator

from attention_plugins.contract import DatasetSpec
from attention_plugins.datasets.own import own_corpora
from attention_plugins.datasets.phrasebook import BEGINNINGS, PHRASEBOOK
from attention_plugins.datasets.regression import PROBLEMS
from attention_plugins.datasets.symbols import COPY, RECALL, REVERSE, SORT, TAGGING
from attention_plugins.datasets.tatoeba import TATOEBA
from attention_plugins.hookspecs import hookimpl


@hookimpl
def attention_datasets() -> Iterator[DatasetSpec]:
    """The data sets, in the order in which pages list them; the user's own come last."""
    yield from (*PROBLEMS, PHRASEBOOK, TATOEBA, COPY, REVERSE, SORT, RECALL, TAGGING, BEGINNINGS)
    yield from own_corpora()
