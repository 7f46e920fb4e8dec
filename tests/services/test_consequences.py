"""What one change means for other rows: proposals, predecessors, the stamp for older programs, undo."""

import sqlite3
from contextlib import closing

import pytest
from pytest_django.fixtures import Settings

from knowledge import audit, catch_up, queries, services
from knowledge.adoption import Opening
from knowledge.errors import Conflict, Forbidden
from knowledge.facets import facets
from knowledge.types import (
    REJECTED_REASON,
    Chunk,
    ChunkQuery,
    Edit,
    Link,
    NewChunk,
    Outcome,
    Policy,
    Relation,
    State,
    Verdict,
)
from protoconsole.databases import KNOWLEDGE, fetch
from protoconsole.instance import Instance, load_instance
from tests.actors import AGENT, OPERATOR, PLUGIN, VIEWER

pytestmark = pytest.mark.usefixtures("store")

NEVER = "The user must never push directly to the main branch of the repository"
ALWAYS = "The user may always push directly to the main branch of the repository"


def fact(text: str, by: object = AGENT, **more: object) -> Chunk:
    chunk = services.remember(NewChunk(text, domain="fact", **more), by).chunk  # type: ignore[arg-type]
    assert chunk is not None
    return chunk


def proposal() -> tuple[Chunk, Chunk]:
    """A fact that an operator wrote, and an agent's proposal against it."""
    standing = services.add(NewChunk(NEVER, domain="fact"), OPERATOR).chunk
    assert standing is not None
    return standing, fact(ALWAYS)


def now(chunk: Chunk) -> Chunk:
    return queries.get(chunk.id, OPERATOR)


def valid() -> set[str]:
    return {chunk.content for chunk in queries.browse(ChunkQuery(deliverable=True), OPERATOR).items}


class TestProposals:
    def test_editing_one_makes_it_take_effect(self) -> None:
        standing, proposed = proposal()

        revision = services.edit(proposed.id, Edit(content=ALWAYS + " of docs"), OPERATOR)

        assert valid() == {ALWAYS + " of docs"}
        assert now(standing).superseded_by == revision.id

    def test_editing_a_rejected_one_changes_nothing_else(self) -> None:
        standing, proposed = proposal()
        services.review(proposed.id, Verdict.REJECTED, OPERATOR)

        revision = services.edit(proposed.id, Edit(content=ALWAYS + " of docs"), OPERATOR)

        assert valid() == {NEVER}
        assert queries.link_of(revision.id) == Link(Relation.PROPOSES, standing.id)

    def test_confirming_a_forgotten_one_replaces_nothing(self) -> None:
        standing, proposed = proposal()
        services.forget(proposed.id, AGENT)

        services.review(proposed.id, Verdict.CONFIRMED, OPERATOR)

        assert now(standing).valid

    def test_confirming_a_lapsed_one_replaces_nothing(self) -> None:
        standing, proposed = proposal()
        services.edit(proposed.id, Edit(expires_at="2020-01-01"), OPERATOR)

        services.review(proposed.id, Verdict.CONFIRMED, OPERATOR)

        assert now(standing).valid

    def test_rejecting_one_that_was_edited_since_brings_nothing_back(self) -> None:
        standing, proposed = proposal()
        services.review(proposed.id, Verdict.CONFIRMED, OPERATOR)
        services.edit(proposed.id, Edit(content=ALWAYS + " of docs"), OPERATOR)

        services.review(proposed.id, Verdict.REJECTED, OPERATOR)

        assert now(standing).state is State.SUPERSEDED
        assert valid() == {ALWAYS + " of docs"}

    def test_one_that_resembles_something_rejected_keeps_both_links(self) -> None:
        standing, _ = proposal()
        rejected = fact("alpha beta gamma delta epsilon zeta eta theta")
        services.review(rejected.id, Verdict.REJECTED, OPERATOR)
        fetch(
            KNOWLEDGE,
            "INSERT INTO pc_links VALUES (?, 'resembles_rejected', ?)",
            (fact("x y z").id, rejected.id),
        )
        both = fact("The user may sometimes push directly to the main branch of the repository")

        assert queries.link_of(both.id) == Link(Relation.PROPOSES, standing.id)


