import json
from dataclasses import replace
from pathlib import Path

import pytest

from knowledge import audit, queries, services
from knowledge.errors import Forbidden, Invalid
from knowledge.types import ChunkQuery, Edit, Link, NewChunk, Outcome, Relation, TrustTier, Verdict
from tests.actors import AGENT, CONFIRMING_PLUGIN, OPERATOR, PLUGIN, VIEWER

CASES = json.loads((Path(__file__).parent.parent / "fixtures/cases/facts.json").read_text())["cases"]
OUTCOMES = {"added": Outcome.STORED, "skipped": Outcome.DUPLICATE, "superseded": Outcome.REVISED}

pytestmark = pytest.mark.usefixtures("store")


def fact(text: str, **more: str) -> NewChunk:
    return NewChunk(text, domain="fact", **more)


def current() -> list[str]:
    return sorted(chunk.content for chunk in queries.browse(ChunkQuery(), OPERATOR).items)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["new"][:40])
def test_one_new_fact_against_those_of_its_namespace(case: dict) -> None:
    for text in case["have"]:
        services.add(replace(fact(text), source_type="extracted"), OPERATOR)

    added = services.remember(fact(case["new"]), AGENT)

    assert added.outcome is OUTCOMES[case["expect"]]
    gone = queries.browse(ChunkQuery(include_superseded=True), OPERATOR).items
    superseded = [chunk for chunk in gone if chunk.superseded_by]
    assert len(superseded) == (1 if case["expect"] == "superseded" else 0)


def test_an_agent_s_write_gets_its_provenance_from_the_transport() -> None:
    chunk = services.add(NewChunk("The user likes tea"), AGENT).chunk

    assert chunk is not None
    assert (chunk.source, chunk.source_type, chunk.trust) == ("chat-1", "conversation", "agent")
    assert chunk.review_state is Verdict.PENDING


@pytest.mark.parametrize(
    "claim", [{"source": "x"}, {"source_type": "operator"}, {"review_state": Verdict.CONFIRMED}]
)
def test_an_agent_chooses_no_provenance_and_no_verdict(claim: dict) -> None:
    with pytest.raises(Invalid) as refused:
        services.add(replace(NewChunk("mine"), **claim), AGENT)

    assert refused.value.field in claim
    assert current() == []


@pytest.mark.parametrize(
    "source_type", ["operator", " Manual ", "OPERATOR", "harvest", " Chat ", "extracted"]
)
def test_a_plugin_claims_no_path_of_an_operator_or_an_agent(source_type: str) -> None:
    with pytest.raises(Invalid, match="source_type"):
        services.add(NewChunk("mine", source_type=source_type), PLUGIN)


def test_a_plugin_confirms_only_with_a_key_that_may() -> None:
    wanted = NewChunk("checked", source="https://a.example", review_state=Verdict.CONFIRMED)

    with pytest.raises(Invalid, match="review_state"):
        services.add(wanted, PLUGIN)
    confirmed = services.add(wanted, CONFIRMING_PLUGIN).chunk

    assert confirmed is not None
    assert confirmed.review_state is Verdict.CONFIRMED
    assert confirmed.trust_tier is TrustTier.EXTERNAL


def test_a_viewer_writes_nothing() -> None:
    with pytest.raises(Forbidden):
        services.add(NewChunk("mine"), VIEWER)


def test_only_reasoning_is_dropped_and_said_so() -> None:
    added = services.add(NewChunk("<think>secret plan</think>"), AGENT)

    assert (added.outcome, added.chunk) == (Outcome.DROPPED, None)
    assert "reasoning" in added.why
    assert current() == []


@pytest.mark.parametrize("field", ["content", "heading", "source", "namespace", "subject", "epoch", "domain"])
@pytest.mark.parametrize("bad", ["a\x00b", "a\ud800b"])
def test_text_that_sqlite_cannot_keep_is_refused_by_field(field: str, bad: str) -> None:
    with pytest.raises(Invalid) as refused:
        services.add(replace(NewChunk("fine"), **{field: bad}), OPERATOR)

    assert refused.value.field == field


def test_text_of_a_hundred_thousand_characters_is_kept_and_one_more_refused() -> None:
    assert services.add(NewChunk("x" * 100_000), OPERATOR).outcome is Outcome.STORED
    with pytest.raises(Invalid, match="content"):
        services.add(NewChunk("x" * 100_001), OPERATOR)


def test_hot_is_always_on_whatever_the_caller_says() -> None:
    chunk = services.add(NewChunk("Answer in English", domain="hot"), AGENT).chunk

    assert chunk is not None
    assert (chunk.memory_kind, chunk.delivery_policy) == ("standing", "always")


def test_the_same_heading_twice_keeps_both_texts() -> None:
    services.add(NewChunk("morning", heading="Notes"), OPERATOR)
    services.add(NewChunk("evening", heading="Notes"), OPERATOR)

    assert current() == ["evening", "morning"]


