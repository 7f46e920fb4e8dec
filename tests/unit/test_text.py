import unicodedata

import pytest

from knowledge.text import clean_query, fault_in, mark_name, segments


def hidden(text: str) -> list[str]:
    return [mark_name(part) for is_hidden, part in segments(text) if is_hidden]


def test_a_fault_is_named_with_its_position():
    assert fault_in("a\x00b") == "NUL at position 1"
    assert fault_in("ab\ud83d") == "lone surrogate U+D83D at position 2"
    assert fault_in("") is None
    assert fault_in("🚀 é \n\t \u202e") is None


def test_a_query_loses_only_its_faults():
    assert clean_query("a\x00b\udfffc🚀\u202e") == "abc🚀\u202e"


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("a\u202eb", ["RLO"]),
        ("\u2066x\u2069", ["LRI", "PDI"]),
        ("a\u200bb", ["ZWSP"]),
        ("\U000e0041", ["U+E0041"]),
        ("soft\u00adhyphen", ["SHY"]),
        ("a\u2028b\u2029c", ["LSEP", "PSEP"]),
        ("\u115f\u1160\u3164\uffa0", ["U+115F", "U+1160", "U+3164", "U+FFA0"]),
        ("\u2800", ["U+2800"]),
        ("\ufeffstart", ["BOM"]),
        ("a\rb", ["CR"]),
        ("\x1b[31m", ["ESC"]),
        ("a\ufe0f", ["VS16"]),
        ("a\u200db", ["ZWJ"]),
        ("a\U000e0101", ["U+E0101"]),
        ("😀\ufe0f\ufe0f", ["VS16"]),
        ("\u0645\u06cc\u200c\u200c\u062e", ["ZWNJ", "ZWNJ"]),
        ("\ud800", ["U+D800"]),
    ],
)
def test_hidden_characters_are_marked(text, marks):
    assert hidden(text) == marks


@pytest.mark.parametrize(
    "text",
    [
        "plain\ttext\nin lines\r\n",
        "👩\u200d💻 👩🏽\u200d💻 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 ✔\ufe0e",
        "1\ufe0f\u20e3",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "葛\U000e0100",
        "a\u00a0b\u3000c\u2009d",
        "\u0600\u0661",
        "Zalgo Z\u0351\u036b",
    ],
)
def test_what_a_reader_sees_is_not_marked(text):
    assert list(segments(text)) == [(False, text)]


def test_the_empty_text_has_no_segments():
    assert list(segments("")) == []


def test_every_format_and_control_character_is_hidden_unless_it_is_a_sign():
    signs = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in {"Cf", "Cc", "Zl", "Zp"} and chr(code) not in "\n\t":
            assert bool(hidden(chr(code))) is (code not in signs), hex(code)
