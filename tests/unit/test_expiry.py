from datetime import UTC, datetime

import pytest

from knowledge.errors import Invalid
from knowledge.expiry import expiry_from

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1", "2026-06-02T12:00:00+00:00"),
        (" 30 ", "2026-07-01T12:00:00+00:00"),
        ("3650", "2036-05-29T12:00:00+00:00"),
        ("", None),
        ("  ", None),
        ("2027-01-31", "2027-01-31"),
        ("20270131", "20270131"),
        ("tomorrow", "tomorrow"),
    ],
)
def test_reads_days_and_passes_on_what_is_no_number(text: str, moment: str | None) -> None:
    assert expiry_from(text, NOW) == moment


@pytest.mark.parametrize("text", ["0", "3651", "9999", "0000"])
def test_refuses_days_out_of_range(text: str) -> None:
    with pytest.raises(Invalid, match="1 to 3650"):
        expiry_from(text, NOW)
