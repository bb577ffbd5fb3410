"""The upper part of the page *Experiment*: what is compared, on what, with how many seeds."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard.controls import choose, knob, knobs, place, plain
from dashboard.pages import parts, upload
from dashboard.pages.train_titles import corpus_title, model_title, scoring_title
from dashboard.runs.experiment_view import (
    LEARN,
    TASKS,
    TRANSLATION,
    Experiment,
    as_train,
    default_experiment,
    fitted,
    seeds_knob,
)
from dashboard.runs.link_parts import MOST_SCORINGS, pairs
from dashboard.runs.offers import Catalogue
from dashboard.runs.reader import LONGEST_TEXT, tidy
from dashboard.runs.regression_link import data_knobs, fitting_knobs, is_upload
from dashboard.runs.train_view import MODEL, scoring_knobs, setting_knobs
from dashboard.state import Visit

TASK_TITLES = dict(zip(TASKS, ("Kernel regression", "Translation"), strict=True))
_CHOICE_WIDTH, _FIELD_WIDTH, _SLIDER_WIDTH, _PROBE_WIDTH = 220, 130, 170, 420  # px
_MAIN = (
    "recipe.epochs", "recipe.learning_rate", f"{MODEL}hidden", "recipe.batch_size", "pairs",
    "held_out",
)  # fmt: skip
_STARTS = {"quick": "Quick", "d2l": "As in d2l.ai", "shipped": "As the shipped models"}
_PROBE_HELP = "Translated after every epoch; its maps are those compared below."


def setup(here: Visit, catalogue: Catalogue) -> Experiment:
    """Draw the controls; the view as they say."""
    task = st.segmented_control(
        "What is compared",
        TASKS,
        key=place("experiment-task", here.view.task, here.fresh),
        format_func=TASK_TITLES.get,
        label_visibility="collapsed",
        required=True,
    )
    if task != here.view.task:
        here.change(default_experiment(catalogue, task))
    view = _what(here, catalogue)
    # Another model, data set or start brings other values, whatever the fields held.
    fresh = here.fresh or view != here.view
    view = fitted(
        replace(view, scorings=_scorings(view, catalogue, here.fresh)),
        catalogue,
        dict(view.settings),
    )
    if task == TRANSLATION:
        view = _recipe(view, catalogue, fresh)
    else:
        view = _problem(view, catalogue, fresh)
    return view


def _what(here: Visit, catalogue: Catalogue) -> Experiment:
    """Model, data, start, seeds, device; what follows from other ones is settled at once."""
    view: Experiment = here.view
    models = catalogue.of_task("models", view.task)
    offered = catalogue.of_task("datasets", view.task)
    wanted = upload.SENTENCES if view.task == TRANSLATION else upload.TABLE
    with parts.row("experiment-what"):
        model, began = view.model, view.start
        if len(models) > 1 or model not in models:
            model = choose(
                "Model", list(models), model, f"experiment-{view.task}-model", here.fresh,
                title=lambda name: model_title(name, catalogue), width=_CHOICE_WIDTH,
            )  # fmt: skip
        data = choose(
            "Corpus" if view.task == TRANSLATION else "Problem",
            [*offered, *upload.known(view.data, wanted)],
            view.data,
            f"experiment-{view.task}-data",
            here.fresh,
            title=lambda name: _data_title(name, catalogue, wanted),
            width=_CHOICE_WIDTH,
        )
        if view.task == TRANSLATION and len(catalogue.presets) > 1:
            began = choose(
                "Start from", list(catalogue.presets), began, "experiment-from", here.fresh,
                title=lambda name: _STARTS.get(name, name), width=_CHOICE_WIDTH,
                help="Sets everything below; change what you like.",
            )  # fmt: skip
        seeds = knob(
            seeds_knob(view.task), view.seeds, f"experiment-{view.task}-seeds", here.fresh,
            width=_SLIDER_WIDTH,
        )  # fmt: skip
        device = parts.device(catalogue, view.device, "experiment-device", here.fresh)
        upload.button(lambda file: _use_file(here, catalogue, file), wanted)
    kept = dict(view.settings)
    if model != view.model:
        kept = {name: value for name, value in kept.items() if not name.startswith(MODEL)}
    if began != view.start or (data != view.data and view.task != TRANSLATION):
        kept = {}
    chosen = replace(
        view, model=model, data=data, start=began, seeds=seeds, device=device,
        maps=min(view.maps, seeds - 1),
    )  # fmt: skip
    return fitted(chosen, catalogue, kept)


def _data_title(name: str, catalogue: Catalogue, wanted: upload.Wanted) -> str:
    if is_upload(name):
        return upload.title(name, wanted)
    return corpus_title(name, catalogue)


def _use_file(here: Visit, catalogue: Catalogue, file: str) -> None:
    view = replace(here.view, data=file)
    kept = dict(view.settings) if view.task == TRANSLATION else {}
    here.change(fitted(view, catalogue, kept))


def _scorings(view: Experiment, catalogue: Catalogue, fresh: bool) -> tuple[str, ...]:
    strangers = [name for name in view.scorings if name not in catalogue.scorings]
    chosen = st.pills(
        f"Scorings: a row each, at most {MOST_SCORINGS}",
        [*catalogue.scorings, *strangers],
        selection_mode="multi",
        key=place(f"experiment-{view.task}-scorings", list(view.scorings), fresh),
        format_func=lambda name: plain(scoring_title(name, catalogue)),
    )
    kept = [name for name in view.scorings if name in chosen]
    return (*kept, *(name for name in chosen if name not in kept))[:MOST_SCORINGS]


def _problem(view: Experiment, catalogue: Catalogue, fresh: bool) -> Experiment:
    """What may be set about data, learning and scorings of kernel regression."""
    with parts.row("experiment-problem"):
        settings = knobs(
            data_knobs(catalogue, view.data), view.settings,
            f"experiment-{'table' if is_upload(view.data) else view.data}", fresh,
            width=_SLIDER_WIDTH,
        )  # fmt: skip
        learn = bool(knob(LEARN, view.learn, "experiment-learn", fresh))
    view = fitted(replace(view, learn=learn, settings=settings), catalogue, dict(settings))
    own = scoring_knobs(as_train(view), catalogue)
    if not own and not learn:
        return view
    fitting = view.fitting
    with st.expander("More: the scorings' parameters, how they learn", icon=":material/tune:"):
        parameters = _parameters(view, catalogue, fresh)
        if learn:
            with parts.row("experiment-fitting"):
                fitting = knobs(
                    fitting_knobs(catalogue), fitting, "experiment-fit", fresh,
                    width=_SLIDER_WIDTH,
                )  # fmt: skip
    return replace(view, parameters=parameters, fitting=fitting)


def _recipe(view: Experiment, catalogue: Catalogue, fresh: bool) -> Experiment:
    """How the translation models are trained."""
    held = dict(view.settings)
    specs = {spec.name: spec for spec in setting_knobs(as_train(view), catalogue)}

    def field(name: str) -> None:
        spec = specs[name]
        owner = f"{view.model}-" if name.startswith(MODEL) else ""
        key = f"experiment-{owner}{name}".replace(".", "-")
        number = not isinstance(spec.default, bool | str)
        more = {"format": "%g"} if number and not spec.whole else {}
        held[name] = knob(
            spec, held[name], key, fresh, typed=name in _MAIN, width=_FIELD_WIDTH, **more
        )

    with parts.row("experiment-recipe"):
        for name in (name for name in _MAIN if name in specs):
            field(name)
        probe = st.text_input(
            "Probe sentence", key=place("experiment-probe", view.probe, fresh),
            max_chars=LONGEST_TEXT, help=_PROBE_HELP, width=_PROBE_WIDTH,
        )  # fmt: skip
    with st.expander("More: schedule, vocabulary, parts and parameters", icon=":material/tune:"):
        with parts.row("experiment-more"):
            for name in (name for name in specs if name not in _MAIN):
                field(name)
        parameters = _parameters(view, catalogue, fresh)
    return replace(view, settings=pairs(held), parameters=parameters, probe=tidy(probe))


def _parameters(view: Experiment, catalogue: Catalogue, fresh: bool) -> tuple:
    values = dict(view.parameters)
    with parts.row("experiment-scoring-knobs"):
        for spec in scoring_knobs(as_train(view), catalogue):
            scoring = scoring_title(spec.name.partition(".")[0], catalogue)
            titled = replace(spec, title=f"{scoring}: {spec.title}")
            key = f"experiment-{view.task}-{spec.name}".replace(".", "-")
            values[spec.name] = knob(titled, values[spec.name], key, fresh, width=_SLIDER_WIDTH)
    return pairs(values)
