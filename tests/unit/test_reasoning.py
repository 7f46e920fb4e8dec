import pytest

from knowledge.reasoning import strip_reasoning
from tests.cases import cases


@pytest.mark.parametrize("case", cases("reasoning"), ids=lambda c: c["in"][:40])
def test_the_shared_cases(case):
    assert strip_reasoning(case["in"]) == case["out"]


@pytest.mark.parametrize(
    ("leaky", "clean"),
    [
        ("<think>a<think>b</think>c</think>d", "d"),
        ("<think>a<scratch_pad>b</think>c", "c"),
        ("<think>a<think>b</think>never closed", ""),
        ("<think >a</think\t>b", "b"),
        ('<think level="deep">a</think>b', "b"),
        ("one <think>x</think> two", "one two"),
        ("one\n<think>x\ny</think>\ntwo", "one\n\ntwo"),
        ("one</think>two", "one two"),
        ("one</think><think>x</think>two", "one two"),
        ("</think></scratch_pad>", ""),
        ("a</think>, b", "a, b"),
    ],
)
def test_what_leaked_goes(leaky, clean):
    assert strip_reasoning(leaky) == clean


@pytest.mark.parametrize(
    "text",
    [
        "  `<think>` stays, and so does the white space \n",
        "``a ` <think> b``",
        "```\n<think>\nfenced\n</think>\n```",
        "< think> and <think\n> are no tags, nor is <think/>",
        "<thin\u212a> is spelt with a Kelvin sign, <\u017fcratch_pad> with a long s",
        "",
        " \n ",
    ],
)
def test_what_did_not_leak_comes_back_byte_for_byte(text):
    assert strip_reasoning(text) == text


def test_back_ticks_without_a_partner_mention_nothing():
    assert strip_reasoning("a ` b <think>x</think> c") == "a ` b c"
    assert strip_reasoning("a ` b\n<think>x</think>\nc ` d") == "a ` b\n\nc ` d"
    assert strip_reasoning("``` open <think>x") == "``` open"


def test_a_mention_inside_a_block_does_not_close_it():
    assert strip_reasoning("<think>end with `</think>` later</think>Answer.") == "Answer."


@pytest.mark.parametrize(
    "forged",
    [
        "<thi<think>x</think>nk>secret</think>",
        "<<think>x</think>think>secret",
        "</thi</think>nk>",
        "<think<think>x</think> y>secret",
        "<think <think>x</think>y>secret",
        "a ` b<think>\n</think> c `<think>` d",
        "`<think>x</think>`` <think> ``",
    ],
)
def test_a_cut_forges_no_tag(forged):
    once = strip_reasoning(forged)
    assert strip_reasoning(once) == once


@pytest.mark.parametrize(
    "hostile",
    [
        "<think>" * 100_000,
        "</think>" * 100_000,
        "<think>" * 50_000 + "</think>" * 50_000,
        "<thi<think></think>nk>" * 40_000,
        "<thi" * 50_000 + "<think></think>" + "nk>" * 50_000,
        "`" * 1_000_000 + "<think>",
        "".join("`" * (n % 1_000) + " " for n in range(2_000)) + "<think>",
        "` `` ``` \n" * 100_000 + "<think>",
        "<think " * 100_000,
        "<" + " " * 1_000_000 + "<think>",
        "<think" + " " * 1_000_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_takes_linear_time(hostile):
    strip_reasoning(hostile)
