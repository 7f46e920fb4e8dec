import pytest

from knowledge import diffs


def word_diff(old, new):
    return [(part.change, part.text) for part in diffs.word_diff(old, new)]


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("", "", []),
        ("same text", "same text", [("same", "same text")]),
        ("", "all new", [("added", "all new")]),
        ("all gone", "", [("removed", "all gone")]),
        (
            "The job starts at 02:00 UTC",
            "The job starts at 03:00 UTC",
            [("same", "The job starts at"), ("removed", " 02"), ("added", " 03"), ("same", ":00 UTC")],
        ),
        (
            "the server allows pushes",
            "the server never allows pushes",
            [("same", "the server"), ("added", " never"), ("same", " allows pushes")],
        ),
        ("a b c d", "a x y d", [("same", "a"), ("removed", " b c"), ("added", " x y"), ("same", " d")]),
        ("每晚备份", "每周备份", [("same", "每"), ("removed", "晚"), ("added", "周"), ("same", "备份")]),
        ("end\n", "end", [("same", "end"), ("removed", "\n")]),
    ],
)
def test_words_that_changed_are_told(old, new, parts):
    assert word_diff(old, new) == parts


def test_where_words_differ_too_much_lines_are_compared():
    old = "".join(f"kept line {n}\n{'old words ' * 20}\n" for n in range(200))
    new = "".join(f"kept line {n}\n{'fresh text ' * 20}\n" for n in range(200))
    assert word_diff(old, new)[:4] == [
        ("same", "kept line 0\n"),
        ("removed", "old words " * 20 + "\n"),
        ("added", "fresh text " * 20 + "\n"),
        ("same", "kept line 1\n"),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a " * 50_000, "b " * 50_000),
        ("a b " * 25_000, "b a c " * 17_000),
        ("a\n" * 50_000, "b\na\n" * 25_000),
        ("a" * 100_000, "b" * 100_000),
        (" ".join(map(str, range(17_000))), " ".join(map(str, range(17_000, 0, -1)))),
        (" " * 100_000, "\n" * 100_000),
        ("設備" * 50_000, "備設" * 50_000),
    ],
    ids=range(7),
)
def test_long_texts_are_compared_coarsely_rather_than_for_ever(old, new):
    parts = word_diff(old, new)
    assert "".join(text for change, text in parts if change != "added") == old
    assert "".join(text for change, text in parts if change != "removed") == new


def test_a_small_edit_of_a_long_text_is_still_told_by_the_word():
    words = [f"word{n}" for n in range(15_000)]
    edited = [*words[:100], "early", *words[101:14_000], "late", *words[14_000:]]
    changed = [part for part in word_diff(" ".join(words), " ".join(edited)) if part[0] != "same"]
    assert changed == [("removed", " word100"), ("added", " early"), ("added", " late")]
