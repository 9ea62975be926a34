"""Token estimates against counts measured with the cl100k vocabulary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.providers.tokens import estimate_tokens

MEASURED = [
    ("english", "I moved to Lisbon in March, and my sister still looks after our two cats.", 17),
    ("english", "The quarterly report must be approved by the finance team before Friday noon.", 14),
    ("english", "Could you remind me which restaurant we liked so much after the concert?", 14),
    ("german", "Meine Schwester wohnt seit dem Frühjahr in Hamburg und arbeitet dort als Krankenpflegerin.", 28),
    ("german", "Bitte schick mir die Rechnung erst nach dem Umzug, sonst geht sie an die falsche Adresse.", 23),
    ("french", "Je préfère travailler le matin, parce que l'après-midi les enfants rentrent de l'école.", 27),
    ("french", "Le serveur de secours redémarre chaque nuit à trois heures, sauf le dimanche.", 22),
    ("spanish", "Mi hermano pequeño empezó a estudiar arquitectura en Sevilla el año pasado.", 21),
    ("spanish", "No olvides que la reunión con los proveedores se ha cambiado al jueves por la tarde.", 22),
    ("korean", "저는 매주 토요일 아침에 한강에서 자전거를 타고 커피를 마십니다.", 36),
    ("korean", "다음 회의는 화요일 오후 세 시로 옮겼으니 자료를 미리 보내 주세요.", 34),
    ("japanese", "来月から大阪の支社に転勤するので、新しい部屋を探しています。", 31),
    ("japanese", "コーヒーより紅茶のほうが好きですが、朝はいつも牛乳を入れます。", 35),
    ("japanese", "バックアップは毎晩二時に実行され、失敗すると担当者にメールが届きます。", 36),
    ("chinese", "我女儿对花生过敏，所以家里从来不买含花生的零食。", 32),
    ("chinese", "服务器迁移推迟到下周三晚上，请提前通知所有客户。", 23),
    ("russian", "Мы перенесли встречу на среду, потому что директор заболел.", 27),
    ("code", "def total(items: list[Item]) -> float:\n    return sum(item.price * item.count for item in items)\n", 24),
    ("code", "for name, value in sorted(settings.items()):\n    if value is None:\n        raise KeyError(name)\n", 20),
    ("json", '{"user_id": "anna", "tags": ["travel", "food"], "score": 0.87, "active": true}', 29),
    ("markdown", "## Release steps\n\n1. Run `make check`\n2. Tag the commit\n3. Publish the **changelog**\n", 25),
    ("thai", "ฉันชอบดื่มกาแฟในตอนเช้าก่อนไปทำงาน", 33),
    ("emoji", "We won the match 🎉🎉 and everybody was happy 😀!", 16),
]


@pytest.mark.parametrize(("language", "text", "measured"), MEASURED)
def test_estimates_are_within_thirty_percent(language: str, text: str, measured: int) -> None:
    assert 0.7 * measured <= estimate_tokens(text) <= 1.3 * measured, language


def test_whole_languages_are_nearer_than_single_sentences() -> None:
    measured = sum(count for _, _, count in MEASURED)

    assert 0.9 * measured <= sum(estimate_tokens(text) for _, text, _ in MEASURED) <= 1.1 * measured


def test_nothing_costs_nothing_and_anything_costs_something() -> None:
    assert estimate_tokens("") == 0
    assert [estimate_tokens(text) for text in (" ", "\n", "a", "\ud800", "\x00")] == [1, 1, 1, 3, 3]


@given(
    st.text(alphabet=st.characters(codec=None), max_size=200), st.text(alphabet=st.characters(codec=None), max_size=50)
)
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert 0 <= estimate_tokens(text) <= estimate_tokens(text + more)


@given(st.text(max_size=100), st.text(max_size=100))
def test_two_texts_together_cost_about_what_they_cost_apart(first: str, second: str) -> None:
    apart = estimate_tokens(first) + estimate_tokens(second)

    assert apart - 4 <= estimate_tokens(first + second) <= apart + 4
