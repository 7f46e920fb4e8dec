from knowledge.diffs import Change, DiffPart
from knowledge.excerpts import AROUND, MOST, Excerpt, excerpts

LONG = "word " * 400  # 2,000 characters
OLD, NEW = DiffPart(Change.REMOVED, "old "), DiffPart(Change.ADDED, "new ")


def same(text: str) -> DiffPart:
    return DiffPart(Change.SAME, text)


def test_a_short_diff_stays_whole() -> None:
    assert excerpts([same("one "), OLD, NEW]) == [
        Excerpt(Change.SAME, "one "),
        Excerpt(Change.REMOVED, "old "),
        Excerpt(Change.ADDED, "new "),
    ]


def test_only_the_words_around_a_change_stay() -> None:
    first, _, _, last = excerpts([same(LONG), OLD, NEW, same(LONG)])

    assert first == Excerpt(Change.SAME, "", 2_000 - AROUND, LONG[-AROUND:])
    assert last == Excerpt(Change.SAME, LONG[:AROUND], 2_000 - AROUND, "")


def test_between_two_changes_both_ends_stay() -> None:
    middle = excerpts([OLD, same(LONG), NEW])[1]

    assert middle == Excerpt(Change.SAME, LONG[:AROUND], 2_000 - 2 * AROUND, LONG[-AROUND:])


def test_a_gap_too_short_to_be_worth_it_is_not_left_out() -> None:
    near = "word " * 65  # 325 characters: 85 more than both ends keep

    assert excerpts([OLD, same(near), NEW])[1] == Excerpt(Change.SAME, near)


def test_a_long_change_loses_its_middle() -> None:
    half = "x" * (MOST // 2)

    assert excerpts([DiffPart(Change.ADDED, "x" * 10_000)]) == [
        Excerpt(Change.ADDED, half, 10_000 - MOST, half)
    ]


def test_a_long_text_that_did_not_change_is_shortened() -> None:
    assert excerpts([same(LONG)]) == [Excerpt(Change.SAME, LONG[:AROUND], 2_000 - 2 * AROUND, LONG[-AROUND:])]
