"""Language models: the next words, generated text with its maps, and what each token costs."""

from collections.abc import Iterator
from typing import NamedTuple

import streamlit as st

from dashboard.charts import map_names, top_weight, usual_map
from dashboard.charts.theme import LEAST
from dashboard.features.language_models import panel as drawn
from dashboard.features.language_models import view as language
from dashboard.features.language_models.view import LanguageModels
from dashboard.language import gettext, gettext_noop
from dashboard.links.panels import selected_maps
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.records.text import LONGEST_LINE, LONGEST_PASSAGE, lines
from dashboard.ui import charts, checkpoints, export, layout, maps, results, shown
from dashboard.ui.fields import draw_choice, draw_device, draw_setting, draw_text
from dashboard.ui.jobs import Jobs
from dashboard.ui.navigation import link_to
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import place

_SAID = beside(__file__, "words.toml")["page"]
_HEIGHT = 640  # px, of a panel to come
_WIDTH, _SWITCH_WIDTH = 190, 330  # px
_SCALES = {"linear": gettext_noop("linear"), "log": gettext_noop("logarithmic")}
_ADOPT = "python -m attention_plugins adopt FOLDER_OR_NAME"


class _Places(NamedTuple):
    """Where on the page things go that come after the controls were read."""

    legend: shown.Place
    panels: dict[str, checkpoints.PanelPlaces]
    closer: shown.Place


def _nothing(catalogue: Catalogue) -> bool:
    """How to come by a language model, where there is none; whether that is so."""
    if language.models_of(catalogue):
        return False
    title, text = gettext("No language model yet"), gettext(_SAID["adopt"])
    return checkpoints.say_how(
        "no-language-model", ":material/psychology_alt:", title, text, _ADOPT
    )


def _controls(session: Session[LanguageModels]) -> _Places:
    draw_text(session, language.TEXT)
    sentences = language.examples_of(session.view, session.catalogue)
    checkpoints.draw_examples(session, language.TEXT, sentences=sentences)
    with layout.row("language-models-settings"):
        draw_setting(session, language.WORDS, width=_WIDTH)
        draw_device(session, language.DEVICE)
        draw_choice(
            session, language.SCALE, titles=lambda name: gettext(_SCALES[name]), width=_WIDTH,
        )  # fmt: skip
        draw_setting(session, language.LEAVE_OUT_FIRST, width=_SWITCH_WIDTH)
        legend = shown.container(width=_WIDTH)
    offered = language.models_of(session.catalogue)
    places = checkpoints.draw_panels(
        session, formulas=False, without=language.without, offered=offered
    )
    _prompts(session, places)
    checkpoints.add_panel(session, offered)
    return _Places(legend, places, shown.container())


def _prompts(session: Session[LanguageModels], places: dict[str, checkpoints.PanelPlaces]) -> None:
    """The prompt of each panel, where there are several to compare."""
    view = session.view
    if len(view.panels) < 2:
        session.update(prompts=())
        return
    held = dict(zip(view.by_letter, view.prompts, strict=False))
    own = {}
    for letter, panel in places.items():
        with panel.result:
            given = st.text_area(
                gettext("Prompt of panel {letter}", letter=letter),
                key=place(session.key(letter, "text"), held.get(letter, ""), session.fresh),
                placeholder=gettext("the prompt above"), max_chars=LONGEST_PASSAGE,
                height="content",
            )  # fmt: skip
        own[letter] = lines(given, LONGEST_PASSAGE)
    session.update(prompts=language.with_prompts(view, own).prompts)


def _all(view: LanguageModels, catalogue: Catalogue, jobs: Jobs) -> Iterator[tuple[str, Request]]:
    """The chosen map of each panel whose maps are only seen in parts, by the panel's letter."""
    known, prompts = language.models_of(catalogue), language.prompts_of(view)
    for letter, asked in language.requests(view, catalogue).items():
        event = jobs.final(asked)
        if event and event.result and event.result.facts["block"] > 1:
            checkpoint = known[view.by_letter[letter]]
            found = maps.maps_of(event.result, checkpoint.kind)
            chosen = selected_maps(view)[letter]
            chosen = chosen if chosen in map_names(found) else usual_map(found)
            yield letter, language.request(view, checkpoint, prompts[letter], chosen)


def _scale(view: LanguageModels, done: list[Result]) -> maps.Scale:
    """The colour scale that all panels share."""
    end = 1.0
    if view.leave_out_first:
        frames = [frame for one in done for frame in maps.frames(one)]
        end = max(10 * LEAST, top_weight([frame.weights[..., 1:] for frame in frames]))
    return maps.Scale(end, view.scale == "log", maps.are_signed(done))


def _results(session: Session[LanguageModels], places: _Places) -> None:
    view, catalogue = session.view, session.catalogue
    asked, known = language.requests(view, catalogue), language.models_of(catalogue)
    whole = dict(_all(view, catalogue, session.jobs))
    scale = _scale(view, session.jobs.done())
    with places.legend:
        charts.legend(scale.vmax, log=scale.log, signed=scale.signed)
    for letter, name in view.by_letter.items():
        if letter in asked:
            title = layout.checkpoint_title(name, known[name], catalogue)
            link = language.LINK.format(language.alone(view, letter), catalogue)
            with places.panels[letter].export:
                export.panel_menu(
                    export.Asked(asked[letter], link), session.jobs.final(asked[letter]), letter,
                    gettext("Language model, {model}", model=title), vmax=scale.vmax,
                )  # fmt: skip
        with places.panels[letter].result:
            if name not in known:
                sentence = gettext(_SAID["absent"], name=name)
                results.absent(sentence, _HEIGHT, f"panel-{letter}-result")
                continue
            _panel(session, letter, asked.get(letter), whole.get(letter), scale)
            checkpoints.draw_origin(known[name])
    with places.closer:
        _closer(session)


def _panel(
    session: Session[LanguageModels], letter: str, asked: Request | None, whole: Request | None,
    scale: maps.Scale,
) -> None:  # fmt: skip
    if asked is None:
        shown.caption(gettext("The prompt is empty: write one, and the next words appear here."))
        return

    def draw_whole() -> None:
        if whole:
            results.results(
                session.jobs, whole, lambda result: drawn.whole_map(letter, result, scale),
                _HEIGHT, f"panel-{letter}-whole", grows=True,
            )  # fmt: skip

    results.results(
        session.jobs, asked,
        lambda result: drawn.reading(session, letter, result, scale, draw_whole),
        _HEIGHT, f"panel-{letter}-result", grows=True,
    )  # fmt: skip


def _closer(session: Session[LanguageModels]) -> None:
    """The way to *Heads*, which reads a line."""
    known, prompts = language.models_of(session.catalogue), language.prompts_of(session.view)
    with layout.row("language-models-closer"):
        for letter, name in session.view.by_letter.items():
            prompt = prompts[letter]
            if name in known and prompt and len(prompt) <= LONGEST_LINE:
                query = {"a": name, "kind": known[name].kind, "text": prompt}
                said = gettext("What does each head of panel {letter} do?", letter=letter)
                link_to("heads", query, said, "tune")


PAGE = Page(
    name="language_models", **beside(__file__, "words.toml")["heading"], link=language.LINK,
    controls=_controls,
    requests=lambda view, catalogue: language.requests(view, catalogue).values(),
    follow_ups=lambda *given: [asked for _, asked in _all(*given)],
    work=language.work, results=_results, empty=_nothing, panels=1, height=_HEIGHT,
)  # fmt: skip
