"""Who is taller, what is more expensive."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.french import inflect
from attention_plugins.datasets.phrasebook.lexicon.adjectives import (
    ADJECTIVES,
    fitting,
)
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS, of_kind
from attention_plugins.datasets.phrasebook.nominals import (
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.people import relative, share_a_word, somebody
from attention_plugins.datasets.phrasebook.phrase import (
    Dice,
    Draft,
    fill,
)
from attention_plugins.datasets.phrasebook.rules.being import being, told
from attention_plugins.datasets.phrasebook.rules.qualities import OWNED, quality

_COMPARED = {"tall": "taller", "old": "older", "young": "younger",
             "strong": "stronger", "rich": "richer", "nice": "nicer", "kind": "kinder",
             "happy": "happier"}  # fmt: skip


_PEERS = ("brother", "sister", "cousin", "friend", "neighbor", "colleague")


def comparison(dice: Dice) -> Draft:
    """*My brother is taller than Tom.* – Mon frère est plus grand que Tom."""
    subject = somebody(dice)
    other = name(dice) if dice.chance(0.5) else relative(dice, pronoun("i"))
    adjective = dice.pick((*_COMPARED, "intelligent", "serious", "patient", "careful"))
    if adjective in ("old", "young", "strong"):
        other = thing(noun_phrase("poss", dice.pick(_PEERS), owner=pronoun("i")), "friend")
    while share_a_word(other.phrase, subject.phrase):
        other = name(dice)
    form = ADJECTIVES[adjective].form(subject.feminine, subject.plural)
    form = inflect("âgé", subject.feminine, subject.plural) if adjective == "old" else form
    if dice.chance(0.35):
        template = f"as:1 {adjective}:2 as:3 {{o}} | aussi:1 {form}:2 que:3 {{o}}"
        form_of = fill(template, o=other.phrase)
        return told(dice, subject, being(form_of))
    if adjective in _COMPARED:
        template = f"{_COMPARED[adjective]}:1 than:2 {{o}} | plus:1 {form}:1 que:2 {{o}}"
    else:
        template = f"more:3 {adjective}:1 than:2 {{o}} | plus:3 {form}:1 que:2 {{o}}"
    return told(dice, subject, being(fill(template, o=other.phrase)))


def comparison_of_things(dice: Dice) -> Draft:
    """*Her skirt is more elegant than ours.* – Sa jupe est plus élégante que la nôtre."""
    noun = dice.pick(_COMPARABLE_THINGS)
    many = NOUNS[noun].kind == "shoes"
    mark = "+" if many else ""
    owner = pronoun(dice.pick(("i", "you", "he", "she", "we")))
    subject = thing(noun_phrase(f"poss{mark}" if noun in OWNED else f"the{mark}", noun,
                                owner=owner), noun, many)  # fmt: skip
    than_whose = dice.pick(_YOURS)
    source, person, gender_forms = than_whose
    adjective = dice.pick(_comparable(noun))
    form = ADJECTIVES[adjective].form(subject.feminine, subject.plural)
    column = subject.feminine + 2 * subject.plural
    short = _THING_COMPARED[adjective]
    more = f"{short}:1" if short else f"more:3 {adjective}:1"
    if owner.english == person:
        return quality(dice)
    the = ("LE", "la", "LES", "LES")[column]
    template = f"{more} than:2 {source}:4 | plus:{'1' if short else '3'} {form}:1 que:2 "
    return clause(dice, subject, being(fill(f"{template}{the}:4 {gender_forms[column]}:4"))), "."


_YOURS = (
    ("mine", "i", ("mien", "mienne", "miens", "miennes")),
    ("yours", "you", ("vôtre", "vôtre", "vôtres", "vôtres")),
    ("hers", "she", ("sien", "sienne", "siens", "siennes")),
    ("ours", "we", ("nôtre", "nôtre", "nôtres", "nôtres")),
)
_THING_COMPARED = {"big": "bigger", "small": "smaller", "old": "older", "heavy": "heavier",
                   "fast": "faster", "long": "longer", "expensive": "", "comfortable": "",
                   "modern": "", "beautiful": "", "interesting": "", "difficult": "",
                   "dirty": "dirtier", "clean": "cleaner", "elegant": "", "easy": "easier",
                   "pretty": "prettier", "quiet": "quieter", "boring": "",
                   "important": ""}  # fmt: skip


def _comparable(noun: str) -> tuple[str, ...]:
    return tuple(a for a in fitting(noun) if a in _THING_COMPARED)


_COMPARABLE_THINGS = tuple(
    noun
    for noun in (*OWNED, *of_kind("furniture", "reading", "task", "town"))
    if _comparable(noun)
)

RULES = (
    (18, comparison),
    (12, comparison_of_things),
)
