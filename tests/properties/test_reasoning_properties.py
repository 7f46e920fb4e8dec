import re

from hypothesis import given
from hypothesis import strategies as st

from knowledge.reasoning import strip_reasoning

TAGS = ["<think>", "</think>", "<scratch_pad>", "</Scratch_Pad>", "<THINK a>", "</think >"]
SHARDS = ["<", ">", "/", "<thi", "nk>", "think>", "<think", "</", "_pad>", " ", "\n", "a", "b<", "\t"]
TICKS = ["`", "``", "```", "````"]
A_TAG = re.compile(r"(?i)</?(?:think|scratch_pad)(?: a| )?>", re.ASCII)


def pasted(*fragments: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(fragments), max_size=30).map("".join)


@given(pasted(*TAGS, *SHARDS, *TICKS))
def test_stripping_twice_is_stripping_once(text):
    once = strip_reasoning(text)
    assert strip_reasoning(once) == once


@given(pasted(*TAGS, *SHARDS))
def test_without_back_ticks_no_tag_is_left(text):
    assert not A_TAG.search(strip_reasoning(text))


@given(st.text().filter(lambda text: "<" not in text) | pasted(*SHARDS[4:6], *TICKS, "<thinking>", " "))
def test_text_without_tags_is_untouched(text):
    assert strip_reasoning(text) == text


@given(st.lists(st.tuples(st.integers(0, 999), st.booleans())), pasted("x", "\n", "<scratch_pad>", " y "))
def test_words_outside_closed_blocks_stay_in_order(parts, inner):
    text = " ".join(f"<think>{inner}</think> {word}" if leak else str(word) for word, leak in parts)
    assert strip_reasoning(text).split() == [str(word) for word, _ in parts]


@given(st.lists(st.integers(0, 999)), st.lists(st.integers(0, 999)))
def test_words_before_an_open_block_stay_and_those_after_it_go(before, after):
    text = " ".join([*map(str, before), "<think>", *map(str, after)])
    assert strip_reasoning(text).split() == [str(word) for word in before]
