"""Sliders whose charts and words follow them while they move; see :mod:`dashboard.charts.live`.

Nothing is computed before a pointer or the focus comes near a slider: then the browser asks for
its frames by an address that only this server can have made, and that it has given to a session.
A worker computes the results of all positions, once for everybody who sees the same.
"""

import asyncio
import gzip
import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import streamlit as st
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response
from starlette.routing import Route
from streamlit.components.v2 import component
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard import language
from dashboard.charts import live
from dashboard.charts.template import Prepared
from dashboard.links.fields import Settings
from dashboard.links.link import View
from dashboard.owners import signature
from dashboard.records import sweep
from dashboard.records.beside import read_beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, pairs
from dashboard.records.request import Request, Result, Scalar
from dashboard.ui import shown
from dashboard.ui.session import Session
from dashboard.ui.speaking import spoken_now
from dashboard.ui.workbench import workbench

ROUTE = "frames"
_OFFERS, _KEPT = 2_000, 100  # addresses that are known, and frames that are kept
_MOST = 2**20  # bytes of frames, compressed: without pictures and texts they are few
_MOST_SHRUNK = 5  # times: frames shrink by no more, so that larger ones need not be tried
_LOOKS = 0.02  # seconds between two looks at a sweep
_LIMIT = 30.0  # seconds that it may run
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")  # what Streamlit replaces in the class of a key

_bridge = component("attention_workbench_live", js=read_beside(__file__, "live.js"))
_words = component(
    "attention_workbench_words", html="<p></p>", js=read_beside(__file__, "live_words.js"),
    css=read_beside(__file__, "live_words.css"),
)  # fmt: skip

Found = Mapping[str, Result]  # by the name of its request


