from datetime import UTC, datetime, timedelta, timezone

import pytest

from knowledge.times import in_days, parse_iso, to_iso

NOON = datetime(2026, 3, 24, 12, 0, tzinfo=UTC)


def test_a_moment_is_written_in_utc_with_its_offset():
    assert to_iso(NOON.astimezone(timezone(timedelta(hours=2)))) == "2026-03-24T12:00:00+00:00"


def test_a_naive_moment_is_utc():
    assert to_iso(datetime(2026, 3, 24, 12, 0)) == "2026-03-24T12:00:00+00:00"  # noqa: DTZ001


def test_microseconds_are_kept():
    assert to_iso(NOON.replace(microsecond=7)) == "2026-03-24T12:00:00.000007+00:00"


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-24T12:00:00+00:00",
        "2026-03-24T12:00:00Z",
        "2026-03-24t12:00:00z",
        "2026-03-24 12:00:00",
        "2026-03-24T12:00",
        "2026-03-24T14:00:00+02:00",
        "2026-03-24T12:00:00.000Z",
        "  2026-03-24T12:00:00.000000000+00:00\n",
    ],
)
def test_every_usual_spelling_is_read(text):
    assert parse_iso(text) == NOON


def test_a_date_alone_is_its_first_moment():
    assert parse_iso("2026-03-24") == datetime(2026, 3, 24, tzinfo=UTC)


def test_a_fraction_is_read():
    assert parse_iso("2026-03-24T12:00:00.25Z") == NOON.replace(microsecond=250_000)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "soon",
        "2026-13-01",
        "2026-02-30T00:00:00Z",
        "99999-01-01",
        "0000-01-01",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-03-24T12:00:00+99:00",
        "\ud800",
        "24 March 2026\x00",
        "1774353600",
    ],
)
def test_what_is_no_moment_is_none(text):
    assert parse_iso(text) is None


def test_in_days_counts_from_now_in_utc():
    assert in_days(NOON, 30) == datetime(2026, 4, 23, 12, 0, tzinfo=UTC)
    assert in_days(NOON.replace(tzinfo=None), 1) == NOON + timedelta(days=1)
