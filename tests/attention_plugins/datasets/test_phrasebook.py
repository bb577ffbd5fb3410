"""Phrasebook: the table of pairs is the corpus that the shipped models and races learned."""

import hashlib
import json
from pathlib import Path

import pytest

from attention_plugins.contract import ContractError, settle
from attention_plugins.datasets.parallel import fingerprint
from attention_plugins.datasets.phrasebook import PHRASEBOOK, phrasebook
from attention_plugins.text import tokenise_clitics

TRAINED = Path(__file__).resolve().parents[3] / "trained"

# Written out by hand: English, French, and below them the links as english=french.
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


def test_every_pair_and_every_link_is_as_the_grammar_drew_it():
    drawn = "e39208a077c54e3f8c8f38a3566c27ec6a5dc6e6dc7f90ae8f0014ed2f2866fa"
    assert hashlib.sha256(repr(phrasebook()).encode()).hexdigest() == drawn
    assert len({pair.source for pair in phrasebook()}) == len(phrasebook()) == 25_000


@pytest.mark.parametrize(
    "folder",
    sorted(TRAINED.glob("[!d]*-phrasebook*/card.json")),
    ids=lambda path: path.parent.name,
)
def test_it_is_the_corpus_of_the_shipped_cards(folder):
    corpus = json.loads(folder.read_text())["corpus"]
    assert fingerprint(phrasebook()[: corpus["pairs"]]) == corpus["sha256"]


def test_equal_links_are_one_object():
    """Else the corpus takes each worker 10 MB more."""
    links = [link for pair in phrasebook() for link in pair.alignment]
    assert len({id(link) for link in links}) == len(set(links)) < 200


def test_the_data_set_gives_the_head_of_the_corpus():
    values = settle(PHRASEBOOK.parameters, {"pairs": 131})
    assert tuple(PHRASEBOOK.load(values, 7)) == phrasebook()[:131]
    assert len(PHRASEBOOK.load(settle(PHRASEBOOK.parameters, {}), 0)) == 20_000
    (pairs,) = PHRASEBOOK.parameters
    assert pairs.high == len(phrasebook())


def test_the_data_set_refuses_more_pairs_than_there_are():
    with pytest.raises(ContractError, match="Sentence pairs"):
        settle(PHRASEBOOK.parameters, {"pairs": len(phrasebook()) + 1})