@dataclass(frozen=True)
class Slider:
    """A slider that results follow.

    Args:
        key: its widget's.
        spec: what it sets; a number.
        at: where it stands.
        requests: what its page asks for at a position, by names of the page's own; nothing where
            results that are already there have all that its frames are made of.
        most: positions that have a frame.
        more: all that the frames are of besides, such as the digest of such a result.
    """

    key: str
    spec: Parameter
    at: float
    requests: Callable[[Scalar], Mapping[str, Request]]
    most: int = sweep.MOST
    more: str = ""

    @property
    def positions(self) -> list[Scalar]:
        """Those that have a frame."""
        return sweep.positions(self.spec, self.most)

    @cached_property
    def of(self) -> str:
        """What its frames are of: all that the page asks for, wherever the slider stands."""
        asked = self.requests(self.spec.default).values()
        keys = [self.key, self.more, language.current(), *(request.key for request in asked)]
        return hashlib.sha256(" ".join(keys).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The frames of a slider, not made yet.

    Args:
        client: the session that was given their address.
        sweep: what a worker must compute before; None where all results are there.
        make: their bytes, of its results; on any thread.
    """

    sweep: Callable[[], Request | None]
    make: Callable[[Mapping[Request, Result]], bytes]
    client: str


class Offers:
    """Frames by their address, and those that were made; the oldest are forgotten."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offers: OrderedDict[str, Offer] = OrderedDict()
        self._made: OrderedDict[str, asyncio.Future[bytes]] = OrderedDict()

    def add(self, address: str, offer: Offer) -> None:
        """Let frames be asked for."""
        with self._lock:
            self._offers[address] = offer
            self._offers.move_to_end(address)
            if len(self._offers) > _OFFERS:
                self._offers.popitem(last=False)

    async def frames(self, address: str) -> bytes:
        """The frames, compressed; whoever asks meanwhile waits for the same.

        Raises:
            KeyError: nobody was given this address, or too long ago.
            ValueError: a worker could not make them.
        """
        with self._lock:
            offer, made = self._offers[address], self._made.get(address)
            if made is None:
                made = self._made[address] = asyncio.ensure_future(_made(offer))
                made.add_done_callback(partial(self._ended, address))
                if len(self._made) > _KEPT:
                    self._made.popitem(last=False)
        return await asyncio.shield(made)

    def _ended(self, address: str, made: asyncio.Future[bytes]) -> None:
        if made.cancelled() or made.exception():
            with self._lock:
                self._made.pop(address, None)


async def _made(offer: Offer) -> bytes:
    request = await asyncio.to_thread(offer.sweep)
    if request is None:
        return await asyncio.to_thread(offer.make, {})
    backend = workbench().backend
    job = backend.submit(request, client=offer.client, time_limit=_LIMIT)
    while (event := backend.wait(job, 0.0)) is None:
        await asyncio.sleep(_LOOKS)
    if event.result is None:
        raise ValueError(event.note)
    return await asyncio.to_thread(offer.make, sweep.results(request, event.result))


@st.cache_resource(show_spinner=False)
def offers() -> Offers:
    """Those of this process."""
    return Offers()


class Followers(NamedTuple):
    """What follows a slider: charts and words by their names, made of a position and its results.

    ``more`` is all that they follow from besides, such as the digests of other results.
    """

    slider: Slider
    charts: Mapping[str, Callable[[Scalar, Found], Prepared]]
    words: Mapping[str, Callable[[Scalar, Found], str]] = MappingProxyType({})
    more: str = ""


def follow(session: Session[Any], found: Iterable[Followers]) -> None:
    """Offer the frames of sliders to the browser; of none that costs more than a link may."""
    context = get_script_run_ctx()
    client, known = context.session_id if context else "", {}
    for one in found:
        slider, asked = one.slider, one.slider.requests(one.slider.spec.default)
        if sum(map(session.jobs.work, asked.values())) * slider.most > session.jobs.free:
            continue
        names = f"{[*one.charts]} {[*one.words]} {one.more}"
        signed = signature(f"frames {slider.of} {workbench().generation} {names}")
        address = hashlib.sha256(signed.encode()).hexdigest()[:32]
        make = spoken_now(partial(_bytes, one))
        offer = Offer(client=client, make=make, sweep=partial(_sweep, slider))
        offers().add(address, offer)
        noted = shown.Slider(
            *slider.spec.bounds, sweep.step_of(slider.spec), slider.at, slider.of,
            frames=lambda offer=offer: asyncio.run(_made(offer)),
        )  # fmt: skip
        shown.slider(slider.key, noted)
        known[_UNSAFE.sub("-", slider.key)] = {
            "address": f"{ROUTE}/{address}", "of": slider.of, "at": slider.at,
        }  # fmt: skip
    _bridge(key="live", data=known, height="content")


def _sweep(slider: Slider) -> Request | None:
    asked = [each for at in slider.positions for each in slider.requests(at).values()]
    return sweep.sweep(asked) if asked else None


def _bytes(one: Followers, results: Mapping[Request, Result]) -> bytes:
    """The frames as ``live.js`` reads them; without texts, then pictures, where they are large."""
    at = one.slider.positions
    found = [{name: results[each] for name, each in one.slider.requests(value).items()}
             for value in at]  # fmt: skip
    frames = {"positions": at, "wide": sweep.is_wide(one.slider.spec)}
    frames["words"] = {
        name: [make(value, each) for value, each in zip(at, found, strict=True)]
        for name, make in one.words.items()
    }
    tables = {}
    for name, make in one.charts.items():
        drawn = [make(value, each) for value, each in zip(at, found, strict=True)]
        if moved := live.frames([each.sent for each in drawn], drawn[0].live):
            tables[name] = moved
    for texts, pictures in ((True, True), (False, True), (False, False)):
        frames["tables"] = live.kept(tables, texts=texts, pictures=pictures)
        text = json.dumps(frames, separators=(",", ":")).encode()
        if len(text) <= _MOST_SHRUNK * _MOST and len(made := gzip.compress(text, 4)) <= _MOST:
            break
    else:
        raise ValueError(f"need frames of at most {_MOST:,} bytes, got {len(text):,}")
    return made


def standing(*sliders: Iterable[Slider]) -> dict[str, float]:
    """Where sliders stand, by what their frames are of."""
    return {one.of: one.at for each in sliders for one in each}


def of_settings(
    session: Session[View], field: Settings[View],
    requests: Callable[[View, Catalogue], Mapping[str, Request]],
    names: Iterable[str], **more: Any,
) -> dict[str, Slider]:  # fmt: skip
    """The sliders of some settings of a view; ``more`` as :class:`Slider` has it."""
    view, catalogue, held = session.view, session.catalogue, dict(field.of(session.view))

    def moved(name: str, value: Scalar) -> Mapping[str, Request]:
        return requests(replace(view, **{field.name: pairs({**held, name: value})}), catalogue)

    specs = {spec.name: spec for spec in field.parameters(view, catalogue)}
    keys = {name: session.key(field.owner(view), name) for name in names}
    return {
        name: Slider(key, specs[name], float(held[name]), partial(moved, name), **more)
        for name, key in keys.items()
    }


def words(
    name: str, text: str, sliders: Iterable[Slider],
    kind: Literal["text", "caption", "markdown", "latex"] = "text",
) -> None:  # fmt: skip
    """A sentence that follows these sliders under that name.

    Of Markdown it may have bold words, of LaTeX matrices and signs.
    """
    told = {"text": text, "name": name, "sliders": standing(sliders), "kind": kind}
    _words(key=f"live-{name}", data=told, height="content")
    shown.note_text(text, kind, follows=name)


async def answer(request: HTTPRequest) -> Response:
    """The frames of an address; they never change, so browsers and proxies may keep them."""
    try:
        held = await offers().frames(request.path_params["address"])
    except KeyError:
        return Response("No such frames.", status_code=404, media_type="text/plain")
    except ValueError as error:
        return Response(str(error), status_code=503, media_type="text/plain")
    kept = {"cache-control": "public, max-age=31536000, immutable", "content-encoding": "gzip"}
    return Response(held, headers=kept, media_type="application/json")


def routes() -> list[Route]:
    """Where the frames are."""
    return [Route(f"/{ROUTE}/{{address:str}}", answer, methods=["GET"])]
