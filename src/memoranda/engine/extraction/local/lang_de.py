"""German: patterns, templates and words."""

from __future__ import annotations

from memoranda.engine.extraction.local.dates import TimeWords
from memoranda.engine.extraction.local.rules import Language, event, fact, guideline, memory, plan, preference, rx

_N = r"(?:[^,;:.!?()\n—–\ue000]|[.](?=\w))"
_THING = rf"(?P<thing>{_N}{{2,90}})"
_PLACE = rf"(?P<place>(?-i:[A-ZÄÖÜ]){_N}{{1,60}})"
_ORG = rf"(?P<org>{_N}{{2,60}})"
_JOB = rf"(?P<job>{_N}{{2,60}})"
_NAME = r"(?P<name>(?-i:[A-ZÀ-Þ])[\w'-]{1,30}(?: (?-i:[A-ZÀ-Þ])[\w'-]{1,30}){0,2})"
_ADV = r"(?:(?:jetzt|nun|auch|gerade|aktuell|inzwischen|mittlerweile|derzeit|momentan|seit \w+(?: \w+)?|noch|schon|ja|eigentlich|wirklich|sehr|total|immer noch|zurzeit|übrigens|leider) )*"
_RELATION = r"(?P<rel>Frau|Mann|Partnerin|Partner|Freundin|Freund|Verlobte|Verlobter|Mutter|Mama|Vater|Papa|Sohn|Tochter|Bruder|Schwester|Chef|Chefin|Oma|Opa|Nichte|Neffe|Cousine|Cousin|Tante|Onkel|Mitbewohner\w*)"
_PET = (
    r"(?P<pet>Hund|Katze|Kater|Hündin|Hase|Kaninchen|Hamster|Papagei|Pferd|Meerschweinchen|Wellensittich|Schildkröte)"
)
_LANG = r"(?P<other>Englisch|Deutsch|Französisch|Spanisch|Koreanisch|Japanisch|Chinesisch|Italienisch|Portugiesisch|Niederländisch|Russisch|Arabisch|Türkisch|Polnisch|Schwedisch|Griechisch|Ukrainisch)"
_MONTH = r"(?P<month>januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)"
_WHEN = r"(?:gestern|vorgestern|heute|heute morgen|letzte[nsr]? \w+|vorige[nsr]? \w+|vor \w+ \w+|am \w+|im \w+|diese[nsr]? \w+|gestern abend)"
_FUTURE_WHEN = r"(?:morgen|übermorgen|nächste[nsr]? \w+|kommende[nsr]? \w+|in \w+ \w+|am \w+(?:,? (?:dem|den) \S+ \w+)?|am \d+\. \w+|heute(?: abend)?)"

