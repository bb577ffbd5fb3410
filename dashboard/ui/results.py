"""The place of a job's result: waiting, failed, or drawn."""

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from dashboard.jobs.backend import Event
from dashboard.language import gettext, gettext_noop, translated
from dashboard.records.request import Request, Result
from dashboard.ui import shown
from dashboard.ui.jobs import Jobs
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

PATIENCE = 0.9  # seconds that a run waits, so that quick results come without a flicker
POLL = 0.3  # seconds between two looks at a job that takes longer, where few wait


def results(
    jobs: Jobs, request: Request, draw: Callable[[Result], None], height: int, key: str,
    meanwhile: Callable[[Sequence[Event]], None] | None = None, grows: bool = False,
) -> None:  # fmt: skip
    """The place of one result, always of the same height: waiting, failed, or drawn.

    Args:
        grows: whether a result that was drawn takes the height it needs.
        meanwhile: draws what is known before the result, from the job's events, and what is left
            of it after a failure. By default how far the job is, and what failed.
    """
    if jobs.holds(request):
        with st.container(height=height, border=False, key=key):
            not_begun(jobs, key)
        return
    pending = jobs.final(request) is None

    def place() -> None:
        if pending and jobs.settled():
            st.rerun()
        event = jobs.final(request)
        result = event.result if event else None
        needed = "content" if grows and result else height
        with shown.container(height=needed, border=False, key=key):
            if result:
                draw(result)
            elif meanwhile:
                meanwhile(jobs.progress(request))
            elif event is None:
                waiting(jobs.progress(request), height)
            elif failure(event, key):
                jobs.retry(request)
                st.rerun()

    (st.fragment(run_every=jobs.pace(POLL))(place) if pending else place)()


def not_begun(jobs: Jobs, key: str) -> None:
    """Say that a result is held, and offer to begin all that is, here too: the page is long."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"held-{key}"):
        st.button(
            gettext("Begin"), icon=":material/play_arrow:", key=f"begin-{key}",
            on_click=jobs.approve,
        )  # fmt: skip
        st.caption(f":material/pause_circle: {jobs.why_held()}")


def until_settled(jobs: Jobs, words: str, awaited: Iterable[Request] = ()) -> None:
    """Say what is on its way; draw the page anew once one of it, or all of the page, has ended."""

    def place() -> None:
        if jobs.settled() or any(map(jobs.final, awaited)):
            st.rerun()
        st.caption(f":material/hourglass_top: {words}")

    st.fragment(run_every=jobs.pace(POLL))(place)()


def waiting(events: Sequence[Event], height: int) -> None:
    """How far a job is, above the grey place that its result will take."""
    latest = events[-1] if events else None
    fraction = latest.fraction if latest and latest.fraction is not None else 0.0
    note = latest.note if latest and latest.note else gettext_noop("waiting for a free worker")
    st.progress(min(1.0, max(0.0, fraction)), text=plain(translated(note)))
    st.skeleton(height - 60)


def failure(event: Event, key: str) -> bool:
    """What went wrong with one job, for its reader; whether to try again."""
    refused = bool(event.facts.get("refused"))
    title = gettext("This cannot be computed") if refused else gettext("This panel failed")
    with shown.container(border=True):
        shown.markdown(f":material/error: **{title}**")
        shown.text(translated(event.note) or gettext("The job was stopped before it was done."))
        if culprit := event.facts.get("culprit"):
            where = gettext("It happened in {culprit}.", culprit=translated(str(culprit)))
            shown.caption(plain(where))
        details(event)
        label = gettext("Try again")
        return not refused and st.button(label, key=f"{key}--retry", type="tertiary")


def absent(sentence: str, height: int, key: str) -> None:
    """The place of a panel that needs something which is not installed, as ``sentence`` says.

    While the catalogue is read once more, as after somebody kept a model, the place says so, and
    the page is drawn anew when that is over.
    """
    reading = workbench().rereading()

    def place() -> None:
        if reading and not workbench().rereading():
            st.rerun()
        with st.container(height=height, border=False, key=key), shown.container(border=True):
            if reading:
                title = gettext("Not known yet")
                shown.markdown(f":material/hourglass_top: **{title}**")
                shown.text(gettext(
                    "The list of models and plugins is being read again. That takes some "
                    "seconds; then this page looks once more."
                ))  # fmt: skip
            else:
                title = gettext("Not installed here")
                shown.markdown(f":material/extension_off: **{title}**")
            shown.text(translated(sentence))

    (st.fragment(run_every=POLL)(place) if reading else place)()


def details(event: Event) -> None:
    """The traceback or error output of a job that failed, folded."""
    text = event.facts.get("traceback") or event.facts.get("stderr")
    if text:
        with st.expander(gettext("Details")):
            st.code(str(text), language=None, wrap_lines=True)
