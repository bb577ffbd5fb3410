"""Finite clauses: a subject and a verb phrase in a tense, denied or asked.

Links are sure ones only. An auxiliary is tied to an auxiliary (*did* – ai, *have* – ai) or, where
it opens a question, to *est-ce que*; one without counterpart (*is* reading, *do* not know,
*will* come, j'*ai* lu for *read*) stays free. *not* is tied to both ne and pas.
"""

from __future__ import annotations

from typing import NamedTuple

from attention_plugins.datasets.phrasebook import english
from attention_plugins.datasets.phrasebook.actions import VerbPhrase
from attention_plugins.datasets.phrasebook.french import WITH_ETRE, conjugate, participle
from attention_plugins.datasets.phrasebook.lexicon.adverbials import NEGATIONS
from attention_plugins.datasets.phrasebook.nominals import Subject
from attention_plugins.datasets.phrasebook.phrase import (
    EMPTY,
    Dice,
    Marks,
    Phrase,
    Word,
    fill,
    fresh_mark,
)

# Tense: that of English, and that of French. ``perfect`` in French is the passé composé.
TENSES = {
    "present": ("present", "present"),
    "progressive": ("progressive", "present"),
    "past": ("past", "perfect"),
    "was": ("past", "imperfect"),
    "was doing": ("past progressive", "imperfect"),
    "used to": ("used to", "imperfect"),
    "perfect": ("perfect", "perfect"),
    "since": ("perfect progressive", "present"),
    "has been": ("perfect", "present"),
    "future": ("future", "future"),
    "conditional": ("present", "conditional"),
}

_INVERTED = {1: "-tu", 2: "-il", 3: "-nous", 4: "-vous", 5: "-ils"}


class _English(NamedTuple):
    """The finite auxiliary, if any, and the words of the main verb."""

    auxiliary: Word | None
    main: tuple[Word, ...]


def clause(
    dice: Dice,
    subject: Subject,
    verbs: VerbPhrase,
    tense: str = "present",
    *,
    negation: str | Phrase = "",
    adverb: Phrase = EMPTY,
    late: Phrase = EMPTY,
    asked: bool = False,
    opener: Phrase = EMPTY,
) -> Phrase:
    """The clause in both languages, without its final punctuation.

    Args:
        tense: a key of ``TENSES``.
        negation: a key of ``NEGATIONS``, a phrase with ne of its own, or nothing.
        adverb: stands before the English main verb and after the French finite one.
        late: the same, but at the end in English (*not … yet*).
        asked: a question: inverted for pronouns (but for je), else with est-ce que.
        opener: the question word, such as where and où.
    """
    english_tense, french_tense = TENSES[tense]
    denied = negation if isinstance(negation, Phrase) else _denial(negation)
    of_tense, of_question = fresh_mark(), fresh_mark()
    plain = asked and not _inverts(subject, tense)
    group = _english_verb(
        verbs, english_tense, subject.english, of_tense, supported=asked or negation == "not"
    )
    if plain and group.auxiliary:
        marked = group.auxiliary._replace(marks=group.auxiliary.marks + of_question)
        group = group._replace(auxiliary=marked)
    source = _english_order(dice, subject, group, denied, negation, adverb, asked)
    target = _french_order(
        subject, verbs, french_tense, of_tense, denied, adverb + late, asked and not plain
    )
    if plain:
        asking = [Word(part, of_question) for part in ("est", "-ce", "que")]
        target = [*asking, *target]
    return Phrase(
        (*opener.english, *source, *verbs.after, *late.english),
        (*opener.french, *target, *verbs.rest),
    )


def _denial(negation: str) -> Phrase:
    return fill(NEGATIONS[negation]) if negation else EMPTY


def _inverts(subject: Subject, tense: str) -> bool:
    """Inversion for pronouns; what he, she and they are doing just now asks with est-ce que."""
    if not subject.pronoun or subject.person == 0:
        return False
    return subject.person in (1, 3, 4) or tense != "progressive"


def _english_verb(
    verbs: VerbPhrase, tense: str, person: str, of_tense: Marks, *, supported: bool
) -> _English:
    own = verbs.verb_marks
    have = "has" if person in english.THIRD else "have"
    if verbs.verb == "be" and tense in ("present", "past"):
        return _English(Word(english.finite_be(tense, person), own), ())
    if verbs.verb in english.WOULD:
        return _English(Word(verbs.verb, own), ())
    if verbs.verb in english.MODALS:
        past = tense == "past"
        return _English(Word(english.MODALS[verbs.verb] if past else verbs.verb, own), ())
    if tense in ("progressive", "past progressive"):
        be = english.finite_be("past" if "past" in tense else "present", person)
        return _English(Word(be), (Word(english.verb_forms(verbs.verb).ing, own),))
    if tense == "perfect progressive":
        ing = Word(english.verb_forms(verbs.verb).ing, own)
        return _English(Word(have), (Word("been"), ing))
    if tense == "perfect":
        return _English(Word(have, of_tense), (Word(_participle(verbs.verb), own),))
    if tense == "future":
        return _English(Word("will"), (Word(verbs.verb, own),))
    if tense == "used to":
        return _English(None, (Word("used"), Word("to"), Word(verbs.verb, own)))
    return _simple(verbs.verb, own, tense, person, of_tense, supported=supported)


