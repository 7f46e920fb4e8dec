import pytest
from pytest_django.fixtures import Settings

from knowledge import audit, queries, services
from knowledge.errors import Conflict, Forbidden, NotFound, Stale
from knowledge.facets import selection_of
from knowledge.types import (
    REJECTED_REASON,
    Chunk,
    ChunkQuery,
    NewChunk,
    Selection,
    State,
    Verdict,
)
from protoconsole.instance import Instance, load_instance
from tests.actors import AGENT, CONFIRMING_PLUGIN, EVERYONE, OPERATOR, PLUGIN, VIEWER

pytestmark = pytest.mark.usefixtures("store")

PENDING = ChunkQuery(states=(State.PENDING,))


def remembered(text: str = "The user likes tea") -> Chunk:
    chunk = services.add(NewChunk(text), AGENT).chunk
    assert chunk is not None
    return chunk


@pytest.mark.parametrize("first", Verdict)
@pytest.mark.parametrize("second", Verdict)
def test_verdicts_follow_each_other_in_any_order(first: Verdict, second: Verdict) -> None:
    chunk = remembered()

    services.review(chunk.id, first, OPERATOR)
    now = services.review(chunk.id, second, OPERATOR)

    assert now.review_state is second
    assert now.content == chunk.content
    assert now.valid is (second is not Verdict.REJECTED)


@pytest.mark.parametrize("actor", [AGENT, PLUGIN, CONFIRMING_PLUGIN, VIEWER], ids=lambda actor: actor.name)
def test_nobody_but_an_operator_rules(actor: object) -> None:
    chunk = remembered()

    with pytest.raises(Forbidden):
        services.review(chunk.id, Verdict.CONFIRMED, actor)  # type: ignore[arg-type]

    assert queries.get(chunk.id, OPERATOR).review_state is Verdict.PENDING


def test_agents_and_plugins_read_a_rejected_row_by_no_query() -> None:
    chunk = remembered("zebra crossing")
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)

    for actor in EVERYONE:
        sees = actor in (OPERATOR, VIEWER)
        everything = ChunkQuery(include_superseded=True)
        assert bool(queries.browse(everything, actor).items) is sees
        assert bool(queries.search(ChunkQuery(text="zebra"), actor).hits) is sees
        assert bool(queries.browse(ChunkQuery(states=(State.REJECTED,)), actor).items) is sees
        assert bool(queries.browse(ChunkQuery(verdicts=(Verdict.REJECTED,)), actor).items) is sees
        if sees:
            assert queries.history(chunk.id, actor) == [queries.get(chunk.id, actor)]
        else:
            with pytest.raises(NotFound):
                queries.get(chunk.id, actor)


def test_a_verdict_on_an_older_version_changes_nothing() -> None:
    chunk = remembered()
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)

    with pytest.raises(Stale):
        services.review(chunk.id, Verdict.CONFIRMED, OPERATOR, if_match=chunk.version)

    assert queries.get(chunk.id, OPERATOR).review_state is Verdict.REJECTED


def test_the_trail_tells_who_ruled_and_why() -> None:
    chunk = remembered()
    services.review(chunk.id, Verdict.REJECTED, OPERATOR, reason="not true")

    line = audit.trail(chunk.id).items[0]
    assert (line.action, line.actor, line.note) == ("rejected", "olive", "not true")
    assert line.before["review_state"] == "pending"
    assert line.after["review_state"] == "rejected"


