"""One card per training: how it stands, and what may be done with it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st

from dashboard.features.training import view
from dashboard.language import gettext, gettext_noop, translated
from dashboard.links.recipes import ID_DIGITS, MOST_SHOWN, PAIRS, PROBE, TASK
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import UPLOAD
from dashboard.records.training import Training, explained, said
from dashboard.ui import layout, navigation, owner
from dashboard.ui.session import Session
from dashboard.ui.widgets import place, plain


def setup_of(training: Training) -> str:
    """What a training learns from, and what was set of it."""
    options, facts = dict(training.request.options), training.facts
    words = []
    if trained_on := facts.get("trained_on"):
        held_out = facts.get("pairs", trained_on) - trained_on
        pairs = gettext_noop("{learned:,} pairs learned")
        if held_out:
            pairs = gettext_noop("{learned:,} pairs learned, {held_out:,} held out")
        words.append(gettext(pairs, learned=trained_on, held_out=held_out))
    elif size := options.get(PAIRS):
        words.append(gettext("up to {size:,} pairs", size=size))
    if (hidden := options.get("model.hidden")) is not None:
        words.append(gettext("hidden {size:g}", size=hidden))
    if (rate := options.get("recipe.learning_rate")) is not None:
        words.append(gettext("learning rate {rate:g}", rate=rate))
    if weights := facts.get("parameters"):
        words.append(gettext("{count:,} weights", count=weights))
    if training.request.seed:
        words.append(gettext("seed {seed}", seed=training.request.seed))
    return " · ".join(words)


def clock(seconds: float) -> str:
    """A time, seconds since 1970, where its reader is; with the day where that is not today."""
    try:
        zone: tzinfo = ZoneInfo(st.context.timezone or "UTC")
    except (ValueError, OSError, KeyError):
        zone = UTC
    then, now = datetime.fromtimestamp(seconds, zone), datetime.now(zone)
    if then.date() == now.date():
        return f"{then:%H:%M}"
    return gettext("{then:%d %b %H:%M}", then=then)


_BADGES = beside(__file__, "badges.toml")
_LONGEST_NAME = 40


def card(
    session: Session[view.Train], training: Training, letters: Mapping[str, str],
    toggle: Callable[[str], None],
) -> None:  # fmt: skip
    """Draw the card of one training.

    ``letters`` are those of the trainings in the charts, by id; ``toggle`` puts one there or out.
    """
    key = f"training-{training.id[:ID_DIGITS]}"
    with st.container(border=True, key=key, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if letter := letters.get(training.id):
                layout.badge(letter)
            state = _BADGES[training.state]
            st.badge(gettext(state["title"]), icon=state["icon"], color=state["colour"])
            st.caption(plain(clock(training.created)), width="content")
            chosen, box = training.id in letters, f"{key}-compare"
            st.checkbox(
                gettext("In the charts"),
                # Only where it differs: setting the value of a widget in use would disturb it.
                key=place(box, chosen, fresh=st.session_state.get(box) != chosen),
                on_change=toggle,
                args=(training.id,),
                disabled=not chosen and len(letters) >= MOST_SHOWN,
            )
        st.markdown(f"**{plain(view.training_title(training, session.catalogue))}**")
        st.caption(plain(setup_of(training)))
        _progress(training)
        _figures(training, session.catalogue)
        if training.state == "failed":
            _failure(training)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _buttons(training, session.catalogue, key)
        if refused := st.session_state.get(f"{key} refused"):
            st.text(translated(refused))
        if training.checkpoint:
            query = {"a": training.checkpoint, "corpus": str(training.facts["corpus"])}
            if probe := dict(training.request.options).get(PROBE.name):
                query["text"] = str(probe)
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(gettext("Kept as {name}.", name=plain(training.checkpoint)))
                navigation.link_to("translation", query, gettext("See it translate"))


def _progress(training: Training) -> None:
    ended, epochs = len(training.epochs), view.planned(training)
    done = ended / epochs if epochs else 0.0
    if training.live:
        words, done = view.progress(training), training.live["fraction"]
    elif training.state in view.ACTIVE and training.note:
        words = view.waiting(training) if training.state == "queued" else translated(training.note)
    else:
        words = gettext("{done:,} of {epochs:,} epochs", done=ended, epochs=epochs)
    st.progress(min(1.0, max(0.0, done)), text=plain(words))


def _figures(training: Training, catalogue: Catalogue) -> None:
    last = training.epochs[-1] if training.epochs else None
    figures = {
        catalogue.metric(TASK, name).title: (
            training.live.get(name, getattr(last, name, None)), digits,
        )
        for name, digits in (("loss", ".3f"), ("tokens_per_second", ",.0f"))
    }  # fmt: skip
    score = training.held_out(last) if last else None
    if last is None or score is not None:
        figures[view.score_metric(training, catalogue).label] = (score, ".1f")
    words = [
        f"{plain(title)} **{'–' if value is None else format(value, digits)}**"
        for title, (value, digits) in figures.items()
    ]
    st.markdown("  ·  ".join(words))
    if last and last.parts:
        scores = gettext("held out: {scores}", scores=said(last.parts))
        st.caption(scores, help=explained(last.parts))


def _failure(training: Training) -> None:
    st.text(translated(training.note))
    if culprit := training.facts.get("culprit"):
        st.caption(plain(gettext("It happened in {culprit}.", culprit=translated(str(culprit)))))
    if details := training.facts.get("traceback") or training.facts.get("stderr"):
        with st.expander(gettext("Details")):
            st.code(str(details), language=None, wrap_lines=True)


def _buttons(training: Training, catalogue: Catalogue, key: str) -> None:
    service, state = owner.trainings(), training.state
    if not service.owns(training):
        if training.owner != owner.owner():
            st.caption(
                gettext("This training is somebody else's: it can be watched, not changed.")
            )
        return

    def button(name: str, label: str, icon: str, action: Callable[[str], object]) -> None:
        st.button(
            label, icon=f":material/{icon}:", type="tertiary", key=f"{key}-{name}",
            on_click=_do, args=(key, action, training.id),
        )  # fmt: skip

    if state in ("queued", "running"):
        button("pause", gettext("Pause"), "pause", service.pause)
    if state in ("paused", "failed"):
        button("resume", gettext("Resume"), "play_arrow", service.resume)
    if state in (*view.ACTIVE, "paused"):
        button("cancel", gettext("Cancel"), "stop", service.cancel)
    if training.epochs and state not in view.ACTIVE and not training.checkpoint:
        _keep(training, catalogue, key)
    if state not in view.ACTIVE:
        with st.popover(
            gettext("Remove"), icon=":material/delete:", type="tertiary", key=f"{key}-ask"
        ):
            st.caption(
                gettext("Removes this training with its curves. A model that was kept stays.")
            )
            st.button(
                gettext("Remove it"), type="primary", key=f"{key}-remove",
                on_click=_do, args=(key, service.remove, training.id),
            )  # fmt: skip


def _do(key: str, action: Callable[[str], object], id: str) -> None:
    st.session_state[f"{key} refused"] = ""
    try:
        action(id)
    except KeyError:  # removed in another tab: its card goes with the next look
        pass
    except ValueError as error:
        st.session_state[f"{key} refused"] = str(error)


def _keep(training: Training, catalogue: Catalogue, key: str) -> None:
    with st.popover(
        gettext("Keep the model"), icon=":material/bookmark_add:", type="tertiary",
        key=f"{key}-name",
    ):  # fmt: skip
        st.caption(
            gettext("The model of the last finished epoch becomes one of the Translation page.")
        )
        name = st.text_input(
            gettext("Name"),
            key=place(f"{key}-keep-name", _suggested(training, catalogue), fresh=False),
            max_chars=_LONGEST_NAME,
        )
        rule = gettext(
            "Letters from a to z, digits and _, with a letter first. Spaces and hyphens become _, "
            "capital letters become small."
        )
        st.caption(plain(rule))
        refused = f"{key} name refused"
        said = st.empty()
        if st.button(gettext("Keep it"), type="primary", key=f"{key}-keep"):
            try:
                with st.spinner(gettext("Keeping the model …")):
                    owner.trainings().export(training.id, name)
            except KeyError:  # removed in another tab: its card goes with the next look
                pass
            except ValueError as error:
                st.session_state[refused] = (name, str(error))
            else:
                st.rerun()
        if (found := st.session_state.get(refused)) and found[0] == name:
            said.error(plain(translated(found[1])))


def _suggested(training: Training, catalogue: Catalogue) -> str:
    made_of = training.request
    corpus, scoring = made_of.data, made_of.scoring
    if corpus.startswith(UPLOAD):
        corpus = f"upload_{corpus.removeprefix(UPLOAD)[:ID_DIGITS]}"
    if scoring.startswith("="):  # typed: a formula is no name of a folder
        scoring = f"formula_{made_of.key[:ID_DIGITS]}"
    name = f"{made_of.model}_{scoring}_{corpus}".replace("-", "_")[: _LONGEST_NAME - 3]
    taken = {one.replace("-", "_") for one in catalogue.checkpoints}
    free = (f"{name}{f'_{n}' if n > 1 else ''}" for n in range(1, len(taken) + 2))
    return next(one for one in free if one not in taken)
