"""When, where, how often and with what degree: ``english | french`` with marks."""

from __future__ import annotations

# What was done or is planned within days, and what takes longer.
PAST = (
    "yesterday | hier",
    "yesterday:1 evening:2 | hier:1 soir:2",
    "yesterday:1 morning:2 | hier:1 matin:2",
    "this:1 morning:2 | ce:1 matin:2",
    "last:1 night:2 | hier:1 soir:2",
    "two:1 days:2 ago:3 | il:3 y:3 a:3 deux:1 jours:2",
    "an:1 hour:2 ago:3 | il:3 y:3 a:3 une:1 heure:2",
    "on Saturday:1 | samedi:1",
)
LONG_PAST = (
    "last:1 week:2 | la semaine:2 dernière:1",
    "last:1 month:2 | le mois:2 dernier:1",
    "last:1 year:2 | l' année:2 dernière:1",
    "last:1 summer:2 | l' été:2 dernier:1",
    "three:1 weeks:2 ago:3 | il:3 y:3 a:3 trois:1 semaines:2",
    "ten:1 years:2 ago:3 | il:3 y:3 a:3 dix:1 ans:2",
)
FUTURE = (
    "tomorrow | demain",
    "tomorrow:1 morning:2 | demain:1 matin:2",
    "tomorrow:1 evening:2 | demain:1 soir:2",
    "tonight:1 | ce:1 soir:1",
    "this:1 afternoon:2 | cet:1 après-midi:2",
    "soon | bientôt",
    "in:1 an:2 hour:3 | dans:1 une:2 heure:3",
    "on Monday:1 | lundi:1",
    "after:1 dinner:2 | après:1 le dîner:2",
)
LONG_FUTURE = (
    "soon | bientôt",
    "next:1 week:2 | la semaine:2 prochaine:1",
    "next:1 month:2 | le mois:2 prochain:1",
    "next:1 year:2 | l' année:2 prochaine:1",
    "next:1 summer:2 | l' été:2 prochain:1",
    "in:1 two:2 months:3 | dans:1 deux:2 mois:3",
)
NOW = ("now | maintenant", "right:1 now:1 | en:1 ce:1 moment:1")
DAILY = (
    "every:1 day:2 | tous:1 les:1 jours:2",
    "every:1 morning:2 | tous:1 les:1 matins:2",
    "every:1 evening:2 | tous:1 les:1 soirs:2",
)
HABIT = (
    "every:1 day:2 | tous:1 les:1 jours:2",
    "every:1 evening:2 | tous:1 les:1 soirs:2",
    "every:1 week:2 | toutes:1 les:1 semaines:2",
    "every:1 Sunday:2 | tous:1 les:1 dimanches:2",
    "in:1 the:1 morning:2 | le:1 matin:2",
    "in:1 the:1 evening:2 | le:1 soir:2",
    "on weekends:1 | le week-end:1",
    "twice:1 a:2 week:3 | deux:1 fois:1 par:2 semaine:3",
    "once:1 a:2 week:3 | une:1 fois:1 par:2 semaine:3",
)
FREQUENCY = (
    "often | souvent",
    "always | toujours",
    "sometimes | parfois",
    "rarely | rarement",
    "usually | généralement",
)
ALREADY = "already | déjà"
STILL = "still | encore"

NEGATIONS = {
    "not": "not:1 | ne:1 pas:1",
    "never": "never:1 | ne:1 jamais:1",
    "no longer": "no:1 longer:1 | ne:1 plus:1",
}

DEGREES = (
    "very | très",
    "too | trop",
    "so | si",
)

DURATIONS = (
    "two:1 days:2 | deux:1 jours:2",
    "three:1 days:2 | trois:1 jours:2",
    "a:1 week:2 | une:1 semaine:2",
    "two:1 weeks:2 | deux:1 semaines:2",
    "three:1 months:2 | trois:1 mois:2",
    "six:1 months:2 | six:1 mois:2",
    "a:1 year:2 | un:1 an:2",
    "two:1 years:2 | deux:1 ans:2",
    "five:1 years:2 | cinq:1 ans:2",
    "ten:1 years:2 | dix:1 ans:2",
    "twenty:1 years:2 | vingt:1 ans:2",
)

# The slots of ``verbs`` that take one of a few fixed places, times or manners.
SLOTS = {
    "early": (
        "early | tôt",
        "late | tard",
        "at:1 six:2 o'clock:3 | à:1 six:2 heures:3",
        "at:1 seven:2 o'clock:3 | à:1 sept:2 heures:3",
        "at:1 eight:2 o'clock:3 | à:1 huit:2 heures:3",
        "at:1 nine:2 o'clock:3 | à:1 neuf:2 heures:3",
        "at:1 ten:2 o'clock:3 | à:1 dix:2 heures:3",
    ),
    "late": (
        "late:1 | en:1 retard:1",
        "early:1 | en:1 avance:1",
        "on:1 time:1 | à:1 l':1 heure:1",
    ),
    "home": (
        "at:1 home:2 | à:1 la maison:2",
        "in:1 bed:2 | au:1 lit:2",
        "here | ici",
        "at:1 the:2 hotel:3 | à:1 l':2 hôtel:3",
    ),
    "there": (
        "on:1 the:2 table:3 | sur:1 la:2 table:3",
        "on:1 the:2 desk:3 | sur:1 le:2 bureau:3",
        "on:1 the:2 chair:3 | sur:1 la:2 chaise:3",
        "under:1 the:2 bed:3 | sous:1 le:2 lit:3",
        "in:1 the:2 car:3 | dans:1 la:2 voiture:3",
        "in:1 the:2 kitchen:3 | dans:1 la:2 cuisine:3",
        "here | ici",
    ),
    "tongue": (
        "French | français",
        "English | anglais",
        "Spanish | espagnol",
        "German | allemand",
        "Italian | italien",
        "Japanese | japonais",
        "Chinese | chinois",
        "Russian | russe",
    ),
}