def test_a_time_without_a_zone_is_utc() -> None:
    chunk = services.add(NewChunk("x", expires_at="2031-05-01T10:00:00"), OPERATOR).chunk

    assert chunk is not None
    assert chunk.expires_at == "2031-05-01T10:00:00+00:00"


def test_every_write_leaves_its_line_in_the_trail() -> None:
    chunk = services.add(NewChunk("The user likes tea"), AGENT).chunk

    assert chunk is not None
    [line] = audit.trail(chunk.id).items
    assert (line.action, line.actor, line.role, line.session_id) == ("added", "agent-1", "agent", "chat-1")
    assert line.after["review_state"] == "pending"
    assert "tea" not in json.dumps(line.after)  # a real delete must leave no text behind


class TestAuthority:
    OLD = "The user must never push directly to the main branch of the repository"
    NEW = "The user may always push directly to the main branch of the repository"

    def test_an_agent_cannot_undo_what_an_operator_confirmed(self) -> None:
        old = services.remember(fact(self.OLD), AGENT).chunk
        assert old is not None
        services.review(old.id, Verdict.CONFIRMED, OPERATOR)

        added = services.remember(fact(self.NEW), AGENT)

        assert (added.outcome, added.other_id) == (Outcome.PROPOSED, old.id)
        assert queries.get(old.id, OPERATOR).valid
        assert added.chunk is not None
        assert queries.link_of(added.chunk.id) == Link(Relation.PROPOSES, old.id)

    def test_nor_what_an_operator_wrote(self) -> None:
        old = services.add(fact(self.OLD), OPERATOR).chunk
        assert old is not None
        assert services.remember(fact(self.NEW), AGENT).outcome is Outcome.PROPOSED
        assert queries.get(old.id, OPERATOR).valid

    def test_a_proposal_takes_effect_when_confirmed_and_gives_back_when_reopened(self) -> None:
        old = services.add(fact(self.OLD), OPERATOR).chunk
        proposal = services.remember(fact(self.NEW), AGENT).chunk
        assert old is not None
        assert proposal is not None

        services.review(proposal.id, Verdict.CONFIRMED, OPERATOR)
        assert queries.get(old.id, OPERATOR).superseded_by == proposal.id

        services.review(proposal.id, Verdict.PENDING, OPERATOR)
        assert queries.get(old.id, OPERATOR).valid

    def test_a_proposal_supersedes_the_revision_that_stands_by_then(self) -> None:
        old = services.add(fact(self.OLD), OPERATOR).chunk
        proposal = services.remember(fact(self.NEW), AGENT).chunk
        assert old is not None
        assert proposal is not None
        revision = services.edit(old.id, Edit(content=self.OLD + " or to a tag"), OPERATOR)

        services.review(proposal.id, Verdict.CONFIRMED, OPERATOR)

        assert queries.get(revision.id, OPERATOR).superseded_by == proposal.id

    def test_a_revised_proposal_still_proposes(self) -> None:
        old = services.add(fact(self.OLD), OPERATOR).chunk
        first = services.remember(fact(self.NEW), AGENT).chunk
        assert old is not None
        assert first is not None

        second = services.remember(fact(self.NEW.replace("always", "sometimes")), AGENT)

        assert second.chunk is not None
        assert queries.link_of(second.chunk.id) == Link(Relation.PROPOSES, old.id)

    def test_what_was_rejected_is_refused_again(self) -> None:
        chunk = services.remember(fact(self.NEW), AGENT).chunk
        assert chunk is not None
        services.review(chunk.id, Verdict.REJECTED, OPERATOR)

        again = services.remember(fact(self.NEW + "!"), AGENT)

        assert (again.outcome, again.chunk, again.other_id) == (Outcome.REFUSED, None, chunk.id)

    def test_what_resembles_something_rejected_starts_pending_with_a_link(self) -> None:
        chunk = services.remember(fact("alpha beta gamma delta epsilon zeta eta theta"), AGENT).chunk
        assert chunk is not None
        services.review(chunk.id, Verdict.REJECTED, OPERATOR)

        # 6 of 10 words are shared: 0.6, the lower end of the band
        near = services.remember(
            fact("alpha beta gamma delta epsilon zeta iota kappa", review_state=None), CONFIRMING_PLUGIN
        ).chunk

        assert near is not None
        assert near.review_state is Verdict.PENDING
        assert queries.link_of(near.id) == Link(Relation.RESEMBLES_REJECTED, chunk.id)

    def test_facts_of_another_namespace_are_another_matter(self) -> None:
        services.remember(fact(self.OLD, namespace="a"), AGENT)

        assert services.remember(fact(self.OLD, namespace="b"), AGENT).outcome is Outcome.STORED
        assert services.remember(fact(self.OLD), AGENT).outcome is Outcome.STORED
        assert services.remember(fact(self.OLD, namespace=""), AGENT).outcome is Outcome.DUPLICATE
