import json
import re

from hypothesis import given
from hypothesis import strategies as st

from memory.keeping import kept_json, kept_text
from memory.own_blocks import NAMES, strip_own_blocks
from memory.redaction import redact
from memory.surfaces import MAX_TOPIC_CHARS, topic_of
from memory.types import SpokenMessage

TAGS = [f"<{slash}{name}>" for slash in ("", "/") for name in (*NAMES, "Injected_Memory")]
SHARDS = ["<", ">", "/", "<injected", "_memory>", "working_state>", "<working_state", " ", "\n", "a", "…"]
SECRETS = [
    "sk-a1B2c3D4e5F6g7H8i9J0", "password=", "hunter2", "token: ", '"', "'", "Bearer ", "://", "ann:pw@", "eyJ",
    "eyJhbGciOiJIUzI1NiJ9.", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "[redacted]", ".", " ",
    "\n", "x", "AKIAIOSFODNN7EXAMPLE", "\\", "&", "=", ":",
]  # fmt: skip
OWN_TAG = re.compile(rf"(?i)<\s*/?\s*(?:{'|'.join(NAMES)})\s*>", re.ASCII)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def pasted(*fragments: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(fragments), max_size=30).map("".join)


@given(pasted(*TAGS, *SHARDS))
def test_no_tag_of_ours_is_left_and_nothing_more_goes_the_second_time(text: str) -> None:
    once = strip_own_blocks(text)
    assert not OWN_TAG.search(once)
    assert strip_own_blocks(once) == once


@given(st.lists(st.tuples(st.integers(0, 999), st.sampled_from(NAMES))), pasted("x", "\n", "<b>", "`"))
def test_words_outside_of_our_blocks_stay_in_order(parts: list[tuple[int, str]], inner: str) -> None:
    text = " ".join(f"{word} <{name}>{inner}</{name}>" for word, name in parts)
    assert strip_own_blocks(text).split() == [str(word) for word, _ in parts]


@given(pasted(*SECRETS))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.text(st.characters(categories=["Ll", "Lu", "Zs", "Nd"])))
def test_words_and_numbers_alone_are_no_credentials(text: str) -> None:
    assert redact(text) == text


@given(pasted("a1", "Zx", "9", "b"), st.text("abc \n.,;()", max_size=20))
def test_a_key_is_hidden_whatever_stands_around_it(random: str, around: str) -> None:
    secret = f"sk-7{random}{'k' * 16}"
    assert secret not in redact(f"{around} {secret} {around}")


@given(st.text() | pasted(*TAGS, *SHARDS, *SECRETS, "<think>", "</think>", "`"))
def test_a_text_that_is_kept_can_be_stored_and_holds_no_tag_of_ours(text: str) -> None:
    kept = kept_text(text)
    kept.encode()
    assert "\x00" not in kept
    assert not OWN_TAG.search(kept)


@given(JSON)
def test_what_json_can_hold_stays_what_json_can_hold(value: object) -> None:
    json.dumps(kept_json(value), allow_nan=False, ensure_ascii=False).encode()


def test_a_value_of_any_depth_is_cut_and_a_secret_field_is_hidden() -> None:
    deep: object = "x"
    for _ in range(500):
        deep = [deep]
    assert json.dumps(kept_json(deep)).count("[") == 12
    assert kept_json({"password": "hunter2", "tokens": 15, "q": "ok"}) == {
        "password": "[redacted]", "tokens": 15, "q": "ok",
    }  # fmt: skip


@given(st.text())
def test_a_topic_is_short_and_one_line(text: str) -> None:
    topic = topic_of([SpokenMessage("assistant", "never this"), SpokenMessage("user", text)])
    assert len(topic) <= MAX_TOPIC_CHARS
    assert topic == " ".join(topic.split())
