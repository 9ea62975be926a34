"""The analyser: what is indexed, what is asked for, and that the two meet in every script."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.analyser import MAX_TERM_LENGTH, Analyser
from memoranda.engine.stop_words import STOP_CHARACTERS, STOP_WORDS

ENGLISH = Analyser()

CJK_MEMORIES = (
    "我喜欢喝榛子拿铁和年糕汤",
    "東京で美味しいラーメンを食べた",
    "서울에서 김치를 먹었다",
    "ฉันชอบดื่มกาแฟในตอนเช้า",
    "步2 重跑gen-itgc后50条悬空引用清零",
)
PUNCTUATED = "Don't use multi-agent for install.sh | bash (C++ NOT v2.0*)"


def terms_of(text: str, analyser: Analyser = ENGLISH) -> set[str]:
    return {term for term, _ in analyser.analyse(text).terms}


def finds(query: str, text: str, analyser: Analyser = ENGLISH) -> bool:
    return bool(set(analyser.query_terms(query)) & terms_of(text, analyser))


def test_a_word_gives_its_stem_and_its_marked_exact_form() -> None:
    analysed = ENGLISH.analyse("Running runs, run!")

    assert analysed.terms == (("run", 3), ("running=", 1), ("runs=", 1))
    assert analysed.length == 3


def test_length_counts_words_and_not_exact_forms_or_wholes() -> None:
    assert ENGLISH.analyse("preferences of gen-itgc").length == 4
    assert ENGLISH.analyse("don't").length == 1
    assert ENGLISH.analyse("年糕汤").length == 3


def test_an_empty_text_has_no_terms() -> None:
    analysed = ENGLISH.analyse("")

    assert (analysed.terms, analysed.length) == ((), 0)
    assert ENGLISH.query_terms("") == ()


def test_stop_words_are_neither_stored_nor_asked_for_and_count_for_the_length() -> None:
    assert terms_of("the end of it") == {"end"}
    assert ENGLISH.query_terms("the end of it") == ("end",)
    assert ENGLISH.analyse("the end of it").length == 4


@pytest.mark.parametrize("query", ["the of", "", "   ", '""', "????", "(", "*", "`", "It's what I'm for", "我"])
def test_a_query_of_stop_words_or_signs_alone_has_no_terms(query: str) -> None:
    assert ENGLISH.query_terms(query) == ()


def test_not_is_no_stop_word() -> None:
    assert ENGLISH.query_terms("NOT") == ("not",)


@pytest.mark.parametrize(
    ("query", "found"),
    [("拿铁", 0), ("年糕", 0), ("ラーメン", 1), ("東京", 1), ("김치", 2), ("กาแฟ", 3), ("悬空", 4), ("itgc", 4)],
)
def test_short_words_of_scripts_without_spaces_find_their_own_text_only(query: str, found: int) -> None:
    assert [finds(query, memory) for memory in CJK_MEMORIES] == [n == found for n in range(len(CJK_MEMORIES))]


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("Han", "榛子"), ("Hiragana", "たべた"), ("Katakana", "カフェ"), ("Hangul", "김치"), ("Thai", "กาแฟ"),
        ("Lao", "ກາເຟ"), ("Khmer", "កាហ្វេ"), ("Myanmar", "ကော်ဖီ"),
    ],
)  # fmt: skip
def test_scripts_without_spaces_index_characters_and_pairs_and_ask_for_pairs(script: str, text: str) -> None:
    pairs = {text[n : n + 2] for n in range(len(text) - 1)}

    assert terms_of(text) == set(text) | pairs, script
    assert set(ENGLISH.query_terms(text)) == pairs


def test_a_lone_character_is_asked_for_as_itself() -> None:
    assert ENGLISH.query_terms("猫") == ("猫",)
    assert finds("猫", "我的猫很大")


def test_halfwidth_and_compatibility_forms_meet_the_ordinary_ones() -> None:
    assert finds("ラーメン", "ﾗｰﾒﾝが好き")
    assert finds("file", "ﬁle")
    assert finds("itgc", "ＩＴＧＣ")


@pytest.mark.parametrize("query", ["don't", "dont", "Don’t", "multi-agent", "agent", "sh | bash", "C++", "v2.0", "sh"])
def test_punctuated_words_are_found_whole_and_by_parts(query: str) -> None:
    assert finds(query, PUNCTUATED)


@pytest.mark.parametrize("query", ['"unbalanced', "a AND", "NEAR(", "col:val", "word " * 1000])
def test_query_syntax_is_plain_text(query: str) -> None:
    assert not finds(query, PUNCTUATED)


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("gen-itgc", ("gen", "itgc")),
        ("john.doe@example.com", ("john", "doe", "example", "com")),
        ("record_turn", ("record", "turn")),
        ("R&D", ("r", "d")),
        ("O'Brien", ("brien",)),
        ("2026-11-30", ("2026", "11", "30")),
    ],
)
def test_a_compound_is_found_by_each_part_and_ranks_higher_whole(whole: str, parts: tuple[str, ...]) -> None:
    assert all(finds(part, f"see {whole}, please") for part in parts)
    assert whole.casefold() + "=" in set(ENGLISH.query_terms(whole)) & terms_of(f"see {whole}.")


def test_a_compound_of_stop_words_is_asked_for_whole() -> None:
    assert ENGLISH.query_terms("to-do") == ("to-do=",)


def test_contractions_meet_the_plain_word() -> None:
    assert finds("user", "the user's key")
    assert finds("they", "nothing") is False
    assert terms_of("we'll") == set()  # never "well"


def test_c_plus_plus_and_c_sharp_differ_in_their_exact_forms() -> None:
    assert terms_of("C++") == {"c", "c++="}
    assert terms_of("C#, then") == {"c", "c#="}


@pytest.mark.parametrize(
    ("language", "query", "text"),
    [
        ("english", "cafe", "the café"),
        ("english", "Lodz", "Łódź"),
        ("english", "ΑΘΗΝΑ", "Αθήνα"),
        ("english", "Istanbul", "İstanbul"),
        ("english", "strasse", "Straße"),
        ("french", "préférence", "mes préférences"),
        ("french", "avion", "l’avion est parti"),
        ("spanish", "canción", "canciones"),
        ("spanish", "manana", "mañana"),
        ("german", "Häuser", "das Haus"),
        ("russian", "кошки", "моя кошка"),
    ],
)
def test_folding_comes_after_stemming(language: str, query: str, text: str) -> None:
    assert finds(query, text, Analyser(language))


def test_marks_of_other_scripts_are_kept() -> None:
    assert not finds("が", "か")
    assert not finds("й", "и")
    assert terms_of("हिन्दी") == {unicodedata.normalize("NFC", "हिन्दी")}
    assert ENGLISH.analyse("हिन्दी में").length == 2


def test_an_elision_of_stop_words_is_not_asked_for() -> None:
    assert Analyser("french").query_terms("C'est qu'il l'a") == ()


def test_invisible_characters_inside_a_word_do_not_hide_it() -> None:
    assert finds("cooperation", "co\u00adoper\u200dation")


def test_long_words_are_bounded_and_still_distinct() -> None:
    first, second = "x" * 500 + "a", "x" * 500 + "b"

    assert all(len(term) <= MAX_TERM_LENGTH for term in terms_of(f"{first} {'é' * 300} {'a-' * 300}b"))
    assert finds(first, first)
    assert not finds(first, second)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\x00\x01word\x7f", "é\ud83d", "\u0300\u0301", "\U0010ffff"])
def test_lone_surrogates_and_control_characters_are_not_words(text: str) -> None:
    assert ENGLISH.analyse(text).length <= 2
    for term in terms_of(text):
        term.encode("utf-8")


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'klingon'.*english.*french"):
        Analyser("klingon")


def test_the_version_names_everything_that_changes_terms() -> None:
    rules, language, tables, stemmer = Analyser("german").version.split()

    assert rules.isdigit()
    assert (language, tables) == ("german", f"unicode-{unicodedata.unidata_version}")
    assert stemmer.startswith("pystemmer-")


def test_threads_share_one_analyser() -> None:
    analyser = Analyser()
    texts = [f"running preferences{n} naïvely{n % 7} 東京{n}" for n in range(400)]
    expected = [Analyser().analyse(text) for text in texts]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(analyser.analyse, texts)) == expected


def test_forgetting_cached_words_changes_nothing() -> None:
    analyser = Analyser()
    before = analyser.analyse("preferences")
    for n in range(25_000):
        analyser.analyse(f"word{n}")

    assert analyser.analyse("preferences") == before


def test_stop_word_lists_belong_to_known_languages() -> None:
    for language in STOP_WORDS:
        assert Analyser(language).query_terms(" ".join(STOP_WORDS[language])) == ()


@given(st.text(alphabet=st.characters(codec=None), max_size=200))
def test_no_text_breaks_the_analyser(text: str) -> None:
    analysed = ENGLISH.analyse(text)

    assert list(analysed.terms) == sorted(analysed.terms)
    assert all(0 < len(term) <= MAX_TERM_LENGTH and count > 0 for term, count in analysed.terms)
    assert analysed.length > 0 or not analysed.terms
    assert set(ENGLISH.query_terms(text)) <= {term for term, _ in analysed.terms}


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=80))
def test_plain_text_gives_the_same_terms_on_the_fast_and_on_the_general_path(text: str) -> None:
    general = dict(ENGLISH.analyse(f"{text} 東").terms)

    assert general.pop("東") == 1
    assert dict(ENGLISH.analyse(text).terms) == general


SCRIPTS = (
    (0x61, 0x7A), (0xDF, 0xF6), (0x3B1, 0x3C9), (0x430, 0x44F), (0x5D0, 0x5EA), (0x627, 0x64A), (0x905, 0x939),
    (0x985, 0x9A8), (0xB85, 0xBB9), (0xE01, 0xE2E), (0xE81, 0xEA2), (0x1000, 0x1020), (0x1780, 0x17A2),
    (0x10D0, 0x10F0), (0x1200, 0x1240), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3), (0x20000, 0x20100),
)  # fmt: skip
LETTERS = [[character for n in range(low, high + 1) if (character := chr(n)).isalpha()] for low, high in SCRIPTS]


WORDS = st.sampled_from(LETTERS).flatmap(lambda letters: st.text(st.sampled_from(letters), min_size=1, max_size=12))


@given(WORDS, st.sampled_from(["We saw {} there.", "({})", "x {0} y {0}", "ab-{}", "{}, ok", "東 {} 京"]))
def test_a_word_finds_the_text_that_contains_it(word: str, template: str) -> None:
    asked = ENGLISH.query_terms(word)

    if word in STOP_WORDS["english"] or word in STOP_CHARACTERS:
        assert asked == ()
    else:
        assert set(asked) & terms_of(template.format(word))


@given(
    st.from_regex(r"[a-z]{2,10}[0-9]{0,2}", fullmatch=True), st.sampled_from(["我们{}后", "の{}を", "를{}에", "ก{}ก"])
)
def test_a_latin_word_glued_to_another_script_is_its_own_word(word: str, template: str) -> None:
    assert set(ENGLISH.query_terms(word)) <= terms_of(template.format(word))
