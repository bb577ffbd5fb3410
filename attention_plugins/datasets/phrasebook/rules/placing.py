"""Where people and things are, and what there is."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS, of_kind
from attention_plugins.datasets.phrasebook.lexicon.people import NUMBERS
from attention_plugins.datasets.phrasebook.nominals import (
    Subject,
    describe,
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.people import somebody
from attention_plugins.datasets.phrasebook.phrase import Dice, Draft, Phrase, fill
from attention_plugins.datasets.phrasebook.rules.being import being, told

_ON = "on:1 {p} | sur:1 {p}"
_IN = "in:1 {p} | dans:1 {p}"
_UNDER = "under:1 {p} | sous:1 {p}"
_BEHIND = "behind:1 {p} | derrière:1 {p}"
_NEAR = "near:1 {p} | près:1 de {p}"
_NEXT = "next:1 to:1 {p} | à:1 côté:1 de {p}"
_FRONT = "in:1 front:1 of:1 {p} | devant:1 {p}"
_FAR = "far:1 from:2 {p} | loin:1 de:2 {p}"
_FACING = "across:1 from:1 {p} | en:1 face:1 de {p}"

_SMALL = (*of_kind("small", "clothes"), "bag", "phone", "watch", "camera", "book", "newspaper",
          "magazine", "dictionary", "letter", "suitcase")  # fmt: skip
_PETS = ("dog", "cat")
_TOWN = (*of_kind("shop", "public"), "park", "market")

# What may be somewhere: things, and places with their preposition.
_SPOTS = (
    (_SMALL, (_ON,), ("table", "desk", "chair", "bed", "sofa", "armchair")),
    (_SMALL, (_IN,), ("bag", "suitcase", "box", "drawer", "car", "kitchen", "living_room")),
    (_SMALL, (_UNDER,), ("bed", "table", "chair", "sofa", "desk")),
    (_SMALL, (_BEHIND, _NEXT), ("door", "computer", "lamp", "sofa", "television")),
    (_PETS, (_UNDER, _BEHIND), ("table", "chair", "sofa", "car", "tree")),
    (_PETS, (_IN,), ("garden", "kitchen", "house", "street", "garage", "living_room")),
    (_TOWN, (_NEAR, _FAR, _NEXT, _FACING), _TOWN),
    (("car", "bicycle", "motorcycle", "truck"), (_FRONT, _BEHIND),
     ("house", "bank", "school", "hotel", "store", "church", "restaurant")),
    (("car", "bicycle", "motorcycle"), (_IN,), ("garage", "street")),
)  # fmt: skip

_WHERE = (
    "at:1 home:2 | à:1 la maison:2",
    "at:1 school:2 | à:1 l' école:2",
    "at:1 work:2 | au:1 travail:2",
    "at:1 church:2 | à:1 l' église:2",
    "here | ici",
    "in:1 bed:2 | au:1 lit:2",
    "in:1 Paris:2 | à:1 Paris:2",
    "in:1 France:2 | en:1 France:2",
    "in:1 Canada:2 | au:1 Canada:2",
    "on:1 vacation:2 | en:1 vacances:2",
    "in:1 the:2 garden:3 | dans:1 le:2 jardin:3",
    "in:1 the:2 kitchen:3 | dans:1 la:2 cuisine:3",
    "in:1 the:2 living:3 room:3 | dans:1 le:2 salon:3",
    "in:1 his:2 room:3 | dans:1 sa:2 chambre:3",
    "at:1 the:2 office:3 | au:12 bureau:3",
    "at:1 the:2 hospital:3 | à:1 l':2 hôpital:3",
    "at:1 the:2 market:3 | au:12 marché:3",
    "at:1 the:2 beach:3 | à:1 la:2 plage:3",
    "at:1 the:2 library:3 | à:1 la:2 bibliothèque:3",
    "at:1 the:2 station:3 | à:1 la:2 gare:3",
    "at:1 the:2 restaurant:3 | au:12 restaurant:3",
    "at:1 the:2 airport:3 | à:1 l':2 aéroport:3",
)


def _spot(
    dice: Dice, prepositions: tuple[str, ...], places: tuple[str, ...], besides: str
) -> Phrase:
    place = dice.pick([p for p in places if p != besides])
    return fill(dice.pick(prepositions), p=noun_phrase("the", place))


def _singular(noun: str) -> bool:
    known = NOUNS[noun]
    return not (known.english_plural_only or known.french_plural_only)


def thing_somewhere(dice: Dice) -> Draft:
    """*Your keys are on the table.*"""
    things, prepositions, places = dice.pick(_SPOTS)
    noun = dice.pick(things)
    owner = pronoun(dice.pick(("i", "i", "you", "he", "she", "we", "they")))
    owned = (things is _SMALL and dice.chance(0.6)) or (things is _PETS and dice.chance(0.5))
    many = noun in ("key", "book", "glove", "toy", "pencil", "letter", "photo") and dice.chance(
        0.6
    )
    determiner = ("poss" if owned else "the") + ("+" if many else "")
    phrase = noun_phrase(
        determiner, noun, owner=owner, adjective=describe(dice, determiner, noun, 0.15)
    )
    return told(dice, thing(phrase, noun, many), being(_spot(dice, prepositions, places, noun)))


def person_somewhere(dice: Dice) -> Draft:
    """*She is at the airport.* – Elle est à l'aéroport."""
    subject = somebody(dice)
    where = dice.pick(_WHERE)
    if "his" in where:
        subject = pronoun("he") if dice.chance(0.4) else _man(dice)
    return told(dice, subject, being(fill(where)))


