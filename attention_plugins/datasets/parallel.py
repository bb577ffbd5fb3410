"""Sentence pairs from two-column files, their split into training and held-out sources.

The format is that of d2l.ai's ``fra.txt`` and of Tatoeba's exports: one pair a line,
``source<TAB>target``, UTF-8. Further columns, such as Tatoeba's attribution, are passed over.
"""

import hashlib
import io
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.marking import gettext_noop
from attention_plugins.text import normalise, tokenise_clitics

# English sentences to start with, of which every corpus of everyday language has the words.
EVERYDAY = ("i'm home .", "he's tired .", "go .", "i lost .", "would you like a cup of tea ?")
MOST_LINES = 1_000_000
LONGEST_SIDE = 1000

# Two sides of four-byte characters and a generous third column; a longer line is never read whole.
_LONGEST_LINE = 65_536
_LINK = re.compile(r"([0-9]{1,4})([-?p])([0-9]{1,4})\Z")
_TOKENS_TOLD = 16
_AT_ONCE = 2**16  # bytes
_NO_LETTER = re.compile(r"[\W_]+")
_FILE, _PAIR = gettext_noop("the file"), gettext_noop("the pair")  # what messages call them
_SIDES = gettext_noop("source"), gettext_noop("target")
_UNWANTED = ("\0", gettext_noop("a NUL byte")), ("\r", gettext_noop("a carriage return"))


def read_pairs(
    source: Path | bytes | IO[str] | IO[bytes], *, limit: int | None = None, least: int = 2,
    alignments: bool | None = False,
) -> list[SentencePair]:  # fmt: skip
    """The pairs of a two-column file, in its order; empty lines are skipped.

    Args:
        source: a path, the bytes of an upload, or an open file; read line by line.
        limit: stop after so many pairs; None reads all.
        least: how many pairs there must be.
        alignments: read the third column as word links, see :func:`aligned_pair`; else it is
            passed over. None reads it where the first one that is not empty begins with a link.

    Raises:
        ContractError: what is wrong, in which line, and what would be right.
    """
    if limit is not None and limit < 2:
        raise ContractError(f"need 2 <= limit, got limit={limit}")
    pairs: list[SentencePair] = []
    with _opened(source) as (stream, name):
        if limit is None and isinstance(source, Path | bytes):
            _check_length(stream, name)
        for where, line in _lines(stream, name):
            if line.strip():
                first, second, third = _columns(line, where)
                if alignments is None and third.strip():
                    alignments = bool(_LINK.match(third.split()[0]))
                pairs.append(aligned_pair(first, second, third if alignments else "", where))
            if len(pairs) == limit:
                break
    if len(pairs) < least:
        raise ContractError(
            f"need at least 1 sentence pair in {name}, one a line as source<TAB>target; "
            f"found {len(pairs)}"
            if least == 1
            else f"need at least {least} sentence pairs in {name}, one a line as "
            f"source<TAB>target; found {len(pairs)}"
        )
    return pairs


@contextmanager
def _opened(source: Path | bytes | IO) -> Iterator[tuple[IO, str]]:
    """The stream to read and what messages call it; a caller's own stream stays open."""
    if isinstance(source, bytes):
        yield io.BytesIO(source), _FILE
    elif isinstance(source, Path):
        try:
            with source.open("rb") as stream:
                yield stream, source.name
        except OSError as error:
            raise ContractError(f"cannot read {source}: {error.strerror or error}") from error
    else:
        # Below a text stream lie the bytes, whose errors can be placed.
        yield getattr(source, "buffer", source), getattr(source, "name", None) or _FILE


def _check_length(stream: IO[bytes], name: str) -> None:
    """Refuse a file of too many lines before any is read as a pair."""
    lines = 0
    while lines <= MOST_LINES and (chunk := stream.read(_AT_ONCE)):
        lines += chunk.count(b"\n")
    _check_count(lines, name)
    stream.seek(0)


def _check_count(lines: int, name: str) -> None:
    if lines > MOST_LINES:
        raise ContractError(f"{name} has over {MOST_LINES:,} lines; need at most so many")


def _lines(stream: IO, name: str) -> Iterator[tuple[str, str]]:
    """Each line without its end, behind where it stands: ``"line 3 of fra.txt"``."""
    offset = number = 0
    while raw := stream.readline(_LONGEST_LINE):
        number += 1
        where = gettext_noop(f"line {number} of {name}")
        _check_count(number, name)
        # A str may hold lone surrogates, which are no UTF-8 either.
        data = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")
        if len(raw) == _LONGEST_LINE and not data.endswith(b"\n"):
            raise ContractError(
                f"{where} has over {_LONGEST_LINE:,} bytes; need lines that end with LF or CRLF "
                f"and at most {LONGEST_SIDE:,} characters a side"
            )
        line = _text(data, offset, where)
        offset += len(data)
        yield where, line.removeprefix("\ufeff") if number == 1 else line


