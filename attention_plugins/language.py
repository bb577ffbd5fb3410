"""What a language model says of a text: the candidates of a place, and the loss of each token."""

from dataclasses import dataclass
from typing import NamedTuple

from attention_plugins.record import AttentionMap, Site

MOST_READ = 1024  # tokens of a text with its maps


class Candidates(NamedTuple):
    """The likeliest tokens of a place, best first.

    Args:
        place: how many tokens of the reading stand before it.
        tokens, log_probabilities: of each, in nats.
    """

    place: int
    tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A text and what a model wrote after it, as the model reads both.

    Args:
        text: what it wrote.
        tokens: of the text, then those that it wrote.
        log_probabilities: of each token in nats, None of one that the model is given: of a
            decoder given those before it, of an encoder given all others while it is masked.
        written: how many tokens the model wrote.
        candidates: of what follows the text, or of each mask in it.
        unknown: words that are not in the vocabulary.
        maps: of every site that was asked for, in blocks of up to ``block`` tokens, see
            :class:`~attention_plugins.overview.BlockRecorder`; ``length`` rows without these.
        stopped_at: how many tokens the model reads at most, where that ended its text; else 0.
    """

    text: str
    tokens: tuple[str, ...]
    log_probabilities: tuple[float | None, ...]
    written: int
    candidates: tuple[Candidates, ...]
    unknown: tuple[str, ...]
    maps: tuple[AttentionMap, ...]
    block: int
    length: int
    stopped_at: int = 0

    @property
    def losses(self) -> tuple[float, ...]:
        """−log p in nats of every token that has one."""
        return tuple(-one for one in self.log_probabilities if one is not None)


class Wanted(NamedTuple):
    """What is wanted of a reading.

    Args:
        words: how many tokens the model goes on with, the likeliest each time.
        top: how many candidates a place has.
        most: rows and columns of a map, at most.
        only: the site whose maps are kept; all where None.
    """

    words: int = 0
    top: int = 10
    most: int = 64
    only: Site | None = None
