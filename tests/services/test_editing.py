from datetime import timedelta

import pytest
from django.utils import timezone

from knowledge import audit, markers, queries, services
from knowledge.errors import Conflict, Forbidden, Invalid, NotFound, Stale
from knowledge.times import to_iso
from knowledge.types import Chunk, ChunkQuery, Edit, Kind, NewChunk, Policy, State, TrustTier, Verdict
from protoconsole.databases import KNOWLEDGE, fetch
from tests.actors import AGENT, CONFIRMING_PLUGIN, OPERATOR, PLUGIN

pytestmark = pytest.mark.usefixtures("store")

SOURCE = "https://forum.example.net/t/9"


def external(text: str = "Port 8443 is open", **more: object) -> Chunk:
    new = NewChunk(text, source=SOURCE, source_type="html", **more)  # type: ignore[arg-type]
    chunk = services.add(new, PLUGIN).chunk
    assert chunk is not None
    return chunk


class TestEdit:
    def test_it_writes_a_confirmed_revision_that_keeps_all_else(self) -> None:
        old = external(
            heading="Ports",
            kind=Kind.DECISION,
            subject="firewall",
            namespace="ops",
            epoch="2026",
            expires_at="2031-01-01",
            delivery_policy=Policy.ON_DEMAND,
            domain="finding",
        )

        new = services.edit(old.id, Edit(content="Port 9443 is open"), OPERATOR)

        assert new.id != old.id
        assert (new.content, new.source_type, new.review_state) == (
            "Port 9443 is open",
            "operator",
            Verdict.CONFIRMED,
        )
        kept = "source heading memory_kind subject namespace epoch expires_at delivery_policy domain finding_type"
        for name in kept.split():
            assert getattr(new, name) == getattr(old, name), name
        assert queries.get(old.id, OPERATOR).superseded_by == new.id
        assert [chunk.id for chunk in queries.history(new.id, OPERATOR)] == [old.id, new.id]

    def test_a_heading_can_be_given_or_cleared(self) -> None:
        old = external(heading="Ports")

        changed = services.edit(old.id, Edit(heading="Open ports"), OPERATOR)
        cleared = services.edit(changed.id, Edit(heading=None), OPERATOR)

        assert (changed.heading, cleared.heading, cleared.content) == ("Open ports", None, old.content)

    def test_a_rejected_row_s_revision_stays_rejected(self) -> None:
        old = external()
        services.review(old.id, Verdict.REJECTED, OPERATOR)

        new = services.edit(old.id, Edit(content="Port 9443 is open"), OPERATOR)

        assert new.review_state is Verdict.REJECTED

    def test_policy_and_expiry_change_in_place(self) -> None:
        old = external()

        pinned = services.edit(
            old.id, Edit(delivery_policy=Policy.ALWAYS, expires_at="2031-01-01T00:00:00Z"), OPERATOR
        )
        cleared = services.edit(old.id, Edit(expires_at=None), OPERATOR)

        assert (pinned.id, pinned.delivery_policy) == (old.id, Policy.ALWAYS)
        assert pinned.expires_at == "2031-01-01T00:00:00+00:00"
        assert (cleared.expires_at, cleared.delivery_policy) == (None, Policy.ALWAYS)

    def test_no_change_makes_no_revision(self) -> None:
        old = external()

        assert services.edit(old.id, Edit(content=old.content), OPERATOR) == old

    def test_a_stale_copy_is_refused(self) -> None:
        old = external()
        services.edit(old.id, Edit(delivery_policy=Policy.ALWAYS), OPERATOR)

        with pytest.raises(Stale):
            services.edit(old.id, Edit(content="other"), OPERATOR, if_match=old.version)

    def test_a_replaced_row_is_not_edited_but_its_successor(self) -> None:
        old = external()
        new = services.edit(old.id, Edit(content="Port 9443 is open"), OPERATOR)

        with pytest.raises(Conflict, match=f"#{new.id}"):
            services.edit(old.id, Edit(content="other"), OPERATOR)

    @pytest.mark.parametrize("content", ["", "  \n", "<think>hm</think>", "a\x00"])
    def test_a_text_that_says_nothing_is_refused(self, content: str) -> None:
        with pytest.raises(Invalid, match="content"):
            services.edit(external().id, Edit(content=content), OPERATOR)

    @pytest.mark.parametrize("actor", [AGENT, PLUGIN], ids=lambda actor: actor.name)
    def test_only_operators(self, actor: object) -> None:
        with pytest.raises(Forbidden):
            services.edit(external().id, Edit(content="mine"), actor)  # type: ignore[arg-type]

    def test_undo_gives_the_old_text_back_without_deleting_the_new_one(self) -> None:
        old = external()
        new = services.edit(old.id, Edit(content="Port 9443 is open"), OPERATOR)

        services.undo(audit.trail(new.id).items[0].batch, OPERATOR)

        assert queries.get(old.id, OPERATOR).valid
        assert queries.get(new.id, OPERATOR).superseded_by == old.id
        assert [hit.chunk.id for hit in queries.search(ChunkQuery(text="port"), OPERATOR).hits] == [old.id]

    def test_an_edited_note_is_found_by_its_new_words_only(self) -> None:
        old = external("The printer is in the cellar")
        new = services.edit(old.id, Edit(content="The scanner is in the attic"), OPERATOR)

        assert queries.search(ChunkQuery(text="printer cellar"), OPERATOR).hits == []
        found = queries.search(ChunkQuery(text="scanner"), OPERATOR).hits
        assert [hit.chunk.id for hit in found] == [new.id]