def _text(data: bytes, offset: int, where: str) -> str:
    try:
        line = data.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise ContractError(
            f"{where} is not UTF-8 at byte {offset + error.start:,} of the file "
            f"(0x{data[error.start]:02x}); save the file as UTF-8"
        ) from error
    for sign, what in _UNWANTED:
        if sign in line:
            raise ContractError(
                f"{where} has {what} in it; need UTF-8 text whose lines end with LF or CRLF"
            )
    return line


def _columns(line: str, where: str) -> tuple[str, str, str]:
    columns = line.split("\t")
    if len(columns) < 2:
        raise ContractError(f"{where} has one column; need source<TAB>target")
    sides = [column.strip() for column in columns[:2]]
    for side, text in zip(_SIDES, sides, strict=True):
        if not text:
            raise ContractError(f"{where} has an empty {side}; need source<TAB>target")
        if len(text) > LONGEST_SIDE:
            raise ContractError(
                f"{where} has a {side} of {len(text):,} characters; need at most {LONGEST_SIDE:,}"
            )
    return sides[0], sides[1], columns[2] if len(columns) > 2 else ""


def aligned_pair(source: str, target: str, links: str, where: str = _PAIR) -> SentencePair:
    """A sentence pair with its word links in Pharaoh format.

    Args:
        links: ``0-0 1-2``: source token 0 stands for target token 0, and 1 for 2, over the
            tokens of :func:`~attention_plugins.text.tokenise_clitics`. ``1?2`` or ``1p2`` is a
            link that is possible only.
        where: what messages call the pair.

    Raises:
        ContractError: something else than links, or one beyond a sentence's tokens.
    """
    sides = dict(zip(_SIDES, (source, target), strict=True))
    found: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    # Most pairs have no links, and cutting a sentence into tokens takes its time.
    tokens = {side: tokenise_clitics(text) for side, text in sides.items()} if links else {}
    for link in links.split():
        parts = _LINK.match(link)
        if not parts:
            raise ContractError(
                f"{where} has {link[:20]!r} in its alignment; need links such as 0-0 1-2"
            )
        ends = int(parts[1]), int(parts[3])
        for end, (side, words) in zip(ends, tokens.items(), strict=True):
            if end >= len(words):
                raise ContractError(
                    f"{where} links {link}, but its {side} has 1 token, numbered from 0: "
                    f"{numbered(words)}"
                    if len(words) == 1
                    else f"{where} links {link}, but its {side} has {len(words)} tokens, "
                    f"numbered from 0: {numbered(words)}"
                )
        found[parts[2] == "-"].append(ends)
    return SentencePair(source, target, tuple(found[True]), tuple(found[False]))


def numbered(tokens: Sequence[str]) -> str:
    """Tokens as links count them: ``0 i, 1 'm, 2 home``; of many the first and the last ones."""
    told = [f"{number} {token}" for number, token in enumerate(tokens)]
    if len(told) > _TOKENS_TOLD:
        half = _TOKENS_TOLD // 2
        told = [*told[:half], "…", *told[-half:]]
    return ", ".join(told)


def whole(pair: SentencePair) -> str:
    """The sentence that a source and what continues it are together."""
    return f"{pair.source} {pair.target}"


def split_by_source(
    pairs: Iterable[SentencePair], *, held_out: int, seed: int, continued: bool = False
) -> tuple[list[SentencePair], list[SentencePair]]:
    """Training pairs and held-out pairs, without one source sentence on both sides.

    So many sources are held out at random. Sources that differ only in case, spaces or punctuation
    count as one. The same sources give the same split, in whatever order the pairs come; both
    sides keep the order given. Where targets continue their sources, ``continued``, it is whole
    sentences that count. ContractError: held_out leaves no source to train on.
    """
    keyed = [(source_key(whole(pair) if continued else pair.source), pair) for pair in pairs]
    sources = sorted({key for key, _ in keyed})
    if not 0 <= held_out < len(sources):
        raise ContractError(
            f"need 0 <= held_out < {len(sources)}, the number of different sources, "
            f"got held_out={held_out}"
        )
    chosen = set(random.Random(seed).sample(sources, held_out))
    training = [pair for key, pair in keyed if key not in chosen]
    return training, [pair for key, pair in keyed if key in chosen]


def source_key(text: str) -> str:
    """What sentences have in common that count as one source: letters and digits, if any."""
    text = normalise(text)
    return _NO_LETTER.sub("", text) or text


def references(pairs: Iterable[SentencePair]) -> dict[str, list[str]]:
    """Every target of each source, once each, in order of first occurrence.

    What differs only in case and kinds of space counts as one, written as it came first.
    """
    found: dict[str, dict[str, str]] = {}
    written: dict[str, str] = {}
    for pair in pairs:
        source = written.setdefault(normalise(pair.source), pair.source)
        targets = found.setdefault(source, {})
        targets.setdefault(normalise(pair.target), pair.target)
    return {source: list(targets.values()) for source, targets in found.items()}


def fingerprint(pairs: Iterable[SentencePair]) -> str:
    """SHA-256, in hexadecimal, of the normalised pairs in their order: a data set's identity."""
    digest = hashlib.sha256()
    for pair in pairs:
        digest.update(f"{normalise(pair.source)}\t{normalise(pair.target)}\n".encode())
    return digest.hexdigest()