class TestPredecessors:
    def test_rejecting_an_agent_s_revision_brings_the_old_fact_back(self) -> None:
        old = fact("The nightly backup job starts at 02:00 UTC and keeps fourteen copies")
        new = fact("The nightly backup job starts at 03:00 UTC and keeps fourteen copies")

        services.review(new.id, Verdict.REJECTED, OPERATOR)
        assert now(old).valid

        services.review(new.id, Verdict.CONFIRMED, OPERATOR)
        assert now(old).superseded_by == new.id

    def test_rejecting_an_operator_s_revision_does_not(self) -> None:
        old = fact("The port is 1")
        new = services.edit(old.id, Edit(content="The port is 2"), OPERATOR)

        services.review(new.id, Verdict.REJECTED, OPERATOR)

        assert now(old).superseded_by == new.id

    def test_a_bulk_rejection_brings_all_of_them_back(self) -> None:
        texts = (
            "The printer in the cellar takes {} sheets",
            "Our gateway restarts every {} mornings",
            "Coffee comes from shop {} near Leith",
        )
        olds = [fact(text.format(4)) for text in texts]
        news = [fact(text.format(5)) for text in texts]
        query = ChunkQuery(ids=tuple(chunk.id for chunk in news))
        from knowledge.facets import selection_of

        services.review_matching(selection_of(query), Verdict.REJECTED, OPERATOR)

        assert {now(chunk).state for chunk in olds} == {State.PENDING}


class TestOperatorsSettings:
    def test_a_revision_is_delivered_as_the_row_was(self) -> None:
        old = fact(NEVER, delivery_policy=Policy.ALWAYS, expires_at="2040-01-01")

        new = fact(ALWAYS)

        assert now(old).superseded_by == new.id
        assert (new.delivery_policy, new.expires_at) == (Policy.ALWAYS, "2040-01-01T00:00:00+00:00")

    def test_what_an_operator_pinned_is_only_proposed_against(self) -> None:
        old = fact(NEVER)
        services.edit(old.id, Edit(delivery_policy=Policy.ON_DEMAND), OPERATOR)

        added = services.remember(NewChunk(ALWAYS, domain="fact", delivery_policy=Policy.ALWAYS), AGENT)

        assert added.outcome is Outcome.PROPOSED
        assert now(old).valid


class TestStamp:
    """`reject_invalidates`: a rejected row is always stamped, however it came to be rejected."""

    @pytest.fixture(autouse=True)
    def configured(self, instance: Instance, settings: Settings) -> None:
        root = instance.paths.instance_root
        (root / "config.yaml").write_text("knowledge: {reject_invalidates: true}\n")
        settings.INSTANCE = load_instance({"PROTOAGENT_HOME": str(root)})

    def test_after_an_edit(self) -> None:
        chunk = fact("tea")
        services.review(chunk.id, Verdict.REJECTED, OPERATOR)

        assert (
            services.edit(chunk.id, Edit(content="coffee"), OPERATOR).invalidation_reason == REJECTED_REASON
        )

    def test_after_a_restore(self) -> None:
        chunk = fact("tea")
        services.delete_by_source("chat-1", OPERATOR)
        services.review(chunk.id, Verdict.REJECTED, OPERATOR)
        assert now(chunk).invalidation_reason == "source_delete"

        services.restore_by_source("chat-1", OPERATOR)

        assert now(chunk).invalidation_reason == REJECTED_REASON

    def test_after_an_undo(self) -> None:
        chunk = fact("tea")
        services.review(chunk.id, Verdict.REJECTED, OPERATOR)
        services.review(chunk.id, Verdict.PENDING, OPERATOR)
        assert now(chunk).invalidated_at is None

        services.undo(audit.trail(chunk.id).items[0].batch, OPERATOR)

        assert now(chunk).invalidation_reason == REJECTED_REASON