def _man(dice: Dice) -> Subject:
    subject = name(dice)
    while subject.feminine:
        subject = name(dice)
    return subject


_ON_TABLES = (
    *of_kind("small", "dish", "fruit", "reading", "paper"), "bag", "bottle", "cup", "glass",
    "plate",     "lamp", "phone", "computer", "box",
)  # fmt: skip
_EXISTING = (
    (_ON_TABLES, (_ON,), ("table", "desk", "chair")),
    (("cat", "dog"), (_ON,), ("bed", "sofa", "roof", "chair")),
    (("egg", "apple", "carrot", "tomato", "bottle", "lemon"), (_IN,), ("fridge", "kitchen")),
    (("cat", "dog", "ball", "box", "bag"), (_UNDER,), ("table", "bed", "chair", "car", "tree")),
    (("tree", "cat", "dog", "bird", "rabbit", "chair", "child"), (_IN,), ("garden", "park")),
    (("snake", "mouse", "spider"), (_IN,), ("house", "kitchen", "bathroom", "garage", "bed")),
    (("book", "key", "pen", "letter", "photo", "notebook", "passport"), (_IN,),
     ("bag", "drawer", "box", "suitcase")),
    (_TOWN, (_NEAR, _NEXT, _FACING), ("station", "hotel", "school", "church", "park", "bank")),
    (("bed", "desk", "chair", "table", "mirror", "lamp", "television", "sofa"), (_IN,),
     ("room", "living_room", "kitchen", "office")),
    (("museum", "castle", "hospital", "theater", "pool", "school", "university", "market",
      "restaurant", "library", "church", "river", "lake", "bakery"), (_IN,), ("city", "village")),
    (("tree", "car", "truck", "tourist"), (_FRONT, _BEHIND), ("house", "school", "church")),
)  # fmt: skip


def there_is(dice: Dice) -> Draft:
    """*There's a cat under the table.* – Il y a un chat sous la table."""
    things, prepositions, places = dice.pick(_EXISTING)
    noun = dice.pick([n for n in things if _singular(n)])
    determiner = "this" if places == ("city", "village") else "the"
    place = dice.pick([p for p in places if p != noun])
    where = fill(dice.pick(prepositions), p=noun_phrase(determiner, place))
    chosen = dice.random()
    if chosen < 0.2:
        what = noun_phrase("a", noun)
        return fill("is:2 there:1 {n} {w} | y:1 a:2 -il:1 {n} {w}", n=what, w=where), "?"
    if chosen < 0.35:
        what = noun_phrase("a", noun, negative=True)
        denied = "there:1 is:2 n't:3 {n} {w} | il:1 ne:3 y:1 a:2 pas:3 {n} {w}"
        return fill(denied, n=what, w=where), "."
    many = dice.chance(0.4)
    was = dice.chance(0.25)
    if not many:
        adjective = describe(dice, "a", noun, 0.3)
        be = "was" if was else dice.pick(("'s", "'s", "is"))
    else:
        adjective, be = "", "were" if was else "are"
    determiner = dice.pick(("num+", "num+", "many+")) if many else "a"
    number = dice.pick(tuple(NUMBERS)[:5])
    what = noun_phrase(determiner, noun, adjective=adjective, number=number)
    template = f"there:1 {be}:2 {{n}} {{w}} | il:1 y:1 {'avait' if was else 'a'}:2 {{n}} {{w}}"
    return fill(template, n=what, w=where), "."


def where_is(dice: Dice) -> Draft:
    """*Where are my keys?* – Où sont mes clés ?"""
    if dice.chance(0.35):
        noun, many, subject = dice.pick(_TOWN), False, None
    else:
        noun = dice.pick((*_SMALL, "car", "dog", "cat", "bicycle", "shoe", "glove"))
        many = noun in ("key", "shoe", "glove", "book", "sock") and dice.chance(0.8)
        subject = pronoun(dice.pick(("i", "i", "you", "he", "she", "we", "they")))
    determiner = ("poss" if subject else "the") + ("+" if many else "")
    phrase = noun_phrase(
        determiner, noun, owner=subject, adjective=describe(dice, determiner, noun, 0.2)
    )
    known = thing(phrase, noun, many)
    sont = (
        ("étaient" if known.plural else "était")
        if (past := dice.chance(0.12))
        else ("sont" if known.plural else "est")
    )
    be = (
        ("were" if known.english == "they" else "was")
        if past
        else ("are" if known.english == "they" else dice.pick(("is", "is", "'s")))
    )
    return fill(f"where:1 {be}:2 {{n}} | où:1 {sont}:2 {{n}}", n=phrase), "?"


def where_is_somebody(dice: Dice) -> Draft:
    """*Where is Claire?* – Où est Claire ?"""
    subject = somebody(dice)
    while subject.person == 0:
        subject = somebody(dice)
    opener = fill("where | où")
    if subject.pronoun:
        return clause(dice, subject, being(fill("now | maintenant") if dice.chance(0.2) else
                      Phrase((), ())), asked=True, opener=opener), "?"  # fmt: skip
    be, est = ("are", "sont") if subject.english == "they" else ("is", "est")
    return fill(f"where:1 {be}:2 {{s}} | où:1 {est}:2 {{s}}", s=subject.phrase), "?"


RULES = (
    (56, thing_somewhere),
    (22, person_somewhere),
    (58, there_is),
    (26, where_is),
    (5, where_is_somebody),
)
