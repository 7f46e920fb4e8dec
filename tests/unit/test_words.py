import sqlite3
from contextlib import closing

import pytest

from knowledge.search.words import TOKENIZER, index_text, match_expression, query_words
from tests.cases import cases


def finds(query: str, text: str) -> bool:
    """Ask a real FTS5 table that holds one text."""
    with closing(sqlite3.connect(":memory:")) as store:
        store.execute(f'CREATE VIRTUAL TABLE found USING fts5(text, tokenize="{TOKENIZER}")')
        store.execute("INSERT INTO found VALUES (?)", (index_text(text),))
        expression = match_expression(query_words(query))
        return bool(expression) and bool(
            store.execute("SELECT 1 FROM found WHERE found MATCH ?", (expression,)).fetchall()
        )


def test_mixed_text_is_cut_into_words_characters_and_pairs():
    assert index_text("重跑gen-itgc后") == "重 跑 重跑 gen itgc 后"
    assert query_words("重跑gen-itgc后") == ["重跑", "gen", "itgc", "后"]


def test_stop_words_go_and_repeated_words_stay():
    assert index_text("The gateway runs scheduled tasks nightly") == "gateway runs scheduled tasks nightly"
    assert query_words("what are the gateway tasks of the gateway") == ["gateway", "tasks", "gateway"]
    assert query_words("I don't think it's what they'll use") == ["think", "use"]


def test_stop_words_stay_where_nothing_else_is():
    assert query_words("the who") == ["the", "who"]
    assert finds("the who", "The Who")
    assert not finds("the who", "The Who toured the country")


def test_a_query_takes_no_more_words_than_the_limit():
    assert query_words("word " * 20_000) == ["word"] * 48
    assert query_words("the one two three", limit=2) == ["one", "two"]


def test_long_words_are_cut_alike_in_text_and_query():
    assert query_words("a" * 100_000) == ["a" * 64]
    assert finds("a" * 100_000, "b " + "a" * 70)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("what are the gateway scheduled tasks", "The gateway runs scheduled tasks nightly"),
        ("schedule", "The gateway runs scheduled tasks nightly"),
        ("設備", "設備清單(devices) NAS"),
        ("devices", "設備清單(devices) NAS"),
        ("gen", "重跑gen-itgc后"),
        ("条", "这条记录"),
        ("备份", "每晚备份数据库"),
        ("データ", "顧客データベース"),
        ("ﾃﾞｰﾀ", "顧客データベース"),
        ("데이터베이스", "고객 데이터베이스를 백업한다"),
        ("ฐานข้อมูล", "ระบบฐานข้อมูลหลัก"),
        ("น้ำ", "ดื่มน้ำทุกวัน"),
        ("ຂໍ້ມູນ", "ຖານຂໍ້ມູນ"),
        ("ទិន្នន័យ", "មូលដ្ឋានទិន្នន័យ"),
        ("ဒေတာ", "ဒေတာဘေ့စ်"),
        ("किताब", "मेरी किताब यहाँ है"),
        ("தரவு", "தரவு தளம்"),
        ("قاعدة", "هذه قاعدة البيانات"),
        ("كتاب", "كِتَابٌ جديد"),
        ("كِتَابٌ", "كتاب جديد"),
        ("שלום", "שָׁלוֹם עולם"),
        ("می‌خواهم", "من می‌خواهم بروم"),
        ("naive cafe", "naïve café"),
        ("NAÏVE", "a naive plan"),
        ("cafe\u0301", "caf\u00e9"),
        ("STRASSE", "Hauptstraße straße"),
        ("ＦＵＬＬＷＩＤＴＨ", "fullwidth"),
        ("база", "База данных"),
        ("eu-west-1", "runs in eu-west-1"),
        ("west", "runs in eu-west-1"),
        ("192.168.9.1", "The router is 192.168.9.1"),
        ("168", "The router is 192.168.9.1"),
        ("foo_bar", "call foo_bar() first"),
        ("bar", "call foo_bar() first"),
        ("C++", "written in C++"),
        ("c#", "written in C#"),
        (".net", "runs on .NET"),
        ("v2026.3.24", "release v2026.3.24 is out"),
        ("user@example.com", "ask user@example.com"),
        ("so\u00adft hy\u200dphen", "soft hyphen"),
        ("s\u0336t\u0336r\u0336uck", "struck"),
        ("1\ufe0f\u20e3", "number 1"),
    ],
)
def test_a_query_finds_a_text(query, text):
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("路由器", "数据库"),
        ("设备", "设计准备"),
        ("คน", "ระบบฐานข้อมูลหลัก"),
        ("कि", "की"),
        ("cat", "concatenate"),
    ],
)
def test_a_query_finds_no_other_text(query, text):
    assert not finds(query, text)


@pytest.mark.parametrize("case", cases("hostile_queries"), ids=lambda case: ascii(case[0])[:30])
def test_hostile_queries_are_answered(case):
    query = case[0] * (case[1] if len(case) > 1 else 1)
    assert finds(query, query) is bool(query_words(query))


def test_a_query_without_a_word_matches_nothing():
    assert query_words(' *"(🚀\x00\ud800 ') == []
    assert match_expression([]) == ""


def test_every_word_of_an_expression_is_quoted():
    assert match_expression(["a", 'b"c', "d\x00e", "\ud800"]) == '"a" OR "b""c" OR "de"'
