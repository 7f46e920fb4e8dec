from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from knowledge.facts import Match, best, judge, probes, tokens

WORD_SETS = st.frozensets(st.sampled_from("abcdefghijklmnopqrst"), max_size=16)
FREQUENCIES = st.dictionaries(st.sampled_from("abcdefghijklmnopqrst"), st.integers(0, 9))
FACTS = st.lists(
    st.sampled_from(["red", "green", "blue", "port", "host", "is", "not", "5", "6", "v1.2"]), max_size=8
).map(" ".join)


@given(WORD_SETS, WORD_SETS, FREQUENCIES)
def test_whatever_overlaps_enough_is_found_under_a_probe(a, b, frequency):
    if a and Fraction(len(a & b), len(a | b)) >= Fraction(3, 5):
        chosen = probes(a, lambda word: frequency.get(word, 0))
        assert any(probe.token in b and probe.least <= len(b) <= probe.most for probe in chosen)


@given(WORD_SETS, FREQUENCIES)
def test_probes_are_the_rarest_words_and_not_all_of_them(words, frequency):
    chosen = [probe.token for probe in probes(words, lambda word: frequency.get(word, 0)) if words]
    rest = words - set(chosen)
    assert len(chosen) <= len(words) * 2 // 5 + 1
    assert all(frequency.get(p, 0) <= frequency.get(r, 0) for p in chosen for r in rest)


@given(FACTS, st.lists(FACTS, max_size=12))
def test_narrowing_loses_no_best_match(new, old):
    stored = list(enumerate(old))
    words = tokens(new)
    chosen = probes(words, lambda word: sum(word in tokens(text) for text in old))
    narrowed = [
        (row_id, text)
        for row_id, text in stored
        if any(
            probe.least <= len(tokens(text)) <= probe.most and (probe.token in tokens(text) or not words)
            for probe in chosen
        )
    ]
    assert best(new, narrowed) == best(new, stored)


@given(FACTS, st.lists(FACTS, max_size=12))
def test_the_best_match_has_the_highest_overlap_of_all(new, old):
    found = best(new, enumerate(old))
    highest = max((judge(new, text).score for text in old), default=0.0)
    assert (found[1].score if found else 0.0) == (highest if highest >= 0.6 else 0.0)


@given(st.text(), st.text())
def test_judging_is_total_and_symmetric(a, b):
    assert judge(a, b) == judge(b, a)
    assert judge(a, a).match is Match.DUPLICATE
    assert 0.0 <= judge(a, b).score <= 1.0
