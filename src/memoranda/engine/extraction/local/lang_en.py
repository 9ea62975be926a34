"""English: patterns, templates and words."""

from __future__ import annotations

from memoranda.engine.extraction.local.rules import Language, event, fact, guideline, memory, plan, preference, rx
from memoranda.engine.extraction.local.times_en import TIMES

_N = r"(?:[^,;:.!?()\n—–\ue000]|[.](?=\w))"
_THING = rf"(?P<thing>{_N}{{2,90}})"
_PLACE = rf"(?P<place>{_N}{{2,60}})"
_ORG = rf"(?P<org>{_N}{{2,60}})"
_JOB = rf"(?P<job>{_N}{{2,60}})"
_NAME = r"(?P<name>(?-i:[A-ZÀ-Þ])[\w'-]{1,30}(?: (?-i:[A-ZÀ-Þ])[\w'-]{1,30}){0,2})"
_OTHER = r"(?P<other>(?-i:[A-ZÀ-Þ])[\w'-]{1,30})"
_I_AM = r"(?:I am|I'm|Im)"
_ADV = r"(?:(?:also|now|currently|just|really|still|actually|absolutely|recently|finally|always|usually|mostly|truly|already|even|only|both|all|so|do|totally|definitely|most|especially|particularly|generally|then|very much) )*"
_RELATION = (
    r"(?P<rel>wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|son|daughter|brother|sister"
    r"|boss|manager|best friend|grandma|grandmother|grandpa|grandfather|niece|nephew|cousin|aunt|uncle|roommate)"
)
_PET = r"(?P<pet>dog|cat|puppy|kitten|rabbit|hamster|parrot|horse|guinea pig|bird|turtle|snake|lizard)"
_LANGS = (
    r"(?P<other>English|German|French|Spanish|Korean|Japanese|Chinese|Mandarin|Italian|Portuguese|Dutch|Russian|Arabic|Hindi"
    r"|Polish|Turkish|Swedish|Danish|Norwegian|Finnish|Greek|Hebrew|Ukrainian|Czech|Vietnamese|Thai|Catalan|Swiss German)"
)
_PAST = (
    r"(?:went|visited|met|bought|began|got|took|had|saw|ran|made|won|lost|quit|flew|drove|broke|sold|gave|did|came|held|spoke"
    r"|wrote|built|ate|found|became|left|spent|fell|caught|swam|rode|sang|taught|sent|told|decided|chose|read|set|hit|met"
    r"|put|led|hung|threw|lent|paid|felt sick|(?:was|were) (?!thinking|wondering|hoping|so |just |really )\w+|(?!(?:loved|liked|wanted|needed|wished|hoped|used|seemed|missed)\b)[a-z]{2,}ed)"
)
_SUBJECT = r"(?:I|we|my [\w ]{2,25} and I|(?-i:[A-Z])\w+ and I|me and my \w+)"
_DO = (
    r"(?:answer|reply|respond|use|call|write|give me|show|include|add|ask|format|explain|tell me|speak|translate|cite|run|start"
    r"|end|send|remind|avoid|mention|suggest|assume|address|greet|put|provide|summari[sz]e|round|convert|confirm|quote|commit"
    r"|push|delete|deploy|schedule|book|recommend|refer to|switch to|stick to|check|test|keep (?:it|your|answers|responses|replies))"
)
_TODAY = r"(?:today|tonight|tomorrow|this morning)"

_KIN_DOES = (
    rf"my {_RELATION},? (?:(?-i:[A-Z])\w+ )?(?:has|is|will|starts|turns|had|went|got|was|graduated|visited|moved|started|won|came|broke|passed)"
    r"\b(?! (?:always|so|very|really|my|the (?:best|one)))[^?\n]{4,}"
)

