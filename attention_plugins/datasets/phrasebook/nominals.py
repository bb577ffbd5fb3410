"""Noun phrases, people and possessors, agreeing in both languages."""

from __future__ import annotations

from typing import NamedTuple

from attention_plugins.datasets.phrasebook import english, french
from attention_plugins.datasets.phrasebook.lexicon.actions import Action
from attention_plugins.datasets.phrasebook.lexicon.adjectives import (
    ADJECTIVES,
    COLORS,
    PREDICATES,
    fitting,
)
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS, Noun
from attention_plugins.datasets.phrasebook.lexicon.people import NAMES, NUMBERS
from attention_plugins.datasets.phrasebook.orthography import starts_with_vowel
from attention_plugins.datasets.phrasebook.phrase import (
    Dice,
    Marks,
    Phrase,
    Word,
    fill,
    fresh_mark,
)

DEFINITE = ("the", "this", "poss")
_RESTRICTIVE = ("new", "old", "big", "small", "long", *COLORS)
_DESCRIBED_ONLY_AFTER_A = ("fruit", "food", "dish", "drink", "mealtime", "outdoors", "public",
                           "show", "event", "idea", "job", "part", "fitting", "shop",
                           "instrument", "paper")  # fmt: skip
_NEVER_DESCRIBED = ("transport", "kin_m")
_POSSESSIVES = (
    ("mon", "ma", "mes"),
    ("ton", "ta", "tes"),
    ("son", "sa", "ses"),
    ("notre", "notre", "nos"),
    ("votre", "votre", "vos"),
    ("leur", "leur", "leurs"),
)


class Subject(NamedTuple):
    """Who or what a clause is about, with all that agrees with it.

    ``english`` is the pronoun it would have (``one`` for who, everyone and nobody), ``person``
    the French one, from 0 (je) to 5 (ils).
    """

    phrase: Phrase
    english: str
    person: int
    feminine: bool = False
    plural: bool = False
    pronoun: bool = False


_PRONOUNS = {
    "i": ("I:1 | je:1", 0, False, False),
    "you": ("you:1 | vous:1", 4, False, False),
    "thou": ("you:1 | tu:1", 1, False, False),
    "he": ("he:1 | il:1", 2, False, False),
    "she": ("she:1 | elle:1", 2, True, False),
    "we": ("we:1 | nous:1", 3, False, True),
    "they": ("they:1 | ils:1", 5, False, True),
}


def pronoun(name: str, *, feminine: bool | None = None) -> Subject:
    """``i``, ``you`` (vous), ``thou`` (tu), ``he``, ``she``, ``we`` or ``they`` as a subject."""
    template, person, default, plural = _PRONOUNS[name]
    gender = default if feminine is None else feminine
    source = "you" if name == "thou" else name
    return Subject(fill(template), source, person, gender, plural, pronoun=True)


def any_pronoun(dice: Dice) -> Subject:
    """I, you, he, she, we or they."""
    return pronoun(dice.pick(("i", "i", "you", "he", "he", "she", "she", "we", "they")))


def name(dice: Dice) -> Subject:
    """A person called by the first name."""
    called, feminine = dice.pick(NAMES)
    return Subject(fill(f"{called} | {called}"), "she" if feminine else "he", 2, feminine)


def pair_of_names(dice: Dice) -> Subject:
    """Two people called by their first names."""
    first, second = name(dice), name(dice)
    while second.phrase.english[0].text == first.phrase.english[0].text:
        second = name(dice)
    both = fill("{a} and:1 {b} | {a} et:1 {b}", a=first.phrase, b=second.phrase)
    return Subject(both, "they", 5, first.feminine and second.feminine, True)


def thing(phrase: Phrase, noun: str, plural: bool = False) -> Subject:
    """A noun phrase as a subject; its number may differ between the languages."""
    known = NOUNS[noun]
    many, plusieurs = plural or known.english_plural_only, plural or known.french_plural_only
    return Subject(
        phrase, "they" if many else "it", 5 if plusieurs else 2, known.feminine, plusieurs
    )