class TestUndo:
    def test_an_old_one_does_not_reverse_a_later_verdict_of_the_same_kind(self) -> None:
        chunk = fact("tea")
        services.review(chunk.id, Verdict.REJECTED, OPERATOR)
        first = audit.trail(chunk.id).items[0].batch
        services.undo(first, OPERATOR)
        services.review(chunk.id, Verdict.REJECTED, OPERATOR)  # somebody else, on purpose

        with pytest.raises(Conflict, match="changed since"):
            services.undo(first, OPERATOR)

        assert now(chunk).review_state is Verdict.REJECTED

    def test_it_takes_back_what_followed_from_a_verdict(self) -> None:
        standing, proposed = proposal()
        services.review(proposed.id, Verdict.CONFIRMED, OPERATOR)

        services.undo(audit.trail(proposed.id).items[0].batch, OPERATOR)

        assert now(standing).valid
        assert now(proposed).review_state is Verdict.PENDING

    def test_a_row_deleted_since_is_skipped_and_named(self) -> None:
        rows = [fact(f"{name} tea") for name in ("green", "black")]
        services.delete_by_source("chat-1", OPERATOR)
        batch = audit.trail(rows[0].id).items[0].batch
        services.delete(rows[1].id, OPERATOR)

        undone = services.undo(batch, OPERATOR)

        assert (undone.count, undone.skipped) == (1, [rows[1].id])
        assert now(rows[0]).state is State.PENDING

    def test_the_same_number_of_statements_for_many_rows(self) -> None:
        def statements_of_undoing(count: int) -> int:
            for n in range(count):
                services.add(NewChunk(f"tea {n}", source=f"s{count}"), PLUGIN)
            batch = services.delete_by_source(f"s{count}", OPERATOR).id
            from django.db import connections

            seen: list[str] = []
            connections[KNOWLEDGE].connection.set_trace_callback(
                lambda sql: seen.append(sql) if sql.lstrip().startswith("SELECT") else None
            )
            services.undo(batch, OPERATOR)
            connections[KNOWLEDGE].connection.set_trace_callback(None)
            return len([sql for sql in seen if "FROM chunks AS c" in sql or "FROM pc_audit" in sql])

        assert statements_of_undoing(60) == statements_of_undoing(5)


def test_forgetting_is_for_agents_and_operators() -> None:
    for actor in (VIEWER, PLUGIN):
        with pytest.raises(Forbidden):
            services.forget(fact("tea").id, actor)


def test_a_write_indexes_its_own_rows_and_leaves_a_long_queue_to_others(store: Opening) -> None:
    with closing(sqlite3.connect(store.path)) as other:
        other.executemany(
            "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES (?, 'general', '2026', '2026')",
            [(f"row {n}",) for n in range(1200)],
        )
        other.commit()

    chunk = services.add(NewChunk("wombat"), OPERATOR).chunk

    assert catch_up.pending() == 1200
    found = queries.ranked(ChunkQuery(text="wombat"), OPERATOR, k=1)
    assert chunk is not None
    assert [hit.id for hit, _ in found] == [chunk.id]


def test_purge_reaches_rows_that_another_program_has_just_written(store: Opening) -> None:
    with closing(sqlite3.connect(store.path)) as other:
        other.execute(
            "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES ('x', 'junk', '2026', '2026')"
        )
        other.commit()

    assert services.purge("junk", PLUGIN).count == 1


@pytest.mark.parametrize("way", ["REPLACE", "IGNORE"])
def test_counts_are_exact_after_another_program_s_upsert(store: Opening, way: str) -> None:
    with closing(sqlite3.connect(store.path)) as other:
        for domain in ("fact", "general", "general"):
            other.execute(
                f"INSERT OR {way} INTO chunks (id, content, domain, source, created_at, updated_at)"
                " VALUES (7, 'x', ?, 's', '2026', '2026')",
                (domain,),
            )
            other.commit()

    counted = facets(ChunkQuery())
    assert [(count.value, count.n) for count in counted.domain] == [
        ("general" if way == "REPLACE" else "fact", 1)
    ]
    assert [(count.value, count.n) for count in counted.source] == [("s", 1)]


