"""The always-on rows as operators govern them are the ones that turns are given."""

from typing import Any

import pytest

from knowledge import queries, services
from knowledge.errors import Forbidden, Invalid, NotFound, Stale
from knowledge.types import Chunk, Edit, NewChunk, Policy, Verdict
from memory import hot
from memory.delivery import TurnRequest, preview
from memory.types import Part, Reason
from tests.actors import AGENT, OPERATOR
from tests.memory.configured import configure

pytestmark = pytest.mark.usefixtures("store")


def pinned(content: str = "Speak plainly.", **fields: Any) -> Chunk:
    chunk = services.add(NewChunk(content, domain="hot", **fields), OPERATOR).chunk
    assert chunk is not None
    return chunk


def listed() -> dict[int, Reason | None]:
    return {row.chunk.id: row.why_not for row in hot.always_on(OPERATOR)}


def delivered() -> list[Any]:
    return preview(TurnRequest("")).ids(Part.ALWAYS_ON)


def injecting() -> list[Any]:
    return [row.chunk.id for row in hot.always_on(OPERATOR) if row.injecting]


def test_a_row_says_whether_the_next_turn_is_given_it() -> None:
    rejected, expired, standing = pinned(), pinned(), pinned()
    services.review(rejected.id, Verdict.REJECTED, OPERATOR)
    services.edit(expired.id, Edit(expires_at="2026-01-01"), OPERATOR)
    services.add(NewChunk("no always-on row"), OPERATOR)
    assert list(listed().items()) == [
        (standing.id, None),
        (expired.id, Reason.EXPIRED),
        (rejected.id, Reason.REJECTED),
    ]
    assert injecting() == delivered() == [standing.id]


def test_the_newest_hundred_are_given() -> None:
    ids = [pinned(f"rule {n}").id for n in range(103)]
    assert injecting() == delivered() == ids[:2:-1]
    assert [row_id for row_id, why in listed().items() if why is Reason.CAP] == [ids[2], ids[1], ids[0]]


def test_the_first_row_beyond_six_thousand_characters_ends_the_list() -> None:
    small, large, newest = pinned("b" * 10), pinned("a" * 3_001), pinned("c" * 3_000)
    assert injecting() == delivered() == [newest.id]
    assert listed() == {newest.id: None, large.id: Reason.CAP, small.id: Reason.CAP}


def test_the_heading_counts_with_its_brackets() -> None:
    exact = pinned("a" * 2_994, heading="abc")  # "[abc] " and the content are 3,000 characters
    other = pinned("b" * 3_000)
    assert injecting() == delivered() == [other.id, exact.id]
    pinned("c")
    assert injecting() == delivered()
    assert exact.id not in delivered()


def test_where_memory_is_off_nothing_is_given(settings: Any) -> None:
    row = pinned()
    configure(settings, "middleware", knowledge=False)
    assert listed() == {row.id: Reason.MEMORY_OFF}
    assert delivered() == []


def test_pages_go_through_all_rows_once() -> None:
    ids = [pinned(f"rule {n}").id for n in range(7)]
    seen, cursor = [], None
    while True:
        page = hot.page(OPERATOR, cursor=cursor, limit=3)
        seen += [row.chunk.id for row in page.items]
        cursor = page.next
        if cursor is None:
            break
    assert seen == ids[::-1]
    with pytest.raises(Invalid):
        hot.page(OPERATOR, cursor="nonsense")


def test_an_edit_answers_the_row_that_now_stands() -> None:
    row = pinned()
    changed = hot.edit(row.id, Edit(content="Speak briefly."), OPERATOR)
    assert (changed.chunk.content, changed.injecting) == ("Speak briefly.", True)
    assert injecting() == delivered() == [changed.chunk.id]


def test_an_unpinned_row_stays_and_enters_only_when_asked_for() -> None:
    row = pinned("The kettle is blue.")
    assert hot.unpin(row.id, OPERATOR).delivery_policy is Policy.RETRIEVED
    assert listed() == {}
    assert preview(TurnRequest("kettle")).ids(Part.HITS) == [row.id]


def test_an_edit_that_unpins_says_so() -> None:
    row = hot.edit(pinned().id, Edit(delivery_policy=Policy.RETRIEVED), OPERATOR)
    assert (row.injecting, row.why_not) == (False, None)


def test_a_deleted_row_is_gone() -> None:
    row = pinned()
    hot.delete(row.id, OPERATOR)
    with pytest.raises(NotFound):
        queries.get(row.id, OPERATOR)


@pytest.mark.parametrize("call", ["edit", "unpin", "delete"])
def test_a_row_that_is_not_always_on_is_not_found_here(call: str) -> None:
    chunk = services.add(NewChunk("x"), OPERATOR).chunk
    assert chunk is not None
    calls: dict[str, Any] = {
        "edit": lambda row_id: hot.edit(row_id, Edit(content="y"), OPERATOR),
        "unpin": lambda row_id: hot.unpin(row_id, OPERATOR),
        "delete": lambda row_id: hot.delete(row_id, OPERATOR),
    }
    for row_id in (chunk.id, 999):
        with pytest.raises(NotFound):
            calls[call](row_id)
    assert queries.get(chunk.id, OPERATOR) == chunk


def test_only_operators_change_them_and_only_what_they_read() -> None:
    row = pinned()
    with pytest.raises(Forbidden):
        hot.unpin(row.id, AGENT)
    with pytest.raises(Forbidden):
        hot.delete(row.id, AGENT)
    with pytest.raises(Stale):
        hot.unpin(row.id, OPERATOR, if_match="another version")
