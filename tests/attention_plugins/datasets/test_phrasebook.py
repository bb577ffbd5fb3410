"""Phrasebook: every pair of the corpus is held against French grammar and the bare lexicon."""

import hashlib
import os
import re
import subprocess
import sys
from functools import cache
from itertools import pairwise

import pytest

from attention_plugins.contract import ContractError, settle
from attention_plugins.datasets.phrasebook import PHRASEBOOK, phrasebook
from attention_plugins.datasets.phrasebook.english import plural, verb_forms
from attention_plugins.datasets.phrasebook.french import (
    BEFORE_VOWEL,
    conjugate,
    inflect,
    participle,
)
from attention_plugins.datasets.phrasebook.grammar import corpus
from attention_plugins.datasets.phrasebook.lexicon import adverbials, idioms, people
from attention_plugins.datasets.phrasebook.lexicon.actions import ACTIONS
from attention_plugins.datasets.phrasebook.lexicon.adjectives import ADJECTIVES
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS
from attention_plugins.datasets.phrasebook.orthography import sentence
from attention_plugins.datasets.phrasebook.phrase import fill
from attention_plugins.text import FRENCH, detokenise, tokenise_clitics


@cache
def tokens():
    """The tokens of every pair: source, target."""
    return [(tokenise_clitics(p.source), tokenise_clitics(p.target)) for p in phrasebook()]


def targets_where(pattern):
    """The French sentences, as lower-case tokens between spaces, in which the pattern occurs."""
    found = re.compile(pattern)
    return [text for _, t in tokens() if found.search(text := f" {' '.join(t)} ")]