RULES = (
    # identity
    fact(rf"my (?:full |first |last |real )?name(?:'s| is) {_NAME}", "name", "{who}'s name is {name}."),
    fact(rf"{_I_AM} called {_NAME}", "name", "{who} is called {name}."),
    fact(
        rf"{_I_AM} (?!\w+(?:ish|ese|ian|ean|ican|man|tch)\b|Muslim|Greek|Swiss|Jewish|Christian|God|Buddhist|Ok)(?P<name>(?-i:[A-Z][a-z]{{1,20}}(?: [A-Z][a-z]{{1,20}})?))(?=[,.!]|$| from| and I)(?!'s)",
        "name",
        "{who}'s name is {name}.",
    ),
    # where
    fact(
        rf"{_ADV}?(?:I|we) {_ADV}(?:live|reside) {_ADV}(?:in|near|outside|close to) {_PLACE}",
        "residence",
        "{who} lives in {place}.",
    ),
    fact(
        rf"(?:{_I_AM}|we're|we are|I've been|I have been) {_ADV}(?:living|based) {_ADV}(?:in|near) {_PLACE}",
        "residence",
        "{who} lives in {place}.",
    ),
    fact(
        rf"(?:I|we|I've|we've|I have|we have) {_ADV}(?:moved|relocated) (?:back |over |away |here |house |home |from [\w ]{{2,30}}? )*(?:to|into) (?!a (?:new )?(?:desk|team|role))(?P<place>(?-i:[A-ZÀ-Þ]){_N}{{1,60}})",
        "residence",
        "{who} moved to {place}.",
    ),
    fact(rf"{_I_AM} (?:{_ADV})(?:originally )?from {_PLACE}", "origin", "{who} is from {place}."),
    fact(
        rf"(?:I was born (?:and raised )?in|I grew up in|I come from) (?P<place>(?-i:[A-ZÀ-Þ]){_N}{{1,60}})",
        "origin",
        "{who} comes from {place}.",
    ),
    # work and study
    fact(rf"I {_ADV}work {_ADV}as (?:an? )?{_JOB}", "job", "{who} works as {job}."),
    fact(
        rf"I {_ADV}work (?:{_ADV})?(?:as (?:an? )?[\w ]{{2,40}}? )?(?:at|for) (?!home|night|the moment|my|a living|myself|this|that){_ORG}",
        "employer",
        "{who} works at {org}.",
    ),
    fact(
        rf"(?:{_I_AM}|I've been) {_ADV}working (?:as [\w ]{{2,40}}? )?(?:at|for) (?!home|night|the moment|my|this|that){_ORG}",
        "employer",
        "{who} works at {org}.",
    ),
    fact(
        rf"(?:I|I've|I have) {_ADV}(?:joined|got hired (?:by|at)|(?:got|landed|accepted) (?:the|a|my new|a new) (?:job|position|role|offer) (?:at|with|from)|started (?:working )?(?:at|for)|started (?:a|my) new (?:job|position) (?:at|with)) (?P<org>(?-i:[A-Z]){_N}{{1,50}})",
        "employer",
        "{who} works at {org}.",
    ),
    fact(
        rf"{_I_AM} {_ADV}(?:working )?(?:as )?an? (?P<job>(?:{_N}{{2,40}} )?(?:engineer|developer|teacher|nurse|doctor|designer|lawyer|student|manager|architect|accountant|scientist|researcher|artist|writer|chef|cook|pilot|dentist|consultant|analyst|programmer|photographer|journalist|librarian|electrician|plumber|carpenter|barista|baker|farmer|vet|veterinarian|therapist|counsell?or|translator|musician|dancer|freelancer|salesperson|banker|pharmacist|professor|biologist|chemist|physicist|sysadmin|administrator|editor|mechanic|firefighter|paramedic))(?! of (?:nature|life|things|habit))\b",
        "job",
        "{who} is a {job}.",
    ),
    memory(r"(?:I|I've|I have)?(?: |)(?:just |recently |unfortunately )?(?:lost|quit|left) my job\b", "employer"),
    fact(
        rf"(?:I|I've|I have) (?:just |recently |finally )?(?:been |got |was )promoted to {_JOB}",
        "job",
        "{who} was promoted to {job}.",
    ),
    # family, pets, people
    fact(
        rf"my {_RELATION}(?:'s name is| is called| is named|,? whose name is|'s called) {_NAME}",
        "family:{rel}:{name}",
        "{who}'s {rel} is called {name}.",
    ),
    fact(
        rf"my {_RELATION},? {_NAME}(?=,| (?:is|was|has|and I|(?-i:[a-z])\w+)\b)",
        "family:{rel}:{name}",
        "{who}'s {rel} is called {name}.",
    ),
    fact(rf"(?:this is|meet) my {_RELATION},? {_NAME}", "family:{rel}:{name}", "{who}'s {rel} is called {name}."),
    fact(
        rf"(?:my|our) {_PET}(?:'s name is| is called| is named|'s called|'s named) {_NAME}",
        "pet:{name}",
        "{who}'s {pet} is called {name}.",
    ),
    fact(
        rf"(?:I|we|I've|we've) {_ADV}(?:have|got|adopted|own)(?: got)? (?:an?|another) (?:\w+ ){{0,3}}?{_PET} (?:called|named) {_NAME}",
        "pet:{name}",
        "{who} has a {pet} called {name}.",
    ),
    fact(
        r"(?:I|we) have (?P<thing>(?:one|two|three|four|five|\d) (?:\w+ )?(?:kids|children|sons?|daughters?|brothers?|sisters?|siblings|dogs|cats|pets|kid|child|dog|cat))\b",
        "has:{thing}",
        "{who} has {thing}.",
    ),
    fact(
        rf"{_I_AM} (?:{_ADV})(?P<thing>(?:happily )?(?:married|single|divorced|engaged|widowed))\b(?! (?:in|with (?:a|the|my) (?:work|project)))",
        "marital-status",
        "{who} is {thing}.",
    ),
    # age and birthday
    fact(
        rf"{_I_AM} {_ADV}(?P<age>\d{{1,2}})(?: years old| yrs old|(?=[,.!]|$| now| and))",
        "age",
        "{who} is {age} years old.",
    ),
    fact(r"I (?:just |recently )?turned (?P<age>\d{1,2})\b", "age", "{who} is {age} years old."),
    fact(
        r"my (?:birthday|bday)(?:'s| is)(?: on)? (?P<thing>(?:the )?(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? )?(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{1,2}(?:st|nd|rd|th)?)?)\b",
        "birthday",
        "{who}'s birthday is {thing}.",
    ),
    fact(r"I was born (?:on|in) (?P<thing>[\w ,]{0,20}(?:19|20)\d\d)\b", "birthday", "{who} was born in {thing}."),
    # health and diet
    fact(
        rf"{_I_AM} {_ADV}(?:severely |badly |very |highly |deathly )?allergic to (?!(?:work|mondays|meetings)\b){_THING}",
        "allergy:{thing}",
        "{who} is allergic to {thing}.",
    ),
    fact(
        r"I (?:also )?have an? (?:\w+ )?(?P<thing>[\w-]+(?: [\w-]+)?) allergy\b",
        "allergy:{thing}",
        "{who} has a {thing} allergy.",
    ),
    fact(
        rf"(?:{_I_AM}|I've been|I have been) {_ADV}(?:an? )?(?:strict )?(?P<thing>vegan|vegetarian|pescatarian|lactose[- ]intolerant|gluten[- ]intolerant|coeliac|celiac)\b",
        "diet",
        "{who} is {thing}.",
    ),
    fact(
        rf"I {_ADV}(?:don't|do not|can't|cannot|never|no longer|stopped) (?:eat|eating) {_THING}",
        "diet:{thing}",
        "{who} does not eat {thing}.",
    ),
    fact(
        r"I (?:have|suffer from|was diagnosed with|got diagnosed with) (?:type \d )?(?P<thing>(?:type \d )?(?:diabetes|asthma|migraines?|adhd|arthritis|epilepsy|hypertension|high blood pressure|celiac disease|dyslexia|insomnia|anxiety|depression))\b",
        "health:{thing}",
        "{who} has {thing}.",
    ),
    # likes and dislikes
    preference(
        rf"I {_ADV}(?:love|like|enjoy|adore) (?!to see|to hear|hearing|seeing|talking|your|you\b|that|how|it\b|the way|this|these|those|them\b|when|what|where|being able|him|her\b){_THING}",
        "preference:{thing}",
        "{who} likes {thing}.",
    ),
    preference(
        rf"I {_ADV}(?:hate|dislike|can't stand|cannot stand|don't (?:really )?like|do not like|don't enjoy|no longer like|can't bear|detest) (?!to see|to hear|your|you\b|that|how|it\b|this|these|those|them\b|when|what|him|her\b){_THING}",
        "preference:{thing}",
        "{who} dislikes {thing}.",
    ),
    preference(
        rf"(?:I {_ADV}prefer|I'd rather have) (?!it\b|that|this|to not|not){_THING}",
        "preference:{thing}",
        "{who} prefers {thing}.",
    ),
    preference(
        rf"my (?:all[- ]time )?fav(?:ou?rite)? (?P<topic>(?!thing|part|one\b|memory|moment|aspect)[\w-]+(?: [\w-]+)?) (?:is|are|has always been) (?!probably not|that|when|how|the one|definitely the){_THING}",
        "favourite:{topic}",
        "{who}'s favourite {topic} is {thing}.",
    ),
    preference(
        rf"{_I_AM} {_ADV}(?:a (?:big|huge|great|massive) fan of|fond of|into|keen on|passionate about|crazy about|obsessed with|addicted to) (?!it\b|that|this|you|them|the idea|making|helping){_THING}",
        "preference:{thing}",
        "{who} likes {thing}.",
    ),
    # habits, skills, ownership
    fact(
        rf"I (?:also |can |now )*speak (?:fluent |some |a little |a bit of )?{_LANGS}(?:(?:,| and|, and) (?:[A-Z]\w+))*",
        "language:{other}",
        None,
    ),
    memory(
        r"I (?:usually|always|normally|typically) (?!\w+ (?:that|how)\b)(?!love|like|enjoy|think|feel|knew|wanted|hate|said|thought|try|worry|end up|make sure|believe|keep|want|find|wonder|say|look|remember|tell|get so|had|wished|dreamed|admired|prefer|hoped)(?P<thing>[a-z]+ [^,;.!?\n]{3,80})"
    ),
    memory(
        r"I (?P<thing>(?:go|run|swim|jog|meditate|practi[sc]e|train|play|walk|cycle|bike|cook|read|exercise|wake up|get up|do yoga|volunteer|drink)\b[^,;.!?\n]{0,60}\b(?:every|each|once a|twice a|times a|on weekends|in the mornings?|daily) ?\w*)"
    ),
    memory(
        r"(?:I|we) (?:go|run|swim|meet|play|have|do|cook|hold|review|deploy|release|ship)\b[^,;.!?\n]{0,60}\bevery (?:day|week|month|year|morning|evening|night|mon|tues|wednes|thurs|fri|satur|sun)\w*"
    ),
    fact(
        rf"I {_ADV}(?:own|drive|ride) (?P<thing>(?:an?|my own|two|three) {_N}{{2,60}})",
        "owns:{thing}",
        "{who} owns {thing}.",
    ),
    fact(
        r"my (?P<topic>car|phone|laptop|bike|bicycle|computer|camera|guitar|motorbike|truck|tablet|motorcycle|e-?mail(?: address)?|phone number|address|time ?zone|timezone|blood type|shoe size|shirt size|dress size) is (?P<thing>(?!broken|dead|gone|so |very |really |too |being |not |in the |slow|fast|old|great)[^,;!?\n]{2,60})",
        "{topic}",
        "{who}'s {topic} is {thing}.",
    ),
    # tools, decisions, changes
    fact(
        r"(?:we|I)(?:'ve| have)? (?:just |recently |finally |now )*(?:switched|migrated|changed|moved) (?:over )?from (?P<old>[^,;.!?\n]{1,40}?) to (?P<thing>[^,;!?\n]{1,60})",
        "uses:{old}",
        "{who} switched from {old} to {thing}.",
    ),
    fact(
        rf"(?:we|I|our team|my team|our company) (?:now |currently |mostly |mainly |still )?uses? (?!it\b|that|this|them\b|to|the word|those|these)(?P<thing>(?P<other>{_N}{{2,90}}))",
        "uses:{other}",
        "{who} uses {thing}.",
    ),
    memory(
        r"(?:we|I)(?:'ve| have)? (?:just |finally |all )?(?:decided|agreed|chose|opted|settled) (?:to|on|that|for|against) (?!it\b)[^!?\n]{4,200}"
    ),
    # instructions to the agent
    guideline(rf"(?:(?:please|pls|plz) |and |so )?(?:always|never|don't ever|do not ever) {_DO}\b[^?\n]{{2,200}}"),
    guideline(
        r"(?:from now on|in (?:the )?future|going forward|whenever I|every time I|each time I)\b,? [^?\n]{6,200}",
        "{rule}",
    ),
    guideline(
        r"(?:(?:please|pls|plz) |and )?(?:don't|do not|stop) (?:use|using|call|calling|add|adding|send|sending|include|including|write|writing) (?!it\b|that|this)[^?\n]{2,120}"
    ),
    guideline(
        r"(?:(?:please|pls|plz) )(?:use|prefer|stick to) (?:the )?(?:metric|imperial|celsius|fahrenheit|24|12|iso|british|american|formal|informal|short|simple|plain|bullet|si )[^?\n]{0,80}"
    ),
    guideline(
        r"(?:(?:please|pls|plz) )?(?:answer|reply|respond|write|talk|speak)(?: to me| me)? (?:only |always )?in (?:english|german|french|spanish|korean|japanese|chinese|italian|portuguese|dutch)\b[^?\n]{0,60}",
        "guideline:language",
    ),
    guideline(rf"(?:(?:please|pls|plz) |just |you can )*call me {_NAME}", "form-of-address"),
    guideline(r"(?:(?:please|pls|plz) )?remember (?:to|that you should) (?:always|never) [^?\n]{4,160}"),
    guideline(
        r"(?:(?:please|pls|plz) )?keep (?:it|your|the|all|any)? ?(?:answers|replies|responses|messages|explanations) [^?\n]{3,80}"
    ),
    # episodes
    plan(
        rf"{_SUBJECT}(?:'m|'re| am| are) (?:{_ADV})(?:going|flying|travell?ing|meeting|visiting|moving|starting|having|seeing|getting|leaving|giving|attending|taking|hosting|driving|heading|presenting|running|training for|launching|releasing|deploying|planning|off to|signing|picking|doing|throwing|competing|performing)\b[^?\n]{{3,}}"
    ),
    plan(
        rf"{_SUBJECT}(?:'ve|'ll have| have| have got|'ve got| got| will have) (?:an?|my|our|another|the) (?:\S+ ){{0,4}}?(?:appointment|meeting|interview|exam|test|flight|deadline|call|party|wedding|concert|date|surgery|trip|visit|presentation|race|marathon|conference|demo|check-?up|reservation|class|competition|show|audition|tournament|game|match)\b[^?\n]*"
    ),
    plan(
        r"(?:my|our) (?:\S+ ){0,3}?(?:appointment|meeting|interview|exam|flight|deadline|party|wedding|surgery|trip|presentation|conference|vacation|holiday|train|launch|release|demo|graduation) (?:is|starts|is scheduled|leaves|takes place|begins|got moved|was moved|will be)\b[^?\n]*"
    ),
    plan(
        rf"{_SUBJECT}(?:'ll| will) (?!be (?:happy|glad|sure|there for)|never|always|let you|try|definitely let|make sure|keep|check|see you|talk|tell you)(?:\w+ ){{1,2}}[^?\n]{{3,}}"
    ),
    plan(_KIN_DOES),
    event(_KIN_DOES),
    event(
        r"(?:(?:I|we) )?(?:just|finally) (?:adopted|bought|passed|finished|won|booked|signed|launched|shipped) (?!it\b|that|this|the call)[^?\n]{4,}",
        needs_time=False,
    ),
    event(
        rf"(?:{_TODAY},? |yesterday,? |last \w+,? |on \w+,? |two \w+ ago,? |this \w+,? )?{_SUBJECT} {_ADV}{_PAST}\b[^?\n]{{4,}}"
    ),
    event(
        r"(?:just |recently |finally )?(?:went|had|got|took|visited|bought|finished|started|lost|met|attended|adopted|ran|painted|signed) (?!it\b|you)[^?\n]{6,}"
    ),
    event(
        r"(?:I|we)(?:'ve| have)? (?:just |recently |finally )?(?:got (?:married|engaged|promoted|hired|fired|laid off|divorced|accepted|a new (?:job|dog|cat|puppy|kitten|car|apartment|house|bike))|(?:bought|adopted) (?:a|an|our|my) [^?\n]{3,}|had a baby|graduated from [^?\n]{3,}|passed (?:my|the) [^?\n]{3,}|was diagnosed with [^?\n]{3,}|broke my \w+|won (?:a|an|the|first) [^?\n]{3,}|lost my job|quit my job[^?\n]*|opened my own [^?\n]{3,}|started my own [^?\n]{3,})",
        needs_time=False,
    ),
)

