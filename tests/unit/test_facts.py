import pytest

from knowledge.facts import Judgement, Match, best, carries_value, judge, probes, tokens
from tests.cases import cases

OUTCOME = {Match.DUPLICATE: "skipped", Match.REVISION: "superseded"}


@pytest.mark.parametrize("case", cases("facts"), ids=lambda c: c["new"][:50])
def test_the_shared_cases(case):
    found = best(case["new"], enumerate(case["have"]))
    assert (OUTCOME[found[1].match] if found else "added") == case["expect"]


def test_words_are_lower_case_with_their_apostrophes():
    assert tokens("The user's PORT, the port: 8443!") == {"the", "user's", "port", "8443"}
    assert tokens("don’t") == {"don't"}
    assert tokens(" -- ") == frozenset()


def test_overlap_is_shared_words_over_all_words():
    assert judge("ant bee cat", "bee cat dog").score == 0.5
    assert judge("ant", "--").score == 0.0
    assert judge("--", "::").score == 0.0


@pytest.mark.parametrize(
    "word",
    [
        "7",
        "v2",
        "½",
        "五",
        "five",
        "seventh",
        "dozen",
        "not",
        "never",
        "without",
        "don't",
        "can't",
        "cannot",
        "nicht",
        "monday",
        "mondays",
        "friday's",
        "tue",
        "may",
        "december",
        "hours",
        "ms",
        "gb",
        "gigabytes",
        "percent",
        "b",
    ],
)
def test_words_that_carry_a_value(word):
    assert carries_value(frozenset({"the", word}))


@pytest.mark.parametrize(
    "word",
    ["the", "a", "i", "router", "note", "knot", "maybe", "user's", "'quoted'", "nonetheless", "secondary"],
)
def test_words_that_carry_none(word):
    assert not carries_value(frozenset({word}))


def test_no_difference_carries_no_value():
    assert not carries_value(frozenset())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The router is 192.168.7.1", "The router is 192.168.9.1"),
        ("The office router answers on 192.168.7.1", "The office router answers on 192.168.1.7"),
        ("The api in use is v2.1", "The api in use is v2.2"),
        ("The offset is -5", "The offset is 5"),
        ("The quota is 1,000", "The quota is 1.000"),
        ("Scale from 2 to 3", "Scale from 3 to 2"),
        ("The share is 5", "The share is 5%"),
        ("The price is 5 €", "The price is 5 $"),
        ("Move it from Monday to Friday", "Move it from Friday to Monday"),
        ("The threshold is .5", "The threshold is 5"),
        ("x < y holds for the whole run", "x > y holds for the whole run"),
        ("The parser is written in C", "The parser is written in C++"),
        ("यह कि है", "यह की है"),
    ],
)
def test_a_changed_value_is_never_a_repeat(old, new):
    assert judge(new, old).match is not Match.DUPLICATE
    assert judge(old, new).match is not Match.DUPLICATE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The router is (192.168.7.1).", "the ROUTER is 192.168.7.1"),
        ("Backups start at 02:00, daily", "Backups start at 02:00 daily."),
        ("We don't ship", "We don’t ship!"),
        ("cafe\u0301 opens", "caf\u00e9 opens"),
        ("🚀", " 🚀 "),
        ("", ""),
    ],
)
def test_case_and_punctuation_around_words_do_not_matter(old, new):
    assert judge(new, old) == Judgement(Match.DUPLICATE, 1.0)


def words(*numbers: int) -> str:
    return " ".join(f"word{'abcdefghijklmnopqrstuvwxyz'[number]}" for number in numbers)


def test_the_floors_belong_to_their_band():
    assert judge(words(*range(17)), words(*range(20))).match is Match.DUPLICATE  # 17 / 20 = 0.85
    assert judge(words(*range(16)), words(*range(19))).match is Match.REVISION  # 16 / 19 = 0.842
    assert judge(words(*range(3)), words(*range(5))).match is Match.REVISION  # 3 / 5 = 0.6
    assert judge(words(*range(4)), words(*range(7))).match is Match.NONE  # 4 / 7 = 0.571


def test_a_near_text_with_another_value_is_a_revision():
    verdict = judge(words(*range(18)) + " five", words(*range(18)) + " three")
    assert verdict == Judgement(Match.REVISION, 18 / 20)


def test_texts_without_words_match_only_themselves():
    assert judge("🚀", "🔥") == Judgement(Match.NONE, 0.0)


def test_the_best_match_is_the_nearest_then_a_repeat_then_the_newest():
    assert (
        best("alpha beta gamma", [(1, "alpha beta gamma delta"), (2, "alpha beta gamma epsilon zeta")])[0]
        == 1
    )
    assert best("alpha beta gamma", [(1, "alpha beta gamma delta"), (3, "alpha beta gamma epsilon")])[0] == 3
    assert best("from 2 to 3", [(5, "from 2 to 3"), (9, "from 3 to 2")]) == (
        5,
        Judgement(Match.DUPLICATE, 1.0),
    )
    assert best("alpha beta", [(1, "gamma delta")]) is None
    assert best("alpha", []) is None


@pytest.mark.parametrize(
    ("n", "sizes"),
    [
        (0, [(0, 0)]),
        (1, [(1, 1)]),
        (5, [(3, 8), (3, 5), (3, 3)]),
        (9, [(6, 15), (6, 12), (6, 9), (6, 7)]),
    ],
)
def test_sizes_to_look_for_under_each_probe(n, sizes):
    words = frozenset("abcdefghi"[:n])
    assert [(probe.least, probe.most) for probe in probes(words, lambda word: 1)] == sizes