# Written out by hand: English, French, and below them the links as english=french. They are a
# sample of the corpus; a change of the grammar draws another one.
EXPECTED = """
It takes ten minutes to go to the airport. | Il faut dix minutes pour aller à l'aéroport.
  it=il takes=faut ten=dix minutes=minutes go=aller to=à the=l' airport=aéroport .=.
I will miss my colleague. | Mon collègue me manquera.
  i=me miss=manquera my=mon colleague=collègue .=.
Her head hurts. | Elle a mal à la tête.
  her=elle head=tête hurts=a hurts=mal .=.
The bus leaves at half past six. | Le bus part à six heures et demie.
  the=le bus=bus leaves=part at=à half=et half=demie past=et past=demie six=six .=.
Is she reading a book? | Est-ce qu'elle lit un livre ?
  is=est is=-ce is=qu' she=elle reading=lit a=un book=livre ?=?
He isn't going to drink any water. | Il ne va pas boire d'eau.
  he=il n't=ne n't=pas going=va drink=boire any=d' water=eau .=.
My mother didn't read a novel with him. | Ma mère n'a pas lu de roman avec lui.
  my=ma mother=mère did=a n't=n' n't=pas read=lu a=de novel=roman with=avec him=lui .=.
Give some money to your parents! | Donnez de l'argent à vos parents !
  give=donnez some=de some=l' money=argent to=à your=vos parents=parents !=!
Let's watch this movie. | Regardons ce film.
  watch=regardons this=ce movie=film .=.
Can you clean the kitchen, please? | Pouvez-vous nettoyer la cuisine, s'il vous plaît ?
  can=pouvez you=-vous clean=nettoyer the=la kitchen=cuisine ,=, please=s' please=il
  please=vous please=plaît ?=?
He won't take a walk. | Il ne se promènera pas.
  he=il n't=ne n't=pas take=promènera a=promènera walk=promènera .=.
We've already gone swimming. | Nous sommes déjà allés nager.
  we=nous 've=sommes already=déjà gone=allés swimming=nager .=.
Your friend has just learned Japanese. | Votre ami vient d'apprendre le japonais.
  your=votre friend=ami just=vient learned=apprendre japanese=japonais .=.
He's been working in a factory for three months. | Il travaille dans une usine depuis trois mois.
  he=il working=travaille in=dans a=une factory=usine for=depuis three=trois months=mois .=.
The tie that he bought is elegant. | La cravate qu'il a achetée est élégante.
  the=la tie=cravate that=qu' he=il bought=achetée is=est elegant=élégante .=.
The man who is getting dressed is our father. | L'homme qui s'habille est notre père.
  the=l' man=homme who=qui getting=habille dressed=habille is=est our=notre father=père .=.
She's not older than my sister. | Elle n'est pas plus âgée que ma sœur.
  she=elle 's=est not=n' not=pas older=plus older=âgée than=que my=ma sister=sœur .=.
What a beautiful sea! | Quelle belle mer !
  what=quelle beautiful=belle sea=mer !=!
Where does he have lunch? | Où déjeune-t-il ?
  where=où he=-t-il have=déjeune lunch=déjeune ?=?
Everyone lives in Canada. | Tout le monde vit au Canada.
  everyone=tout everyone=le everyone=monde lives=vit in=au canada=canada .=.
If it's hot, she'll swim in the lake. | S'il fait chaud, elle nagera dans le lac.
  if=s' it=il 's=fait hot=chaud ,=, she=elle swim=nagera in=dans the=le lake=lac .=.
Emma has just washed her hands. | Emma vient de se laver les mains.
  emma=emma just=vient washed=laver her=les hands=mains .=.
Do you look like your grandmother, Julie? | Ressembles-tu à ta grand-mère, Julie ?
  you=-tu look=ressembles like=ressembles your=ta grandmother=grand-mère ,=, julie=julie ?=?
There are a lot of dogs on the chair. | Il y a beaucoup de chiens sur la chaise.
  there=il there=y are=a a=beaucoup lot=beaucoup of=beaucoup dogs=chiens on=sur the=la
  chair=chaise .=.
My son no longer lives in Germany. | Mon fils ne vit plus en Allemagne.
  my=mon son=fils no=ne no=plus longer=ne longer=plus lives=vit in=en germany=allemagne .=.
We never listen to the radio. | Nous n'écoutons jamais la radio.
  we=nous never=n' never=jamais listen=écoutons to=écoutons the=la radio=radio .=.
Are you happy, Claire? | Es-tu heureuse, Claire ?
  are=es you=-tu happy=heureuse ,=, claire=claire ?=?
Marie's bag isn't old. | Le sac de Marie n'est pas vieux.
  marie=marie 's=de bag=sac is=est n't=n' n't=pas old=vieux .=.
I go to bed at nine o'clock. | Je me couche à neuf heures.
  i=je go=couche to=couche bed=couche at=à nine=neuf o'clock=heures .=.
Is he going to go to the doctor tomorrow evening? | Va-t-il aller chez le médecin demain soir ?
  he=-t-il going=va go=aller to=chez the=le doctor=médecin tomorrow=demain evening=soir ?=?
They are not afraid of rain. | Ils n'ont pas peur de la pluie.
  they=ils are=ont not=n' not=pas afraid=peur of=de rain=pluie .=.
Put on your glasses, Paul. | Mets tes lunettes, Paul.
  put=mets on=mets your=tes glasses=lunettes ,=, paul=paul .=.
She needs some stamps. | Elle a besoin de timbres.
  she=elle needs=a needs=besoin stamps=timbres .=.
His friends haven't done their homework yet. | Ses amis n'ont pas encore fait leurs devoirs.
  his=ses friends=amis have=ont n't=n' n't=pas done=fait their=leurs homework=devoirs
  yet=encore .=.
"""


@pytest.mark.parametrize("entry", EXPECTED.replace("\n  ", " | ").strip().splitlines())
def test_known_pairs_have_their_translation_and_alignment(entry):
    source, target, *links = entry.split(" | ")
    pair = next(p for p in phrasebook() if p.source == source)
    assert pair.target == target
    english, french = tokenise_clitics(source), tokenise_clitics(target)
    assert [f"{english[i]}={french[j]}" for i, j in pair.alignment] == " ".join(links).split()


def test_there_are_enough_distinct_sentences():
    sources = {pair.source for pair in phrasebook()}
    assert len(sources) == len(phrasebook()) >= 20_000
    assert len({pair.target for pair in phrasebook()}) > 0.97 * len(sources)


@pytest.mark.slow
def test_the_corpus_is_the_same_in_another_process():
    code = (
        "import hashlib; from attention_plugins.datasets.phrasebook.grammar import corpus;"
        "print(hashlib.sha256(repr(corpus(1009)).encode()).hexdigest())"
    )
    other = {**os.environ, "PYTHONHASHSEED": "5"}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=other, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == hashlib.sha256(repr(corpus(1009)).encode()).hexdigest()


