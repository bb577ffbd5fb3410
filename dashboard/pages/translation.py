"""Translation: one sentence through up to four trained models, and where each of them looked."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard.controls import choose, knob, place
from dashboard.pages import differences, export, figures, heads, parts
from dashboard.pages.translation_panel import (
    add_panel,
    choose_panels,
    examples,
    kind_control,
    nothing_trained,
    origin,
    title_of,
    translation,
)
from dashboard.runs.differences_link import Differences, format_differences
from dashboard.runs.heads_link import Heads, format_heads
from dashboard.runs.link_parts import LETTERS
from dashboard.runs.offers import Catalogue
from dashboard.runs.reader import LONGEST_TEXT, tidy
from dashboard.runs.request import Request
from dashboard.runs.translation_link import (
    KINDS,
    SENTENCE,
    Translation,
    beam_knob,
    default_translation,
    format_translation,
    parse_translation,
    resolve,
    translation_request,
    untrained,
)
from dashboard.state import Visit, read_link, visit, write_link

_USUAL_PANELS = 3
_CHOICE_WIDTH, _SLIDER_WIDTH = 170, 150  # px


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Translation",
        "English in, French out. Before every French word the model looks back at the sentence: "
        "a row of the map shows where.",
    )
    catalogue = parts.catalogue_or_wait(
        _USUAL_PANELS, figures.translation_height(SENTENCE, (), KINDS[0])
    )
    if catalogue is None:
        return
    if not catalogue.checkpoints:
        parts.actions(buttons, {}, catalogue)
        nothing_trained()
        return
    here = visit("translation")
    read_link(here, catalogue, parse_translation, format_translation)
    problems = st.empty()
    view = _sentence(here, catalogue)
    kinds = st.container(gap="xsmall")
    slots, panels = choose_panels(here, catalogue, view.corpus)
    add_panel(here, catalogue, view.corpus)
    view = replace(view, panels=panels)
    here.settle(view)
    link = format_translation(view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)
    found = {
        letter: resolve(catalogue, view.corpus, panel)
        for letter, panel in zip(LETTERS, panels, strict=False)
    }
    requests = {
        letter: translation_request(view, checkpoint)
        for letter, checkpoint in found.items()
        if checkpoint and view.text
    }
    here.jobs.want(requests.values())
    here.jobs.wait(parts.PATIENCE)
    with kinds:
        kind_control(here, here.jobs.done())
    height = figures.translation_height(view.target or view.text, here.jobs.done(), view.kind)
    for letter, slot, panel in zip(LETTERS, slots, panels, strict=False):
        if letter in requests:
            with slot.export:
                _export(here, catalogue, letter, panel, requests[letter])
        with slot.result:
            if found[letter] is None:
                sentence = untrained(catalogue, view.corpus, panel)
                parts.absent(sentence, height, f"panel-{letter}-result")
            else:
                _result(here, letter, requests.get(letter), height)
                st.caption(origin(found[letter]))
    if panels:
        _closer(catalogue, view)


def _closer(catalogue: Catalogue, view: Translation) -> None:
    """The ways to pages that look closer at the same sentence."""
    same = {"corpus": view.corpus, "text": view.text, "target": view.target}
    between = Differences(panels=view.panels, kind=view.kind, spots=view.spots, **same)
    first = Heads(checkpoint=view.panels[0], kind=view.kind, **same)
    ways = (
        (differences.show, "differences", "Where do they differ?", "compare_arrows",
         format_differences(between, catalogue)),
        (heads.show, "heads", "What is each head of panel a worth?", "tune",
         format_heads(first, catalogue)),
    )  # fmt: skip
    with parts.row("translation-closer"):
        for page, path, label, icon, link in ways:
            st.page_link(
                st.Page(page, title=path.capitalize(), url_path=path),
                label=label, icon=f":material/{icon}:", query_params=link,
            )  # fmt: skip


def _export(here: Visit, catalogue: Catalogue, letter: str, panel: str, request: Request) -> None:
    view: Translation = here.view
    title = title_of(catalogue, resolve(catalogue, view.corpus, panel), panel)
    alone = replace(view, panels=(panel,), spots=())
    export.panel_menu(
        request, here.jobs.final(request), letter, f"Translation, {title}",
        format_translation(alone, catalogue), vmax=1.0,
    )  # fmt: skip


def _sentence(here: Visit, catalogue: Catalogue) -> Translation:
    """What to translate and how: the rows above the panels."""
    view: Translation = here.view
    with parts.row("translation-sentence"):
        text = st.text_input(
            "English sentence",
            key=place("translation-text", view.text, here.fresh),
            max_chars=LONGEST_TEXT,
            placeholder="A sentence to translate",
        )
        target = st.text_input(
            "Force this translation",
            key=place("translation-target", view.target, here.fresh),
            max_chars=LONGEST_TEXT,
            placeholder="optional: French words, the same in every panel",
            help="The models then say nothing of their own: each tells how likely it finds these "
            "words, and where it looks while it reads them.",
        )
        corpora = catalogue.corpora()
        corpus = view.corpus
        if len(corpora) > 1:
            corpus = choose(
                "Trained on", corpora, view.corpus, "translation-corpus", here.fresh,
                width=_CHOICE_WIDTH,
            )  # fmt: skip
        beam = knob(
            beam_knob(catalogue), view.beam, "translation-beam", here.fresh, width=_SLIDER_WIDTH
        )
        device = parts.device(catalogue, view.device, "translation-device", here.fresh)
    pills, scale = st.columns([5, 1], vertical_alignment="center", gap="medium")
    examples(pills, here, text)
    with scale:
        figures.legend(1.0)
    if corpus != view.corpus:
        here.change(default_translation(catalogue, corpus))
    return replace(
        here.view, text=tidy(text), target=tidy(target), corpus=corpus, beam=beam, device=device
    )


def _result(here: Visit, letter: str, request: Request | None, height: int) -> None:
    if request is None:
        st.caption("The sentence is empty: write one above, and its translation appears here.")
        return
    parts.results(
        here.jobs,
        request,
        lambda result: translation(here, request, result, letter),
        height,
        f"panel-{letter}-result",
    )
