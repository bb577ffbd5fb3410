"""Translation: one sentence through up to four trained models, and where each of them looked."""

from dataclasses import replace
from typing import NamedTuple

from dashboard.features.translation import view as translation
from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.links import panels as links
from dashboard.links.fits import untrained, usual_panels
from dashboard.links.panels import checkpoints_of, query, selected_maps, sides_of
from dashboard.records.beside import beside
from dashboard.records.interventions import KINDS
from dashboard.records.request import Request, Result
from dashboard.ui import charts, checkpoints, export, layout, maps, results, shown, translations
from dashboard.ui.fields import draw_device, draw_setting
from dashboard.ui.navigation import link_to
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_USUAL_PANELS = 3
_SETTING_WIDTH = 150  # px
_CLICK = gettext_noop(
    "Each small map is a head, or the mean of its layer: click it to see it large."
)


class _Places(NamedTuple):
    """Where on the page things go that come after the controls were read."""

    kind: shown.Place
    panels: dict[str, checkpoints.PanelPlaces]
    closer: shown.Place


def _controls(session: Session[translation.Translation]) -> _Places:
    with layout.row("translation-sentence"):
        before = session.view.corpus
        known = [*checkpoints_of(session.view, session.catalogue).values()]
        placeholder = gettext("optional: {target}, the same in every panel")
        translations.draw_sentences(
            session, known, translation.TEXT, translation.TARGET, placeholder=placeholder
        )
        moved = checkpoints.draw_corpus(session, translation.CORPUS, known)
        draw_setting(session, translation.BEAM, width=_SETTING_WIDTH)
        draw_device(session, translation.DEVICE)
    sentences, scale = shown.columns([5, 1], vertical_alignment="center", gap="medium")
    with sentences:
        checkpoints.draw_examples(session, translation.TEXT, translation.TARGET, known=known)
    with scale:
        charts.legend(1.0, signed=maps.are_signed(session.jobs.done()))
    if moved:
        panels = usual_panels(session.catalogue, session.view.corpus)
        translations.follow_corpus(
            session, before, panels=panels, letters="", selected=(), kind=KINDS[0]
        )
    kind = shown.container(gap="xsmall")
    places = checkpoints.draw_panels(session)
    checkpoints.add_panel(session)
    return _Places(kind, places, shown.container())


def _results(session: Session[translation.Translation], places: _Places) -> None:
    view = session.view
    asked = translation.requests(view, session.catalogue)
    here = checkpoints_of(view, session.catalogue)
    done = session.jobs.done()
    with places.kind:
        # Where a model has several kinds of attention, which of them all panels show.
        if translations.draw_kind(session, done):
            several = maps.has_grid(done, session.view.kind)
            pieces = any(maps.has_pieces(one, session.view.kind) for one in done)
            sentences = [
                translations.AXES[session.view.kind], *[_CLICK] * several,
                *[translations.PIECES] * pieces,
            ]  # fmt: skip
            shown.caption(together([gettext(sentence) for sentence in sentences]))
    height = maps.translation_height(view.target or view.text, session.jobs.done(), view.kind)
    for letter, panel in view.by_letter.items():
        place = places.panels[letter]
        if letter in asked:
            title = layout.checkpoint_title(panel, here[letter], session.catalogue)
            alone = replace(view, panels=(panel,), letters="", selected=())
            link = translation.LINK.format(alone, session.catalogue)
            with place.export:
                export.panel_menu(
                    export.Asked(asked[letter], link), session.jobs.final(asked[letter]), letter,
                    gettext("Translation, {model}", model=title), vmax=1.0,
                )  # fmt: skip
        with place.result:
            if letter not in here:
                sentence = untrained(session.catalogue, view.corpus, panel)
                results.absent(translated(sentence), height, f"panel-{letter}-result")
                continue
            sides = sides_of(session.catalogue, [here[letter]])
            _result(session, letter, asked.get(letter), height, sides)
            checkpoints.draw_origin(here[letter])
    with places.closer:
        _closer(view)


def _result(
    session: Session[translation.Translation], letter: str, request: Request | None, height: int,
    sides: tuple[str, str],
) -> None:  # fmt: skip
    """What the model did not know, the words, how likely they are, where it looked."""

    def draw(result: Result) -> None:
        facts, view = result.facts, session.view
        translations.unknown_words(result, sides)
        shown.markdown(f"## {plain(facts['translation']) or '—'}")
        likely = translations.likelihood(result)
        shown.caption(gettext("forced · {likely}", likely=likely) if facts["forced"] else likely)
        if not maps.maps_of(result, view.kind):
            shown.caption(translations.without(view.kind))
            return
        maps.attention_maps(
            result, letter, session.jobs.done(), maps.Choice(
                view.kind, selected_maps(view)[letter],
                lambda name: session.update(
                    selected=links.with_map(session.view, letter, name).selected
                ),
            ),
        )  # fmt: skip

    if request is None:
        none = gettext("The sentence is empty: write one above, and its translation appears here.")
        here = checkpoints_of(session.view, session.catalogue).values()
        shown.caption(gettext(translations.EMPTY) if links.one_kind(here) else none)
    else:
        results.results(session.jobs, request, draw, height, f"panel-{letter}-result", grows=True)


def _closer(view: translation.Translation) -> None:
    letter = next(iter(view.by_letter))
    first = replace(view, panels=view.panels[:1], letters="", selected=())
    with layout.row("translation-closer"):
        if len(view.panels) > 1:
            link_to("differences", query(view), gettext("Where do they differ?"), "compare_arrows")
        link_to(
            "heads", query(first),
            gettext("What does each head of panel {letter} do?", letter=letter), "tune",
        )  # fmt: skip


PAGE = Page(
    name="translation", **beside(__file__, "words.toml")["heading"], link=translation.LINK,
    controls=_controls,
    requests=lambda view, catalogue: translation.requests(view, catalogue).values(),
    results=_results, empty=checkpoints.nothing_trained, panels=_USUAL_PANELS,
    height=maps.translation_height(links.SENTENCE, (), KINDS[0]),
)  # fmt: skip