RULES = (
    fact(rf"(?:ich heiße|ich heisse|mein name ist) {_ADV}{_NAME}", "name", "{who} heißt {name}."),
    fact(rf"ich bin (?:der|die) {_NAME}(?=[,.!]|$| aus| und)", "name", "{who} heißt {name}."),
    fact(
        rf"(?:(?:ich|wir) )?(?:wohne|wohnen|lebe|leben) {_ADV}(?:in|bei|nahe) (?:der |dem )?{_PLACE}",
        "residence",
        "{who} wohnt in {place}.",
    ),
    fact(
        rf"{_ADV}?(?:wohne|lebe|wohnen|leben) (?:ich|wir) {_ADV}(?:in|bei) (?:der |dem )?{_PLACE}",
        "residence",
        "{who} wohnt in {place}.",
    ),
    fact(
        rf"(?:ich bin|wir sind|bin ich|sind wir) (?:[\wäöüß.]+ ){{0,4}}?(?:nach|in die|in den) {_PLACE}? ?(?:um)?gezogen",
        "residence",
        "{who} ist nach {place} gezogen.",
    ),
    fact(
        rf"(?:ich|wir) (?:komme|stamme|kommen) {_ADV}(?:ursprünglich )?aus (?:der |den |dem )?{_PLACE}",
        "origin",
        "{who} kommt aus {place}.",
    ),
    fact(
        r"(?:ich bin|bin ich) (?:in (?P<place>(?-i:[A-ZÄÖÜ])[\w -]{1,40}?)) (?:geboren|aufgewachsen)",
        "origin",
        "{who} kommt aus {place}.",
    ),
    fact(rf"(?:ich arbeite|arbeite ich|arbeite) {_ADV}als (?:\w+e[rn]? )?{_JOB}", "job", "{who} arbeitet als {job}."),
    fact(
        rf"(?:ich arbeite|arbeite ich|arbeite) {_ADV}(?:als [\w ]{{2,40}}? )?(?:bei|für) (?:der |dem )?(?!mir|uns|mich|euch|dir|zu hause){_ORG}",
        "employer",
        "{who} arbeitet bei {org}.",
    ),
    fact(
        rf"(?:ich habe|habe ich|ich hab) {_ADV}(?:[\wäöü]+ ){{0,3}}?(?:einen neuen job|eine neue stelle|neu) bei (?P<org>[^,.!?\n]{{2,40}}?)(?: angefangen| begonnen| bekommen)?(?=[,.!]|$)",
        "employer",
        "{who} arbeitet bei {org}.",
    ),
    fact(rf"ich bin {_ADV}(?:von beruf |gelernte[rn]? )(?P<job>[\w-]{{3,40}})", "job", "{who} ist {job}."),
    fact(
        r"ich bin (?:jetzt |auch )?(?P<job>(?-i:[A-ZÄÖÜ])[\w-]*(?:lehrer|entwickler|ingenieur|arzt|ärztin|pfleger|schwester|berater|anwalt|anwältin|student|architekt|designer|koch|köchin|wissenschaftler|informatiker|leiter|händler|bäcker|krankenpfleger|psycholog|programmierer|journalist|übersetzer|apotheker)\w{0,3})\b",
        "job",
        "{who} ist {job}.",
    ),
    fact(rf"meine? {_RELATION} heißt {_NAME}", "family:{rel}:{name}", "{rel} von {who}: {name}."),
    fact(
        rf"meine? {_RELATION},? {_NAME}(?=,| (?:ist|war|hat|und ich|(?-i:[a-zäöü])\w+)\b)",
        "family:{rel}:{name}",
        "{rel} von {who}: {name}.",
    ),
    fact(rf"(?:mein|meine|unser|unsere) {_PET} heißt {_NAME}", "pet:{name}", "{pet} von {who}: {name}."),
    fact(
        rf"(?:ich habe|wir haben) {_ADV}(?:eine?n? )(?:\w+e[nrs]? )?{_PET} (?:namens|mit dem namen) {_NAME}",
        "pet:{name}",
        "{pet} von {who}: {name}.",
    ),
    fact(
        r"(?:ich habe|wir haben) (?P<thing>(?:zwei|drei|vier|fünf|\d|eine|einen) (?:\w+e )?(?:Kinder|Kind|Söhne|Sohn|Töchter|Tochter|Brüder|Bruder|Schwestern|Schwester|Geschwister|Hunde|Hund|Katzen|Katze))\b",
        "has:{thing}",
        "{who} hat {thing}.",
    ),
    fact(
        r"ich bin (?:seit \w+ \w+ )?(?P<thing>verheiratet|ledig|geschieden|verlobt|verwitwet)\b",
        "marital-status",
        "{who} ist {thing}.",
    ),
    fact(r"ich bin (?:jetzt |gerade )?(?P<age>\d{1,2})(?: jahre alt|(?=[,.!]|$))", "age", "{who} ist {age} Jahre alt."),
    fact(
        rf"(?:ich habe|mein geburtstag ist|ich hab) (?:am )(?P<thing>\d{{1,2}}\. ?{_MONTH})(?: geburtstag)?",
        "birthday",
        "{who} hat am {thing} Geburtstag.",
    ),
    fact(
        rf"(?:ich habe|ich hab) {_ADV}eine (?P<thing>\w+)allergie", "allergy:{thing}", "{who} hat eine {thing}allergie."
    ),
    fact(
        rf"ich bin {_ADV}(?:stark |hoch |schwer )?allergisch (?:gegen|auf) {_THING}",
        "allergy:{thing}",
        "{who} ist allergisch gegen {thing}.",
    ),
    fact(rf"ich bin {_ADV}gegen {_THING} allergisch", "allergy:{thing}", "{who} ist allergisch gegen {thing}."),
    fact(
        rf"ich (?:bin|lebe|ernähre mich) {_ADV}(?:strikt |strenge?r? )?(?P<thing>vegan|vegetarisch|veganer(?:in)?|vegetarier(?:in)?|laktoseintolerant|glutenintolerant|pescetarisch)\b",
        "diet",
        None,
    ),
    fact(
        rf"ich esse {_ADV}kein(?:e|en)? (?P<thing>[\w -]{{3,40}}?)(?= mehr|[,.!]|$| und| weil)",
        "diet:{thing}",
        "{who} isst kein {thing}.",
    ),
    fact(
        r"ich (?:habe|leide an) (?P<thing>diabetes|asthma|migräne|adhs|arthrose|epilepsie|bluthochdruck|zöliakie|heuschnupfen)\b",
        "health:{thing}",
        "{who} hat {thing}.",
    ),
    preference(
        r"ich trinke (?:am )?(?P<how>lieber|liebsten) (?P<thing>[^,.!?\n]{2,60})",
        "preference:{thing}",
        "{who} trinkt am liebsten {thing}.",
    ),
    preference(
        rf"ich (?:liebe|mag|bevorzuge) {_ADV}(?!es\b|das\b|dich|wie|kein|nicht|den gedanken|diese|deine|euch|dass|sie\b|ihn\b)(?P<thing>[^,;.!?()\n]{{2,80}}?)(?P<no> (?:gar |überhaupt )?nicht(?: mehr)?)(?=[,.!]|$)",
        "preference:{thing}",
        "{who} mag {thing} nicht.",
    ),
    preference(rf"ich mag (?:gar |überhaupt )?kein(?:e|en)? {_THING}", "preference:{thing}", "{who} mag kein {thing}."),
    preference(
        rf"ich (?:hasse|verabscheue) (?!es\b|das\b|dich|wie|diese|dass){_THING}",
        "preference:{thing}",
        "{who} mag {thing} nicht.",
    ),
    preference(
        rf"ich (?:liebe|mag|bevorzuge) {_ADV}(?!es\b|das\b|dich|wie|kein|nicht|den gedanken|diese|deine|euch|dass|sie\b|ihn\b|du\b){_THING}",
        "preference:{thing}",
        "{who} mag {thing}.",
    ),
    preference(
        r"mein(?:e|en)? lieblings(?P<topic>[\wäöüß-]+) (?:ist|sind) (?P<thing>[^,;.!?\n]{2,60})",
        "favourite:{topic}",
        "Lieblings{topic} von {who}: {thing}.",
    ),
    preference(
        r"ich (?P<verb>spiele|koche|lese|wandere|schwimme|tanze|singe|reise|höre|esse|trinke|fahre|male|backe|laufe|klettere|programmiere) (?:sehr |total )?gern(?:e)?(?P<thing>(?: [\w -]{2,60})?)(?=[,.!]|$)",
        None,
        None,
    ),
    fact(
        rf"ich (?:spreche|kann) {_ADV}(?:fließend |etwas |ein bisschen |gut )?{_LANG}",
        "language:{other}",
        "{who} spricht {other}.",
    ),
    memory(
        r"ich (?:gehe|laufe|schwimme|trainiere|meditiere|koche|spiele|fahre|jogge|lese|trinke|stehe)\b[^,;.!?\n]{0,60}?\b(?:jeden|jede|jedes|immer (?:montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|morgens|abends)|einmal|zweimal|dreimal|täglich|wöchentlich|normalerweise|meistens)\b[^,;.!?\n]{0,60}"
    ),
    memory(
        r"(?:jeden|jede|jedes) \w+ (?:gehe|laufe|schwimme|trainiere|meditiere|koche|spiele|fahre|jogge|lese|trinke|stehe) ich\b[^,;.!?\n]{0,80}"
    ),
    fact(r"ich (?:fahre|besitze) (?P<thing>eine?n? [^,;.!?\n]{2,60})", "owns:{thing}", "{who} besitzt {thing}."),
    fact(
        r"(?:wir sind|ich bin) (?:\w+ ){0,3}?von (?P<old>[\w .+-]{2,30}?) (?:auf|zu) (?P<thing>[\w .+-]{2,40}?) (?:umgestiegen|gewechselt|migriert|umgezogen)",
        "uses:{old}",
        "{who} ist von {old} auf {thing} umgestiegen.",
    ),
    fact(
        rf"(?:wir|ich) (?:nutze|nutzen|verwende|verwenden|benutze|benutzen) {_ADV}(?!es\b|das\b|dies)(?P<thing>(?P<other>{_N}{{2,90}}))",
        "uses:{other}",
        "{who} verwendet {thing}.",
    ),
    memory(
        r"(?:wir haben|ich habe) (?:uns|mich) (?:\w+ ){0,3}?(?:entschieden|geeinigt|entschlossen|dafür entschieden|dagegen entschieden|(?:für|gegen) [^,.!?\n]{3,60} entschieden)\b[^!?\n]{0,160}"
    ),
    memory(r"(?:wir haben|ich habe) (?:beschlossen|entschieden|vereinbart),? [^!?\n]{6,200}"),
    guideline(
        r"(?:bitte )?(?:antworte|schreib(?:e)?|sprich|rede)(?: mir| mit mir)?(?: bitte)?(?: immer| nur| stets)*(?: mir)? auf (?:deutsch|englisch|französisch|spanisch|italienisch|japanisch)\b[^?\n]{0,60}",
        "guideline:language",
    ),
    guideline(rf"nenn(?:e)? mich (?:bitte |immer |einfach )*{_NAME}", "form-of-address"),
    guideline(r"nenn(?:e)? mich (?:bitte )?(?:nie|niemals|nicht)\b[^?\n]{2,60}"),
    guideline(
        r"(?:bitte )?(?:antworte|verwende|benutze|nutze|schreib|schreibe|nenne|zeig|zeige|füge|gib|erkläre|formatiere|übersetze|frag|frage|erinnere|sag|sage|rechne|duze|sieze)\b(?: \w+){0,3} (?:immer|nie|niemals|stets|in zukunft|künftig|ab jetzt)\b[^?\n]{0,160}"
    ),
    guideline(
        r"(?:ab jetzt|ab sofort|in zukunft|künftig|von nun an)(?: bitte)?,? (?!(?:werde|will|habe|bin|gehe|arbeite|wohne) ich)[^?\n]{6,200}"
    ),
    guideline(r"bitte (?:immer|nie|niemals|keine|kein|verwende|benutze|duze|sieze)\b[^?\n]{4,160}"),
    plan(
        rf"{_FUTURE_WHEN} (?:[\w:.]+ )?(?:habe|fliege|fahre|gehe|treffe|reise|heirate|ziehe|besuche|beginne|fange|bekomme|mache|muss|werde|haben|fliegen|fahren|gehen|treffen|reisen|heiraten|ziehen|besuchen|feiern) (?:ich|wir)\b[^?\n]{{3,}}"
    ),
    plan(
        r"(?:ich|wir) (?:habe|haben|fliege|fliegen|fahre|fahren|gehe|gehen|treffe|treffen|reise|reisen|heirate|heiraten|besuche|besuchen|beginne|werde|werden|ziehe|ziehen|feiern)\b[^?\n]{3,}"
    ),
    plan(
        r"(?:mein|meine|unser|unsere) (?:\w+ )?\w*(?:termin|prüfung|flug|hochzeit|vorstellungsgespräch|interview|reise|präsentation|urlaub|operation|abgabe|deadline|release|umzug) (?:ist|beginnt|startet|findet|geht|wurde)\b[^?\n]{3,}"
    ),
    event(
        rf"{_WHEN},? (?:\w+ )?(?:war|waren|habe|haben|hatte|hatten|bin|sind|hab|ging|traf|besuchte|kaufte) (?:ich|wir|meine? \w+ und ich)\b[^?\n]{{3,}}"
    ),
    event(
        r"(?:ich|wir|meine? \w+ und ich) (?:war|waren|habe|haben|hatte|hatten|bin|sind|hab|ging|traf|besuchte|kaufte)\b(?! (?:müde|traurig|froh|glücklich|zufrieden))[^?\n]{3,}"
    ),
    event(
        r"(?:ich habe|wir haben|ich bin|ich hab) (?:gerade |endlich |kürzlich |neulich |eben )*(?:geheiratet|meinen job (?:verloren|gekündigt)|befördert worden|meinen abschluss gemacht|(?:die|meine) [\w-]*prüfung bestanden|eine?n? (?:haus|hund|katze|wohnung|auto) (?:gekauft|adoptiert))[^?\n]*",
        needs_time=False,
    ),
)

