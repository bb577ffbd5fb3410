"""Adjectives: ``english=french``, with ``+`` where French puts it before the noun, and for each
class of noun those that fit it.

``PREDICATES`` only follow the verb; ``=en_retard`` and the like never agree.
"""

from __future__ import annotations

from typing import NamedTuple

from attention_plugins.datasets.phrasebook.french import inflect
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS

_LINES = """
good=+bon bad=+mauvais new=+nouveau old=+vieux young=+jeune beautiful=+beau pretty=+joli
big=+grand small=+petit tall=+grand long=+long red=rouge blue=bleu green=vert black=noir
white=blanc gray=gris brown=marron hot=chaud cold=froid fresh=frais delicious=délicieux
expensive=cher ripe=mûr clean=propre dirty=sale empty=vide full=plein heavy=lourd new_=neuf
comfortable=confortable modern=moderne quiet=calme dark=sombre strange=étrange easy=facile
difficult=difficile important=important interesting=intéressant boring=ennuyeux short=court
funny=drôle sad=triste famous=célèbre dangerous=dangereux fast=rapide slow=lent elegant=élégant
intelligent=intelligent strong=fort kind=gentil nice=sympathique rich=riche poor=pauvre
tired=fatigué happy=heureux sick=malade ready=prêt busy=occupé alone=seul serious=sérieux
shy=timide angry=en_colère nervous=nerveux proud=fier jealous=jaloux lazy=paresseux polite=poli
patient=patient honest=honnête curious=curieux brave=courageux careful=prudent worried=inquiet
surprised=surpris disappointed=déçu free=libre late=en_retard generous=généreux open=ouvert
closed=fermé friendly=aimable excellent=excellent
"""

_FITS = """
fruit: good delicious fresh ripe small
food: good fresh expensive delicious
dish: good delicious big small hot cold
produce: fresh good big small
drink: hot cold good
mealtime: good excellent
clothes: new old red blue black white green beautiful pretty expensive dirty clean elegant gray
shoes: new old black white dirty clean comfortable brown
furniture: new old big small comfortable beautiful heavy expensive
fitting: small big old heavy white open closed
bag: big small heavy empty full new old
small: new old small pretty expensive
paper: beautiful old interesting
vehicle: new old red blue black white fast expensive big small
transport: fast slow full empty late
device: new old expensive small modern good
reading: good interesting boring long short old new difficult
show: good beautiful interesting boring sad funny new long
task: difficult easy important interesting long
event: long interesting boring important beautiful
house: big small old new modern beautiful expensive comfortable clean
shop: good small big new expensive modern
public: big small old new modern beautiful
outdoors: beautiful big small quiet
town: beautiful big small old quiet pretty
room: big small clean dirty dark comfortable beautiful
part: big old white dirty
animal: big small black white young old beautiful dangerous strange
plant: beautiful big small old white
instrument: old new good beautiful expensive
idea: good bad interesting strange excellent
job: good difficult interesting important dangerous new
"""

# Which nouns of a class a mere class cannot tell: adjective -> nouns it does not go with.
_MISFITS = {
    "small": "passport ticket elephant lion bear sky sea rice milk countryside",
    "big": "sky sea mouse bird rabbit plate",
    "hot": "salad pie cake ice_cream beer wine milk juice water dessert",
    "cold": "coffee tea soup omelet pizza meal",
    "ripe": "lemon",
    "pretty": "wallet passport umbrella knife ticket pencil glasses suit pants scissors fork "
    "spoon",
    "expensive": "passport knife bread key stamp pencil fork spoon map salt sugar notebook ticket",
    "new": "newspaper rose mouse ticket gift stamp",
    "old": "letter postcard newspaper stamp rose gift ticket umbrella elephant snake "
    "spider lion bear",
    "young": "spider snake mouse",
    "dangerous": "cat rabbit mouse cow sheep bird horse monkey",
    "strange": "cow sheep",
    "quiet": "sky mountain market country",
    "difficult": "newspaper dictionary magazine",
    "long": "word",
    "interesting": "dictionary wedding postcard",
    "boring": "dictionary wedding",
    "important": "wedding",
    "comfortable": "table desk lamp mirror bathroom kitchen classroom",
    "heavy": "lamp cup plate glass bowl",
    "empty": "package",
    "full": "package plate cup taxi",
    "green": "suit",
    "red": "suit",
    "white": "cow spider snake bear monkey elephant lion tree plant flower floor",
    "black": "elephant lion monkey mouse snake sheep cow rabbit",
    "delicious": "egg sugar salt butter rice lemon",
    "fresh": "sugar salt chocolate honey jam rice ice_cream",
    "sad": "game concert",
    "good": "dream salt sugar butter",
    "funny": "concert game",
    "beautiful": "mouse spider monkey bear market pants sheep cow plant snake",
    "fast": "bicycle truck",
}


class Adjective(NamedTuple):
    """An adjective; ``before`` where French puts it before the noun."""

    english: str
    french: str
    before: bool

    def form(self, feminine: bool, plural: bool) -> str:
        """The French form that agrees."""
        return (
            self.french
            if self.french.startswith("en_")
            else inflect(self.french, feminine, plural)
        )


def _read() -> dict[str, Adjective]:
    adjectives = {}
    for entry in _LINES.split():
        word, translation = entry.split("=")
        adjectives[word] = Adjective(
            word.rstrip("_"), translation.lstrip("+"), translation[0] == "+"
        )
    return adjectives


ADJECTIVES = _read()

_KIND_FITS = {
    line.split(": ")[0]: tuple(line.split(": ")[1].split()) for line in _FITS.strip().splitlines()
}
PREDICATES = ("open", "closed", "late", "full", "empty", "ripe", "hot", "cold")

COLORS = ("red", "blue", "green", "black", "white", "gray", "brown")

# How a person is, for a while or for good.
MOODS = (
    "tired happy sick ready busy alone angry nervous worried surprised disappointed late free sad"
).split()
CHARACTERS = (
    "intelligent strong kind nice rich poor serious shy proud jealous lazy polite patient honest "
    "curious brave careful generous funny famous tall friendly"
).split()


def fitting(noun: str) -> tuple[str, ...]:
    """The adjectives that a person would give to this noun."""
    return _FITTING[noun]


_FITTING = {
    key: tuple(
        adjective
        for adjective in _KIND_FITS.get(noun.kind, ())
        if key not in _MISFITS.get(adjective, "").split()
    )
    for key, noun in NOUNS.items()
}
