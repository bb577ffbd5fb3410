"""Nouns: ``english=french gender``, grouped by class.

The gender is m or f; ``mp`` and ``fp`` mark nouns that French has only in the plural, ``*`` those
that English has only in the plural. ``_`` joins the words of a compound.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from attention_plugins.datasets.phrasebook import english, french

_LINES = """
fruit: apple=pomme f, orange=orange f, banana=banane f, pear=poire f, strawberry=fraise f,
  lemon=citron m, tomato=tomate f, peach=pêche f
food: bread=pain m, cheese=fromage m, meat=viande f, fish=poisson m, rice=riz m, chicken=poulet m,
  chocolate=chocolat m, sugar=sucre m, butter=beurre m, ham=jambon m, jam=confiture f,
  ice_cream=glace f, fruit=fruits mp, honey=miel m
dish: sandwich=sandwich m, pizza=pizza f, cake=gâteau m, soup=soupe f, salad=salade f,
  omelet=omelette f, meal=repas m, dessert=dessert m, pie=tarte f
produce: egg=œuf m, vegetable=légume m, carrot=carotte f, potato=pomme_de_terre f,
  onion=oignon m, mushroom=champignon m, cookie=biscuit m
drink: coffee=café m, tea=thé m, milk=lait m, wine=vin m, beer=bière f, water=eau f,
  juice=jus m
mealtime: dinner=dîner m, lunch=déjeuner m, breakfast=petit_déjeuner m
clothes: coat=manteau m, hat=chapeau m, shirt=chemise f, dress=robe f, skirt=jupe f,
  jacket=veste f, sweater=pull m, scarf=écharpe f, tie=cravate f, suit=costume m, *pants=pantalon m
shoes: shoe=chaussure f, sock=chaussette f, boot=botte f, glove=gant m
furniture: chair=chaise f, bed=lit m, table=table f, desk=bureau m, sofa=canapé m,
  armchair=fauteuil m, lamp=lampe f, mirror=miroir m
fitting: door=porte f, window=fenêtre f, gate=portail m, drawer=tiroir m
bag: bag=sac m, suitcase=valise f, box=boîte f, bottle=bouteille f, basket=panier m,
  package=colis m, cup=tasse f, glass=verre m, plate=assiette f, bowl=bol m
small: key=clé f, pen=stylo m, pencil=crayon m, knife=couteau m, fork=fourchette f,
  spoon=cuillère f, umbrella=parapluie m, wallet=portefeuille m, ticket=billet m,
  passport=passeport m, *glasses=lunettes fp, toy=jouet m, ball=balle f, map=carte f,
  *scissors=ciseaux mp, notebook=cahier m, stamp=timbre m, ring=bague f, doll=poupée f,
  gift=cadeau m
paper: letter=lettre f, photo=photo f, postcard=carte_postale f
vehicle: car=voiture f, bicycle=vélo m, motorcycle=moto f, truck=camion m, boat=bateau m
transport: bus=bus m, train=train m, plane=avion m, subway=métro m, taxi=taxi m
device: phone=téléphone m, computer=ordinateur m, camera=appareil_photo m, radio=radio f,
  watch=montre f, television=télévision f, clock=horloge f, machine=machine f
reading: book=livre m, novel=roman m, magazine=magazine m, article=article m, story=histoire f,
  poem=poème m, newspaper=journal m, dictionary=dictionnaire m
show: movie=film m, song=chanson f, play=pièce f, concert=concert m, game=jeu m
task: exam=examen m, exercise=exercice m, question=question f, lesson=leçon f, problem=problème m,
  text=texte m, word=mot m
event: party=fête f, trip=voyage m, meeting=réunion f, match=match m, wedding=mariage m
house: house=maison f, apartment=appartement m
shop: store=magasin m, restaurant=restaurant m, bakery=boulangerie f, supermarket=supermarché m,
  bookstore=librairie f, pharmacy=pharmacie f, café=café m
public: hotel=hôtel m, hospital=hôpital m, school=école f, library=bibliothèque f, museum=musée m,
  church=église f, station=gare f, airport=aéroport m, bank=banque f, factory=usine f,
  post_office=poste f, theater=théâtre m, castle=château m, pool=piscine f, office=bureau m,
  university=université f, farm=ferme f
outdoors: park=parc m, garden=jardin m, beach=plage f, forest=forêt f, market=marché m,
  lake=lac m, mountain=montagne f, river=rivière f, sea=mer f, sky=ciel m, countryside=campagne f
town: city=ville f, village=village m, street=rue f, country=pays m, island=île f, bridge=pont m
room: kitchen=cuisine f, bedroom=chambre f, bathroom=salle_de_bains f, living_room=salon m,
  room=chambre f, classroom=salle_de_classe f
