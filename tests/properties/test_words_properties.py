import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.stop_words import STOP_WORDS
from knowledge.search.words import TOKENIZER, index_text, match_expression, query_words, snippet
from knowledge.types import MARK_CLOSE, MARK_OPEN

ANY_TEXT = st.text(st.characters(exclude_categories=()))
WORDY_TEXT = st.lists(
    st.sampled_from(
        ["the", "running", "設備", "ฐานข้อมูล", "किताब", "데이터", "e\u0301", " ", "-", "\u200d", "\n", "ｶﾞ"]
    )
    | st.text(max_size=3)
).map("".join)


@pytest.fixture(scope="module")
def found() -> Iterator[Callable[[str, str], bool]]:
    with closing(sqlite3.connect(":memory:")) as store:
        store.execute(f'CREATE VIRTUAL TABLE found USING fts5(text, tokenize="{TOKENIZER}")')

        def ask(expression: str, text: str) -> bool:
            store.execute("DELETE FROM found")
            store.execute("INSERT INTO found VALUES (?)", (text,))
            rows = (
                store.execute("SELECT 1 FROM found WHERE found MATCH ?", (expression,)) if expression else ()
            )
            return bool(list(rows))

        yield ask


@given(ANY_TEXT | WORDY_TEXT)
def test_every_text_with_a_word_finds_itself(found, text):
    words = query_words(text)
    assert bool(words) is bool(index_text(text))
    assert found(match_expression(words), index_text(text)) is bool(words)


@given(st.lists(ANY_TEXT, max_size=5))
def test_any_words_make_an_expression_that_sqlite_reads(found, words):
    found(match_expression(words), "anything")


@given(WORDY_TEXT, WORDY_TEXT)
def test_a_text_is_found_by_any_part_of_it_between_blanks(found, part, rest):
    words = [word for word in query_words(part) if word not in STOP_WORDS]
    assert found(match_expression(words), index_text(f"{rest} {part} {rest}")) is bool(words)


@given(ANY_TEXT | WORDY_TEXT, WORDY_TEXT, st.integers(5, 60))
def test_a_snippet_is_a_part_of_the_text_within_its_width(text, query, width):
    plain = text.replace(MARK_OPEN, "").replace(MARK_CLOSE, "")
    shown = snippet(text, query_words(query), width).replace(MARK_OPEN, "").replace(MARK_CLOSE, "")
    assert len(shown) <= width
    if len(plain) <= width:
        assert shown == plain
    else:
        assert shown.removeprefix("…").removesuffix("…") in plain


@given(ANY_TEXT | WORDY_TEXT, WORDY_TEXT, st.integers(5, 60))
def test_marks_come_in_pairs_and_are_never_nested(text, query, width):
    marks = [char for char in snippet(text, query_words(query), width) if char in MARK_OPEN + MARK_CLOSE]
    assert marks == [MARK_OPEN, MARK_CLOSE] * (len(marks) // 2)
