"""What sessions were given first is held against the signed rows, and mended from them alone."""

from datetime import timedelta

import pytest

from knowledge.types import TrustTier
from memory.injections import checkup, queries, retention
from memory.injections.types import Given
from protoconsole.instance import Instance
from tests.memory.test_injections_chain import append_as_another_program, faults, plainly
from tests.memory.turns import FORUM, NOON, always_on, hit, projected, recorded

pytestmark = pytest.mark.usefixtures("store")

LATER = NOON + timedelta(days=300)
AT_NOON, AT_ONE_PAST = "2026-12-01T12:00:00+00:00", "2026-12-01T12:01:00+00:00"


def given(session_id: str = "chat-1") -> list[Given]:
    return queries.read_before(session_id, LATER)


def wrong(count: int) -> dict[str, str]:
    return {"injections given": f"{count} first deliveries to sessions differ from the rows"}


def two_turns() -> None:
    recorded(projected(always_on(1, "- rule"), hit(2, "- page")))
    recorded(projected(always_on(1, "- rule"), hit(3, "- other", source="notes.md")), minute=1)


TOLD = [
    Given(1, 1, AT_NOON, TrustTier.OPERATOR, None),
    Given(2, 1, AT_NOON, TrustTier.EXTERNAL, FORUM),
    Given(3, 2, AT_ONE_PAST, TrustTier.EXTERNAL, "notes.md"),
]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE pc_injection_given SET tier = 3 WHERE ref = 2",
        "UPDATE pc_injection_given SET tier = NULL WHERE ref = 1",
        "UPDATE pc_injection_given SET source = 'notes.md' WHERE ref = 2",
        "UPDATE pc_injection_given SET at = at + 1 WHERE ref = 3",
        "UPDATE pc_injection_given SET injection_id = 2 WHERE ref = 2",
        "UPDATE pc_injection_given SET injection_id = 9 WHERE ref = 2",
        "DELETE FROM pc_injection_given WHERE ref = 2",
        "INSERT INTO pc_injection_given VALUES ('chat-1', 9, 0, 1, 3, NULL)",
        "INSERT INTO pc_injection_given VALUES ('chat-7', 2, 0, 9, NULL, NULL)",
    ],
)
def test_a_changed_entry_is_counted_and_mended(instance: Instance, change: str) -> None:
    two_turns()
    assert (faults(), sorted(given(), key=lambda one: one.injection_id)) == ({}, TOLD)
    plainly(instance, change)
    assert faults() == wrong(1)

    checkup.repair()

    assert (faults(), given(), given("chat-7")) == ({}, TOLD, [])


def test_a_lost_table_is_told_anew_also_for_another_program(instance: Instance) -> None:
    two_turns()
    append_as_another_program(instance)
    assert faults() == {}
    plainly(instance, "DELETE FROM pc_injection_given")
    assert faults() == wrong(5)

    checkup.repair()

    assert given() == TOLD
    assert given("chat-9") == [Given(ref, 3, AT_NOON, None, None) for ref in (3, 5)]


def test_what_pruned_rows_gave_stays(instance: Instance) -> None:
    recorded(projected(hit(2, "- page")))
    recorded(projected(hit(2, "- page"), hit(3, "- other")), now=LATER - timedelta(minutes=1))
    while retention.prune(NOON + timedelta(days=366)):
        pass
    assert faults() == {}
    plainly(instance, "DELETE FROM pc_injection_given WHERE ref = 3")

    checkup.repair()

    assert faults() == {}
    assert [(one.ref, one.injection_id, one.source) for one in given()] == [(2, 1, FORUM), (3, 2, FORUM)]


def test_rows_that_are_not_proven_do_not_rewrite_the_evidence(instance: Instance) -> None:
    two_turns()
    plainly(instance, "UPDATE injections SET rag_chunk_ids = '[]', pc_blocks = x'' WHERE id = 1")

    checkup.repair()

    assert given() == TOLD
    assert "injections given" not in faults()


def test_of_a_turn_whose_words_are_gone_the_ids_are_told_and_the_rest_stays(instance: Instance) -> None:
    two_turns()
    plainly(instance, "DELETE FROM pc_texts", "DELETE FROM pc_injection_given WHERE ref = 3")
    assert faults().keys() == {"injected texts", "injections given"}

    checkup.repair()

    assert faults().keys() == {"injected texts"}
    assert given() == [*TOLD[:2], Given(3, 2, AT_ONE_PAST, None, None)]
