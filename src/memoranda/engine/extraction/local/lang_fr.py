"""French: patterns, templates and words."""

from __future__ import annotations

from memoranda.engine.extraction.local.dates import TimeWords
from memoranda.engine.extraction.local.rules import Language, event, fact, guideline, memory, plan, preference, rx

_N = r"(?:[^,;:.!?()\n—–\ue000]|[.](?=\w))"
_THING = rf"(?P<thing>{_N}{{2,90}})"
_PLACE = rf"(?P<place>(?:(?:la |le |les |l')?(?-i:[A-ZÀ-Þ])){_N}{{1,60}})"
_ORG = rf"(?P<org>{_N}{{2,60}})"
_JOB = rf"(?P<job>{_N}{{2,60}})"
_NAME = r"(?P<name>(?-i:[A-ZÀ-Þ])[\w'-]{1,30}(?: (?-i:[A-ZÀ-Þ])[\w'-]{1,30}){0,2})"
_ADV = r"(?:(?:aussi|maintenant|désormais|actuellement|toujours|vraiment|beaucoup|déjà|encore|depuis \w+(?: \w+)?|récemment|enfin|juste|bien|surtout|énormément) )*"
_RELATION = r"(?P<rel>femme|mari|épouse|époux|compagne|compagnon|copine|copain|mère|maman|père|papa|fils|fille|frère|sœur|soeur|chef|patron|patronne|grand-mère|grand-père|nièce|neveu|cousine|cousin|tante|oncle|colocataire)"
_PET = r"(?P<pet>chien|chienne|chat|chatte|lapin|hamster|perroquet|cheval|tortue|cochon d'Inde)"
_LANG = r"(?P<other>anglais|allemand|français|espagnol|coréen|japonais|chinois|italien|portugais|néerlandais|russe|arabe|turc|polonais)"
_MONTH = r"(?P<month>janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)"
_WHEN = r"(?:hier(?: soir)?|avant-hier|ce matin|aujourd'hui|la semaine dernière|le mois dernier|l'année dernière|l'an dernier|\w+ dernier|il y a \w+ \w+|en (?:19|20)\d\d|le week-end dernier|le \d+ \w+)"
_FUTURE_WHEN = r"(?:demain|après-demain|ce soir|la semaine prochaine|le mois prochain|l'année prochaine|\w+ prochain|dans \w+ \w+|le \d+ \w+|ce \w+)"