class TestRejectInvalidates:
    """For a store shared with a program that does not know verdicts."""

    @pytest.fixture(autouse=True)
    def configured(self, instance: Instance, settings: Settings) -> None:
        root = instance.paths.instance_root
        (root / "config.yaml").write_text("knowledge: {reject_invalidates: true}\n")
        settings.INSTANCE = load_instance({"PROTOAGENT_HOME": str(root)})

    def test_rejecting_stamps_and_re_opening_clears_that_stamp(self) -> None:
        chunk = remembered()

        rejected = services.review(chunk.id, Verdict.REJECTED, OPERATOR)
        assert rejected.invalidation_reason == REJECTED_REASON
        assert rejected.invalidated_at is not None
        assert rejected.state is State.REJECTED

        reopened = services.review(chunk.id, Verdict.PENDING, OPERATOR)
        assert (reopened.invalidated_at, reopened.invalidation_reason) == (None, None)

    def test_no_other_stamp_is_touched(self) -> None:
        chunk = remembered()
        services.delete_by_source("chat-1", OPERATOR)
        services.review(chunk.id, Verdict.REJECTED, OPERATOR)

        now = services.review(chunk.id, Verdict.CONFIRMED, OPERATOR)

        assert now.invalidation_reason == "source_delete"

    def test_what_was_rejected_is_still_refused(self) -> None:
        text = NewChunk("The user may push to the main branch at any time", domain="fact")
        chunk = services.remember(text, AGENT).chunk
        assert chunk is not None
        services.review(chunk.id, Verdict.REJECTED, OPERATOR)

        assert services.remember(text, AGENT).outcome == "refused"


def test_by_default_rejecting_leaves_validity_alone() -> None:
    chunk = remembered()

    assert services.review(chunk.id, Verdict.REJECTED, OPERATOR).invalidated_at is None


class TestBulk:
    def test_it_rules_on_all_that_the_operator_saw_and_can_be_undone(self) -> None:
        ids = [remembered(f"note {n}").id for n in range(5)]
        services.review(ids[0], Verdict.CONFIRMED, OPERATOR)

        batch = services.review_matching(selection_of(PENDING), Verdict.REJECTED, OPERATOR)
        assert batch.count == 4
        assert [queries.get(i, OPERATOR).review_state for i in ids] == ["confirmed"] + ["rejected"] * 4

        services.undo(batch.id, OPERATOR)
        assert [queries.get(i, OPERATOR).review_state for i in ids] == ["confirmed"] + ["pending"] * 4

    @pytest.mark.parametrize("seen", [(1, 2), (2, 1), (3, 2), (2, 3)])
    def test_it_is_bound_to_what_the_operator_saw(self, seen: tuple[int, int]) -> None:
        remembered("one")
        remembered("two")

        with pytest.raises(Conflict) as conflict:
            services.review_matching(Selection(PENDING, *seen), Verdict.CONFIRMED, OPERATOR)

        assert conflict.value.count == 2
        assert {chunk.review_state for chunk in queries.browse(PENDING, OPERATOR).items} == {Verdict.PENDING}

    def test_a_text_filter_narrows_to_rows_with_all_words(self) -> None:
        remembered("green tea in the morning")
        remembered("black tea in the evening")

        batch = services.review_matching(
            selection_of(ChunkQuery(contains="tea evening")), Verdict.CONFIRMED, OPERATOR
        )

        assert batch.count == 1

    def test_only_operators(self) -> None:
        with pytest.raises(Forbidden):
            services.review_matching(selection_of(PENDING), Verdict.CONFIRMED, AGENT)


def test_undo_is_refused_when_the_row_has_changed_since() -> None:
    chunk = remembered()
    services.review(chunk.id, Verdict.CONFIRMED, OPERATOR)
    batch = audit.trail(chunk.id).items[0].batch
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)

    with pytest.raises(Conflict, match="changed since"):
        services.undo(batch, OPERATOR)

    assert queries.get(chunk.id, OPERATOR).review_state is Verdict.REJECTED


def test_undo_can_be_undone_and_is_marked_in_the_trail() -> None:
    chunk = remembered()
    services.review(chunk.id, Verdict.CONFIRMED, OPERATOR)
    first = audit.trail(chunk.id).items[0].batch

    undone = services.undo(first, OPERATOR)
    assert queries.get(chunk.id, OPERATOR).review_state is Verdict.PENDING
    assert {line.batch: line.undone for line in audit.trail(chunk.id).items}[first]

    services.undo(undone.id, OPERATOR)
    assert queries.get(chunk.id, OPERATOR).review_state is Verdict.CONFIRMED


def test_undo_of_an_unknown_change_is_not_found() -> None:
    with pytest.raises(NotFound):
        services.undo("nothing", OPERATOR)
