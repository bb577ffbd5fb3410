"""French inflection: conjugation, participles, feminines and plurals."""

from __future__ import annotations

from functools import cache

# Present of the six persons; past participle; stem of future and conditional.
_IRREGULAR_LINES = """
être: suis es est sommes êtes sont; été; ser
avoir: ai as a avons avez ont; eu; aur
aller: vais vas va allons allez vont; allé; ir
faire: fais fais fait faisons faites font; fait; fer
pouvoir: peux peux peut pouvons pouvez peuvent; pu; pourr
vouloir: veux veux veut voulons voulez veulent; voulu; voudr
devoir: dois dois doit devons devez doivent; dû; devr
savoir: sais sais sait savons savez savent; su; saur
prendre: prends prends prend prenons prenez prennent; pris; prendr
apprendre: apprends apprends apprend apprenons apprenez apprennent; appris; apprendr
comprendre: comprends comprends comprend comprenons comprenez comprennent; compris; comprendr
venir: viens viens vient venons venez viennent; venu; viendr
revenir: reviens reviens revient revenons revenez reviennent; revenu; reviendr
devenir: deviens deviens devient devenons devenez deviennent; devenu; deviendr
souvenir: souviens souviens souvient souvenons souvenez souviennent; souvenu; souviendr
lire: lis lis lit lisons lisez lisent; lu; lir
écrire: écris écris écrit écrivons écrivez écrivent; écrit; écrir
dire: dis dis dit disons dites disent; dit; dir
rire: ris ris rit rions riez rient; ri; rir
sourire: souris souris sourit sourions souriez sourient; souri; sourir
voir: vois vois voit voyons voyez voient; vu; verr
croire: crois crois croit croyons croyez croient; cru; croir
boire: bois bois boit buvons buvez boivent; bu; boir
dormir: dors dors dort dormons dormez dorment; dormi; dormir
endormir: endors endors endort endormons endormez endorment; endormi; endormir
partir: pars pars part partons partez partent; parti; partir
sortir: sors sors sort sortons sortez sortent; sorti; sortir
mettre: mets mets met mettons mettez mettent; mis; mettr
connaître: connais connais connaît connaissons connaissez connaissent; connu; connaîtr
ouvrir: ouvre ouvres ouvre ouvrons ouvrez ouvrent; ouvert; ouvrir
courir: cours cours court courons courez courent; couru; courr
vivre: vis vis vit vivons vivez vivent; vécu; vivr
suivre: suis suis suit suivons suivez suivent; suivi; suivr
construire: construis construis construit construisons construisez construisent; construit;
  construir
conduire: conduis conduis conduit conduisons conduisez conduisent; conduit; conduir
peindre: peins peins peint peignons peignez peignent; peint; peindr
éteindre: éteins éteins éteint éteignons éteignez éteignent; éteint; éteindr
asseoir: assieds assieds assied asseyons asseyez asseyent; assis; assiér
"""

_PRESENT = {
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
}
_PARTICIPLE = {"er": "é", "ir": "i", "re": "u"}
_IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
_FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
_STRESSED = (0, 1, 2, 5)  # the persons whose ending is mute, so that the stem's vowel opens

# How the stem of an -er verb changes before a mute ending, and whether the future follows.
_STEM_CHANGES = {
    "acheter": ("achèt", True),
    "lever": ("lèv", True),
    "promener": ("promèn", True),
    "appeler": ("appell", True),
    "jeter": ("jett", True),
    "préférer": ("préfèr", False),
    "espérer": ("espèr", False),
    "répéter": ("répèt", False),
    "essayer": ("essai", True),
    "payer": ("pai", True),
    "nettoyer": ("nettoi", True),
    "envoyer": ("envoi", False),
}
_FUTURE_STEMS = {"envoyer": "enverr"}
_IMPERATIVES = {"être": ("sois", "soyons", "soyez"), "avoir": ("aie", "ayons", "ayez")}

# Verbs of movement and state whose past is made with être.
WITH_ETRE = frozenset(
    "aller venir revenir partir sortir arriver devenir entrer rentrer rester tomber".split()
)

