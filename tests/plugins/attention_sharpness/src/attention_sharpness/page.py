"""What is seen: a slider, a chart, and the link that says where the slider stands."""

from dataclasses import dataclass

import altair as alt

from dashboard.language import gettext
from dashboard.links.fields import Settings
from dashboard.links.link import Link
from dashboard.records.parameter import defaults
from dashboard.records.request import Pairs, Request
from dashboard.ui import charts, results, shown
from dashboard.ui.fields import draw_settings
from dashboard.ui.page import Page


@dataclass(frozen=True, kw_only=True)
class View:
    settings: Pairs = ()  # a value for each of OPTIONS


def options(catalogue):
    return catalogue.options["sharpness"]


SETTINGS = Settings(name="settings", parameters=lambda view, catalogue: options(catalogue))


def requests(view, catalogue):
    yield Request.make("sharpness", options=dict(view.settings))


def controls(session):
    draw_settings(session, SETTINGS)
    return shown.container()


def draw(result):
    bars = alt.Chart(result.tables["weights"].to_pandas()).mark_bar().encode(x="key:O", y="weight")
    charts.show(f"sharpness {result.digest}", lambda: bars, gettext("The weight of each key"))


def draw_results(session, place):
    (request,) = requests(session.view, session.catalogue)
    with place:
        results.results(session.jobs, request, draw, 300, "sharpness-result", grows=True)


PAGE = Page(
    name="sharpness",
    title="Sharpness",
    explanation="The lower the temperature, the more one key gets.",
    link=Link(default=lambda catalogue: View(settings=defaults(options(catalogue))),
              fields=(SETTINGS,)),
    controls=controls,
    requests=requests,
    results=draw_results,
)  # fmt: skip