def test_equal_links_are_one_object():
    """Else the corpus takes each worker 10 MB more."""
    links = [link for pair in phrasebook() for link in pair.alignment]
    assert len({id(link) for link in links}) == len(set(links)) < 200


def test_a_head_of_the_corpus_is_a_fair_sample():
    lengths = [len(source) for source, _ in tokens()]
    head, whole = lengths[:2003], lengths
    assert sum(head) / len(head) == pytest.approx(sum(whole) / len(whole), abs=0.15)
    assert min(lengths) == 2
    assert max(lengths) <= 20


def test_alignments_are_sorted_distinct_and_in_range():
    for pair, (source, target) in zip(phrasebook(), tokens(), strict=True):
        assert list(pair.alignment) == sorted(set(pair.alignment))
        assert all(0 <= i < len(source) and 0 <= j < len(target) for i, j in pair.alignment)


def test_final_punctuation_is_tied_to_final_punctuation():
    for pair, (source, target) in zip(phrasebook(), tokens(), strict=True):
        i, j = pair.alignment[-1]
        assert (i, j) == (len(source) - 1, len(target) - 1)
        assert source[i] == target[j]
        assert source[i] in {".", "!", "?"}


def test_sentences_read_as_each_language_writes_them():
    for pair, (source, target) in zip(phrasebook(), tokens(), strict=True):
        assert detokenise(source) == pair.source.lower()
        assert detokenise(target, FRENCH) == pair.target.lower()
        assert pair.source[0].isupper()
        assert pair.target[0].isupper()
        assert "  " not in pair.source + pair.target
        assert not re.search(r"\bi\b", pair.source)


def test_questions_end_with_a_question_mark_and_nothing_else_does():
    inverted = re.compile(r"-(?:t-)?(?:je|tu|ils?|elles?|nous|vous|ce)$")
    imperative = re.compile(r"(?:ez|ons|[^r]e|ds|is)$")
    asking = ("où", "quand", "pourquoi", "qui", "combien", "comment", "que", "qu'", "vraiment")
    for pair, (_, target) in zip(phrasebook(), tokens(), strict=True):
        starts = target[0] in asking and target[1] != "beau"
        turned = any(inverted.search(token) for token in target[1:])
        if pair.target.endswith("?"):
            assert starts or turned or {"quel", "quelle", "quels", "quelles"} & set(target), pair
        elif turned:
            # asseyez-vous, dépêchons-nous
            assert any(imperative.search(token) for token in target), pair
        else:
            assert not starts, pair


VOWEL = r"[aeiouàâéèêëîïôœùûæ]|h(?!aut|uit|éros|aricot)"


@pytest.mark.parametrize(
    "pattern",
    [
        rf" (?:je|me|te|se|le|la|de|ne|que) (?:(?:{VOWEL})(?!ui |nze )|y )",
        rf" (?:ma|ta|sa) (?:{VOWEL})",
        rf"(?<!fait)(?<!faisait) (?:ce|beau|nouveau|vieux) (?!est |et )(?:{VOWEL})",
        r" (?:de|à) les? (?!\w+(?:er|ir|re) )",
        r" (?:du|au) (?:" + VOWEL + ")",
        r" si ils? ",
        r" (?:cet|bel|nouvel|vieil) (?!" + VOWEL + ")",
        r" [jdlnmts]' (?!(?:" + VOWEL + ")|y )",
        r" qu' (?!(?:" + VOWEL + "))",
        r" pas (?:un|une) ",
        r" [a-zàéèêç]*[ae] -(?:il|elle) ",
        r"[^t] -t-(?:vous|nous|tu|ils)",
        r" (?:ne|n') (?!.* (?:pas|jamais|plus|rien|personne|aucune))(?<!personne (?:ne|n') )",
        r" de (?:de|des|du|d') ",
        r" (?!vous|nous)(\w+) \1 ",
        r" (?:a|ont|ai|avons|avez) (?:allé|venu|parti|sorti|arrivé|resté|tombé|rentré)e?s? ",
    ],
)
def test_no_french_sentence_breaks_a_rule_of_spelling(pattern):
    assert targets_where(pattern)[:5] == []