class TestDelete:
    def test_it_is_real(self) -> None:
        chunk = external("the password is hunter2")
        fetch(KNOWLEDGE, "INSERT INTO chunk_vectors (chunk_id, vec) VALUES (?, '[0.1]')", (chunk.id,))

        services.delete(chunk.id, OPERATOR)

        assert fetch(KNOWLEDGE, "SELECT 1 FROM chunks WHERE id = ?", (chunk.id,)) == []
        assert fetch(KNOWLEDGE, "SELECT 1 FROM chunk_vectors WHERE chunk_id = ?", (chunk.id,)) == []
        assert queries.search(ChunkQuery(text="hunter2"), OPERATOR).hits == []
        trail = fetch(KNOWLEDGE, "SELECT before || after FROM pc_audit WHERE chunk_id = ?", (chunk.id,))
        assert len(trail) == 2
        assert not any("hunter2" in text for (text,) in trail)

    def test_it_cannot_be_undone(self) -> None:
        chunk = external()
        services.delete(chunk.id, OPERATOR)
        batch = fetch(KNOWLEDGE, "SELECT batch FROM pc_audit WHERE action = 'deleted'")[0][0]

        with pytest.raises(Conflict, match="deleted for good"):
            services.undo(batch, OPERATOR)

    def test_an_unknown_row_is_not_found(self) -> None:
        with pytest.raises(NotFound):
            services.delete(999, OPERATOR)

    @pytest.mark.parametrize("actor", [AGENT, PLUGIN], ids=lambda actor: actor.name)
    def test_only_operators(self, actor: object) -> None:
        with pytest.raises(Forbidden):
            services.delete(external().id, actor)  # type: ignore[arg-type]


class TestForget:
    def test_an_agent_takes_back_what_no_operator_confirmed(self) -> None:
        chunk = external()

        gone = services.forget(chunk.id, AGENT, reason="wrong")

        assert gone.state is State.DELETED
        with pytest.raises(NotFound):
            queries.get(chunk.id, AGENT)

    def test_an_operator_can_bring_it_back(self) -> None:
        chunk = external()
        services.forget(chunk.id, AGENT)

        services.restore_by_source(SOURCE, OPERATOR)

        assert queries.get(chunk.id, OPERATOR).valid

    def test_not_what_an_operator_wrote_or_confirmed(self) -> None:
        written = services.add(NewChunk("mine"), OPERATOR).chunk
        confirmed = services.review(external().id, Verdict.CONFIRMED, OPERATOR)
        assert written is not None

        for chunk in (written, confirmed):
            with pytest.raises(Forbidden, match="operator"):
                services.forget(chunk.id, AGENT)

    def test_a_rejected_row_does_not_exist_for_an_agent(self) -> None:
        chunk = services.review(external().id, Verdict.REJECTED, OPERATOR)

        with pytest.raises(NotFound):
            services.forget(chunk.id, AGENT)


