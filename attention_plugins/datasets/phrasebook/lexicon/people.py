"""First names, numbers, cities, countries, nationalities and trades."""

from __future__ import annotations

# First name, and whether it is a woman's.
NAMES = (
    ("Tom", False),
    ("Paul", False),
    ("Pierre", False),
    ("Thomas", False),
    ("Lucas", False),
    ("Nicolas", False),
    ("David", False),
    ("Marie", True),
    ("Julie", True),
    ("Sophie", True),
    ("Claire", True),
    ("Emma", True),
    ("Alice", True),
    ("Laura", True),
)

NUMBERS = {
    "two": "deux",
    "three": "trois",
    "four": "quatre",
    "five": "cinq",
    "six": "six",
    "seven": "sept",
    "eight": "huit",
    "nine": "neuf",
    "ten": "dix",
    "eleven": "onze",
    "twelve": "douze",
    "fifteen": "quinze",
    "twenty": "vingt",
    "thirty": "trente",
    "forty": "quarante",
    "fifty": "cinquante",
    "sixty": "soixante",
}

CITIES = (
    "Paris",
    "Lyon",
    "Marseille",
    "Bordeaux",
    "Toulouse",
    "Berlin",
    "Madrid",
    "Rome",
    "Boston",
    "Chicago",
    "Tokyo",
    "London=Londres",
    "Brussels=Bruxelles",
    "Geneva=Genève",
    "Montreal=Montréal",
)

# English, French, and what "in" or "to" and "from" are before it.
COUNTRIES = (
    ("France", "France", "en", "de"),
    ("Italy", "Italie", "en", "de"),
    ("Spain", "Espagne", "en", "de"),
    ("Germany", "Allemagne", "en", "de"),
    ("England", "Angleterre", "en", "de"),
    ("Belgium", "Belgique", "en", "de"),
    ("Switzerland", "Suisse", "en", "de"),
    ("China", "Chine", "en", "de"),
    ("Russia", "Russie", "en", "de"),
    ("Australia", "Australie", "en", "de"),
    ("Japan", "Japon", "au", "du"),
    ("Canada", "Canada", "au", "du"),
    ("Brazil", "Brésil", "au", "du"),
    ("Mexico", "Mexique", "au", "du"),
    ("Portugal", "Portugal", "au", "du"),
)

NATIONALITIES = (
    "French=français English=anglais Spanish=espagnol German=allemand Italian=italien "
    "Japanese=japonais Chinese=chinois American=américain Canadian=canadien Russian=russe "
    "Swiss=suisse Belgian=belge"
)

TRADES = (
    "doctor=médecin teacher=professeur dentist=dentiste student=étudiant baker=boulanger "
    "nurse=infirmier farmer=agriculteur lawyer=avocat engineer=ingénieur journalist=journaliste "
    "musician=musicien actor=acteur singer=chanteur writer=écrivain cook=cuisinier "
    "pharmacist=pharmacien artist=artiste architect=architecte pilot=pilote dancer=danseur"
)