def test_the_spelling_rules_would_be_noticed():
    assert targets_where(r" (?:j'|l'|d'|n'|qu'|s'|m'|t') "), "elision"
    assert targets_where(r" (?:du|des|au|aux) "), "contraction"
    assert targets_where(r" (?:cet|bel|nouvel|vieil) "), "before a vowel"
    assert targets_where(r" -t-(?:il|elle) "), "inversion"
    assert targets_where(r" (?:jamais|plus|rien|personne) "), "negation"


# Gender by hand: the test does not ask the lexicon.
MASCULINE = set(
    "livre chien chat vélo manteau chapeau stylo sac lit bureau parapluie couteau train bateau "
    "ordinateur téléphone journal roman film jardin hôtel musée pont arbre oiseau cheval cadeau "
    "billet passeport costume pull problème exercice village café thé gâteau poème hôpital "
    "appartement homme garçon ami frère voisin père oncle fauteuil miroir château".split()
)
FEMININE = set(
    "voiture maison table chaise robe jupe chemise veste écharpe valise clé boîte lettre montre "
    "radio chanson histoire fête leçon question ville rue île cuisine chambre fleur plante pomme "
    "poire soupe salade pizza tasse assiette bague lampe fenêtre porte plage forêt église "
    "école gare banque usine femme fille amie sœur mère tante machine moto".split()
)
PLURAL_ONLY = {"lunettes": True, "ciseaux": False, "devoirs": False}
FORMS = [
    "beau bel belle beaux belles",
    "nouveau nouvel nouvelle nouveaux nouvelles",
    "vieux vieil vieille vieux vieilles",
    "petit petit petite petits petites",
    "grand grand grande grands grandes",
    "joli joli jolie jolis jolies",
    "bon bon bonne bons bonnes",
    "long long longue longs longues",
    "noir noir noire noirs noires",
    "blanc blanc blanche blancs blanches",
    "vert vert verte verts vertes",
    "gris gris grise gris grises",
    "bleu bleu bleue bleus bleues",
    "cher cher chère chers chères",
    "léger léger légère légers légères",
    "lourd lourd lourde lourds lourdes",
    "neuf neuf neuve neufs neuves",
    "délicieux délicieux délicieuse délicieux délicieuses",
    "frais frais fraîche frais fraîches",
    "ennuyeux ennuyeux ennuyeuse ennuyeux ennuyeuses",
    "intéressant intéressant intéressante intéressants intéressantes",
    "dangereux dangereux dangereuse dangereux dangereuses",
]
DETERMINERS = {
    "m": "le un mon ton son ce cet du au quel".split(),
    "f": "la une ma ta sa cette quelle".split(),
    "p": "les des mes tes ses nos vos leurs ces aux quels quelles deux trois quatre cinq".split(),
}


@cache
def gender_and_number(word):
    """``("m" or "f", plural)`` of a noun known by hand, else None."""
    if word in PLURAL_ONLY:
        return ("f" if PLURAL_ONLY[word] else "m"), True
    for singular, many in (
        (word, False),
        (word.removesuffix("s"), True),
        (word.removesuffix("x"), True),
    ):
        if many == (singular == word):
            continue
        if singular in MASCULINE or singular in FEMININE:
            return ("m" if singular in MASCULINE else "f"), many
    return None


@pytest.mark.parametrize("line", FORMS)
def test_adjectives_are_inflected_as_a_grammar_book_has_them(line):
    masculine, before_vowel, feminine, masculines, feminines = line.split()
    assert BEFORE_VOWEL.get(masculine, masculine) == before_vowel
    assert inflect(masculine, True, False) == feminine
    assert inflect(masculine, False, True) == masculines
    assert inflect(masculine, True, True) == feminines


@cache
def agreements():
    """For every form of those adjectives, the genders and numbers it may have."""
    fits = {}
    for line in FORMS:
        masculine, before_vowel, feminine, masculines, feminines = line.split()
        for form, of in (
            (masculine, ("m", False)),
            (before_vowel, ("m", False)),
            (feminine, ("f", False)),
            (masculines, ("m", True)),
            (feminines, ("f", True)),
        ):
            fits.setdefault(form, set()).add(of)
    return fits