ENGLISH = Language(
    code="en",
    user="The user",
    rules=RULES,
    clause=rx(
        r"[,;:—–(] |\s-+\s|\b(?:and|but|because|so|cause|since|then|as|also|though|that|although) (?=(?:I|we|my|our|I'm|I've|I'll|please|always|never|call)\b)"
    ),
    lead=rx(
        r"(?:(?:hi|hey|hello|omg|ugh|yay|morning|good morning|heads up|quick update|yeah|yes|yep|yup|no|nope|oh|ok|okay|well|so|and|but|also|actually|btw|by the way|fyi|honestly|anyway|wow|thanks|thank you|haha|lol|sure|right|plus|guess what|unfortunately|luckily|sadly|in fact|to be honest|personally|as for me|for the record|just so you know|note that|remember that|please remember that|please note that|remember|remember:|you know|I think that|good news|big news|update|one more thing|today|yesterday|last night|last week|last month|last year|last weekend|this week|this morning|recently|lately|currently|nowadays|these days|(?:on |last |next )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|(?-i:[A-Z])[a-z]+(?=[!,]))\b[,:!.-]* )+"
    ),
    unreal=rx(
        r"\b(?:if|would|wouldn't|could|couldn't|wish|maybe|perhaps|might|unless|imagine|suppose|supposing|pretend|hypothetically|i'd|we'd|(?-i:may)|should|as though|joke|joking|kidding|sarcasm|almost|nearly|thinking (?:about|of)|considering|hoping|hope|dream of|want to|wanna|wanted to|used to|ever since I can|in theory|for example|let's say|role ?play|not sure|hear that|says?|said that|told me|what if|whether)\b|\b(?:don't|do not|didn't|did not|never) (?:live|work|own|speak|use|prefer|drive|move|moved|go|went|buy|get)\b|/s$"
    ),
    question=rx(
        r"\?|^(?:do|does|did|is|are|am|was|were|can|could|will|would|should|have|has|what|where|when|why|who|whom|which|how|shall|may) (?!I (?:live|work|love)\b)(?:I|we|you|my|the|it|he|she|they|there|to|is|are|do|does|did|a|an|your|this|that|many|much|about)\b"
    ),
    vague=rx(
        r"^.*\b(?:it|this|that|them|you|your|him)$|^(?:it|that|this|them|these|those|you|your|how|what|which|him|her|there|here|one|some|so|to be|being|everything|anything|nothing|something|all of|the (?:idea|way|fact|thought|one|same|look|feeling|sound|vibe|energy|process|results?|moment)|a lot|lots|everyone|people|seeing|hearing|knowing|a (?:new|better|different) (?:place|house|home|city|apartment|flat)|making a difference|the area|town|every|helping|connecting|sharing|chatting|learning|watching (?:it|them|him|her)|when|where|as)\b"
    ),
    cut=rx(
        r"(?: |^)(?:(?:and|or) (?=I\b|we\b|it\b|it's|he\b|she\b|they\b|my\b|that\b|then\b|you|am\b|have\b|work|live|hate|love|dislike|don't|can't|the \w+ (?:is|are))|but\b|because\b|'?cause\b|so\b(?! much)|since\b|when\b|whenever\b|while\b|which\b|who\b|where\b|though\b|although\b|these days|at the moment|currently|right now|anymore|now\b|again\b|too\b|as well\b|a lot\b|very much\b|so much\b|lately\b|already\b|the most\b|best\b|nowadays|haha|lol|tbh|btw|by the way|to\s+(?:relax|unwind|calm)|- |--).*$"
    ),
    cut_strict=rx(
        r"(?: |^)(?:and\b|or\b|but\b|because\b|so\b|since\b|when\b|while\b|which\b|who\b|where\b|that\b|though\b|these days|btw\b|by the way|lol\b|haha\b|as\b|at\b|for\b|with\b|in (?:19|20)\d\d|now\b|again\b|too\b|as well\b|already\b|anymore\b|currently\b|right now|last\b|this\b|next\b|yesterday|today|tomorrow|on\b|to\b|about\b|\w+ (?:days?|weeks?|months?|years?) ago|is\b|am\b|was\b|has\b|works\b|lives\b|just\b|got\b|me\b|I\b|by\b|- |--).*$"
    ),
    first_person=rx(r"\b(?:I|I'm|I've|I'll|me|my|mine|myself|we|us|our|we're|we've|ours)\b"),
    article=rx(r"^(?:an?|the|some|my|our|any|playing|all|both) "),
    times=TIMES,
    rewrites=(
        (rx(r"^my\b"), "{who}'s"),
        (rx(r"\bI(?:'m| am)\b"), "{who} is"),
        (rx(r"\bI was\b"), "{who} was"),
        (rx(r"\bI(?:'ve| have)\b"), "{who} has"),
        (rx(r"\bI(?:'ll| will)\b"), "{who} will"),
        (rx(r"\bI (usually|always|normally|typically) (\w+(?:s|sh|ch|x|o))\b"), r"{who} \1 \2es"),
        (rx(r"\bI (usually|always|normally|typically) have\b"), r"{who} \1 has"),
        (rx(r"\bI (usually|always|normally|typically) (\w+[^aeiou\s])y\b"), r"{who} \1 \2ies"),
        (rx(r"\bI (usually|always|normally|typically) (\w+)\b"), r"{who} \1 \2s"),
        (rx(r"\bI (?=go\b|do\b)(\w+)"), r"{who} \1es"),
        (
            rx(
                r"\bI (?=(?:run|swim|jog|meditate|practi[sc]e|train|play|walk|cycle|bike|cook|exercise|wake|get|volunteer|drink|speak|eat|take|use|make|have|read|work|start|sleep|drive|write|bring|skip|prefer) (?!.*\b(?:yesterday|last|ago)\b))(\w+)"
            ),
            r"{who} \1s",
        ),
        (rx(r"\b[Ii] haves\b"), "{who} has"),
        (rx(r"\bI\b"), "{who}"),
        (rx(r"\bmy\b"), "their"),
        (rx(r"\bmyself\b"), "themselves"),
        (rx(r"\bmine\b"), "theirs"),
        (rx(r"\bme\b"), "them"),
    ),
    asks=rx(
        r"(?:(?:and|so|but|now) )?(?:any|can|could|what|whats|what\'s|do you|does|how|where|which|who|why|should I|would you|is there|are there|got any|have you|is it|will)\b"
    ),
    addressed=rx(
        r"\b(?:you|your|you're|yours|u)\b"
        r"|\b(?:made|make|making|doing|found|bought|saw|took|tried|started|finished|watched|about|of|with|for|chose|decided) (?:it|this|that|them|these|those)\b|\b(?:it|this|that) (?:tonight|yesterday|tomorrow|today)\b"
    ),
    guideline="{who} asks: {text}",
    canonical={
        "mom": "mother",
        "mum": "mother",
        "dad": "father",
        "grandma": "grandmother",
        "grandpa": "grandfather",
        "fiancee": "fiance",
        "fiancée": "fiance",
        "fiancé": "fiance",
        "puppy": "dog",
        "kitten": "cat",
        "manager": "boss",
    },
)
