"""What is always said in the same words: a template and its final punctuation."""

from __future__ import annotations

IDIOMS = tuple(
    line
    for line in """
hello | bonjour !
good:1 morning:1 | bonjour:1 .
good:1 evening:2 | bonsoir:12 .
good:1 night:2 | bonne:1 nuit:2 .
goodbye:1 | au:1 revoir:1 .
see:1 you:1 tomorrow:2 | à:1 demain:2 .
see:1 you:1 soon:2 | à:1 bientôt:2 .
see:1 you:1 tonight:2 | à:1 ce:2 soir:2 .
see:1 you:1 later:2 | à:1 plus:2 tard:2 .
thank:1 you:1 | merci:1 .
thanks | merci !
thank:1 you:1 very:2 much:2 | merci:1 beaucoup:2 .
thank:1 you:1 for:2 your:3 help:4 | merci:1 pour:2 votre:3 aide:4 .
thank:1 you:1 for:2 the:3 gift:4 | merci:1 pour:2 le:3 cadeau:4 .
you:1 're:1 welcome:1 | de:1 rien:1 .
no:1 problem:1 | pas:1 de problème:1 .
excuse:1 me:2 | excusez:1 -moi:2 .
I:1 'm:1 sorry:2 | je:1 suis:1 désolé:2 .
I:1 'm:2 so:4 sorry:3 | je:1 suis:2 vraiment:4 désolé:3 .
yes:1 ,:2 please:3 | oui:1 ,:2 s':3 il:3 vous:3 plaît:3 .
no:1 ,:2 thank:3 you:3 | non:1 ,:2 merci:3 .
yes:1 ,:2 of:3 course:3 | oui:1 ,:2 bien:3 sûr:3 .
of:1 course:1 | bien:1 sûr:1 !
all:1 right:1 | d':1 accord:1 .
how:1 are:2 you:3 | comment:1 allez:2 -vous:3 ?
I:1 'm:2 fine:3 | je:1 vais:2 bien:3 .
I:1 'm:2 very:3 well:4 ,:5 thank:6 you:6 | je:1 vais:2 très:3 bien:4 ,:5 merci:6 .
what:1 's:3 your:2 name:3 | comment:1 vous:2 appelez:3 -vous:2 ?
where:1 are:2 you:3 from:1 | de:1 où:1 venez:2 -vous:3 ?
how:1 old:2 are:3 you:4 | quel:1 âge:2 avez:3 -vous:4 ?
how:1 old:2 is:3 she:4 | quel:1 âge:2 a:3 -elle:4 ?
how:1 old:2 is:3 he:4 | quel:1 âge:2 a:3 -il:4 ?
nice:1 to:1 meet:1 you:1 | enchanté:1 .
welcome:1 | bienvenue:1 !
welcome:1 to:2 Paris:3 | bienvenue:1 à:2 Paris:3 !
welcome:1 to:2 our:3 house:4 | bienvenue:1 dans:2 notre:3 maison:4 !
come:1 in:1 | entrez:1 !
sit:1 down:1 ,:2 please:3 | asseyez:1 -vous ,:2 s':3 il:3 vous:3 plaît:3 .
help:1 | au:1 secours:1 !
be:1 quiet:2 | taisez:12 -vous:12 !
stop:1 | arrêtez:1 !
wait:1 | attendez:1 !
wait:1 a:2 minute:3 | attendez:1 une:2 minute:3 .
look:1 | regardez:1 !
listen:1 | écoutez:1 !
go:1 | allez:1 -y !
hurry:1 up:1 | dépêchez:1 -vous !
congratulations:1 | félicitations:1 !
happy:1 birthday:2 | joyeux:1 anniversaire:2 !
merry:1 Christmas:2 | joyeux:1 Noël:2 !
happy:1 New:2 Year:2 | bonne:1 année:2 !
good:1 luck:2 | bonne:1 chance:2 !
have:1 a:1 good:1 trip:2 | bon:1 voyage:2 !
have:1 a:1 nice:1 day:2 | bonne:1 journée:2 !
enjoy:1 your:1 meal:2 | bon:1 appétit:2 !
cheers:1 | santé:1 !
what:1 time:2 is:3 it:4 | quelle:1 heure:2 est:3 -il:4 ?
what:1 day:2 is:3 it:4 today:5 | quel:1 jour:2 sommes:3 -nous:4 aujourd'hui:5 ?
it:1 's:2 noon:3 | il:1 est:2 midi:3 .
it:1 's:2 midnight:3 | il:1 est:2 minuit:3 .
it:1 's:2 late:3 | il:1 est:2 tard:3 .
it:1 's:2 too:3 late:4 | il:1 est:2 trop:3 tard:4 .
it:1 's:2 early:3 | il:1 est:2 tôt:3 .
it:1 's:2 time:3 to:4 leave:5 | il:1 est:2 temps:3 de:4 partir:5 .
it:1 's:2 time:3 to:4 eat:5 | il:1 est:2 temps:3 de:4 manger:5 .
it:1 's:2 time:3 to:4 sleep:5 | il:1 est:2 temps:3 de:4 dormir:5 .
what:1 is:2 this:3 | qu':1 est:1 -ce:1 que:1 c':3 est:2 ?
who:1 is:2 it:3 | qui:1 est:2 -ce:3 ?
who:1 are:2 you:3 | qui:1 êtes:2 -vous:3 ?
who:1 is:2 he:3 | qui:1 est:2 -il:3 ?
who:1 is:2 she:3 | qui:1 est:2 -elle:3 ?
why:1 | pourquoi:1 ?
why:1 not:2 | pourquoi:1 pas:2 ?
when:1 | quand:1 ?
where:1 | où:1 ?
where:1 am:2 I:3 | où:1 suis:2 -je:3 ?
how:1 | comment:1 ?
how:1 much:1 is:2 it:3 | combien:1 est:2 -ce:3 ?
how:1 much:1 does it:3 cost:2 | combien:1 cela:3 coûte:2 -il:3 ?
really:1 | vraiment:1 ?
I:1 love:3 you:2 | je:1 te:2 aime:3 .
I:1 love:3 him:2 | je:1 le:2 aime:3 .
I:1 love:3 her:2 | je:1 la:2 aime:3 .
I:1 do n't:2 love:4 him:3 | je:1 ne:2 le:3 aime:4 pas:2 .
do you:2 love:3 me:1 | me:1 aimez:3 -vous:2 ?
I:1 know:2 | je:1 sais:2 .
I:1 do n't:2 know:3 | je:1 ne:2 sais:3 pas:2 .
I:1 do n't:2 understand:3 | je:1 ne:2 comprends:3 pas:2 .
I:1 understand:2 | je:1 comprends:2 .
do you:2 understand:1 | comprenez:1 -vous:2 ?
I:1 see:2 | je:1 vois:2 .
I:1 agree:2 | je:1 suis:2 d':2 accord:2 .
I:1 do n't:2 agree:3 | je:1 ne:2 suis:3 pas:2 d':3 accord:3 .
I:1 think:2 so:3 | je:1 le:3 pense:2 .
I:1 hope:2 so:3 | je:1 le:3 espère:2 .
I:1 'm:2 home:3 | je:1 suis:2 rentré:3 .
I:1 'm:2 here:3 | je:1 suis:2 ici:3 .
I:1 'm coming:2 | je:1 arrive:2 .
I:1 'm joking:2 | je:1 plaisante:2 .
I:1 lost:2 | je:1 ai perdu:2 .
I:1 won:2 | je:1 ai gagné:2 .
I:1 forgot:2 | je:1 ai oublié:2 .
I:1 tried:2 | je:1 ai essayé:2 .
I:1 ran:2 | je:1 ai couru:2 .
we:1 won:2 | nous:1 avons gagné:2 .
we:1 lost:2 | nous:1 avons perdu:2 .
he:1 won:2 | il:1 a gagné:2 .
she:1 lost:2 | elle:1 a perdu:2 .
he:1 fell:2 | il:1 est tombé:2 .
she:1 fell:2 | elle:1 est tombée:2 .
I:1 'm:2 calm:3 | je:1 suis:2 calme:3 .
he:1 's:2 calm:3 | il:1 est:2 calme:3 .
she:1 's:2 calm:3 | elle:1 est:2 calme:3 .
it:1 's:2 true:3 | c':1 est:2 vrai:3 .
it:1 is:2 n't:3 true:4 | ce:1 ne:3 est:2 pas:3 vrai:4 .
that:1 's:2 right:3 | c':1 est:2 exact:3 .
it:1 's:2 possible:3 | c':1 est:2 possible:3 .
it:1 's:2 impossible:3 | c':1 est:2 impossible:3 .
it:1 's:2 easy:3 | c':1 est:2 facile:3 .
it:1 's:2 difficult:3 | c':1 est:2 difficile:3 .
it:1 's:2 perfect:3 | c':1 est:2 parfait:3 .
it:1 's:2 too:3 expensive:4 | c':1 est:2 trop:3 cher:4 .
it:1 's:2 very:3 important:4 | c':1 est:2 très:3 important:4 .
it:1 's:2 for:3 you:4 | c':1 est:2 pour:3 vous:4 .
it:1 's:2 for:3 me:4 | c':1 est:2 pour:3 moi:4 .
it:1 's:2 my:3 turn:4 | c':1 est:2 mon:3 tour:4 .
it:1 's:2 your:3 turn:4 | c':1 est:2 votre:3 tour:4 .
it:1 's:2 me:3 | c':1 est:2 moi:3 .
it:1 's:2 nothing:3 | ce:1 ne:3 est:2 rien:3 .
it:1 does n't:2 matter:3 | cela:1 ne:2 a:3 pas:2 de:3 importance:3 .
I:1 do n't:3 care:3 | cela:1 me:1 est:3 égal:3 .
never:1 mind:1 | tant:1 pis:1 .
so:1 much:2 the:3 better:3 | tant:12 mieux:3 .
can:4 you:1 help:3 me:2 | pouvez:4 -vous:1 me:2 aider:3 ?
may:1 I:2 come:3 in:3 | est:1 -ce:1 que:1 je:2 peux:1 entrer:3 ?
may:1 I:2 ask:3 a:4 question:5 | est:1 -ce:1 que:1 je:2 peux:1 poser:3 une:4 question:5 ?
can:1 you:2 repeat:3 ,:4 please:5 | pouvez:1 -vous:2 répéter:3 ,:4 s':5 il:5 vous:5 plaît:5 ?
do you:2 speak:1 English:3 | parlez:1 -vous:2 anglais:3 ?
I:1 do n't:2 speak:3 French:4 very:5 well:6 | je:1 ne:2 parle:3 pas:2 très:5 bien:6 français:4 .
did:1 you:2 sleep:4 well:3 | avez:1 -vous:2 bien:3 dormi:4 ?
I:1 slept:3 well:2 | je:1 ai bien:2 dormi:3 .
what:1 happened:3 | que:1 se:3 est:3 -il passé:3 ?
what:1 's happening:2 | que:1 se:2 passe:2 -il ?
what:1 do you:3 think:2 | que:1 pensez:2 -vous:3 ?
what:1 did:2 you:3 say:4 | que:1 avez:2 -vous:3 dit:4 ?
the phone:1 is ringing:2 | le téléphone:1 sonne:2 .
dinner:1 is:2 ready:3 | le dîner:1 est:2 prêt:3 .
lunch:1 is:2 ready:3 | le déjeuner:1 est:2 prêt:3 .
life:1 is:2 beautiful:3 | la vie:1 est:2 belle:3 .
time:1 is:2 money:3 | le temps:1 , c' est:2 de l' argent:3 .
there:1 's:2 nobody:3 here:4 | il:1 ne:3 y:1 a:2 personne:3 ici:4 .
there:1 's:2 nothing:3 here:4 | il:1 ne:3 y:1 a:2 rien:3 ici:4 .
I:1 have:2 nothing:3 | je:1 ne:3 ai:2 rien:3 .
I:1 did:2 n't:3 see:4 anything:5 | je:1 ne:3 ai:2 rien:5 vu:4 .
I:1 did:2 n't:3 say:4 anything:5 | je:1 ne:3 ai:2 rien:5 dit:4 .
he:1 did:2 n't:3 say:4 anything:5 | il:1 ne:3 a:2 rien:5 dit:4 .
she:1 did:2 n't:3 hear:4 anything:5 | elle:1 ne:3 a:2 rien:5 entendu:4 .
we:1 did:2 n't:3 find:4 anything:5 | nous:1 ne:3 avons:2 rien:5 trouvé:4 .
he:1 does n't:2 understand:3 anything:4 | il:1 ne:2 comprend:3 rien:4 .
I:1 do n't:2 want:3 anything:4 | je:1 ne:2 veux:3 rien:4 .
be:1 careful:1 | attention:1 !
take:1 care:2 of:3 yourself:4 | prenez:1 soin:2 de:3 vous:4 .
I:1 have:2 no:3 idea:4 | je:1 ne:3 ai:2 aucune:3 idée:4 .
I:1 'm:2 in:3 a hurry:3 | je:1 suis:2 pressé:3 .
I:1 'm:2 from:4 here:3 | je:1 suis:2 de:4 ici:3 .
""".strip().splitlines()
)