def test_adjectives_beside_a_noun_agree_with_it():
    checked = 0
    for _, target in tokens():
        for noun, adjective in (*pairwise(target), *pairwise(reversed(target))):
            if adjective in agreements() and (known := gender_and_number(noun)):
                assert known in agreements()[adjective], target
                checked += 1
    assert checked > 1000


def test_determiners_agree_with_their_noun():
    checked = 0
    for _, target in tokens():
        for determiner, noun in pairwise(target):
            known = gender_and_number(noun)
            if not known:
                continue
            gender, many = known
            for of_gender, words in DETERMINERS.items():
                if determiner in words:
                    vowel = determiner in {"mon", "ton", "son"} and gender == "f"
                    assert vowel or of_gender == ("p" if many else gender), target
                    checked += 1
    assert checked > 10_000


def test_predicates_agree_with_the_pronoun():
    agreeing = {
        "il": "fatigué heureux prêt occupé inquiet gentil fier jaloux nerveux sérieux",
        "elle": "fatiguée heureuse prête occupée inquiète gentille fière jalouse nerveuse",
        "ils": "fatigués heureux prêts occupés inquiets gentils fiers jaloux nerveux sérieux",
        "nous": "fatigués heureux prêts occupés inquiets gentils fiers jaloux nerveux sérieux",
    }
    every = {form for forms in agreeing.values() for form in forms.split()}
    checked = 0
    for _, target in tokens():
        said = next((token for token in target[2:] if token not in {"très", "trop", "si"}), "")
        if target[0] in agreeing and target[1] in {"est", "sont", "sommes"} and said in every:
            assert said in agreeing[target[0]].split(), target
            checked += 1
    assert checked > 30


def french_forms(infinitive):
    tenses = ("present", "imperfect", "future", "conditional")
    forms = {conjugate(infinitive, tense, person) for tense in tenses for person in range(6)}
    forms |= {conjugate(infinitive, "imperative", person) for person in (1, 3, 4)}
    both = (False, True)
    forms |= {participle(infinitive, feminine=f, plural=p) for f in both for p in both}
    return forms | {infinitive}


def english_forms(base):
    if base == "be":
        return {"be", "been", "am", "is", "are", "was", "were", "'m", "'s", "'re"}
    return set(verb_forms(base))


# Function words, and verbs that stand in rules rather than in the lexicon.
FUNCTION_WORDS = """
. = .
? = ?
! = !
a an = un une de d' beaucoup quart
the = le la l' les du au aux
this these = ce c' cet cette ces -ce
my = mon ma mes les je j' me m'
your = votre vos ton ta tes le la les
his her = son sa ses le la les il elle
her = lui l' -la -lui
our = notre nos les
their = leur leurs son sa ses le la les
mine = le la les mien mienne miens miennes
yours = le la les vôtre vôtres
hers = le la les sien sienne siens siennes
ours = le la les nôtre nôtres
some any = du de d' des la l'
which = quel quelle quels quelles
i = je j' me m'
you = vous -vous tu -tu te t'
he = il -il -t-il lui
she = elle -elle -t-elle lui
it = il
we = nous -nous
they = ils -ils leur
me = me m' moi -moi
him = le l' lui -le -lui
us = nous -nous
them = les leur eux -les -leur
there = il y -il -t-il
everyone = tout le monde
someone = quelqu' un
nobody = personne ne n'
who = qui
what = que qu' quelle
where = où
when = quand
why = pourquoi
how = combien comment quel de d'
many much = combien de d'
lot of = beaucoup
and = et
that = que qu'
than = que qu'
because = parce que qu'
if = si s'
as = aussi que qu'
more = plus
not n't = ne n' pas
never = ne n' jamais
no longer = ne n' plus
yet = encore
to = à au aux en côté moins
in = dans en à au
on = sur en
under = sous
behind = derrière
in front of = devant
near = près
next to = à côté
across from = en face
far = loin
from = de d' du
of = de d' du des
for = pour depuis
at = à au
with = avec
's = de d'
please = s' il vous plaît
is are did does do will can = est -ce que qu'
did have has 've = ai as a avons avez ont suis es est sommes êtes sont
can ca cannot = peux peut pouvons pouvez peuvent
cannot = ne pas
could = pourrais pourrait pourrions pourriez pourraient
must = dois doit devons devez doivent
have has = dois doit devons devez doivent
should = devrais devrait devrions devriez devraient
like = voudrais voudrait voudrions voudriez voudraient
like likes liked = bien
need needs needed = besoin
hope hopes = espère espérons espèrent
think thinks = pense pensons pensent
know knows = sais sait savons savez savent
say says = dit disent
decided = décidé
refused = refusé
tried = essayé
asked = demandé
just = viens vient venons venez viennent
am is are 'm 's 're = viens vient venons venez viennent
is are = va vont
is was 's be = fait faisait fera
is are cost costs = coûte coûtent coûtait coûtaient
is name = s' appelle
become = deviendrai deviendra deviendrons deviendrez deviendront
look looks = ai a avons avez ont l' air
seem seems = semble semblons semblez semblent
hurt hurts = ai a avez mal
miss misses missed = manque manquent manquait manquaient manquera manqueront
trust trusts trusted = confiance
old = ans âgé âgée âgés âgées
older = âgé âgée âgés âgées
takes = faut
took = fallu
get = aller
entered = dans
came = rentré
rang = sonné
half past = et demie
past = heures
a quarter = quart le
a little = un peu
's raining rains = pleut
rain rained = pleuvoir pleuvra plu
's snowing = neige
snow snowed = neiger neigera neigé
weather = il
nice = beau
vacation = vacances
weekend = week-end
sunday = dimanche
necessary = nécessaire
useful = utile
"""

