"""What a model makes of a sentence, on a page: the words it does not know, the maps it has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st

from dashboard.charts.summary import fixed
from dashboard.language import gettext, gettext_noop, listed, translated
from dashboard.links.fields import Text
from dashboard.links.panels import NEUTRAL, Reading, checkpoints_of, following, one_kind, sides_of
from dashboard.records.beside import beside
from dashboard.records.catalogue import Checkpoint
from dashboard.records.interventions import KINDS
from dashboard.records.request import Result
from dashboard.ui import maps, shown
from dashboard.ui.fields import draw_text
from dashboard.ui.session import Session
from dashboard.ui.widgets import picked, place, plain

_WORDS = beside(__file__, "words.toml")
AXES = _WORDS["axes"]
PIECES = gettext_noop("A label that begins with · goes on with the word of the label before it.")
KIND_TITLES = _WORDS["kinds"]

_OTHER_LANGUAGE = gettext_noop("This sentence looks like {target}, but this model reads {source}.")
_NO_WORD = gettext_noop("This model knows no word of this sentence: what it writes is made up.")

_UNKNOWN_HERE = gettext_noop("Not in the vocabulary of this model: {words}.")
_NOT_WORDS = frozenset(("<bos>", "<eos>", "<pad>", "<unk>"))  # tokens that are no text

_LIKELY = _WORDS["likely"]
EMPTY = gettext_noop("Write something above, and what the model makes of it appears here.")

View = TypeVar("View", bound=Reading)


def draw_sentences(
    session: Session[Any], checkpoints: Iterable[Checkpoint], text: Text[Any], target: Text[Any],
    *, placeholder: str = gettext_noop("optional: {target}"),
) -> None:  # fmt: skip
    """The fields of the sentence and of what models are made to write, in the models' words."""
    if kind := one_kind(checkpoints := [*checkpoints]):
        title, words = _WORDS["fields"][kind]
        draw_text(session, replace(text, title=title, placeholder=words))
        title, words = gettext_noop("Force this continuation"), gettext_noop("optional")
        if kind == "decoder":
            draw_text(session, replace(target, title=title, placeholder=words, help=""))
        else:  # it writes nothing
            session.update(**{target.name: ""})
        return
    source, written = sides_of(session.catalogue, checkpoints)
    title = translated(text.title)
    if source != NEUTRAL[0]:
        title = gettext("{field}: {language}", field=title, language=translated(source))
    written = translated(written)
    draw_text(session, replace(text, title=title))
    draw_text(session, replace(target, placeholder=gettext(placeholder, target=written)))


def follow_corpus(session: Session[Any], before: str, **changes: Any) -> None:
    """Change the view for models of another corpus than ``before``, which may read other words.

    The fields of the sentences were drawn in this run, and take another text only in the next one.
    """
    view = session.view
    text, target = following(session.catalogue, before, view.corpus, view.text, view.target)
    session.change(text=text, target=target, **changes)
    if (text, target) != (view.text, view.target):
        st.rerun()


def draw_kind(session: Session[View], results: Sequence[Result]) -> bool:
    """The choice of the kind of attention that all panels show; whether there is a choice.

    ``results``: of the panels, as far as they are there; they tell which kinds there are.
    """
    models = checkpoints_of(session.view, session.catalogue).values()
    own = {model.card.get("kind") for model in models}
    if len(own) == 1 and not own & {session.view.kind} and own & {*KINDS}:
        session.change(kind=own.pop(), selected=())  # they have no other
        st.rerun()
    kinds = [kind for kind in KINDS if any(maps.maps_of(one, kind) for one in results)]
    if len({*kinds, session.view.kind}) < 2:
        return False
    key = session.key("kind")
    shown.setting(gettext("Kind of attention"), gettext(KIND_TITLES[session.view.kind]))
    st.segmented_control(
        gettext("Kind of attention"),
        [kind for kind in KINDS if kind in (*kinds, session.view.kind)],
        key=place(key, session.view.kind, fresh=True),
        on_change=picked(key, lambda kind: session.change(kind=kind, selected=())),
        format_func=lambda kind: gettext(KIND_TITLES[kind]), label_visibility="collapsed",
    )  # fmt: skip
    return True


def without(kind: str) -> str:
    """What is said of a model that has no such attention."""
    return gettext(_WORDS["without"][kind])


def likelihood(result: Result) -> str:
    """How likely the model finds the words, in nats."""
    return gettext("log-probability {value}", value=fixed(result.facts["log_probability"]))


def unknown_words(result: Result, sides: tuple[str, str] = NEUTRAL) -> None:
    """Say above a translation which words the model does not know, and which language it reads.

    The words are marked on the maps as well, see :func:`dashboard.ui.maps.marked`.
    """
    facts = result.facts
    if facts.get("reads_as_target"):
        source, target = (plain(translated(side)) for side in sides)
        said = gettext(_OTHER_LANGUAGE, source=source, target=target)
        shown.markdown(f":orange[:material/translate:] {said}")
    for known, text in _WORDS["unknown"].items():
        said = gettext(_NO_WORD) if known == "unknown" and _knows_no_word(facts) else ""
        if words := dict.fromkeys(facts[known]):
            form = _UNKNOWN_HERE if likely(facts) else text
            said = said or gettext(form, words=listed(map(plain, words)))
        if said:
            shown.markdown(f":orange[:material/warning:] {said}")


def likely(facts: Mapping[str, Any]) -> str:
    """What is more or less likely to a model that does not translate; of others empty."""
    kind = facts.get("card", {}).get("kind")
    return gettext(_LIKELY[kind]) if kind in _LIKELY else ""


def _knows_no_word(facts: Mapping[str, Any]) -> bool:
    """Whether all that the model knows of the sentence are signs, such as a full stop."""
    read = facts.get("source_tokens")
    known = {*(read or ())} - {*facts["unknown"]} - _NOT_WORDS
    return bool(read) and not any(map(str.isalnum, "".join(known)))
