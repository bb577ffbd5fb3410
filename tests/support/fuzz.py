"""Inputs that strangers might make up: texts, JSON, altered values and damaged bytes."""

from __future__ import annotations

import copy

from hypothesis import strategies as st

TEXTS = st.text(st.characters(), max_size=60) | st.sampled_from(
    ["../../etc/passwd", "a/../../b", "\x00", "\ud800", "\u202e", "<img src=x>", "$x$", "nan",
     "1e999", "-1", "9" * 400, "٣", "CON", "a" * 5_000, "upload:../x", "{}", "[]"]
)  # fmt: skip
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
JSON = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
)


def places(value, path=()):
    """The path to every value in nested objects and lists."""
    yield path
    inner = enumerate(value) if isinstance(value, list) else ()
    for name, each in value.items() if isinstance(value, dict) else inner:
        yield from places(each, (*path, name))


@st.composite
def altered(draw, value):
    """A copy of a JSON value with up to three places replaced, renamed or taken away."""
    held = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from([path for path in places(held) if path]))
        inside = held
        for name in path:
            inside = inside[name]
        if draw(st.booleans()) and draw(st.booleans()):
            del inside[last]
        else:
            inside[last] = draw(JSON)
        if not held:
            break
    return held


@st.composite
def damaged(draw, data):
    """Bytes with a few of them changed, cut out or put in."""
    made = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(made)))
        until = at + draw(st.integers(0, 9))
        made[at:until] = draw(st.binary(max_size=9))
    return bytes(made)