RULES = (
    fact(rf"je m'appelle {_NAME}", "name", "{who} s'appelle {name}."),
    fact(rf"mon (?:prénom|nom) est {_NAME}", "name", "{who} s'appelle {name}."),
    fact(
        rf"(?:j'habite|je vis|nous habitons|nous vivons|je réside|on habite) {_ADV}(?:à|en|au|aux|près de|dans) {_PLACE}",
        "residence",
        "{who} habite à {place}.",
    ),
    fact(
        rf"(?:j'ai|nous avons|on a) {_ADV}(?:déménagé|emménagé) {_ADV}(?:à|en|au|aux) {_PLACE}",
        "residence",
        "{who} a déménagé à {place}.",
    ),
    fact(
        rf"(?:je viens|je suis|nous venons) (?:de|d'|du|originaire (?:de|d'|du)) ?(?P<place>(?-i:[A-ZÀ-Þ]){_N}{{1,60}})",
        "origin",
        "{who} vient de {place}.",
    ),
    fact(rf"je suis née? à {_PLACE}", "origin", "{who} vient de {place}."),
    fact(rf"je (?:travaille|bosse) {_ADV}comme {_JOB}", "job", "{who} travaille comme {job}."),
    fact(
        rf"je (?:travaille|bosse) {_ADV}(?:comme [\w ]{{2,40}}? )?(?:chez|pour|à la|au) (?!moi|toi|nous|mon|ma|maison){_ORG}",
        "employer",
        "{who} travaille chez {org}.",
    ),
    fact(
        rf"(?:j'ai|je viens de|je) {_ADV}(?:rejoint|rejoindre|(?:commencé|commencer|commence) (?:un nouveau (?:travail|poste|boulot) )?chez) (?P<org>(?-i:[A-Z]){_N}{{1,50}})",
        "employer",
        "{who} travaille chez {org}.",
    ),
    fact(
        rf"je suis {_ADV}(?P<job>(?:professeure?|enseignante?|infirmi[eè]re?|médecin|avocate?|développeu(?:r|se)|ingénieure?|étudiante?|architecte|designer|graphiste|cuisini[eè]re?|comptable|journaliste|boulang[eè]re?|dentiste|pharmacien(?:ne)?|traduct(?:eur|rice)|consultante?|musicien(?:ne)?|photographe|chercheu(?:r|se)|vendeu(?:r|se))(?: (?:de|d'|en|dans) ?{_N}{{2,40}})?)",
        "job",
        "{who} est {job}.",
    ),
    fact(rf"(?:ma|mon) {_RELATION} s'appelle {_NAME}", "family:{rel}:{name}", "{who} : {rel} s'appelle {name}."),
    fact(
        rf"(?:ma|mon) {_RELATION},? {_NAME}(?=,| (?:est|était|a|et moi|(?-i:[a-zà-þ])\w+)\b)",
        "family:{rel}:{name}",
        "{who} : {rel} s'appelle {name}.",
    ),
    fact(rf"(?:mon|ma|notre) {_PET} s'appelle {_NAME}", "pet:{name}", "{who} a un {pet} qui s'appelle {name}."),
    fact(
        rf"(?:j'ai|nous avons) {_ADV}une? (?:\w+ )?{_PET} (?:\w+ )?(?:qui s'appelle|nommée?|appelée?) {_NAME}",
        "pet:{name}",
        "{who} a un {pet} qui s'appelle {name}.",
    ),
    fact(
        r"(?:j'ai|nous avons) (?P<thing>(?:deux|trois|quatre|cinq|\d|une?) (?:enfants?|fils|filles?|frères?|sœurs?|chiens?|chats?))\b(?! (?:nommé|qui))",
        "has:{thing}",
        "{who} a {thing}.",
    ),
    fact(
        r"je suis (?P<thing>mariée?|célibataire|divorcée?|fiancée?|pacsée?|veuve|veuf)\b",
        "marital-status",
        "{who} est {thing}.",
    ),
    fact(r"j'ai (?:maintenant )?(?P<age>\d{1,2}) ans\b", "age", "{who} a {age} ans."),
    fact(
        rf"mon anniversaire (?:est|c'est|tombe) le (?P<thing>\d{{1,2}}(?:er)? {_MONTH})",
        "birthday",
        "L'anniversaire de {who} : le {thing}.",
    ),
    fact(
        rf"je suis {_ADV}(?:très |gravement )?allergique (?:à la |à l'|aux |au |à ){_THING}",
        "allergy:{thing}",
        "{who} est allergique : {thing}.",
    ),
    fact(
        rf"je suis {_ADV}(?P<thing>végane?|vegan|végétarien(?:ne)?|végétalien(?:ne)?|intolérante? au (?:lactose|gluten)|cœliaque|pescétarien(?:ne)?)\b",
        "diet",
        "{who} est {thing}.",
    ),
    fact(rf"je ne mange (?:pas|plus|jamais) (?:de |d'|du ){_THING}", "diet:{thing}", "{who} ne mange pas : {thing}."),
    fact(
        r"(?:j'ai (?:du |de l')?|je souffre (?:de |d'))(?P<thing>diabète|asthme|migraines?|TDAH|épilepsie|hypertension|arthrose)\b",
        "health:{thing}",
        "{who} souffre de {thing}.",
    ),
    preference(
        r"je (?:n'aime|ne supporte|ne bois) (?:vraiment )?(?:pas|plus|jamais)(?: du tout| trop)? (?!ça|que|quand|cela|te|vous)(?P<thing>[^,;.!?\n]{2,80})",
        "preference:{thing}",
        "{who} n'aime pas {thing}.",
    ),
    preference(
        rf"je (?:déteste|hais) (?!ça|que|quand|cela){_THING}", "preference:{thing}", "{who} n'aime pas {thing}."
    ),
    preference(
        rf"(?:j'aime|j'adore) {_ADV}(?!ça|que|quand|cela|te\b|vous|ton|ta\b|tes|votre|ce\b|cette|l'idée){_THING}",
        "preference:{thing}",
        "{who} aime {thing}.",
    ),
    preference(
        rf"je préfère {_ADV}(?!ça|que|quand|cela|ne\b)(?P<thing>[^,;.!?()\n]{{2,80}})",
        "preference:{thing}",
        "{who} préfère {thing}.",
    ),
    preference(
        r"(?:mon|ma) (?P<topic>\w+) préférée?s? (?:est|c'est|sont) (?P<thing>[^,;.!?\n]{2,60})",
        "favourite:{topic}",
        "{topic} préféré de {who} : {thing}.",
    ),
    fact(rf"je parle {_ADV}(?:couramment |un peu )?(?:l'|le |le )?{_LANG}", "language:{other}", "{who} parle {other}."),
    memory(
        r"je (?:vais|cours|nage|fais|joue|médite|cuisine|lis|bois|marche|m'entraîne|me lève)\b[^,;.!?\n]{0,60}?\b(?:tous les|toutes les|chaque|(?:une|deux|trois) fois par|le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche))\b[^,;.!?\n]{0,60}"
    ),
    memory(
        r"(?:tous les|toutes les|chaque) \w+,? je (?:vais|cours|nage|fais|joue|médite|cuisine|lis|bois|marche|m'entraîne|me lève)\b[^,;.!?\n]{0,80}"
    ),
    fact(
        r"(?:je possède|je conduis|je roule en) (?P<thing>(?:une? |deux )?[^,;.!?\n]{2,60})",
        "owns:{thing}",
        "{who} possède {thing}.",
    ),
    fact(
        r"(?:nous sommes|on est|je suis) (?:\w+ )?passée?s? de (?P<old>[\w .+-]{2,30}?) à (?P<thing>[\w .+-]{2,40})",
        "uses:{old}",
        "{who} est passé de {old} à {thing}.",
    ),
    fact(
        rf"(?:nous utilisons|on utilise|j'utilise) {_ADV}(?!ça|cela|ce\b){_THING}",
        "uses:{thing}",
        "{who} utilise {thing}.",
    ),
    memory(
        r"(?:nous avons|on a|j'ai) (?:finalement |enfin )?(?:décidé|choisi|convenu) (?:de|d'|que|qu') ?[^!?\n]{4,200}"
    ),
    guideline(
        r"(?:s'il (?:te|vous) plaît,? )?(?:réponds|répondez|écris|écrivez|parle|parlez)(?:[- ]moi)?(?: toujours| uniquement| seulement)* en (?:français|anglais|allemand|espagnol|italien)\b[^?\n]{0,60}",
        "guideline:language",
    ),
    guideline(rf"appelle(?:z)?-moi {_NAME}", "form-of-address"),
    guideline(
        r"(?:s'il (?:te|vous) plaît,? )?(?:réponds|répondez|utilise|utilisez|écris|écrivez|donne|donnez|ajoute|ajoutez|explique|expliquez|cite|citez|montre|parle|vérifie|tutoie|vouvoie)\b(?:[- ]moi)?(?: \w+){0,2} toujours\b[^?\n]{2,160}"
    ),
    guideline(r"(?:s'il (?:te|vous) plaît,? )?ne (?:m'|me )?\w+(?:[- ]moi)? (?:jamais|plus)\b[^?\n]{2,160}"),
    guideline(r"(?:à partir de maintenant|désormais|dorénavant|à l'avenir),? (?!je |j'|nous )[^?\n]{6,200}"),
    guideline(r"toujours (?:répondre|utiliser|écrire|citer|vérifier)\b[^?\n]{3,160}"),
    plan(
        rf"(?:{_FUTURE_WHEN},? )?(?:j'ai|nous avons|je vais|nous allons|on va|je pars|nous partons|je prends|je passe|je rencontre|je voyage|j'irai|je commence|je me marie|on part)\b[^?\n]{{3,}}"
    ),
    plan(
        r"(?:mon|ma|notre) (?:\w+ )?(?:rendez-vous|examen|vol|mariage|entretien|voyage|présentation|opération|réunion|déménagement)\b[^?\n]{0,40} (?:est|a lieu|commence|aura lieu)\b[^?\n]{3,}"
    ),
    event(
        rf"(?:{_WHEN},? )?(?:je suis|j'ai|nous sommes|nous avons|on est|on a|j'étais|nous étions|je me suis)\b(?! (?:fatigué|content|triste|heureu))[^?\n]{{4,}}"
    ),
    event(r"(?:je me suis|nous nous sommes) (?:mariée?s?|fiancée?s?)[^?\n]*", needs_time=False),
    event(
        r"(?:j'ai|je viens d'|je viens de) ?(?:enfin |récemment )?(?:été promue?|perdu mon (?:travail|emploi)|démissionné|obtenu mon (?:diplôme|permis)|adopté une? \w+|réussi (?:mon|l')examen)[^?\n]*",
        needs_time=False,
    ),
)

