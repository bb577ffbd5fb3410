"""What follows a slider: each frame is what its page draws there, and between them it is near."""

import gzip
import json
from itertools import pairwise

import numpy as np

from dashboard.charts import live as charts
from dashboard.jobs import tasks
from dashboard.records import sweep
from dashboard.ui import live


class Context:
    """Of a task that nobody watches."""

    timed = False

    def report(self, fraction, note="", facts=None):
        """As a task's context."""

    def stopped(self):
        return False


def frames(followers):
    """As the browser gets them."""
    request = live._sweep(followers.slider)
    assert request, "no results are asked for"
    swept = sweep.results(request, tasks.perform(request, Context()))
    return json.loads(gzip.decompress(live._bytes(followers, swept)))


def exact(followers, at):
    """Tables of charts, and words, of the results that a page asks for at a position."""
    asked = followers.slider.requests(at)
    found = {name: tasks.perform(each, Context()) for name, each in asked.items()}
    drawn = {name: make(at, found) for name, make in followers.charts.items()}
    return drawn, {name: make(at, found) for name, make in followers.words.items()}


def check(followers, positions=None):
    """Every frame is exact, column by column; the frames."""
    got = frames(followers)
    assert got["positions"] == sweep.positions(followers.slider.spec)
    for number, at in enumerate(got["positions"]):
        if positions and number % positions:
            continue
        drawn, words = exact(followers, at)
        assert {name: texts[number] for name, texts in got["words"].items()} == words
        for chart, tables in got["tables"].items():
            wanted = {
                table: {one: drawn[chart].sent[table][one].to_pylist() for one in columns}
                for table, columns in tables.items()
            }
            for table, columns in tables.items():
                for column, values in columns.items():
                    there = wanted[table][column]
                    there = there[0] if column in charts.PICTURES else there
                    assert values[number] == there, (chart, table, column, at)
    return got


def between(followers, got, chart, table, column):
    """The largest error half way between two frames, as a share of what all frames span."""
    held = np.array(got["tables"][chart][table][column], float)
    worst, at = 0.0, got["positions"]
    for number, (low, high) in enumerate(pairwise(at)):
        middle = float(np.sqrt(low * high) if got["wide"] else (low + high) / 2)
        drawn, _ = exact(followers, middle)
        near = held[number : number + 2].mean(axis=0)
        error = np.abs(near - np.array(drawn[chart].sent[table][column].to_pylist(), float)).max()
        worst = max(worst, float(error))
    return worst / float(np.ptp(held))
