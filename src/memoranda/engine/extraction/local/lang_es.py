"""Spanish: patterns, templates and words."""

from __future__ import annotations

from memoranda.engine.extraction.local.dates import TimeWords
from memoranda.engine.extraction.local.rules import Language, event, fact, guideline, memory, plan, preference, rx

_N = r"(?:[^,;:.!?()¿¡\n—–\ue000]|[.](?=\w))"
_THING = rf"(?P<thing>{_N}{{2,90}})"
_PLACE = rf"(?P<place>(?:(?:la |el |los )?(?-i:[A-ZÀ-Þ])){_N}{{1,60}})"
_ORG = rf"(?P<org>(?-i:[A-ZÀ-Þ]){_N}{{1,60}})"
_JOB = rf"(?P<job>{_N}{{2,60}})"
_NAME = r"(?P<name>(?-i:[A-ZÀ-Þ])[\w'-]{1,30}(?: (?-i:[A-ZÀ-Þ])[\w'-]{1,30}){0,2})"
_ADV = r"(?:(?:también|ahora|actualmente|ya|todavía|aún|realmente|mucho|muy|recientemente|por fin|desde hace \w+ \w+|sobre todo) )*"
_RELATION = r"(?P<rel>esposa|mujer|esposo|marido|pareja|novia|novio|prometida|prometido|madre|mamá|padre|papá|hijo|hija|hermano|hermana|jefe|jefa|abuela|abuelo|sobrina|sobrino|prima|primo|tía|tío|compañer[oa] de piso)"
_PET = r"(?P<pet>perro|perra|perrito|gato|gata|gatito|conejo|hámster|loro|caballo|tortuga)"
_LANG = r"(?P<other>inglés|alemán|francés|español|coreano|japonés|chino|italiano|portugués|holandés|ruso|árabe|turco|polaco|catalán|euskera|gallego)"
_MONTH = (
    r"(?P<month>enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre)"
)
_WHEN = r"(?:ayer|anoche|anteayer|hoy|esta mañana|la semana pasada|el mes pasado|el año pasado|el \w+ pasado|hace \w+ \w+|en (?:19|20)\d\d|el fin de semana pasado|el \d+ de \w+)"
_FUTURE_WHEN = r"(?:mañana|pasado mañana|esta noche|la semana que viene|la próxima semana|el próximo \w+|el mes que viene|el \w+ que viene|dentro de \w+ \w+|en \w+ (?:días|semanas|meses)|el (?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)|este \w+|el \d+ de \w+)"

