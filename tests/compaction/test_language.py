"""In which language something is written, as far as that is certain (C-10, field note H6)."""

from __future__ import annotations

import pytest

from bibgenie_desktop.compaction.language import differs, language_of

pytestmark = pytest.mark.req("C-10", "D-6")

TEXTS = {
    "en": "The observers were not paid for what they counted, and that is how the bias of the atlas came to be known.",
    "de": "Die Beobachter wurden nicht bezahlt, und das ist der Grund für die Verzerrung, die sich im Atlas zeigt.",
    "fr": "Les observateurs ne sont pas payés pour cette étude, et la différence est dans les données que nous avons.",
    "es": "Los observadores no son pagados por el estudio, y la diferencia está en los datos que se usan en la tabla.",
    "it": "Gli osservatori non sono pagati per lo studio, e la differenza è nei dati che si usano anche nella tabella.",
    "pt": "Os observadores não são pagos para o estudo, e a diferença está nos dados que se usam também na tabela.",
    "nl": "De waarnemers zijn niet betaald voor het onderzoek, en dat is een van de redenen in de tabel.",
    "ru": "Наблюдатели не получали платы за то, что они считали, и поэтому атлас содержит ошибки.",
    "el": "Οι παρατηρητές δεν πληρώθηκαν για όσα μέτρησαν, και αυτό φαίνεται στον άτλαντα.",
    "ar": "لم يحصل المراقبون على أجر مقابل ما أحصوه، ولهذا يظهر التحيز في الأطلس بوضوح.",
    "he": "הצופים לא קיבלו תשלום על מה שספרו, ולכן ההטיה נראית באטלס בבירור רב.",
    "hi": "पर्यवेक्षकों को उनकी गिनती के लिए भुगतान नहीं किया गया था, इसलिए एटलस में पूर्वाग्रह दिखाई देता है।",
    "zh": "观察者没有因为他们的计数而得到报酬，因此图集中可以看到偏差的存在。",
    "ja": "観察者は数えたことに対して報酬を受け取らなかったので、図鑑に偏りが見られます。",
    "ko": "관찰자들은 그들이 센 것에 대해 보수를 받지 않았으므로 도감에서 편향이 나타납니다.",
    "th": "ผู้สังเกตการณ์ไม่ได้รับค่าตอบแทนสำหรับสิ่งที่พวกเขานับ ดังนั้นจึงเห็นความลำเอียงในแผนที่",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_language_is_known_by_its_script_or_its_small_words(name: str) -> None:
    assert language_of([TEXTS[name]]) == name


@pytest.mark.parametrize("text", ["", "Why?", "Hale 2010, p. 12", "[[cite:ABCD2345@7]] " * 20, "x = 1; y = 2\n" * 30])
def test_what_is_too_little_or_no_language_is_none(text: str) -> None:
    assert language_of([text]) == ""


@pytest.mark.parametrize("name", TEXTS)
def test_only_another_language_differs_and_only_where_it_is_certain(name: str) -> None:
    others = [other for other in TEXTS if other != name]
    assert not differs(TEXTS[name], name)
    assert all(differs(TEXTS[name], other) for other in others)
    assert not differs(TEXTS[name], "")
    assert not differs("None", name)


def test_quotations_and_names_do_not_decide() -> None:
    quoting = f"{TEXTS['de']} Er sagt: “{TEXTS['en']} {TEXTS['en']}” [[cite:ABCD2345@7]]"
    assert not differs(quoting, "de")
    assert differs(quoting, "en")