_FEMININES = {
    "beau": "belle",
    "nouveau": "nouvelle",
    "vieux": "vieille",
    "blanc": "blanche",
    "long": "longue",
    "gros": "grosse",
    "bon": "bonne",
    "frais": "fraîche",
    "sec": "sèche",
    "gentil": "gentille",
    "doux": "douce",
    "inquiet": "inquiète",
    "jaloux": "jalouse",
    "grec": "grecque",
    "chauffeur": "chauffeur",
    "professeur": "professeur",
    "médecin": "médecin",
    "acteur": "actrice",
    "directeur": "directrice",
    "agriculteur": "agricultrice",
    "ingénieur": "ingénieure",
    "écrivain": "écrivaine",
    "bon_marché": "bon_marché",
    "marron": "marron",
}
_FEMININE_ENDINGS = (
    ("e", "e"),
    ("eux", "euse"),
    ("eur", "euse"),
    ("er", "ère"),
    ("f", "ve"),
    ("el", "elle"),
    ("en", "enne"),
    ("on", "onne"),
)
BEFORE_VOWEL = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}
_INVARIABLE = ("marron", "bon_marché")


def _irregular() -> dict[str, tuple[tuple[str, ...], str, str]]:
    table = {}
    for line in _IRREGULAR_LINES.replace("\n  ", " ").strip().splitlines():
        infinitive, forms = line.split(": ")
        present, past, future = forms.split("; ")
        table[infinitive] = (tuple(present.split()), past, future)
    return table


IRREGULAR = _irregular()


@cache
def conjugate(infinitive: str, tense: str, person: int) -> str:
    """One form; ``tense`` is present, imperfect, future, conditional or imperative.

    ``person`` counts from 0 (je) to 5 (ils).
    """
    if tense == "present":
        return _present(infinitive)[person]
    if tense == "imperfect":
        stem = "ét" if infinitive == "être" else _present(infinitive)[3].removesuffix("ons")
        soft = person in (3, 4)
        stem = stem.removesuffix("e") if soft and stem.endswith("ge") else stem
        stem = stem.removesuffix("ç") + "c" if soft and stem.endswith("ç") else stem
        return stem + _IMPERFECT[person]
    if tense == "imperative":
        return _imperative(infinitive, person)
    endings = _FUTURE if tense == "future" else _IMPERFECT
    return _future_stem(infinitive) + endings[person]


def _present(infinitive: str) -> tuple[str, ...]:
    if infinitive in IRREGULAR:
        return IRREGULAR[infinitive][0]
    stem, group = infinitive[:-2], infinitive[-2:]
    forms = []
    for person, ending in enumerate(_PRESENT[group]):
        changed = infinitive in _STEM_CHANGES and person in _STRESSED
        root = _STEM_CHANGES[infinitive][0] if changed else stem
        if ending == "ons" and group == "er" and root.endswith("g"):
            root += "e"
        elif ending == "ons" and group == "er" and root.endswith("c"):
            root = root[:-1] + "ç"
        forms.append(root + ending)
    return tuple(forms)


def _future_stem(infinitive: str) -> str:
    if infinitive in IRREGULAR:
        return IRREGULAR[infinitive][2]
    changed, in_future = _STEM_CHANGES.get(infinitive, ("", False))
    if in_future:
        return f"{changed}er"
    return _FUTURE_STEMS.get(infinitive, infinitive.removesuffix("e"))


def _imperative(infinitive: str, person: int) -> str:
    if infinitive in _IMPERATIVES:
        return _IMPERATIVES[infinitive][{1: 0, 3: 1, 4: 2}[person]]
    form = _present(infinitive)[person]
    drops_s = person == 1 and form.endswith(("es", "as"))
    return form[:-1] if drops_s else form


@cache
def participle(infinitive: str, *, feminine: bool = False, plural: bool = False) -> str:
    """The past participle, agreeing."""
    if infinitive in IRREGULAR:
        form = IRREGULAR[infinitive][1]
    else:
        form = infinitive[:-2] + _PARTICIPLE[infinitive[-2:]]
    return inflect(form.replace("dû", "du") if feminine else form, feminine, plural)


@cache
def inflect(word: str, feminine: bool, plural: bool) -> str:
    """An adjective, participle or noun of profession in the gender and number asked for."""
    form = _feminine(word) if feminine else word
    return pluralise(form) if plural and word not in _INVARIABLE else form


def _feminine(word: str) -> str:
    if word in _FEMININES:
        return _FEMININES[word]
    for ending, feminine in _FEMININE_ENDINGS:
        if word.endswith(ending):
            return word.removesuffix(ending) + feminine
    return f"{word}e"


@cache
def pluralise(noun: str) -> str:
    """The plural; of a compound, its first word's."""
    head, joint, tail = noun.partition("_")
    if head.endswith(("s", "x", "z")):
        plural = head
    elif head.endswith(("eau", "eu")) and head != "bleu":
        plural = f"{head}x"
    elif head.endswith("al"):
        plural = f"{head[:-1]}ux"
    else:
        plural = f"{head}s"
    return plural + joint + tail