_MONTHS = {
    m: i
    for i, m in enumerate(
        "januar februar märz april mai juni juli august september oktober november dezember".split(), 1
    )
}
_DAYS = {d: i for i, d in enumerate("montag dienstag mittwoch donnerstag freitag samstag sonntag".split())} | {
    "sonnabend": 5
}
_WORDS = "einem einer zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
_NUMBERS = {w: max(i, 1) for i, w in enumerate(_WORDS)} | {"ein paar": 3}
_UNITS = {
    "tag": "day",
    "tage": "day",
    "tagen": "day",
    "woche": "week",
    "wochen": "week",
    "monat": "month",
    "monaten": "month",
    "jahr": "year",
    "jahren": "year",
}
_COUNT = rf"(?P<n>\d{{1,3}}|ein paar|{'|'.join(_WORDS)})"
_PAST_ADJ, _NEXT_ADJ = r"(?:letzte|vorige|vergangene)", r"(?:nächste|kommende)"

TIMES = TimeWords(
    fixed={
        "gestern": ("day", -1),
        "gestern abend": ("day", -1),
        "vorgestern": ("day", -2),
        "heute": ("day", 0),
        "heute morgen": ("day", 0),
        "heute abend": ("day", 0),
        "übermorgen": ("day", 2),
        "morgen": ("day", 1),
        "morgen früh": ("day", 1),
        "letzte woche": ("week", -1),
        "vorige woche": ("week", -1),
        "diese woche": ("week", 0),
        "nächste woche": ("week", 1),
        "kommende woche": ("week", 1),
        "letzten monat": ("month", -1),
        "diesen monat": ("month", 0),
        "nächsten monat": ("month", 1),
        "letztes jahr": ("year", -1),
        "dieses jahr": ("year", 0),
        "nächstes jahr": ("year", 1),
        "letztes wochenende": ("week", -1),
        "gerade eben": ("day", 0),
    },
    numbers=_NUMBERS,
    units=_UNITS,
    ago=rx(rf"\bvor {_COUNT} (?P<unit>tage?n?|wochen?|monat(?:en)?|jahr(?:en)?)\b"),
    ahead=rx(rf"\bin {_COUNT} (?P<unit>tage?n?|wochen?|monat(?:en)?|jahr(?:en)?)\b"),
    dates=(
        rx(rf"\b(?P<day>\d{{1,2}})\. ?{_MONTH}(?: (?P<year>(?:19|20)\d\d))?\b"),
        rx(r"\b(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>(?:19|20)\d\d)\b"),
        rx(rf"\b(?:im|seit) {_MONTH}(?: (?P<year>(?:19|20)\d\d))?\b"),
        rx(r"\b(?:seit|im jahr|anfang|ende|in|schon) (?P<year>(?:19|20)\d\d)\b"),
    ),
    months=_MONTHS,
    weekday=rx(
        rf"\b(?:(?P<last>{_PAST_ADJ}[nrs]?)|(?P<next>{_NEXT_ADJ}[nrs]?)|am|diesen) (?P<weekday>montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)\b"
    ),
    weekdays=_DAYS,
)

