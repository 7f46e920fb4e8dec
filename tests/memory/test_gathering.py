"""What is read for a turn, and what stays out with its reason."""

from dataclasses import replace
from typing import Any

import pytest

from knowledge import queries, services
from knowledge.errors import SearchBroken
from knowledge.types import Chunk, Edit, NewChunk, Policy, TrustTier, Verdict
from memory import digest, gathering, turn_faults
from memory.gathering import gather, options_of
from memory.projection import project
from memory.turn_faults import TurnFault
from memory.types import (
    Candidates,
    Options,
    Part,
    PlaybookCandidate,
    Reason,
    Ref,
    Schedule,
    TurnRequest,
    WhatIf,
    WorkingState,
)
from memory.working_states import put_working_state
from protoconsole.instance import Instance
from tests.actors import AGENT, OPERATOR, PLUGIN
from tests.memory.configured import configure
from tests.memory.sessions import put

pytestmark = pytest.mark.usefixtures("store")

KETTLE = "which colour has the kettle?"
STATE = WorkingState(schedules=(Schedule("s-1", "2026-12-02", "water the plants"),))


def added(content: str = "The kettle is blue.", by: Any = AGENT, **fields: Any) -> Chunk:
    chunk = services.add(NewChunk(content, **{"domain": "fact", **fields}), by).chunk
    assert chunk is not None
    return chunk


def gathered(query: str = KETTLE, what_if: WhatIf | None = None, **fields: Any) -> Candidates:
    request = TurnRequest(query, **fields)
    return gather(request, options_of(request), what_if)


def hits(candidates: Candidates) -> list[Ref]:
    return [row.ref for row in candidates.hits]


def always_on(candidates: Candidates) -> list[Ref]:
    return [row.ref for row in candidates.always_on]


def refused(candidates: Candidates, part: Part = Part.HITS) -> dict[Ref, Reason]:
    return {item.ref: item.reason for item in candidates.refused if item.part is part}


def reject(chunk: Chunk) -> None:
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)


def lapse(chunk: Chunk) -> None:
    services.edit(chunk.id, Edit(expires_at="2026-01-01"), OPERATOR)


def test_options_come_from_the_configuration_and_the_request(instance: Instance, settings: Any) -> None:
    configure(settings, "knowledge", top_k=7, inject_min_trust=2, recall_preview_chars=80)
    configure(settings, "context", budget_pct=5.0)
    configure(settings, "memory", max_sessions=3, max_tokens=400)
    configure(settings, "skills", top_k=2)
    assert options_of(TurnRequest("x", window=9_000, goal_turn=True)) == Options(
        window=9_000,
        budget_pct=5.0,
        max_sessions=3,
        max_session_tokens=400,
        top_k=7,
        preview_chars=80,
        min_trust=TrustTier.AGENT,
        skills_top_k=2,
        incognito=False,
        goal_turn=True,
        memory_on=True,
    )


def test_a_hit_carries_what_the_projection_needs() -> None:
    chunk = added(heading="Kitchen", source_type="html", source="https://forum.example.net/t/441", by=PLUGIN)
    [row] = gathered().hits
    assert (row.ref, row.heading, row.content) == (chunk.id, "Kitchen", "The kettle is blue.")
    assert (row.domain, row.stored) == ("fact", chunk.created_at[:10])
    assert (row.tier, row.verdict) == (TrustTier.EXTERNAL, Verdict.PENDING)
    assert row.source == "https://forum.example.net/t/441"
    assert row.score is not None
    assert row.score > 0


@pytest.mark.parametrize("query", ["", " ", "\x00", "?", "\ud800", '"', "zebra"])
def test_a_message_that_finds_nothing_gets_no_hits(query: str) -> None:
    added()
    assert hits(gathered(query)) == []


@pytest.mark.parametrize("top_k", [0, -1])
def test_no_hits_are_wanted(settings: Any, top_k: int) -> None:
    configure(settings, "knowledge", top_k=top_k)
    added()
    assert hits(gathered()) == []


def test_a_refused_row_that_matches_better_is_told_with_its_reason(settings: Any) -> None:
    configure(settings, "knowledge", inject_namespaces=("home", ""))
    rejected, expired, on_demand = added(), added(), added(delivery_policy=Policy.ON_DEMAND)
    elsewhere, inside, without = added(namespace="work"), added(namespace="home"), added()
    reject(rejected)
    lapse(expired)
    found = gathered()
    assert set(hits(found)) == {inside.id, without.id}
    assert refused(found) == {
        rejected.id: Reason.REJECTED,
        expired.id: Reason.EXPIRED,
        on_demand.id: Reason.ON_DEMAND,
        elsewhere.id: Reason.NAMESPACE,
    }


