"""Which language a sentence is in: by script, then by function words."""

from __future__ import annotations

import re

_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")

_FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "en": frozenset(
        "i my me the a an and is are am was were of to in on at for with it we you that this have has not but from"
        " i'm im don't never always please been our by do does what be as so about their her his they when".split()
    ),
    "de": frozenset(
        "ich mein meine meinen meiner mich mir der die das den dem des ein eine einen einem und ist sind bin war nicht"
        " wir uns unser in im auf für mit zu zum zur von nach es du dir bitte habe haben hat wird immer nie aber auch"
        " heute gestern morgen wohne heiße heisse bei seit als wenn man um sich".split()
    ),
    "fr": frozenset(
        "je j mon ma mes me moi le la les un une des du de et est suis sont pas nous notre nos en dans sur pour avec"
        " au aux à ce cette il elle on que qui ai avons a été s'il vous plaît toujours jamais hier mais aussi travaille habite comme très trois deux ans bonjour merci quand ne n l d c"
        " m s chez depuis te tu si".split()
    ),
    "es": frozenset(
        "yo mi mis me el la los las un una unos y es soy son está estoy no nosotros nuestro en de del con para por al"
        " que se lo tengo he hemos siempre nunca ayer pero también vivo muy su sus mañana a por favor te tu si fui trabajo como mudé hace dos años ha fue nos muy día años hola gracias cuando".split()
    ),
}
_MARKS = {
    "de": re.compile(r"[äöüß]", re.I),
    "fr": re.compile(r"[çœêèù]|\b(?:j|l|d|c|n|qu)'", re.I),
    "es": re.compile(r"[ñ¿¡áíóú]", re.I),
}


def detect(text: str) -> str | None:
    """The language code (en, de, fr, es, ko, ja, zh) of a text, None when nothing speaks for any."""
    if _KANA.search(text):
        return "ja"
    if len(_HANGUL.findall(text)) >= 2:
        return "ko"
    if _HAN.search(text):
        return "zh"
    words = [word.casefold() for word in _WORD.findall(text[:2000])]
    scores = {code: sum(word in known for word in words) + 0.0 for code, known in _FUNCTION_WORDS.items()}
    for code, mark in _MARKS.items():
        scores[code] += 0.6 * len(set(mark.findall(text[:2000])))
    best = max(scores, key=lambda code: scores[code])
    return best if scores[best] > 0 else None
