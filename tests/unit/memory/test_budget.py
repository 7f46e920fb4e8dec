import pytest

from memory.budget import Step, ceiling_chars, needed, overflow, skills_ceiling_chars
from memory.types import Part, Shed


@pytest.mark.parametrize(
    ("window", "pct", "ceiling"),
    [
        (None, 8, None),
        (128_000, 0, None),
        (128_000, 8, 40_960),
        (200_000, 8, 64_000),
        (50_000, 8, 16_000),
        (49_999, 8, 16_000),
        (8_000, 8, 16_000),
        (100_001, 8, 32_000),  # 32,000.32
        (128_000, 100, 512_000),
        (1_000_000, 0.5, 20_000),
    ],
)
def test_the_ceiling_is_a_part_of_the_window_and_never_below_the_least(window, pct, ceiling):
    assert ceiling_chars(window, pct) == ceiling


@pytest.mark.parametrize(("window", "ceiling"), [(None, 8_192), (128_000, 10_240), (8_000, 640)])
def test_playbooks_have_a_ceiling_of_their_own(window, ceiling):
    assert skills_ceiling_chars(window) == ceiling


STEPS = [
    Step(Part.HITS, 30),
    Step(Part.HITS, 50),
    Step(Part.PRIOR_SESSIONS, 20),
    Step(Part.AVAILABLE_SKILLS, 5),
]


@pytest.mark.parametrize(
    ("used", "ceiling", "count"),
    [(100, 100, 0), (101, 100, 1), (130, 100, 1), (131, 100, 2), (180, 100, 2), (200, 100, 3), (900, 100, 4)],
)
def test_steps_are_taken_one_at_a_time_until_the_text_fits(used, ceiling, count):
    assert needed(used, ceiling, STEPS) == STEPS[:count]


def test_without_a_ceiling_nothing_is_given_up():
    assert needed(10**9, None, STEPS) == []


def test_the_overflow_sums_up_by_part_in_the_order_of_giving():
    assert overflow(STEPS) == [
        Shed(Part.HITS, 2, 80),
        Shed(Part.PRIOR_SESSIONS, 1, 20),
        Shed(Part.AVAILABLE_SKILLS, 1, 5),
    ]