def test_a_refused_row_that_matches_worse_than_the_last_hit_is_not_told(settings: Any) -> None:
    configure(settings, "knowledge", top_k=1)
    best = added("The colour of the kettle is a kettle colour.")
    worse = added("A long text about many other things of the household, in which one kettle stands.")
    reject(worse)
    found = gathered()
    assert hits(found) == [best.id]
    assert refused(found) == {}


def test_superseded_and_deleted_rows_are_neither_hits_nor_told() -> None:
    old, deleted = added(), added(source="gone", by=OPERATOR)
    new = services.edit(old.id, Edit(content="The kettle is green."), OPERATOR)
    services.delete_by_source("gone", OPERATOR)
    found = gathered()
    assert hits(found) == [new.id]
    assert {old.id, deleted.id}.isdisjoint(refused(found))


def test_a_rejection_that_also_invalidates_is_told_as_a_rejection(settings: Any) -> None:
    configure(settings, "knowledge", reject_invalidates=True)
    chunk = added()
    reject(chunk)
    assert refused(gathered()) == {chunk.id: Reason.REJECTED}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each ranked query asked for."""
    sizes: list[int] = []
    ranked = queries.ranked

    def counted(query: Any, by: Any, *, k: int) -> Any:
        sizes.append(k)
        return ranked(query, by, k=k)

    monkeypatch.setattr(queries, "ranked", counted)
    return sizes


def test_one_ranked_query_serves_the_usual_turn(asked: list[int]) -> None:
    for _ in range(10):
        added()
    reject(added())
    assert len(gathered().hits) == 5
    assert len(asked) == 1


def test_where_refused_rows_crowd_out_the_others_a_second_query_finds_them(asked: list[int]) -> None:
    wanted = [added("A kettle, among many other words that make the match a poor one.") for _ in range(3)]
    crowd = [added("kettle colour") for _ in range(40)]
    for chunk in crowd:
        reject(chunk)
    found = gathered()
    assert set(hits(found)) == {chunk.id for chunk in wanted}
    assert len(asked) == 2
    assert set(refused(found)) <= {chunk.id for chunk in crowd}
    assert set(refused(found).values()) == {Reason.REJECTED}


def test_a_floor_of_trust_fetches_three_times_as_many(settings: Any) -> None:
    configure(settings, "knowledge", inject_min_trust=2, top_k=2)
    for _ in range(10):
        added(by=PLUGIN, source_type="html")
    assert len(gathered().hits) == 6


def test_always_on_rows_among_the_matches_do_not_use_up_the_hits(settings: Any) -> None:
    configure(settings, "knowledge", top_k=2)
    plain = {added("Something about a kettle and about other things too.").id for _ in range(2)}
    pinned = {added("kettle colour", domain="hot", by=OPERATOR).id for _ in range(30)}
    found = gathered()
    assert plain <= set(hits(found))
    assert set(hits(found)) - plain <= pinned
    assert set(always_on(found)) == pinned


def test_always_on_rows_come_newest_first_whatever_their_domain() -> None:
    ids = [added(domain="hot", by=OPERATOR).id, added(delivery_policy=Policy.ALWAYS).id]
    assert always_on(gathered("")) == ids[::-1]


def test_a_row_just_added_is_there_and_a_row_just_rejected_is_told_as_that() -> None:
    first = added(domain="hot")
    assert always_on(gathered("")) == [first.id]
    second = added(domain="hot")
    assert always_on(gathered("")) == [second.id, first.id]
    reject(first)
    lapse(second)
    found = gathered("")
    assert always_on(found) == []
    assert refused(found, Part.ALWAYS_ON) == {first.id: Reason.REJECTED, second.id: Reason.EXPIRED}


def test_rejected_always_on_rows_do_not_crowd_out_the_others() -> None:
    standing = [added(f"rule {n}", domain="hot").id for n in range(3)]
    for n in range(gathering.ALWAYS_ON_WANTED + gathering.REFUSED_SHOWN):
        reject(added(f"spam {n}", domain="hot"))
    assert always_on(gathered("")) == standing[::-1]


def test_no_more_always_on_rows_are_offered_than_show_the_limit() -> None:
    for n in range(130):
        added(f"rule {n}", domain="hot")
    assert len(gathered("").always_on) == 101


@pytest.mark.parametrize(("chars", "offered"), [(200, 40), (201, 30)])
def test_long_always_on_rows_are_offered_as_far_as_they_can_fit(chars: int, offered: int) -> None:
    for _ in range(40):
        added("x" * chars, domain="hot")
    found = gathered("")
    assert len(found.always_on) == offered
    delivered = project(found, Options()).ids(Part.ALWAYS_ON)
    assert len(delivered) == 6_000 // chars


@pytest.mark.parametrize("off", ["incognito", "memory_off"])
def test_a_turn_without_memory_reads_none(
    settings: Any, monkeypatch: pytest.MonkeyPatch, instance: Instance, off: str
) -> None:
    added(domain="hot")
    put("chat-1")
    put_working_state("chat-2", STATE, AGENT)
    skill(instance, "deploy")
    if off == "memory_off":
        configure(settings, "middleware", knowledge=False)

    def forbidden(*args: object, **kwargs: object) -> None:
        raise AssertionError("memory was read")

    for module, name in ((queries, "ranked"), (queries, "browse"), (digest, "candidates")):
        monkeypatch.setattr(module, name, forbidden)
    found = gathered(session_id="chat-2", incognito=off == "incognito")
    assert found == Candidates(playbooks=(PlaybookCandidate("deploy", "How to deploy"),), working_state=STATE)


def skill(instance: Instance, name: str) -> None:
    folder = instance.paths.skills_dir / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: How to {name}\n---\n", "utf-8")


def test_playbooks_can_be_switched_off(settings: Any, instance: Instance) -> None:
    skill(instance, "deploy")
    configure(settings, "skills", enabled=False)
    assert gathered().playbooks == ()


def test_the_working_state_is_that_of_the_request_else_what_the_session_told_last() -> None:
    told = replace(STATE, schedules=(Schedule("s-2", "2026-12-03", "feed the cat"),))
    put_working_state("chat-1", told, AGENT)
    assert gathered(session_id="chat-1").working_state == told
    assert gathered(session_id="chat-1", working_state=STATE).working_state == STATE
    assert gathered(session_id="chat-2").working_state == WorkingState()
    assert gathered().working_state == WorkingState()


def test_the_active_session_is_no_prior_session(settings: Any) -> None:
    put("chat-1", minute=1)
    put("chat-2", minute=2)
    named = [session.session_id for session in gathered(session_id="chat-2").sessions]
    assert named == ["chat-1"]
    configure(settings, "context", prior_sessions="off")
    assert gathered().sessions == []


def test_a_broken_search_is_counted_and_shown_and_the_rest_goes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = added("Speak plainly.", domain="hot")
    added()

    def broken(*args: object, **kwargs: object) -> None:
        raise SearchBroken("the index is gone")

    with monkeypatch.context() as patch:
        patch.setattr(queries, "ranked", broken)
        before = faults(TurnFault.SEARCH)
        found = gathered()
        assert (always_on(found), hits(found)) == ([rule.id], [])
        assert faults(TurnFault.SEARCH) == before + 1
        assert "the index is gone" in "".join(turn_faults.reasons())
    assert len(hits(gathered())) == 1
    assert turn_faults.reasons() == []


def faults(fault: TurnFault) -> float:
    return float(turn_faults.FAULTS.labels(fault)._value.get())


def test_as_if_rejected_a_row_leaves_its_part() -> None:
    pinned, found = added("Speak plainly.", domain="hot"), added()
    candidates = gathered(what_if=WhatIf(rejected=frozenset({pinned.id, found.id})))
    assert (always_on(candidates), hits(candidates)) == ([], [])
    assert refused(candidates)[found.id] is Reason.REJECTED
    assert refused(candidates, Part.ALWAYS_ON) == {pinned.id: Reason.REJECTED}


@pytest.mark.parametrize("invalidates", [False, True])
def test_as_if_confirmed_a_rejected_row_is_a_hit_again(settings: Any, invalidates: bool) -> None:
    configure(settings, "knowledge", reject_invalidates=invalidates)
    chunk = added()
    reject(chunk)
    [row] = gathered(what_if=WhatIf(confirmed=frozenset({chunk.id}))).hits
    assert (row.ref, row.verdict) == (chunk.id, Verdict.CONFIRMED)


def test_as_if_pinned_a_row_takes_its_place_among_the_always_on_rows() -> None:
    older, chunk, newer = added("a", domain="hot"), added(), added("b", domain="hot")
    candidates = gathered(what_if=WhatIf(pinned=frozenset({chunk.id, 999})))
    assert always_on(candidates) == [newer.id, chunk.id, older.id]


def test_looking_changes_no_row() -> None:
    chunk = added()
    everything = frozenset({chunk.id})
    for what_if in (WhatIf(confirmed=everything), WhatIf(rejected=everything), WhatIf(pinned=everything)):
        gathered(what_if=what_if)
        assert queries.get(chunk.id, OPERATOR) == chunk