class TestLenientUndo:
    def test_rows_that_changed_since_are_left_and_named(self) -> None:
        rows = [fact(f"{name} tea") for name in ("green", "black", "white")]
        query = ChunkQuery(ids=tuple(chunk.id for chunk in rows))
        from knowledge.facets import selection_of

        batch = services.review_matching(selection_of(query), Verdict.REJECTED, OPERATOR)
        services.review(rows[1].id, Verdict.CONFIRMED, OPERATOR)

        undone = services.undo(batch.id, OPERATOR)

        assert (undone.count, undone.skipped) == (2, [rows[1].id])
        assert [now(chunk).review_state for chunk in rows] == ["pending", "confirmed", "pending"]
        assert [audit.trail(chunk.id).items[-2].undone for chunk in rows] == [True, False, True]


class TestReinstating:
    def test_after_its_revision_was_deleted(self) -> None:
        old = fact("The port is 1")
        new = services.edit(old.id, Edit(content="The port is 2"), OPERATOR)
        services.delete(new.id, OPERATOR)
        assert now(old).state is State.SUPERSEDED  # an operator may have edited a secret away

        assert services.reinstate(old.id, OPERATOR).valid

    def test_not_beside_a_successor_that_stands(self) -> None:
        old = fact("The port is 1")
        services.edit(old.id, Edit(content="The port is 2"), OPERATOR)

        with pytest.raises(Conflict, match="stands in its place"):
            services.reinstate(old.id, OPERATOR)

    def test_only_what_was_superseded_and_only_by_operators(self) -> None:
        chunk = fact("The port is 1")
        with pytest.raises(Conflict, match="not superseded"):
            services.reinstate(chunk.id, OPERATOR)
        with pytest.raises(Forbidden):
            services.reinstate(chunk.id, AGENT)


def test_a_heading_alone_is_edited_without_keeping_leaked_reasoning(store: Opening) -> None:
    from knowledge.errors import Invalid

    fetch(
        KNOWLEDGE,
        "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES"
        " ('<think>hm</think>The port is 1', 'x', '2026', '2026'), ('<think>hm</think>', 'x', '2026', '2026')",
    )
    queries.browse(ChunkQuery(), OPERATOR)

    assert services.edit(1, Edit(heading="Ports"), OPERATOR).content == "The port is 1"
    with pytest.raises(Invalid, match="reasoning"):
        services.edit(2, Edit(heading="Nothing"), OPERATOR)


class TestUnreadableText:
    """What another program stored that is no text hurts nothing else."""

    @pytest.mark.parametrize("stored", ["x'fffe6475'", "CAST(x'fffe6475' AS TEXT)", "12", "1.5"])
    @pytest.mark.parametrize("column", ["content", "heading", "domain", "source", "namespace", "subject"])
    def test_it_is_shown_and_can_be_removed(self, store: Opening, column: str, stored: str) -> None:
        from knowledge import checkup

        services.add(NewChunk("tea"), OPERATOR)
        values = {"content": "'du'", "domain": "'x'"} | {column: stored}
        with closing(sqlite3.connect(store.path)) as other:
            other.execute(
                f"INSERT INTO chunks ({', '.join(values)}, created_at, updated_at)"
                f" VALUES ({', '.join(values.values())}, '2026', '2026')"
            )
            other.commit()

        assert len(queries.browse(ChunkQuery(), OPERATOR).items) == 2
        assert len(queries.search(ChunkQuery(text="tea"), OPERATOR).hits) == 1
        assert facets(ChunkQuery()).total == 2
        assert [finding.name for finding in checkup.examine() if not finding.ok] == []
        services.delete(2, OPERATOR)
        assert [finding.name for finding in checkup.examine() if not finding.ok] == []