def noun_phrase(
    determiner: str,
    noun: str,
    *,
    adjective: str = "",
    owner: Subject | None = None,
    negative: bool = False,
    number: str = "",
    behind: str = "",
) -> Phrase:
    """A determiner, perhaps an adjective, and a noun.

    Args:
        determiner: ``a``, ``the``, ``this``, ``poss`` (of ``owner``), ``some``,
            ``bare`` (*bread*, du pain), ``gen`` (*coffee* as such, le café), ``num`` (with
            ``number``), ``many``, ``which``, ``what`` or ``none``; ``+`` at its end makes the
            plural.
        behind: the French preposition before it: du and des vanish after de, and a negation
            does not reach past any.
        negative: a negated verb turns un, du and des into de, and some into any.
    """
    plural = determiner.endswith("+")
    kind = determiner.removesuffix("+")
    known = NOUNS[noun]
    feminine = known.feminine
    plusieurs = plural or known.french_plural_only
    of_noun, of_determiner = fresh_mark(), fresh_mark()
    nominal = [Word(part, of_noun) for part in known.french_form(plural).split("_")]
    source = [Word(part, of_noun) for part in known.english_form(plural).split("_")]
    preposed = False
    if adjective:
        known_adjective, mark = ADJECTIVES[adjective], fresh_mark()
        preposed = known_adjective.before
        source.insert(0, Word(known_adjective.english, mark))
        form = known_adjective.form(feminine, plusieurs)
        if preposed and not feminine and not plusieurs and starts_with_vowel(nominal[0].text):
            form = french.BEFORE_VOWEL.get(known_adjective.french, form)
        described = Word(form, mark)
        nominal = [described, *nominal] if preposed else [*nominal, described]
    before_vowel = starts_with_vowel(nominal[0].text)
    words = _french_determiner(kind, feminine, plusieurs, before_vowel, owner, number)
    if behind == "de" and kind in ("some", "bare"):
        words = []
    elif kind in ("a", "some", "bare") and (
        (negative and not behind) or (kind != "a" and plusieurs and preposed)
    ):
        words = ["de"]
    shown = _english_determiner(kind, plural or known.english_plural_only, owner, negative, number)
    tie = of_determiner if shown else ()
    return Phrase(
        tuple([Word(word, tie) for word in shown] + source),
        tuple([Word(word, _tie(kind, word, tie)) for word in words] + nominal),
    )


def _tie(kind: str, word: str, tie: Marks) -> Marks:
    return () if kind in ("many", "how_many") and word == "de" else tie


_SHOWN = {("this", True): ["these"], ("many", True): ["a", "lot", "of"]}
_HIDDEN = ("bare", "gen", "none")


def _english_determiner(
    kind: str, plural: bool, owner: Subject | None, negative: bool, number: str
) -> list[str]:
    if kind == "poss":
        assert owner is not None
        return [english.POSSESSIVES[owner.english]]
    if kind in _HIDDEN:
        return []
    if kind == "some":
        return ["any" if negative else "some"]
    if kind == "num":
        return [number]
    return _SHOWN.get((kind, plural)) or [kind]


def _french_determiner(
    kind: str,
    feminine: bool,
    plural: bool,
    before_vowel: bool,
    owner: Subject | None,
    number: str,
) -> list[str]:
    definite = "LES" if plural else "la" if feminine else "LE"
    if kind in ("the", "gen"):
        return [definite]
    if kind in ("some", "bare"):
        return ["des"] if plural else ["de", definite]
    if kind == "poss":
        assert owner is not None
        column = 2 if plural else 1 if feminine and not before_vowel else 0
        return [_POSSESSIVES[owner.person][column]]
    if kind == "this":
        masculine = "cet" if before_vowel else "ce"
        return ["ces" if plural else "cette" if feminine else masculine]
    if kind == "which":
        return [french.inflect("quel", feminine, plural)]
    if kind == "num":
        return [NUMBERS[number]]
    return {"a": ["une" if feminine else "un"], "many": ["beaucoup", "de"], "none": []}[kind]


def describe(dice: Dice, determiner: str, noun: str, probability: float = 0.25) -> str:
    """An adjective that suits this noun after this determiner, or none."""
    kind = determiner.removesuffix("+")
    known: Noun = NOUNS[noun]
    if known.kind in _NEVER_DESCRIBED or not dice.chance(probability):
        return ""
    if kind in DEFINITE:
        choices = _DISTINGUISHING.get(noun, ())
    elif kind == "a" or determiner in ("some+", "num+"):
        choices = _ATTRIBUTES[noun]
    else:
        return ""
    return dice.pick(choices) if choices else ""


_ATTRIBUTES = {noun: tuple(a for a in fitting(noun) if a not in PREDICATES) for noun in NOUNS}
# After the, this or my, an adjective tells which one is meant.
_DISTINGUISHING = {
    noun: tuple(a for a in fitting(noun) if a in _RESTRICTIVE)
    for noun, known in NOUNS.items()
    if known.kind not in _DESCRIBED_ONLY_AFTER_A
}


def some_object(
    dice: Dice, action: Action, owner: Subject, *, negative: bool = False, described: float = 0.25
) -> Phrase:
    """One of the action's objects as a noun phrase."""
    determiner, noun = dice.pick(action.objects)
    while negative and determiner == "num+":
        determiner, noun = dice.pick(action.objects)
    if owner.plural and NOUNS[noun].kind == "clothes" and determiner in ("a", "poss"):
        # Several people wear several hats.
        determiner = "bare+" if determiner == "a" else "poss+"
    number = dice.pick(tuple(NUMBERS)[:3]) if determiner.startswith("num") else ""
    often = 0.0 if action.governed else 0.05 if negative else described
    return noun_phrase(
        determiner,
        noun,
        adjective=describe(dice, determiner, noun, often),
        owner=owner,
        negative=negative,
        number=number,
        behind=action.governed,
    )