COMPARATIVES = {
    "older": "old", "younger": "young", "stronger": "strong", "taller": "tall", "richer": "rich",
    "happier": "happy", "nicer": "nice", "kinder": "kind", "bigger": "big", "smaller": "small",
    "heavier": "heavy", "prettier": "pretty", "dirtier": "dirty", "cleaner": "clean",
    "faster": "fast", "quieter": "quiet", "longer": "long", "easier": "easy",
}  # fmt: skip

# Words that may be free on one side, because the other language does without them.
FREE_ENGLISH = set(
    "to do does did is 's am 'm are 're was were will 'll wo would 'd have 've has been used let "
    "a an the some any on i past".split()
)
FREE_FRENCH = set(
    "a ai as avons avez ont est es suis sommes êtes sont coûte vais de d' du des à au aux le la "
    "l' les -ce que qu' se s' me m' te t' nous vous -toi -nous -vous -y -il -t-il il c' pour "
    "heures ,".split()
)


def test_every_content_word_is_tied():
    for pair, (source, target) in zip(phrasebook(), tokens(), strict=True):
        free_source = set(range(len(source))) - {i for i, _ in pair.alignment}
        free_target = set(range(len(target))) - {j for _, j in pair.alignment}
        assert {source[i] for i in free_source} <= FREE_ENGLISH, pair
        assert {target[j] for j in free_target} <= FREE_FRENCH, pair


@cache
def dictionary():
    """Which English token may stand for which French one, from the bare lexicon."""
    known = set()

    def add(english, french):
        known.update((e.lower(), f.lower()) for e in english for f in french)

    for noun in NOUNS.values():
        english = {*noun.english.split("_"), *plural(noun.english).split("_")}
        french = {noun.french_form(False), noun.french_form(True)}
        add(english, {part for form in french for part in form.split("_")})
    for adjective in ADJECTIVES.values():
        forms = {adjective.form(f, p) for f in (False, True) for p in (False, True)}
        forms |= {BEFORE_VOWEL.get(adjective.french, adjective.french)}
        add({adjective.english}, {part for form in forms for part in form.split("_")})
        compared = {more for more, base in COMPARATIVES.items() if base == adjective.english}
        add(compared, {*forms, "plus"})
    for action in ACTIONS:
        add(english_forms(action.base), french_forms(action.infinitive))
        add_ties(action.template, add)
    for template in written_templates():
        add_ties(template, add)
    for entry in f"{people.TRADES} {people.NATIONALITIES}".split():
        english, french = entry.split("=")
        forms = {inflect(french, f, p) for f in (False, True) for p in (False, True)}
        add({english, plural(english)}, forms)
    for line in FUNCTION_WORDS.strip().splitlines():
        english, french = line.split(" = ")
        add(english.split(), french.split())
    add_names(add)
    return known