class TestBySource:
    def test_one_source_goes_and_comes_back_and_another_is_untouched(self) -> None:
        mine = [external(f"row {n}").id for n in range(3)]
        other = services.add(NewChunk("other"), OPERATOR).chunk
        assert other is not None

        assert services.delete_by_source(SOURCE, OPERATOR).count == 3
        assert [queries.get(i, OPERATOR).state for i in mine] == [State.DELETED] * 3
        assert queries.get(other.id, OPERATOR).valid

        assert services.restore_by_source(SOURCE, OPERATOR).count == 3
        assert all(queries.get(i, OPERATOR).valid for i in mine)

    @pytest.mark.parametrize("source", ["", "  "])
    def test_an_empty_source_deletes_nothing(self, source: str) -> None:
        external()
        for change in (services.delete_by_source, services.restore_by_source):
            with pytest.raises(Invalid, match="source"):
                change(source, OPERATOR)

    def test_an_unknown_source_deletes_nothing(self) -> None:
        external()

        assert services.delete_by_source("unheard of", OPERATOR).count == 0

    def test_no_agent_and_no_plugin_reaches_it(self) -> None:
        for actor in (AGENT, PLUGIN, CONFIRMING_PLUGIN):
            with pytest.raises(Forbidden):
                services.delete_by_source(SOURCE, actor)


class TestPurge:
    def test_it_spares_what_operators_wrote_or_confirmed(self) -> None:
        doomed = external(domain="general")
        confirmed = services.review(external(domain="general").id, Verdict.CONFIRMED, OPERATOR)
        written = services.add(NewChunk("mine", review_state=Verdict.PENDING), OPERATOR).chunk
        elsewhere = external(domain="finding")
        assert written is not None

        assert services.purge("general", PLUGIN).count == 1

        assert queries.get(doomed.id, OPERATOR).invalidation_reason == "purge"
        for chunk in (confirmed, written, elsewhere):
            assert queries.get(chunk.id, OPERATOR).valid

    def test_before_a_time(self) -> None:
        chunk = external()

        assert services.purge("general", PLUGIN, before=chunk.created_at).count == 0
        later = to_iso(timezone.now() + timedelta(hours=1))
        assert services.purge("general", PLUGIN, before=later).count == 1

    @pytest.mark.parametrize(
        ("domain", "before"), [("", None), (" ", None), ("general", "soon"), ("general", "")]
    )
    def test_an_empty_domain_or_unreadable_time_deletes_nothing(
        self, domain: str, before: str | None
    ) -> None:
        chunk = external()
        with pytest.raises(Invalid):
            services.purge(domain, PLUGIN, before=before)
        assert queries.get(chunk.id, OPERATOR).valid

    def test_no_agent_reaches_it(self) -> None:
        with pytest.raises(Forbidden):
            services.purge("general", AGENT)


class TestSweep:
    @staticmethod
    def ago(hours: float) -> str:
        return to_iso(timezone.now() - timedelta(hours=hours))

    def opened(self, hours: float) -> None:
        fetch(
            KNOWLEDGE,
            "UPDATE _kb_meta SET value = ? WHERE key = ?",
            (self.ago(hours), markers.FIRST_OPENED),
        )

    def deleted(self, hours: float, reason: str = "source_delete") -> int:
        chunk = external()
        fetch(
            KNOWLEDGE,
            "UPDATE chunks SET invalidated_at = ?, invalidation_reason = ? WHERE id = ?",
            (self.ago(hours), reason, chunk.id),
        )
        return chunk.id

    def test_the_grace_time_is_a_day_from_the_deletion(self) -> None:
        self.opened(1000)
        old, young = self.deleted(24.1), self.deleted(23.9, "purge")

        assert services.sweep() == 1

        assert [
            chunk.id for chunk in queries.browse(ChunkQuery(include_superseded=True), OPERATOR).items
        ] == [young]
        assert audit.trail(old).items[0].action == "swept"

    def test_and_never_before_a_day_from_our_first_opening(self) -> None:
        self.opened(23.9)
        self.deleted(1000)

        assert services.sweep() == 0

    @pytest.mark.parametrize("reason", ["superseded_by:1", "rejected", None])
    def test_history_is_never_swept(self, reason: str | None) -> None:
        self.opened(1000)
        chunk_id = self.deleted(1000, reason)  # type: ignore[arg-type]

        assert services.sweep() == 0
        assert queries.get(chunk_id, OPERATOR)


def test_trust_follows_the_writing_path() -> None:
    assert external().trust_tier is TrustTier.EXTERNAL