RULES = (
    fact(rf"(?:me llamo|mi nombre es) {_NAME}", "name", "{who} se llama {name}."),
    fact(rf"(?:yo )?(?:vivo|vivimos|resido) {_ADV}(?:en|cerca de) {_PLACE}", "residence", "{who} vive en {place}."),
    fact(
        rf"(?:me|nos) (?:he|hemos)? ?(?:mudado|mudé|mudamos|trasladé|trasladado|he mudado|trasladamos) {_ADV}(?:(?:de|desde) [\w ]{{2,30}} )?a {_PLACE}",
        "residence",
        "{who} se mudó a {place}.",
    ),
    fact(
        rf"(?:yo )?(?:soy|vengo|somos) (?:originari[oa] )?(?:de|del) (?P<place>(?-i:[A-ZÀ-Þ]){_N}{{1,60}})",
        "origin",
        "{who} es de {place}.",
    ),
    fact(rf"(?:yo )?nací en (?P<place>(?-i:[A-ZÀ-Þ]){_N}{{1,60}})", "origin", "{who} es de {place}."),
    fact(rf"(?:yo )?trabajo {_ADV}(?:como|de) (?!lunes){_JOB}", "job", "{who} trabaja como {job}."),
    fact(
        rf"(?:yo )?trabajo {_ADV}(?:como [\w ]{{2,40}}? )?(?:en|para) (?:la |el )?{_ORG}",
        "employer",
        "{who} trabaja en {org}.",
    ),
    fact(
        rf"(?:he )?(?:empecé|empezado|comencé|comenzado) (?:a trabajar |un nuevo trabajo |mi nuevo trabajo )?en {_ORG}",
        "employer",
        "{who} trabaja en {org}.",
    ),
    fact(
        rf"(?:yo )?soy {_ADV}(?P<job>(?:profesora?|maestr[oa]|enfermer[oa]|médic[oa]|abogad[oa]|desarrolladora?|ingenier[oa]|estudiante|arquitect[oa]|diseñadora?|cociner[oa]|contable|periodista|panader[oa]|dentista|farmacéutic[oa]|traductora?|consultora?|músic[oa]|fotógraf[oa]|investigadora?|programadora?|veterinari[oa])(?: de {_N}{{2,40}})?)",
        "job",
        "{who} es {job}.",
    ),
    fact(rf"mi {_RELATION} se llama {_NAME}", "family:{rel}:{name}", "{who}: su {rel} se llama {name}."),
    fact(
        rf"mi {_RELATION},? {_NAME}(?=,| (?:es|está|era|tiene|y yo|(?-i:[a-zà-þ])\w+)\b)",
        "family:{rel}:{name}",
        "{who}: su {rel} se llama {name}.",
    ),
    fact(rf"(?:mi|nuestr[oa]) {_PET} se llama {_NAME}", "pet:{name}", "{who} tiene un {pet} que se llama {name}."),
    fact(
        rf"(?:tengo|tenemos) una? {_PET} (?:\w+ )?(?:que se llama|llamad[oa]) {_NAME}",
        "pet:{name}",
        "{who} tiene un {pet} que se llama {name}.",
    ),
    fact(
        r"(?:tengo|tenemos) (?P<thing>(?:dos|tres|cuatro|cinco|\d|una?) (?:hij[oa]s?|niñ[oa]s|herman[oa]s?|perr[oa]s?|gat[oa]s?))\b(?! (?:llamad|que))",
        "has:{thing}",
        "{who} tiene {thing}.",
    ),
    fact(
        r"(?:estoy|soy) (?P<thing>casad[oa]|solter[oa]|divorciad[oa]|prometid[oa]|viud[oa])\b",
        "marital-status",
        "{who}: {thing}.",
    ),
    fact(r"(?:yo )?tengo (?:ya )?(?P<age>\d{1,2}) años\b", "age", "{who} tiene {age} años."),
    fact(rf"mi cumpleaños es el (?P<thing>\d{{1,2}} de {_MONTH})", "birthday", "{who} cumple años el {thing}."),
    fact(
        rf"soy {_ADV}alérgic[oa] (?:a la |al |a los |a las |a ){_THING}",
        "allergy:{thing}",
        "{who} tiene alergia: {thing}.",
    ),
    fact(rf"tengo alergia (?:a la |al |a los |a las |a ){_THING}", "allergy:{thing}", "{who} tiene alergia: {thing}."),
    fact(
        rf"soy {_ADV}(?P<thing>vegan[oa]|vegetarian[oa]|celíac[oa]|intolerante (?:a la lactosa|al gluten)|pescetarian[oa])\b",
        "diet",
        "{who} es {thing}.",
    ),
    fact(
        r"(?:yo )?(?:no|nunca|ya no) como (?P<thing>(?!en|mucho|nada|tanto|bien)[^,;.!?\n]{3,60})",
        "diet:{thing}",
        "{who} no come {thing}.",
    ),
    fact(
        r"(?:tengo|padezco|sufro de) (?P<thing>diabetes|asma|migrañas?|TDAH|epilepsia|hipertensión|artritis)\b",
        "health:{thing}",
        "{who} tiene {thing}.",
    ),
    preference(
        r"(?:a mí )?no me gustan? (?:nada |mucho )?(?!eso|esto|que|cuando|cómo)(?P<thing>[^,;.!?\n]{2,80})",
        "preference:{thing}",
        "A {who} no le gusta {thing}.",
    ),
    preference(
        rf"(?:odio|detesto) (?!que|cuando|eso|esto){_THING}", "preference:{thing}", "A {who} no le gusta {thing}."
    ),
    preference(
        rf"(?:a mí )?me (?:gustan?|encantan?|fascinan?) {_ADV}(?!eso\b|esto\b|que\b|cuando|cómo|tu\b|tus\b|esta\b|este\b){_THING}",
        "preference:{thing}",
        "A {who} le gusta {thing}.",
    ),
    preference(rf"(?:yo )?prefiero (?!que|no\b|eso|esto){_THING}", "preference:{thing}", "{who} prefiere {thing}."),
    preference(
        r"mi (?P<topic>\w+) (?:favorit[oa]|preferid[oa]) es (?P<thing>[^,;.!?\n]{2,60})",
        "favourite:{topic}",
        "{topic} favorito de {who}: {thing}.",
    ),
    fact(
        rf"(?:yo )?hablo {_ADV}(?:con fluidez |un poco de |bien )?{_LANG}", "language:{other}", "{who} habla {other}."
    ),
    memory(
        r"(?:yo )?(?:voy|corro|nado|hago|juego|medito|cocino|leo|bebo|tomo|camino|entreno|me levanto)\b[^,;.!?\n]{0,60}?\b(?:todos los|todas las|cada|(?:una vez|dos veces|tres veces) (?:por|a la)|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos))\b[^,;.!?\n]{0,60}"
    ),
    memory(
        r"(?:todos los|todas las|cada) \w+,? (?:voy|corro|nado|hago|juego|medito|cocino|leo|bebo|tomo|camino|entreno|me levanto)\b[^,;.!?\n]{0,80}"
    ),
    fact(
        r"(?:conduzco|poseo|tengo) (?P<thing>un (?:coche|carro|auto|piso|apartamento|portátil|iphone|barco|moto)\b[^,;.!?\n]{0,50})",
        "owns:{thing}",
        "{who} tiene {thing}.",
    ),
    fact(
        r"(?:hemos |he )?(?:cambiado|pasado|migrado|cambiamos|pasamos|migramos) de (?P<old>[\w .+-]{2,30}?) a (?P<thing>[\w .+-]{2,40})",
        "uses:{old}",
        "{who} cambió de {old} a {thing}.",
    ),
    fact(rf"(?:usamos|utilizamos|uso|utilizo) {_ADV}(?!eso|esto){_THING}", "uses:{thing}", "{who} usa {thing}."),
    memory(r"(?:hemos decidido|he decidido|decidimos|decidí|acordamos|hemos acordado) [^!?\n]{4,200}"),
    guideline(
        r"(?:por favor,? )?(?:responde|respóndeme|contesta|contéstame|escribe|habla|háblame)(?: siempre| solo| sólo)* en (?:español|inglés|alemán|francés|italiano|catalán)\b[^?\n]{0,60}",
        "guideline:language",
    ),
    guideline(rf"llámame {_NAME}", "form-of-address"),
    guideline(
        r"(?:por favor,? )?(?:siempre|nunca) (?:responde|usa|utiliza|escribe|da|dame|añade|explica|cita|muestra|habla|verifica|me llames|uses|utilices|respondas|escribas|tutéame)\b[^?\n]{2,160}"
    ),
    guideline(r"(?:por favor,? )?(?:usa|utiliza|responde|escribe|cita|explica|añade|muestra) siempre\b[^?\n]{2,160}"),
    guideline(r"(?:por favor,? )?no me (?:llames|hables|escribas|trates)\b[^?\n]{2,120}"),
    guideline(r"(?:a partir de ahora|de ahora en adelante|en el futuro),? (?!voy|vamos|yo )[^?\n]{6,200}"),
    plan(
        rf"(?:{_FUTURE_WHEN},? )?(?:yo )?(?:tengo|tenemos|voy a|vamos a|vuelo|viajo|viajamos|quedo|me caso|empiezo|salgo|visito|iré|iremos|volamos|nos casamos)\b[^?\n]{{3,}}"
    ),
    plan(
        r"(?:mi|nuestr[oa]) (?:\w+ )?(?:cita|examen|vuelo|boda|entrevista|viaje|presentación|operación|reunión|mudanza)\b[^?\n]{0,40} (?:es|empieza|sale|será|tendrá)\b[^?\n]{3,}"
    ),
    event(
        rf"(?:{_WHEN},? )?(?:yo )?(?:fui|fuimos|visité|visitamos|compré|compramos|conocí|conocimos|tuve|tuvimos|estuve|estuvimos|hice|hicimos|vi|vimos|gané|ganamos|perdí|perdimos|terminé|terminamos|empecé|empezamos|adopté|adoptamos|asistí|asistimos|celebré|celebramos|viajé|viajamos|corrí|corrimos|comí|comimos|cené|cenamos|aprendí|lancé|lanzamos|me (?:caí|rompí|casé|gradué|encontré|reuní|compré|apunté|inscribí)|nos (?:casamos|reunimos|encontramos)|he (?:ido|visto|comprado|conocido|terminado|empezado|ganado|estado|tenido|visitado))\b[^?\n]{{3,}}"
    ),
    event(
        r"(?:(?:por fin |recientemente |acabo de |me )?(?:me casé|me gradué|me han ascendido|me ascendieron|perdí mi trabajo|dejé mi trabajo|adopté un \w+|aprobé (?:el|mi) examen|adoptar un \w+))[^?\n]*",
        needs_time=False,
    ),
)