def _participle(verb: str) -> str:
    return "been" if verb == "be" else english.verb_forms(verb).participle


def _simple(
    verb: str, own: Marks, tense: str, person: str, of_tense: Marks, *, supported: bool
) -> _English:
    forms = english.verb_forms(verb)
    third = person in english.THIRD
    if supported:
        do = Word("did", of_tense) if tense == "past" else Word("does" if third else "do")
        return _English(do, (Word(forms.base, own),))
    present = forms.third if third else forms.base
    return _English(None, (Word(forms.past if tense == "past" else present, own),))


def _english_order(
    dice: Dice,
    subject: Subject,
    group: _English,
    denied: Phrase,
    negation: str | Phrase,
    adverb: Phrase,
    asked: bool,
) -> tuple[Word, ...]:
    auxiliary, main = group
    who = subject.phrase.english
    if auxiliary is None:
        return (*who, *denied.english, *adverb.english, *main)
    head: tuple[Word, ...] = (auxiliary,)
    behind = denied.english
    short = dice.random()
    if negation == "not":
        shrinks = subject.pronoun and not asked and auxiliary.text in ("am", "is", "are")
        if shrinks and (auxiliary.text == "am" or short < 0.15):
            full = auxiliary.text == "am" and short > 0.9
            head = (auxiliary._replace(text=_shrunk(auxiliary.text, full)),)
        elif auxiliary.text not in ("am", "may") and short < 0.88:
            stem = english.NEGATED.get(auxiliary.text, auxiliary.text)
            contracted = Word("n't", denied.english[0].marks)
            return _placed(
                who, (auxiliary._replace(text=stem), contracted), (), adverb, main, asked
            )
        elif auxiliary.text == "can":
            # "can not" is written as one word
            merged = Word("cannot", auxiliary.marks + denied.english[0].marks)
            head, behind = ((merged,), ()) if not asked else (head, behind)
    elif subject.pronoun and not asked and short < 0.8:
        head = (auxiliary._replace(text=_shrunk(auxiliary.text, False)),)
    return _placed(who, head, behind, adverb, main, asked)


def _shrunk(auxiliary: str, full: bool) -> str:
    return auxiliary if full else english.CONTRACTED.get(auxiliary, auxiliary)


def _placed(
    who: tuple[Word, ...],
    head: tuple[Word, ...],
    behind: tuple[Word, ...],
    adverb: Phrase,
    main: tuple[Word, ...],
    asked: bool,
) -> tuple[Word, ...]:
    front = (*head, *who) if asked else (*who, *head)
    return (*front, *behind, *adverb.english, *main)


def _french_order(
    subject: Subject,
    verbs: VerbPhrase,
    tense: str,
    of_tense: Marks,
    denied: Phrase,
    adverb: Phrase,
    inverted: bool,
) -> list[Word]:
    ne, pas = denied.french[:1], denied.french[1:]
    own = verbs.infinitive_marks
    compound = tense == "perfect"
    if compound:
        with_etre = verbs.reflexive or verbs.infinitive in WITH_ETRE
        auxiliary = "être" if with_etre else "avoir"
        finite = Word(conjugate(auxiliary, "present", subject.person), of_tense)
        feminine, plural = _agreement(subject, verbs, with_etre)
        past = (Word(participle(verbs.infinitive, feminine=feminine, plural=plural), own),)
    else:
        finite, past = Word(conjugate(verbs.infinitive, tense, subject.person), own), ()
    who = subject.phrase.french
    core = [*ne, *verbs.clitics, finite]
    if inverted:
        text = "-elle" if subject.english == "she" else _INVERTED[subject.person]
        core.append(Word(text, who[0].marks))
    else:
        core = [*who, *core]
    return [*core, *pas, *adverb.french, *past]


def _agreement(subject: Subject, verbs: VerbPhrase, with_etre: bool) -> tuple[bool, bool]:
    if verbs.agreement is not None:
        return verbs.agreement
    return (subject.feminine, subject.plural) if with_etre else (False, False)


def order(
    verbs: VerbPhrase, person: int = 4, *, negation: str = "", first: Phrase = EMPTY
) -> Phrase:
    """An imperative: *close the door*, *don't wait for me*, *let's go* (``person`` 3).

    French puts the pronoun after the verb (aidez-moi), but before it when denied.
    """
    form = Word(conjugate(verbs.infinitive, "imperative", person), verbs.infinitive_marks)
    main = Word(verbs.verb, verbs.verb_marks)
    if negation:
        denied = fill("n't:1 | ne:1 pas:1")
        source: tuple[Word, ...] = (Word("do"), *denied.english, main)
        target = [denied.french[0], *verbs.clitics, form, denied.french[1]]
    else:
        source = (*first.english, main)
        strong = {"me": "moi", "te": "toi"}
        target = [form]
        for clitic in verbs.clitics:
            target.append(Word(f"-{strong.get(clitic.text, clitic.text)}", clitic.marks))
    return Phrase((*source, *verbs.after), (*target, *verbs.rest))
