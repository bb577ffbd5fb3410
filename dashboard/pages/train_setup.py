"""The upper part of the page *Train*: what to train, how, and the button that starts it."""

from __future__ import annotations

import math
from dataclasses import replace

import streamlit as st

from dashboard.controls import choose, knob, place, plain
from dashboard.pages import parts, upload
from dashboard.pages.train_titles import corpus_title, model_title, scoring_title
from dashboard.runs.link_parts import MOST_SCORINGS, SEED, pairs
from dashboard.runs.offers import Catalogue, Knob
from dashboard.runs.reader import LONGEST_TEXT, tidy
from dashboard.runs.request import Scalar
from dashboard.runs.train_view import (
    MODEL,
    Train,
    missing,
    refitted,
    scoring_knobs,
    setting_knobs,
    train_requests,
)
from dashboard.state import Visit, workbench

_CHOICE_WIDTH, _FIELD_WIDTH, _PROBE_WIDTH = 220, 130, 420  # px
_MAIN = (
    "recipe.epochs", "recipe.learning_rate", f"{MODEL}hidden", "recipe.batch_size", "pairs",
    "held_out",
)  # fmt: skip
_STARTS = {"quick": "Quick", "d2l": "As in d2l.ai", "shipped": "As the shipped models"}
_START_HELP = "Sets everything below; change what you like."
_PROBE_HELP = "Translated after every epoch, so that you see the words and the map come right."
_REFUSED = "train refused"


def setup(here: Visit, catalogue: Catalogue) -> Train:
    """Draw the controls; the view as they say."""
    view = _what(here, catalogue)
    # Another model, corpus or start brings other values, whatever the fields held.
    fresh = here.fresh or view != here.view
    view = replace(view, scorings=_scorings(view, catalogue, here.fresh))
    view = refitted(view, catalogue, dict(view.settings))
    held = dict(view.settings)
    specs = {spec.name: spec for spec in setting_knobs(view, catalogue)}
    with parts.row("train-main"):
        for name in _MAIN:
            if name in specs:
                held[name] = _field(specs[name], held, view, fresh)
        probe = st.text_input(
            "Probe sentence",
            key=place("train-probe", view.probe, fresh),
            max_chars=LONGEST_TEXT,
            help=_PROBE_HELP,
            width=_PROBE_WIDTH,
        )
    rest = [spec for name, spec in specs.items() if name not in _MAIN]
    parameters, seed = dict(view.parameters), view.seed
    with st.expander(
        "More: schedule, vocabulary, the model's parts, seed", icon=":material/tune:"
    ):
        with parts.row("train-recipe"):
            for spec in (spec for spec in rest if not spec.name.startswith(MODEL)):
                held[spec.name] = _field(spec, held, view, fresh)
        with parts.row("train-model-knobs"):
            for spec in (spec for spec in rest if spec.name.startswith(MODEL)):
                held[spec.name] = _field(spec, held, view, fresh)
        with parts.row("train-scoring-knobs"):
            for spec in scoring_knobs(view, catalogue):
                scoring = scoring_title(spec.name.partition(".")[0], catalogue)
                titled = replace(spec, title=f"{scoring}: {spec.title}")
                parameters[spec.name] = _field(titled, parameters, view, here.fresh)
            seed = knob(SEED, view.seed, "train-seed", here.fresh, width=_FIELD_WIDTH)
    return replace(
        view, settings=pairs(held), parameters=pairs(parameters), probe=tidy(probe), seed=seed
    )


def start(view: Train, catalogue: Catalogue) -> bool:
    """What will be done, and the button that does it; whether trainings were started."""
    absent = missing(view, catalogue)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="train-go"):
        go = st.button(
            "Train",
            icon=":material/play_arrow:",
            type="primary",
            key="train-start",
            disabled=bool(absent),
        )
        with st.container(width="stretch"):
            st.caption(plain(absent or _plan(view, catalogue)))
    started = False
    if go and not absent:
        st.session_state[_REFUSED] = ""
        try:
            for request in train_requests(view):
                workbench().trainings.start(request)
                started = True
        except ValueError as error:
            st.session_state[_REFUSED] = str(error)
    if refused := st.session_state.get(_REFUSED):
        with st.container(border=True, key="train-refused", gap="xsmall"):
            st.markdown(":material/error: **This training was not started**")
            st.text(refused)
    return started


