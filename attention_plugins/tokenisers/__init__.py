"""The built-in tokenisers, registered by the same hook as anybody's."""

from collections.abc import Iterator

from attention_plugins.contract import TokeniserSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.tokenisers.pieces import PIECES
from attention_plugins.tokenisers.words import CHARACTERS, CLITICS, SPACES, WORDS


@hookimpl
def attention_tokenisers() -> Iterator[TokeniserSpec]:
    """The tokenisers, in the order in which pages list them."""
    yield from (WORDS, CLITICS, PIECES, CHARACTERS, SPACES)
