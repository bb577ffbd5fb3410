"""What follows a slider, held to what its page draws at each of the positions."""

from __future__ import annotations

import gzip
import json
from functools import cache
from types import SimpleNamespace

from dashboard.jobs.tasks import perform
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.ui import live


class Context:
    timed = False

    def report(self, fraction, note="", facts=None):
        """As a task's context."""

    def stopped(self):
        return False


@cache
def catalogue():
    return Catalogue.of(perform(Request.make("catalogue"), Context()).facts)


@cache
def computed(request):
    return Result.from_bytes(perform(request, Context()).to_bytes())


def session(page, link, **values):
    """What a page needs of a session to name its sliders, at the values of its link."""
    view, problems = link.parse({name: [text] for name, text in values.items()}, catalogue())
    assert not problems
    key = lambda *parts: "-".join((page, *filter(None, parts)))  # noqa: E731
    return SimpleNamespace(view=view, catalogue=catalogue(), key=key)


def frames(one):
    """What the browser gets of a slider."""
    asked = [each for at in one.slider.positions for each in one.slider.requests(at).values()]
    return json.loads(gzip.decompress(live._bytes(one, {each: computed(each) for each in asked})))


def steps(spec):
    """Every value that a slider can show."""
    low, high = spec.bounds
    step = spec.step or 1
    return [round(low + one * step, 9) for one in range(round((high - low) / step) + 1)]


def check(one, drawn, said):
    """Hold frames to what the page draws and says, by a position: every position has one.

    ``drawn`` and ``said`` give, at a value, the charts' :class:`Prepared` and texts by names. Of a
    chart that is the same everywhere there are no frames.
    """
    held, moved = frames(one), set()
    assert held["positions"] == steps(one.slider.spec)  # so nothing is between two frames
    first = drawn(held["positions"][0])
    for number, at in enumerate(held["positions"]):
        exact = drawn(at)
        for chart, prepared in exact.items():
            assert prepared.shape == first[chart].shape, "another specification"
            tables = prepared.sent
            assert {n: len(t) for n, t in tables.items()} == {
                n: len(t) for n, t in first[chart].sent.items()
            }
            if chart not in held["tables"]:
                assert tables == first[chart].sent, chart
                continue
            for table, whole in tables.items():
                for name in whole.column_names:
                    column = held["tables"][chart].get(table, {}).get(name)
                    there = whole[name].to_pylist()
                    if column is None:
                        assert there == first[chart].sent[table][name].to_pylist(), (table, name)
                    else:
                        moved.add(chart)
                        assert column[number] == there, (chart, table, name, at)
        assert {name: texts[number] for name, texts in held["words"].items()} == said(at)
    assert moved == {*held["tables"]}
    return held