_MONTHS = {
    m: i
    for i, m in enumerate(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(), 1
    )
} | {"setiembre": 9}
_DAYS = {d: i for i, d in enumerate("lunes martes miércoles jueves viernes sábado domingo".split())}
_WORDS = "un dos tres cuatro cinco seis siete ocho nueve diez once doce".split()
_NUMBERS = {w: i for i, w in enumerate(_WORDS, 1)} | {"una": 1, "unos": 3, "unas": 3}
_UNITS = {
    "día": "day",
    "días": "day",
    "semana": "week",
    "semanas": "week",
    "mes": "month",
    "meses": "month",
    "año": "year",
    "años": "year",
}
_COUNT = rf"(?P<n>\d{{1,3}}|una|unos|unas|{'|'.join(_WORDS)})"
_UNIT = r"(?P<unit>días?|semanas?|mes(?:es)?|años?)"

TIMES = TimeWords(
    fixed={
        "ayer": ("day", -1),
        "anoche": ("day", -1),
        "anteayer": ("day", -2),
        "hoy": ("day", 0),
        "esta mañana": ("day", 0),
        "esta tarde": ("day", 0),
        "esta noche": ("day", 0),
        "mañana": ("day", 1),
        "pasado mañana": ("day", 2),
        "la semana pasada": ("week", -1),
        "esta semana": ("week", 0),
        "la semana que viene": ("week", 1),
        "la próxima semana": ("week", 1),
        "el fin de semana pasado": ("week", -1),
        "el mes pasado": ("month", -1),
        "este mes": ("month", 0),
        "el mes que viene": ("month", 1),
        "el próximo mes": ("month", 1),
        "el año pasado": ("year", -1),
        "este año": ("year", 0),
        "el año que viene": ("year", 1),
        "el próximo año": ("year", 1),
        "por la mañana": ("day", 0),
        "de la mañana": ("day", 0),
    },
    numbers=_NUMBERS,
    units=_UNITS,
    ago=rx(rf"\bhace {_COUNT} {_UNIT}\b"),
    ahead=rx(rf"\b(?:dentro de|en) {_COUNT} {_UNIT}\b"),
    dates=(
        rx(rf"\b(?P<day>\d{{1,2}}) de {_MONTH}(?: (?:de |del )?(?P<year>(?:19|20)\d\d))?\b"),
        rx(rf"\b(?:en|desde) {_MONTH}(?: (?:de |del )?(?P<year>(?:19|20)\d\d))?\b"),
        rx(r"\b(?:en|desde) (?P<year>(?:19|20)\d\d)\b"),
    ),
    months=_MONTHS,
    weekday=rx(
        r"\b(?:el|este) (?:(?P<next>próximo) )?(?P<weekday>lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b(?: (?P<last>pasado)| que viene)?"
    ),
    weekdays=_DAYS,
)