def written_templates():
    yield from adverbials.PAST + adverbials.LONG_PAST + adverbials.FUTURE + adverbials.LONG_FUTURE
    yield from adverbials.NOW + adverbials.DAILY + adverbials.HABIT + adverbials.FREQUENCY
    yield from adverbials.DEGREES + adverbials.DURATIONS
    yield from (adverbials.ALREADY, adverbials.STILL)
    yield from (template for slot in adverbials.SLOTS.values() for template in slot)
    yield from (line[:-1] for line in idioms.IDIOMS)


def add_ties(template, add):
    """The ties of one template; a French infinitive may be inflected."""
    pair = sentence(fill(re.sub(r"\{\w+\}", "", template)), ".")
    english, french = tokenise_clitics(pair.source), tokenise_clitics(pair.target)
    for i, j in pair.alignment:
        verb = re.search(r"(?:er|ir|re)$", french[j]) and ":v" in template
        add({english[i]}, french_forms(french[j]) if verb else {french[j]})


def add_names(add):
    for name, _ in people.NAMES:
        add({name}, {name})
    for city in people.CITIES:
        english, _, french = city.partition("=")
        add({english}, {french or english})
    for english, french, _, _ in people.COUNTRIES:
        add({english}, {french})
    for english, french in people.NUMBERS.items():
        add({english}, {french})


def test_every_link_is_a_translation_that_the_lexicon_knows():
    unknown = {}
    for pair, (source, target) in zip(phrasebook(), tokens(), strict=True):
        for i, j in pair.alignment:
            if (source[i], target[j]) not in dictionary():
                unknown.setdefault((source[i], target[j]), pair.source)
    assert unknown == {}


CONJUGATED = """
manger present 3 mangeons, manger imperfect 2 mangeait, manger imperfect 3 mangions, commencer
present 3 commençons, commencer imperfect 5 commençaient, acheter present 2 achète, acheter
future 0 achèterai, acheter present 4 achetez, préférer present 5 préfèrent, préférer future 2
préférera, appeler present 0 appelle, nettoyer present 2 nettoie, nettoyer future 3 nettoierons,
envoyer future 4 enverrez, finir present 5 finissent, finir imperfect 2 finissait, attendre
present 2 attend, attendre future 0 attendrai, être imperfect 3 étions, être future 5 seront,
être imperative 4 soyez, avoir imperative 1 aie, aller future 0 irai, aller imperative 1 va,
aller present 5 vont, faire present 4 faites, faire imperfect 0 faisais, dire present 4 dites,
voir future 2 verra, pouvoir conditional 4 pourriez, vouloir conditional 0 voudrais, devoir
conditional 2 devrait, savoir present 3 savons, boire present 5 boivent, prendre present 5
prennent, venir future 3 viendrons, lire present 2 lit, écrire present 4 écrivez, ouvrir
imperative 1 ouvre, manger imperative 1 mange, peindre imperfect 0 peignais, éteindre present 4
éteignez, courir future 2 courra, connaître present 2 connaît, croire present 4 croyez, promener
present 0 promène
"""


@pytest.mark.parametrize("entry", CONJUGATED.replace("\n", " ").strip().split(", "))
def test_verbs_are_conjugated_as_a_grammar_book_has_them(entry):
    infinitive, tense, person, form = entry.split()
    assert conjugate(infinitive, tense, int(person)) == form


def test_the_data_set_gives_the_head_of_the_corpus():
    values = settle(PHRASEBOOK.parameters, {"pairs": 131})
    assert tuple(PHRASEBOOK.load(values, 7)) == phrasebook()[:131]
    assert len(PHRASEBOOK.load(settle(PHRASEBOOK.parameters, {}), 0)) == 20_000
    (pairs,) = PHRASEBOOK.parameters
    assert pairs.high == len(phrasebook())


def test_the_data_set_refuses_more_pairs_than_there_are():
    with pytest.raises(ContractError, match="Sentence pairs"):
        settle(PHRASEBOOK.parameters, {"pairs": len(phrasebook()) + 1})


def test_a_template_without_marks_ties_one_word_to_several():
    pair = sentence(fill("tonight | ce soir"), ".")
    assert pair.alignment == ((0, 0), (0, 1), (1, 2))


def test_a_template_that_leaves_ties_open_is_refused():
    with pytest.raises(ValueError, match="need marks"):
        fill("last week | la semaine dernière")
