"""Words too common to search for, by language: dropped from queries, never from what is stored.

The lists are short on purpose. A word that can carry the meaning of a question ("not", "before", "first") stays out.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_ENGLISH = """
a about am an and any are as at be been being but by can could did do does doing for from had has have having he her
hers him his how i if in into is it its just me my of on or our ours she should so some such than that the their theirs
them then there these they this those to too us was we were what when where which who whom whose why will with would
you your yours
"""
_GERMAN = """
aber alle als am an auch auf aus bei bin bist da das dass dein deine dem den der des dich die dies diese dieser dieses
dir doch du ein eine einem einen einer eines er es euch euer für habe haben hat hatte hatten hast ich ihm ihn ihnen ihr
ihre im in ins ist ja kann man mein meine mich mir mit nach noch nur ob oder sein seine sich sie sind so über um und uns
unser unsere unter vom von vor war waren warum was wann wenn wer werden wie wir wird wo wurde zu zum zur
"""
_FRENCH = """
à a ai ainsi as au aux avec avez avons c ça ce ces cet cette d dans de des du elle elles en es est et étaient était êtes
être eu eux il ils j je l la le les leur leurs lui m ma mais me mes moi mon n nos notre nous on ont ou où par pas pour
qu quand que quel quelle quelles quels qui quoi s sa se ses si son sont sur t ta te tes toi ton tu un une vos votre vous
y
"""
_SPANISH = """
a al ante aquel aquella como con cual cuando cuándo cuál cómo de del desde donde dónde dos e el él ella ellas ellos en
era eran es esa ese eso esta está están estas este esto estos fue fueron ha han has hay he la las le les lo los me mi
mis muy nos nosotros o os para pero por porque que qué quien quién se ser si sí sin sobre son su sus te tengo ti tiene
tu tú tus un una unas uno unos y ya yo
"""
_ITALIAN = """
a ad agli ai al alla alle allo anche c che chi ci come con cosa cui d da dagli dai dal dalla dalle dei del dell della
delle dello di dove e è ed era erano essere fu gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia
mie miei mio ne nei nel nella nelle noi nostra nostro o per perché più quale quando quanto quella quello questa questo
se sei si sia siamo sono su sua sue sul sulla suo suoi te ti tra tu tua tuo un una uno vi voi
"""
_PORTUGUESE = """
a ao aos as às até com como da das de dela dele delas deles do dos e é ela elas ele eles em era eram essa esse esta
está estão este eu foi foram há isso isto já lhe mas me meu meus minha minhas muito na nas no nos nós o onde os ou para
pela pelo por porque qual quando que quem se ser seu seus são sua suas só também te tem tu um uma você vocês
"""
_DUTCH = """
aan al als bij dan dat de der deze die dit door doen een en er had heb hebben heeft het hem hij hoe hun ik in is ja je
jij jouw kan me mij mijn met naar nog of om onder ons ook op over te tot u uit uw van voor waar waren was wat we wel
welke werd wie wij wordt worden zal ze zich zij zijn zo
"""
_SWEDISH = """
alla att av blev blir både de dem den denna deras dess det detta dig din dina du där då efter ej eller en er ett för
från ha hade han hans har hon hur i in ingen jag kan man med men mig min mina mitt mot ni någon när och om oss på sig
sin sina ska som så till under upp ut vad var vara vem vi vid vilken vår är över
"""
_RUSSIAN = """
а без бы был была были было быть в вам вас ваш во вот все всё вы где да для до его ее её если есть же за и из или им их
к как какой когда кто ли мне мой моя мы на над нам нас наш не него неё ней них но о об он она они оно от по под при с
со так там то тоже ты тебе тебя у уже чего чем что чтобы эта эти это этот я
"""

STOP_WORDS: Final = MappingProxyType(
    {
        "english": frozenset(_ENGLISH.split()),
        "porter": frozenset(_ENGLISH.split()),
        "german": frozenset(_GERMAN.split()),
        "french": frozenset(_FRENCH.split()),
        "spanish": frozenset(_SPANISH.split()),
        "italian": frozenset(_ITALIAN.split()),
        "portuguese": frozenset(_PORTUGUESE.split()),
        "dutch": frozenset(_DUTCH.split()),
        "dutch_porter": frozenset(_DUTCH.split()),
        "swedish": frozenset(_SWEDISH.split()),
        "russian": frozenset(_RUSSIAN.split()),
    }
)
"""Stop words by Snowball language; a language that is not listed has none."""

STOP_CHARACTERS: Final = frozenset("的了是我你他她它们們和在不有吗嗎呢吧啊のはがをにでともへや이그저내네제나")
"""Single characters of Chinese, Japanese and Korean that say nothing when they stand alone in a query."""