_VERBS = dict(
    pair.split(":")
    for pair in (
        "fliege:fliegt gehe:geht treffe:trifft reise:reist besuche:besucht spiele:spielt koche:kocht "
        "schwimme:schwimmt trainiere:trainiert meditiere:meditiert jogge:joggt trinke:trinkt stehe:steht "
        "wandere:wandert tanze:tanzt singe:singt höre:hört male:malt backe:backt klettere:klettert "
        "programmiere:programmiert fahre:fährt laufe:läuft lese:liest heirate:heiratet ziehe:zieht "
        "beginne:beginnt esse:isst"
    ).split()
)

GERMAN = Language(
    code="de",
    user="Der Nutzer",
    rules=RULES,
    clause=rx(
        r"[,;:—–(] |\s-+\s|\b(?:und|aber|denn|sondern|also|dann) (?=(?:ich|wir|mein|meine|unser|unsere|bitte|nenn|antworte|arbeite|wohne|heiße|bin|habe|mag|spreche)\b)"
    ),
    lead=rx(
        r"(?:(?:hallo|hi|hey|ja|nein|ach|oh|ok|okay|also|und|aber|übrigens|danke|naja|genau|leider|zum glück|ehrlich gesagt|kurz gesagt|servus|moin|guten tag|guten morgen|inzwischen|mittlerweile|jetzt|seit (?:kurzem|gestern|\w+ \w+)|nebenbei)\b[,:!.-]* )+"
    ),
    unreal=rx(
        r"\b(?:wenn|falls|würde|würden|wäre|wären|könnte|könnten|hätte|hätten|möchte|möchten|vielleicht|eventuell|angenommen|stell dir vor|hoffe|hoffentlich|überlege|sollte|sollten|wünschte|wünsche|ob|scherz|witz|beinahe|fast|zum beispiel|sagt|sagte|meinte)\b|\b(?:wohne|arbeite|lebe|bin|habe|war|fahre|gehe|spreche|nutze|nutzen|heiße|verwende|haben|sind|besitze) (?:\w+ ){0,3}(?:nicht|nie|kein|keine|keinen|nirgends)\b"
    ),
    question=rx(
        r"\?|^(?:was|wer|wie|wo|wann|warum|wieso|welche[rsnm]?|kannst|kann|könntest|hast|bist|soll|sollte|darf|weißt|wohin|woher|ist das|gibt es) "
    ),
    vague=rx(
        r"^(?:es|das|dies\w*|den|sie|ihn|dich|dir|du|ihr|wie|was|hier|dort|etwas|alles|nichts|viel|viele|einfach|dem|einer?|eine neue wohnung|einem)(?: |$)(?!(?:Hund|Katze|VW|BMW|Audi|\w+ \w+))"
    ),
    cut=rx(
        r"(?: |^)(?:und (?=ich\b|wir\b|mein|bin\b|habe\b|arbeite|wohne|hasse|mag|es\b|das\b|er\b|sie\b)|aber\b|weil\b|denn\b|da ich|wenn\b|obwohl\b|sehr gern\w*$|sehr$|mehr als\b|momentan|zurzeit|auch$|total$|besonders$|am liebsten$|am meisten$|über alles$|mehr$|für (?:das|den|die|unser\w*) ).*$"
    ),
    cut_strict=rx(
        r"(?: |^)(?:und\b|aber\b|weil\b|denn\b|oder\b|bei\b|in\b|für\b|als\b|seit\b|mit\b|wo\b|die\b(?! )|gezogen|um\b|momentan|zurzeit|gerade\b|ist\b|war\b|angefangen|begonnen|aber|letzte\w*|nächste\w*|gestern|heute|morgen|am\b|im\b|zusammen\b).*$"
    ),
    first_person=rx(r"\b(?:ich|mir|mich|meine?[rnms]?|wir|uns|unsere?[rnms]?)\b"),
    article=rx(r"^(?:der|die|das|den|dem|eine?|einen|einem|mein|meine|meinen) "),
    times=TIMES,
    rewrites=(
        (rx(r"^ich war\b"), "{who} war"),
        (rx(r"^ich bin\b"), "{who} ist"),
        (rx(r"^ich hab(?:e)?\b"), "{who} hat"),
        (rx(r"^ich hatte\b"), "{who} hatte"),
        (rx(r"^ich werde\b"), "{who} wird"),
        (rx(r"^ich lebe\b"), "{who} lebt"),
        (rx(r"^ich ernähre mich\b"), "{who} ernährt sich"),
        *((rx(rf"^ich {first}\b"), f"{{who}} {third}") for first, third in _VERBS.items()),
    ),
    joins=(("von Der Nutzer", "des Nutzers"),),
    asks=rx(
        r"(?:(?:und|also|aber) )?(?:was|wie|wo|wann|wer|welche\w*|kannst|könntest|könnt|hast du|habt ihr|gibt es|soll ich|weißt du|würdest|irgendwelche|kennst)\b"
    ),
    addressed=rx(r"\b(?:du|dir|dich|dein\w*|euch|ihr)\b"),
    guideline="{who} bittet: {text}",
    canonical={
        "frau": "wife",
        "mann": "husband",
        "partner": "partner",
        "partnerin": "partner",
        "freundin": "girlfriend",
        "freund": "boyfriend",
        "mutter": "mother",
        "mama": "mother",
        "vater": "father",
        "papa": "father",
        "sohn": "son",
        "tochter": "daughter",
        "bruder": "brother",
        "schwester": "sister",
        "chef": "boss",
        "chefin": "boss",
        "oma": "grandmother",
        "opa": "grandfather",
        "farbe": "colour",
        "essen": "food",
        "film": "movie",
        "buch": "book",
        "tante": "aunt",
        "onkel": "uncle",
    },
)
