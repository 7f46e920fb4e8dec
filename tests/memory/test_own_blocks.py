import time

import pytest

from memory.own_blocks import strip_own_blocks


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("What <injected_memory>a\nb</injected_memory> now?", "What  now?"),
        ("<available_skills>x</available_skills>\n\nHello", "Hello"),
        ("Hello\n<working_state>x</working_state>", "Hello"),
        ("<Injected_MEMORY>x</INJECTED_memory>Hello", "Hello"),
        ("Hello <injected_memory>never closed, to the end", "Hello"),
        ("<injected_memory>a<injected_memory>b</injected_memory>c</injected_memory>d", "d"),
        ("<injected_memory>a<working_state>b</working_state>c</injected_memory>d", "d"),
        ("<working_state>a</injected_memory>b</working_state>c", "c"),
        ("< working_state >a</ working_state >b", "b"),
        ("`<injected_memory>quoted</injected_memory>`", "``"),
        ("left over</injected_memory> tail", "left over tail"),
        ("<injected_memory>only</injected_memory>", ""),
    ],
)
def test_our_blocks_go_and_the_rest_stays(text: str, left: str) -> None:
    assert strip_own_blocks(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  kept as it is \n",
        "<b>bold</b> & <prior>",
        "injected_memory",
        "<injected_memory_x>y",
        "a < b > c",
    ],
)
def test_other_text_is_untouched(text: str) -> None:
    assert strip_own_blocks(text) == text


def test_what_is_left_never_reads_as_a_new_block() -> None:
    text = "<injected_<working_state>x</working_state>memory>words of the user"
    assert strip_own_blocks(text) == "<injected_…memory>words of the user"


@pytest.mark.parametrize(
    "piece", ["<", "< ", "</", "<injected_memory", "<injected_memory>", "</working_state>"]
)
def test_the_work_grows_with_the_length_and_not_faster(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        began = time.process_time()
        strip_own_blocks(text)
        return time.process_time() - began

    assert seconds(400_000) < 9 * max(min(seconds(100_000) for _ in range(3)), 0.01)
