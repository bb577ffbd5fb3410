"""What people do: ``english | french | uses | objects``.

The first word of each side is the verb (after ``se`` or ``en`` in French). ``{}`` is the object;
without it, a listed object stands last. Other words carry marks, ``v`` being the verb's own.
Objects are ``determiner noun noun …; determiner …``, the determiners those of ``nominals``,
with ``+`` for the plural.

Uses: t was done once, f can be wished, planned or ordered, p can be going on just now, h is a
habit, s is a state (imperfect in the past), m a feeling that English says with be, i makes
an order, n a prohibition, w may be done with somebody. And what limits them: d is done daily, b
takes long plans, k has its own time of day, o is never denied, x has a reflexive participle that
does not agree.
"""

from __future__ import annotations

LIKED = (
    "gen coffee tea milk wine beer chocolate cheese fish meat music football tennis history "
    "mathematics nature winter summer spring rain snow art cinema sport chess bread dancing; "
    "gen+ dog cat horse flower apple strawberry vegetable movie book novel cookie egg party"
)

LINES = """
eat | manger | tfpi | a apple orange banana pear sandwich peach pizza; some bread cheese cake
  soup chocolate salad; poss soup sandwich
eat | manger | h | bare meat fish bread cheese chocolate rice fruit; bare+ vegetable egg apple
  carrot
eat | manger | tfpw |
eat at:1 the:2 restaurant:3 | manger au:12 restaurant:3 | tfhw |
drink | boire | tfpi | a coffee beer; some water milk coffee tea; poss coffee tea milk
drink | boire | h | bare coffee tea milk wine water beer
have lunch:v | déjeuner | tfpwk |
have dinner:v | dîner | tfpwk |
have breakfast:1 | prendre le petit:1 déjeuner:1 | tfpwk |
make | préparer | tfphi | gen dinner lunch; a salad soup
make | faire | tfp | a cake pie omelet
make | faire | t | a mistake
make | faire | np | bare noise
read | lire | tfpiw | a book novel magazine story; the newspaper; this book letter article poem;
  poss book newspaper
read | lire | h | the newspaper; bare+ book novel magazine poem
write | écrire | tfp | a letter poem book article; this letter; poss name
write {him} {} {to} | écrire {} {to} | tfpi | a letter postcard
send {him} {} {to} | envoyer {} {to} | tfi | a package letter postcard; this photo letter; poss
  address; some money
give {him} {} {to} | donner {} {to} | tfi | a gift book; this key letter ticket; poss address
  phone_number; some money
lend {him} {} {to} | prêter {} {to} | tfi | poss car bicycle umbrella dictionary pen; this book;
  some money
show {him} {} {to} | montrer {} {to} | tfpi | poss house room passport garden; this photo map
  letter
sell {him} {} {to} | vendre {} {to} | tfb | poss car bicycle piano; this house
bring {him} {} {to} | apporter {} {to} | tfi | a coffee gift; some water tea; this package; the
  bill
explain {} {towhom} | expliquer {} {towhom} | tfpi | this problem lesson word; the problem
tell {him} {} {to} | raconter {} {to} | tfi | a story joke; this story
tell {him} {} {to} | dire {} {to} | tfi | the truth
buy | acheter | tfb | a car house bicycle computer camera apartment boat; this house car
buy | acheter | tf | a coat hat dress umbrella phone book; some bread milk fruit cheese wine; this
  book bag; some+ shoe
buy {} for:1 {person} | acheter {} pour:1 {person} | tf | a gift book watch; some+ flower
buy | acheter | i | some bread milk butter sugar; the newspaper
sell | vendre | tfpb | poss car house bicycle boat apartment; this house
sell | vendre | h | bare+ flower vegetable car book
lose | perdre | t | poss+ key; poss wallet phone umbrella passport ticket glasses watch luggage
find | trouver | tf | poss+ key; a job hotel apartment; poss wallet glasses passport; the answer
look for:v | chercher | tfp | poss+ key; poss phone wallet dog glasses; a job apartment hotel;
  the station museum
forget | oublier | tn | poss umbrella phone passport wallet luggage; poss+ key; the address
take | prendre | tfpi | the bus train subway; a taxi shower bath photo
take | faire | tfpih | a nap
take | prendre | h | the bus train subway
take | prendre | hd | a shower
take | prendre | tn | poss umbrella bicycle; this bag
wait for:v | attendre | tfp | the bus train
wait for:v {whom} | attendre {whom} | tfpin |
watch | regarder | tfphiw | gen television
watch | regarder | tfpw | a movie match; this movie; the match
look at:v | regarder | tpi | the sky sea moon map; the+ star; this photo; poss watch
listen to:v | écouter | tfphiw | bare music; the radio
listen to:v | écouter | tfpi | this song
listen to:v {whom} | écouter {whom} | tfpi |
see | voir | tf | this movie
see {whom} | voir {whom} | tf |
see | voir | t | a snake mouse accident bear
meet {whom} | rencontrer {whom} | tf |
visit | visiter | tfpw | the museum castle; this castle museum city
visit {city} | visiter {city} | tfpwb |
call | appeler | tfi | a taxi; the police doctor
call {whom} | appeler {whom} | tfin |
help {whom} | aider {whom} | tfphi |
invite {whom} | inviter {whom} | tfi |
thank {whom} | remercier {whom} | tfi |
follow {whom} | suivre {whom} | tpin |
answer {atwhom} | répondre {atwhom} | tf |
answer {} | répondre à {} | tfi | this question letter; the question phone
talk {towhom} | parler {towhom} | tfpi |
speak {towhom} | parler {towhom} | tf |
open | ouvrir | tfin | the door window; this box bottle; poss book suitcase gift; the drawer
close | fermer | tfin | the door window gate; poss book suitcase
clean | nettoyer | tfphi | the kitchen house bathroom; poss room; the floor
wash | laver | tfpi | poss car; this shirt sweater
do the:1 dishes:2 | faire la:1 vaisselle:2 | tfphid |
do | faire | tfphid | poss homework
do the:1 shopping:2 | faire les:1 courses:2 | tfphw |
repair | réparer | tfpi | poss car bicycle computer; the roof; this chair radio clock
break | casser | t | the window; a glass plate cup; this toy; poss glasses
paint | peindre | tfpb | the wall kitchen door gate; poss room
build | construire | tfpb | a house boat bridge wall; this bridge
draw | dessiner | tfpi | a cat house horse tree flower boat
play | jouer à | tfphiw | gen football tennis chess cards basketball
play | jouer de | tfph | the piano guitar violin flute
sing | chanter | tfpn |
sing well:1 | chanter bien:1 | s |
sing | chanter | tfpi | a song; this song
dance | danser | tfpw |
dance well:1 | danser bien:1 | s |
sleep | dormir | tfph |
work | travailler | tfphw |
work in:1 | travailler dans:1 | sfb | a hospital bank factory restaurant office bookstore
study | étudier | tfphi | gen history mathematics biology French music physics geography
  chemistry
learn | apprendre | tfpwb | gen French English Spanish German Italian Japanese Russian Chinese
speak {tongue} | parler {tongue} | sf |
teach | enseigner | phf | gen history mathematics French English biology music geography physics
swim | nager | tfpw |
swim well:1 | nager bien:1 | s |
swim in:1 | nager dans:1 | hw | the sea lake pool
swim in:1 | nager dans:1 | tfpw | the lake river sea
run | courir | tfpiw |
run in:1 | courir dans:1 | tfphinw | the park street forest
walk in:1 {} | marcher dans:1 {} | tphw | the street forest
take a:v walk:v | se promener | tfpw |
take a:v walk:v in:1 {} | se promener dans:1 {} | tfphw | the park garden forest
travel | voyager | tfphwb |
travel by:1 train:2 | voyager en:1 train:2 | tfhb |
cry | pleurer | pn |
laugh | rire | pn |
smile | sourire | pt |
smoke | fumer | phn |
drive | conduire | pf |
drive fast:1 | conduire vite:1 | sn |
drive | conduire | tfp | this truck; poss car
ride a:1 bicycle:2 | faire du:1 vélo:2 | tfphwo |
cook | cuisiner | pf |
cook well:1 | cuisiner bien:1 | s |
rest | se reposer | tfpi |
hurry | se dépêcher | i |
get up:v {early} | se lever {early} | tfhdk |
wake up:v {early} | se réveiller {early} | tfhdk |
go to:v bed:v {early} | se coucher {early} | tfhdk |
wash POSS:1 hands:2 | se laver les:1 mains:2 | tfpix |
brush POSS:1 teeth:2 | se brosser les:1 dents:2 | tfphixd |
break POSS:1 arm:2 | se casser le:1 bras:2 | tx |
break POSS:1 leg:2 | se casser la:1 jambe:2 | tx |
get dressed:v | s'habiller | tfpi |
have fun:v | s'amuser | tpfi |
fall asleep:v | s'endormir | t |
get lost:v | se perdre | t |
get married:v | se marier | tfb |
sit down:v | s'asseoir | tfi |
go to:1 | aller à:1 | tfphw | the market beach museum library bakery supermarket pool park
  post_office pharmacy theater; gen school church
go to:1 | aller à:1 | tfp | the station airport hospital bank hotel party
go to:1 {city} | aller à:1 {city} | tfb |
go to:1 | aller chez:1 | tfp | the dentist doctor
go to:1 the:1 movies:2 | aller au:1 cinéma:2 | tfphw |
go {to_country} | aller {to_country} | tfb |
go swimming:1 | aller nager:1 | tfhw |
go home:v | rentrer | tfpi |
come back:v | revenir | tf |
come to:1 {} | venir à:1 {} | tfw | the party meeting wedding; poss party
come with:1 {person} | venir avec:1 {person} | tfp |
leave | partir | tfp |
leave for:1 {city} | partir pour:1 {city} | tfpwb |
leave | quitter | tf | the house room city; this village; gen school
arrive {late} | arriver {late} | tf |
arrive at:1 | arriver à:1 | t | the station airport hotel
stay {home} | rester {home} | tfpiw |
go out:v | sortir | tfphnw |
enter | entrer dans:v | tfn | the room house kitchen store garden; this room
pay | payer | tf | the bill; poss rent
order | commander | tf | a pizza coffee salad beer dessert; some wine
wear | porter | p | a hat coat shirt scarf; bare glasses
carry | porter | tpi | poss suitcase bag; this box basket
put on:v | mettre | tfi | poss coat hat jacket sweater glasses; poss+ shoe boot glove
put {} {there} | mettre {} {there} | ti | poss+ key; poss bag book; this box lamp
turn on:v | allumer | tfin | the light television radio; poss computer
turn off:v | éteindre | tfin | the light television radio; poss computer phone
use | utiliser | tfpi | this computer dictionary machine; poss phone computer; a knife
touch | toucher | tn | this machine plate; the wall
cut | couper | tfpi | the bread cake; this apple meat
share | partager | tfpi | the cake room; this pizza
choose | choisir | tfi | a gift dress book color; this restaurant
finish | finir | tfi | poss homework work soup; this book exercise
start | commencer | tf | poss work; this book lesson
miss | rater | t | the bus train plane; poss train bus
catch | attraper | t | a cold fish mouse
feed | nourrir | tfphid | the dog cat rabbit; poss cat dog horse
water | arroser | tfphi | the+ plant flower; the garden
win | gagner | tf | the match race; a prize
hear | entendre | t | a noise; this song story; the news
know {whom} | connaître {whom} | s |
know | connaître | s | this city song village restaurant poem street museum hotel; poss+
  neighbor; the answer
understand | comprendre | s | this question word lesson text; the problem question answer
understand {whom} | comprendre {whom} | s |
like {whom} | aimer bien:v {whom} | so |
like | aimer | s | LIKED; this movie song city
love | adorer | so | LIKED; this song movie book city
hate | détester | so | LIKED; this city song color
prefer | préférer | so | LIKED
need | avoir besoin:v de | s | a car pen umbrella doctor map knife taxi chair coat job; some
  help money water sugar information; some+ stamp; this book; poss glasses passport
have | avoir | s | a dog car cat brother sister bicycle question idea problem garden garage
  secret plan; num+ child brother sister dog cat bicycle; some money
want | vouloir | s | a coffee dog bicycle sandwich gift; some water bread milk sugar
  information; this dress book hat
remember | se souvenir de | s | this day trip song story; poss childhood dream; the name address
be afraid:1 of:2 | avoir peur:1 de:2 | s | gen+ dog spider snake mouse; the dark; gen rain
believe | croire | s | this story
believe {whom} | croire {whom} | s |
live in:1 {city} | habiter à:1 {city} | sfb |
live {in_country} | vivre {in_country} | sfb |
live in:1 | habiter dans:1 | sfb | a house apartment village castle; this street
live near:1 | habiter près:1 de | s | the station sea school airport park bakery church
look like:v | ressembler à | s | poss father mother brother sister grandmother grandfather
be from:1 {city} | être de:1 {city} | s |
be hungry:1 | avoir faim:1 | m |
be thirsty:1 | avoir soif:1 | m |
be cold:1 | avoir froid:1 | m |
be hot:1 | avoir chaud:1 | m |
be sleepy:1 | avoir sommeil:1 | m |
be right:1 | avoir raison:1 | m |
be wrong:1 | avoir tort:1 | m |
be scared:1 | avoir peur:1 | m |
be lucky:1 | avoir de la chance:1 | m |
trust {atwhom} | faire confiance:v {atwhom} | s |
"""