SPANISH = Language(
    code="es",
    user="El usuario",
    rules=RULES,
    clause=rx(
        r"[,;:—–(¡] ?|\s-+\s|\b(?:y|pero|porque|así que|entonces|que) (?=(?:yo|me|mi|mis|no|nos|vivo|trabajo|tengo|soy|hablo|odio|prefiero|llámame|nuestr[oa])\b)"
    ),
    lead=rx(
        r"(?:(?:hola|buenas|sí|no,|ah|oh|ok|vale|bueno|pues|y|pero|por cierto|gracias|la verdad|sinceramente|por desgracia|ahora|actualmente|en realidad|últimamente|además|desde hace \w+ \w+|el mes pasado|la semana pasada|el año pasado|ayer|anoche|hace \w+ \w+|hoy)\b[,:!.-]* )+"
    ),
    unreal=rx(
        r"\b(?:si|sería|seria|podría|podrías|gustaría|gustarían|querría|quisiera|debería|tendría|viviría|trabajaría|iría|fuera|tuviera|viviera|quizás|quizá|tal vez|imagina|supongamos|ojalá|espero|broma|casi|por ejemplo|dice que|dijo)\b|\bno (?:vivo|trabajo|soy|tengo|hablo|uso|usamos|voy|fui|he|hemos|estoy|conduzco)\b"
    ),
    question=rx(
        r"[?¿]|^(?:qué|quién|quiénes|dónde|cuándo|cómo|por qué|cuál|cuáles|cuánto|cuántos|puedes|podrías|tienes|sabes) "
    ),
    vague=rx(
        r"^(?:eso|esto|esta|este|esa|ese|lo|la idea|tú|usted|cómo|aquí|allí|algo|todo|nada|mucho|él|ella|ellos|ser|estar)\b"
    ),
    cut=rx(
        r"(?: |^)(?:y (?=yo\b|me\b|mi\b|no\b|nos\b|es\b|vivo|trabajo|tengo|soy|odio)|pero\b|porque\b|cuando\b|así que|aunque\b|ahora$|actualmente|mucho$|también$|más$|para (?=nuestr|mis|mi|el|la|los)).*$"
    ),
    cut_strict=rx(
        r"(?: |^)(?:y\b|e\b|pero\b|porque\b|con\b|para\b|por\b|desde\b|donde\b|como\b|que\b|ahora|actualmente|ayer|es\b|hace\b|en\b|el (?:mes|año|lunes|martes)|la semana).*$"
    ),
    first_person=rx(r"\b(?:yo|me|mí|mi|mis|nos|nosotros|nosotras|nuestr[oa]s?|conmigo)\b"),
    article=rx(r"^(?:el|la|los|las|una?|unos|unas|mi|mis) "),
    times=TIMES,
    rewrites=(
        (rx(r"^(?:yo )?voy\b"), "{who} va"),
        (rx(r"^(?:yo )?tengo\b"), "{who} tiene"),
        (rx(r"^(?:yo )?he\b"), "{who} ha"),
        (rx(r"^(?:yo )?fui\b"), "{who} fue"),
        (rx(r"^(?:yo )?hago\b"), "{who} hace"),
        (rx(r"^(?:yo )?tuve\b"), "{who} tuvo"),
        (rx(r"^(?:yo )?estuve\b"), "{who} estuvo"),
        (rx(r"^(?:yo )?hice\b"), "{who} hizo"),
        (rx(r"^(?:yo )?juego\b"), "{who} juega"),
        (rx(r"^(?:yo )?(visit|compr|gan|termin|adopt|celebr|viaj|cen|lanc)é\b"), r"{who} \1ó"),
        (rx(r"^(?:yo )?(conoc|perd|asist|corr|com|aprend)í\b"), r"{who} \1ió"),
        (rx(r"^(?:yo )?(corr|le|beb)o\b"), r"{who} \1e"),
        (rx(r"^(?:yo )?(nad|medit|cocin|tom|camin|vuel|viaj|visit)o\b"), r"{who} \1a"),
    ),
    joins=(("A El usuario", "Al usuario"), ("de El usuario", "del usuario")),
    asks=rx(r"¿"),
    addressed=rx(r"\b(?:tú|te|ti|tu|tus|usted|ustedes)\b"),
    guideline="{who} pide: {text}",
    canonical={
        "esposa": "wife",
        "mujer": "wife",
        "esposo": "husband",
        "marido": "husband",
        "pareja": "partner",
        "novia": "girlfriend",
        "novio": "boyfriend",
        "madre": "mother",
        "mamá": "mother",
        "padre": "father",
        "papá": "father",
        "hijo": "son",
        "hija": "daughter",
        "hermano": "brother",
        "hermana": "sister",
        "jefe": "boss",
        "jefa": "boss",
        "abuela": "grandmother",
        "abuelo": "grandfather",
        "color": "colour",
        "comida": "food",
        "película": "movie",
        "libro": "book",
        "tía": "aunt",
        "tío": "uncle",
    },
)