_MONTHS = {
    m: i
    for i, m in enumerate(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(), 1
    )
}
_DAYS = {d: i for i, d in enumerate("lundi mardi mercredi jeudi vendredi samedi dimanche".split())}
_WORDS = "un deux trois quatre cinq six sept huit neuf dix onze douze".split()
_NUMBERS = {w: i for i, w in enumerate(_WORDS, 1)} | {"une": 1, "quelques": 3}
_UNITS = {
    "jour": "day",
    "jours": "day",
    "semaine": "week",
    "semaines": "week",
    "mois": "month",
    "an": "year",
    "ans": "year",
    "année": "year",
    "années": "year",
}
_COUNT = rf"(?P<n>\d{{1,3}}|une|quelques|{'|'.join(_WORDS)})"
_UNIT = r"(?P<unit>jours?|semaines?|mois|années?|ans?)"

TIMES = TimeWords(
    fixed={
        "hier": ("day", -1),
        "hier soir": ("day", -1),
        "avant-hier": ("day", -2),
        "aujourd'hui": ("day", 0),
        "ce matin": ("day", 0),
        "ce soir": ("day", 0),
        "cet après-midi": ("day", 0),
        "demain": ("day", 1),
        "après-demain": ("day", 2),
        "la semaine dernière": ("week", -1),
        "la semaine passée": ("week", -1),
        "cette semaine": ("week", 0),
        "la semaine prochaine": ("week", 1),
        "le week-end dernier": ("week", -1),
        "le mois dernier": ("month", -1),
        "ce mois-ci": ("month", 0),
        "le mois prochain": ("month", 1),
        "l'année dernière": ("year", -1),
        "l'an dernier": ("year", -1),
        "cette année": ("year", 0),
        "l'année prochaine": ("year", 1),
    },
    numbers=_NUMBERS,
    units=_UNITS,
    ago=rx(rf"\bil y a {_COUNT} {_UNIT}\b"),
    ahead=rx(rf"\bdans {_COUNT} {_UNIT}\b"),
    dates=(
        rx(rf"\b(?P<day>\d{{1,2}})(?:er)? {_MONTH}(?: (?P<year>(?:19|20)\d\d))?\b"),
        rx(rf"\ben {_MONTH}(?: (?P<year>(?:19|20)\d\d))?\b"),
        rx(r"\b(?:en|depuis) (?P<year>(?:19|20)\d\d)\b"),
    ),
    months=_MONTHS,
    weekday=rx(
        r"\b(?P<weekday>lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b(?: (?:(?P<last>dernier|passé)|(?P<next>prochain)))?"
    ),
    weekdays=_DAYS,
)