part: roof=toit m, wall=mur m, floor=sol m, garage=garage m, fridge=frigo m
animal: dog=chien m, cat=chat m, horse=cheval m, bird=oiseau m, rabbit=lapin m, cow=vache f,
  sheep=mouton m, mouse=souris f, lion=lion m, elephant=éléphant m, snake=serpent m,
  spider=araignée f, monkey=singe m, bear=ours m
plant: tree=arbre m, flower=fleur f, rose=rose f, plant=plante f
sport: football=football m, tennis=tennis m, basketball=basket m, *chess=échecs mp,
  *cards=cartes fp
instrument: piano=piano m, guitar=guitare f, violin=violon m, flute=flûte f
subject: history=histoire f, mathematics=mathématiques fp, music=musique f,
  biology=biologie f, geography=géographie f, physics=physique f, chemistry=chimie f
language: French=français m, English=anglais m, Spanish=espagnol m, German=allemand m,
  Italian=italien m, Japanese=japonais m, Chinese=chinois m, Russian=russe m
liking: art=art m, nature=nature f, winter=hiver m, summer=été m, spring=printemps m,
  rain=pluie f, snow=neige f, sport=sport m, cinema=cinéma m, dancing=danse f, cooking=cuisine f
idea: idea=idée f, plan=projet m, dream=rêve m, answer=réponse f
job: job=travail m
abstract: truth=vérité f, help=aide f, money=argent m, time=temps m, work=travail m,
  mistake=erreur f, noise=bruit m, childhood=enfance f, name=nom m, address=adresse f,
  homework=devoirs mp, luggage=bagages mp, rent=loyer m, bill=addition f,
  information=renseignements mp, phone_number=numéro_de_téléphone m, race=course f, prize=prix m,
  cold=rhume m, light=lumière f, moon=lune f, star=étoile f, dark=noir m, news=nouvelles fp,
  color=couleur f, hour=heure f, minute=minute f, day=jour m, year=an m, euro=euro m,
  dollar=dollar m, shower=douche f, bath=bain m, nap=sieste f, break=pause f, accident=accident
  m, joke=blague f, secret=secret m, police=police f
body: head=tête f, back=dos m, foot=pied m, hand=main f, tooth=dent f, arm=bras m, leg=jambe f,
  knee=genou m, throat=gorge f, stomach=ventre m, eye=œil m, ear=oreille f
kin_m: brother=frère m, father=père m, son=fils m, uncle=oncle m, cousin=cousin m,
  grandfather=grand-père m
kin_f: sister=sœur f, mother=mère f, daughter=fille f, aunt=tante f, grandmother=grand-mère f
kin_p: parent=parent m, grandparent=grand-parent m, child=enfant m, friend=ami m
circle: neighbor=voisin m, boss=patron m, colleague=collègue m, teacher=professeur m
person: doctor=médecin m, dentist=dentiste m, student=étudiant m, boy=garçon m, girl=fille f,
  man=homme m, woman=femme f, tourist=touriste m
"""

_FRENCH_PLURALS = {
    "œil": "yeux",
    "genou": "genoux",
    "appareil_photo": "appareils_photo",
    "grand-parent": "grands-parents",
    "carte_postale": "cartes_postales",
}


class Noun(NamedTuple):
    """A noun in both languages; ``*_only`` tells that a language has only its plural."""

    english: str
    french: str
    feminine: bool
    kind: str
    english_plural_only: bool = False
    french_plural_only: bool = False

    def english_form(self, plural: bool) -> str:
        """The noun as English writes it; the words of a compound are joined with ``_``."""
        return (
            english.plural(self.english)
            if plural and not self.english_plural_only
            else (self.english)
        )

    def french_form(self, plural: bool) -> str:
        """The noun as French writes it, joined likewise."""
        if self.french_plural_only or not plural:
            return self.french
        return _FRENCH_PLURALS.get(self.french) or french.pluralise(self.french)


def _read() -> dict[str, Noun]:
    nouns: dict[str, Noun] = {}
    for group in _LINES.replace("\n  ", " ").strip().splitlines():
        kind, entries = group.split(": ")
        for entry in entries.strip(" ,").split(", "):
            word, translation, gender = entry.replace("=", " ").split()
            key = word.removeprefix("*")
            only = (word != key, gender.endswith("p"))
            nouns[key] = Noun(key.rstrip("_"), translation, gender[0] == "f", kind, *only)
    return nouns


NOUNS = _read()


@cache
def of_kind(*kinds: str) -> tuple[str, ...]:
    """The keys of all nouns of these classes."""
    return tuple(key for key, noun in NOUNS.items() if noun.kind in kinds)
