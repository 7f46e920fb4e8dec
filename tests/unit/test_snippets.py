import pytest

from knowledge.search.words import query_words, snippet
from knowledge.types import MARK_CLOSE, MARK_OPEN


def marked(text: str, query: str, width: int = 300) -> str:
    return snippet(text, query_words(query), width).replace(MARK_OPEN, "[").replace(MARK_CLOSE, "]")


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("The gateway runs scheduled tasks", "schedule task", "The gateway runs [scheduled] [tasks]"),
        ("running, runs and runner", "run", "[running], [runs] and [runner]"),
        ("policies and a policy", "policy", "[policies] and a [policy]"),
        ("one process of many processes", "processing", "one [process] of many [processes]"),
        ("設備清單(devices) NAS", "設備", "[設備]清單(devices) NAS"),
        ("這個設備清單", "設備清單", "這個[設備清單]"),
        ("重跑gen-itgc后", "gen", "重跑[gen]-itgc后"),
        ("ระบบฐานข้อมูลหลัก", "ฐานข้อมูล", "ระบบ[ฐานข้อมูล]หลัก"),
        ("ดื่มน้ำทุกวัน", "น้ำ", "ดื่ม[น้ำ]ทุกวัน"),
        ("मेरी किताब यहाँ", "किताब", "मेरी [किताब] यहाँ"),
        ("naïve CAFÉ, cafe\u0301", "cafe", "naïve [CAFÉ], [cafe\u0301]"),
        ("ＦＵＬＬ width", "full", "[ＦＵＬＬ] width"),
        ("router 192.168.9.1", "192.168.7.1", "router [192].[168].9.[1]"),
        ("1000 is not 100", "100", "1000 is not [100]"),
        ("nothing here", "router", "nothing here"),
        ("", "router", ""),
        ("<b>router</b>", "router", "<b>[router]</b>"),
    ],
)
def test_matched_words_are_marked(text, query, expected):
    assert marked(text, query) == expected


def test_marks_in_the_text_itself_are_not_shown():
    assert snippet(f"a{MARK_OPEN}b{MARK_CLOSE}c", []) == "abc"


def test_the_window_holds_most_of_the_words():
    text = "alpha " + "filler " * 50 + "alpha beta gamma " + "filler " * 50 + "beta"
    shown = marked(text, "alpha beta gamma", 60)
    assert "[alpha] [beta] [gamma]" in shown
    assert shown.startswith("…filler ")
    assert shown.endswith(" filler…")


def test_without_a_match_the_beginning_is_shown():
    assert marked("word " * 10, "router", 14) == "word word…"


def test_the_end_of_a_text_fills_the_window():
    shown = marked("filler " * 50 + "router", "router", 20)
    assert shown == "…filler [router]"


@pytest.mark.parametrize(
    "text",
    [
        "gateway tasks " * 7_000,
        "設備" * 50_000,
        "a" * 100_000,
        "ก" + "\u0e48" * 99_999,
        "é " * 50_000,
        "- " * 50_000,
    ],
    ids=lambda text: ascii(text[:4]),
)
def test_long_texts_take_linear_time(text):
    assert len(marked(text, "gateway 設備 é", 300).replace("[", "").replace("]", "")) <= 300