FRENCH = Language(
    code="fr",
    user="L'utilisateur",
    rules=RULES,
    clause=rx(
        r"[,;:—–(] |\s-+\s|\b(?:et|mais|car|donc|puis|parce que) (?=(?:je|j'|nous|mon|ma|mes|notre|on|appelle|ne)\b)"
    ),
    lead=rx(
        r"(?:(?:bonjour|salut|coucou|oui|non|ah|oh|ok|d'accord|alors|et|mais|donc|au fait|merci|voilà|bref|malheureusement|honnêtement|maintenant|actuellement|en ce moment|désormais|finalement|depuis \w+ \w+|en fait|moi|le mois dernier|la semaine dernière|l'année dernière|hier|il y a \w+ \w+)\b[,:!.-]* )+"
    ),
    unreal=rx(
        r"\b(?:si|serais|serait|aurais|aurait|pourrais|pourrait|voudrais|voudrait|aimerais|aimerait|devrais|devrait|irais|habiterais|vivrais|travaillerais|peut-être|imagine|imaginons|supposons|suppose|j'espère|espère|blague|plaisante|presque|par exemple|dit que|a dit)\b|\b(?:n'ai|ne suis|n'habite|ne travaille|ne vis|ne parle|n'utilise|n'utilisons|n'avons|ne vais) (?:pas|plus|jamais)\b"
    ),
    question=rx(
        r"\?|^(?:est-ce|que|quel|quelle|quels|quelles|qui|où|quand|comment|pourquoi|combien|peux-tu|pouvez-vous|pourrais-tu|as-tu|es-tu) "
    ),
    vague=rx(
        r"^(?:ça|cela|ce|cette|ces|c'|le faire|y|en|te|tu|vous|comment|ici|là|quelque chose|tout|rien|beaucoup|bien|être)\b"
    ),
    cut=rx(
        r"(?: |^)(?:et (?=je\b|j'|nous\b|mon\b|ma\b|c'est|il\b|elle\b|on\b)|mais\b|car\b|parce\b|quand\b|donc\b|puisque\b|en ce moment|actuellement|depuis\b|beaucoup$|aussi$|le plus$|pour (?=notre|nos|mes|mon|le|la|les)).*$"
    ),
    cut_strict=rx(
        r"(?: |^)(?:et\b|mais\b|car\b|parce\b|avec\b|pour\b|à\b|depuis\b|où\b|chez\b|comme\b|dans\b|qui\b|maintenant|actuellement|hier|est\b|il y a|en (?=\d)|le mois|la semaine|l'an\w*|a\b|au\b).*$"
    ),
    first_person=rx(r"\b(?:je|j'|me|m'|moi|mon|ma|mes|nous|notre|nos)(?=\b|\w)(?!\w*[^\W'])|\bj'"),
    article=rx(r"^(?:le |la |les |l'|une? |des |du |de la |de l'|mon |ma |mes )"),
    times=TIMES,
    rewrites=(
        (rx(r"^je suis\b"), "{who} est"),
        (rx(r"^j'ai\b"), "{who} a"),
        (rx(r"^j'étais\b"), "{who} était"),
        (rx(r"^je me suis\b"), "{who} s'est"),
        (rx(r"^je vais\b"), "{who} va"),
        (rx(r"^je pars\b"), "{who} part"),
        (rx(r"^je cours\b"), "{who} court"),
        (rx(r"^je fais\b"), "{who} fait"),
        (rx(r"^je bois\b"), "{who} boit"),
        (rx(r"^je lis\b"), "{who} lit"),
        (rx(r"^je prends\b"), "{who} prend"),
        (rx(r"^je (nage|joue|médite|cuisine|marche|passe|rencontre|voyage|commence)\b"), r"{who} \1"),
    ),
    joins=(("de L'utilisateur", "de l'utilisateur"),),
    asks=rx(
        r"(?:(?:et|donc|alors) )?(?:tu peux|peux-tu|tu pourrais|vous pouvez|pouvez-vous|est-ce|quel\w*|qu\'est|comment|où|une idée|des idées|tu connais|tu as|avez-vous|tu me)\b"
    ),
    addressed=rx(r"\b(?:tu|te|toi|ton|ta|tes|vous|votre|vos)\b"),
    guideline="{who} demande : {text}",
    canonical={
        "femme": "wife",
        "épouse": "wife",
        "mari": "husband",
        "époux": "husband",
        "compagne": "partner",
        "compagnon": "partner",
        "copine": "girlfriend",
        "copain": "boyfriend",
        "mère": "mother",
        "maman": "mother",
        "père": "father",
        "papa": "father",
        "fils": "son",
        "fille": "daughter",
        "frère": "brother",
        "sœur": "sister",
        "soeur": "sister",
        "chef": "boss",
        "patron": "boss",
        "patronne": "boss",
        "couleur": "colour",
        "plat": "food",
        "film": "movie",
        "livre": "book",
        "tante": "aunt",
        "oncle": "uncle",
        "grand-mère": "grandmother",
        "grand-père": "grandfather",
    },
)