def _what(here: Visit, catalogue: Catalogue) -> Train:
    """Model, corpus, start and device; what follows from another one is settled at once."""
    view: Train = here.view
    models = catalogue.of_task("models", "translation")
    corpora = catalogue.of_task("datasets", "translation")
    with parts.row("train-what"):
        model = choose(
            "Model", list(models), view.model, "train-model", here.fresh,
            title=lambda name: model_title(name, catalogue), width=_CHOICE_WIDTH,
        )  # fmt: skip
        data = choose(
            "Corpus", [*corpora, *upload.known(view.data, upload.SENTENCES)], view.data,
            "train-data", here.fresh, title=lambda name: corpus_title(name, catalogue),
            width=_CHOICE_WIDTH,
        )  # fmt: skip
        began = view.start
        if len(catalogue.presets) > 1:
            began = choose(
                "Start from", list(catalogue.presets), view.start, "train-from", here.fresh,
                title=lambda name: _STARTS.get(name, name), width=_CHOICE_WIDTH, help=_START_HELP,
            )  # fmt: skip
        device = parts.device(catalogue, view.device, "train-device", here.fresh)
        upload.button(lambda file: _use_file(here, catalogue, file), upload.SENTENCES)
    kept = dict(view.settings)
    if model != view.model:
        kept = {name: value for name, value in kept.items() if not name.startswith(MODEL)}
    if began != view.start:
        kept = {}
    chosen = replace(view, model=model, data=data, start=began, device=device)
    return refitted(chosen, catalogue, kept)


def _use_file(here: Visit, catalogue: Catalogue, file: str) -> None:
    view = replace(here.view, data=file)
    here.change(refitted(view, catalogue, dict(view.settings)))


def _scorings(view: Train, catalogue: Catalogue, fresh: bool) -> tuple[str, ...]:
    strangers = [name for name in view.scorings if name not in catalogue.scorings]
    chosen = st.pills(
        "Scorings: each becomes a training of its own",
        [*catalogue.scorings, *strangers],
        selection_mode="multi",
        key=place("train-scorings", list(view.scorings), fresh),
        format_func=lambda name: plain(scoring_title(name, catalogue)),
    )
    kept = [name for name in view.scorings if name in chosen]
    return (*kept, *(name for name in chosen if name not in kept))[:MOST_SCORINGS]


def _field(spec: Knob, held: dict[str, Scalar], view: Train, fresh: bool) -> Scalar:
    owner = f"{view.model}-" if spec.name.startswith(MODEL) else ""
    key = f"train-{owner}{spec.name}".replace(".", "-")
    number = not isinstance(spec.default, bool | str)
    more = {"format": "%g"} if number and not spec.whole else {}
    typed = spec.name in _MAIN
    return knob(spec, held[spec.name], key, fresh, typed=typed, width=_FIELD_WIDTH, **more)


def _plan(view: Train, catalogue: Catalogue) -> str:
    """What pressing the button will do, as far as it is known beforehand."""
    settings, count = dict(view.settings), len(view.scorings)
    epochs, size = settings.get("recipe.epochs"), settings.get("pairs")
    amount = f"up to {size:,} pairs" if size else "all pairs"
    words = [
        f"{count} training{'s' * (count > 1)}"
        + (f" of {epochs:,} epoch{'s' * (epochs > 1)}" if epochs else "")
        + f" on {amount} of {corpus_title(view.data, catalogue)}"
    ]
    batch = settings.get("recipe.batch_size")
    if size and batch:
        words[0] += f", at most {math.ceil(size / batch):,} steps an epoch"
    if held_out := settings.get("held_out"):
        words.append(
            f"BLEU is measured after every epoch, on sentences of the {held_out:,} held out"
        )
    else:
        words.append("Nothing is held out, so there will be no BLEU")
    return ". ".join(words) + "."
