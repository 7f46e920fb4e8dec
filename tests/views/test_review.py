"""The queue of what waits: what is listed, what a card says, and what a look costs."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from knowledge import fact_index, services
from knowledge.adoption import Opening
from knowledge.types import Edit, Kind, NewChunk, Policy, Verdict
from protoconsole.databases import KNOWLEDGE, fetch
from tests.actors import AGENT, OPERATOR, PLUGIN
from tests.views.queue import HTMX, imported, listed, many, read, rule, selection, text
from tests.views.stored import learnt as note
from tests.views.stored import statements as counting


def test_oldest_first_with_count_and_the_first_row_chosen(as_operator: Client, store: Opening) -> None:
    first, second = note("The router is in room 4."), note("The router is in room 5.")
    response = as_operator.get("/review/")
    assert response.status_code == 200
    assert listed(response) == [first.id, second.id]
    assert response.context["card"].chunk.id == first.id
    assert "<title>Review · 2 · protoconsole</title>" in text(response)


def test_newest_first(as_operator: Client, store: Opening) -> None:
    first, second = note("one"), note("two")
    assert listed(as_operator.get("/review/?order=newest")) == [second.id, first.id]


def test_only_what_waits_is_listed(as_operator: Client, store: Opening) -> None:
    waits = note("waits")
    for verdict in (Verdict.CONFIRMED, Verdict.REJECTED):
        services.review(note(f"is {verdict}").id, verdict, OPERATOR)
    services.add(NewChunk("by an operator"), OPERATOR)
    assert listed(as_operator.get("/review/")) == [waits.id]


def test_the_legacy_instance_waits_with_136_rows(as_operator: Client, legacy: Opening) -> None:
    response = as_operator.get("/review/")
    assert response.context["queue"].waiting == 136
    assert len(listed(response)) == 50


def test_pages_follow_each_other_without_gap_or_repeat(as_operator: Client, legacy: Opening) -> None:
    for order in ("", "order=newest"):
        seen: list[int] = []
        address = f"?{order}"
        while address:
            response = as_operator.get(f"/review/{address}")
            seen += [chunk.id for chunk in response.context["queue"].rows]
            address = response.context["next_page"]
        waiting = [
            row[0]
            for row in fetch(
                KNOWLEDGE,
                "SELECT id FROM chunks WHERE review_state = 'pending' AND invalidated_at IS NULL ORDER BY id",
            )
        ]
        assert seen == (waiting[::-1] if order else waiting)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("kind=note", "note"),
        ("trust=external", "import"),
        ("source=docs/a.md", "import"),
        ("namespace=team", "namespace"),
        ("q=zebra", "note"),
        ("q=zebra&trust=external", None),
    ],
)
def test_filters_of_the_address(
    as_operator: Client, store: Opening, address: str, expected: str | None
) -> None:
    rows = {
        "note": note("The zebra sleeps.", kind=Kind.NOTE),
        "import": imported("Import.", source="docs/a.md", source_type="markdown", kind=Kind.REFERENCE),
        "namespace": note("Scoped.", namespace="team", kind=Kind.FACT),
    }
    response = as_operator.get(f"/review/?{address}")
    assert listed(response) == ([rows[expected].id] if expected else [])
    if expected is None:
        assert "Nothing that waits matches" in text(response)


def test_nothing_waits(as_operator: Client, store: Opening) -> None:
    response = as_operator.get("/review/")
    assert "Nothing waits for you" in text(response)
    assert "<title>Review · protoconsole</title>" in text(response)


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (NewChunk("x", source="https://e.org/a", source_type="html"), "html import of"),
        (NewChunk("x", source="s", source_type="smoke-signals"), "third party, unknown path"),
        (NewChunk("x"), "third party, unknown path"),
    ],
)
def test_the_card_says_where_a_row_came_from(
    as_operator: Client, store: Opening, new: NewChunk, words: str
) -> None:
    services.add(new, PLUGIN)
    assert words in text(as_operator.get("/review/"))


def test_the_source_leads_to_the_store(as_operator: Client, store: Opening) -> None:
    note("x")
    page = text(as_operator.get("/review/"))
    assert "written by an agent in session" in page
    assert 'href="/store/?source=chat-1"' in page


def test_always_on_stands_out(as_operator: Client, store: Opening) -> None:
    note("Answer in French.", delivery_policy=Policy.ALWAYS)
    assert "It enters every prompt already" in text(as_operator.get("/review/"))


def test_a_proposal_shows_both_texts(as_operator: Client, store: Opening) -> None:
    words = "The gateway must never restart by itself without approval of a person"
    standing = services.add(NewChunk(words, domain="fact"), OPERATOR).chunk
    proposal = services.remember(NewChunk(words.replace("never", "always"), domain="fact"), AGENT).chunk
    assert standing and proposal
    page = text(as_operator.get(f"/review/?chosen={proposal.id}"))
    assert f'confirming it replaces <a class="link" href="/chunks/{standing.id}/">' in page
    diff = page.partition('<div class="diff"')[2]
    assert "<del> never</del><ins> always</ins>" in diff


def test_a_proposal_is_held_against_the_head_of_the_chain(as_operator: Client, store: Opening) -> None:
    words = "The gateway must never restart by itself without approval of a person"
    standing = services.add(NewChunk(words, domain="fact"), OPERATOR).chunk
    proposal = services.remember(NewChunk(words.replace("never", "always"), domain="fact"), AGENT).chunk
    assert standing and proposal
    head = services.edit(standing.id, Edit(content=words.replace("person", "human")), OPERATOR)
    response = as_operator.get(f"/review/?chosen={proposal.id}")
    assert response.context["card"].other.chunk.id == head.id


def test_what_resembles_the_rejected_says_so(as_operator: Client, store: Opening) -> None:
    words = "The nightly agent may open the vault of the north cluster on Mondays"
    rejected = services.remember(NewChunk(words, domain="fact"), AGENT).chunk
    assert rejected
    services.review(rejected.id, Verdict.REJECTED, OPERATOR)
    again = services.remember(NewChunk(words.replace("Mondays", "Fridays"), domain="fact"), AGENT).chunk
    assert again
    page = text(as_operator.get(f"/review/?chosen={again.id}"))
    assert "Resembles what was rejected," in page
    assert f'href="/chunks/{rejected.id}/"' in page


def test_a_repeated_text_names_the_other(as_operator: Client, store: Opening) -> None:
    first, second = note("The same words twice."), note("The same words twice.")
    page = text(as_operator.get(f"/review/?chosen={second.id}"))
    assert f'Says the same as <a class="link" href="/chunks/{first.id}/">' in page


def test_strangers_are_led_to_sign_in(client: Client, store: Opening) -> None:
    waits = note("x")
    assert client.get("/review/?kind=fact")["Location"] == "/login/?next=%2Freview%2F%3Fkind%3Dfact"
    assert rule(client, waits, "confirmed").status_code == 302
    assert client.post("/review/verdicts/", {}).status_code == 302
    assert read(waits).review_state is Verdict.PENDING


def test_an_ended_session_leads_a_part_to_sign_in_too(client: Client, store: Opening) -> None:
    response = rule(client, note("x"), "confirmed", headers=HTMX)
    assert response["HX-Redirect"].startswith("/login/")


def test_viewers_look_and_do_not_rule(as_viewer: Client, store: Opening) -> None:
    waits = note("Readable.")
    response = as_viewer.get("/review/")
    assert "Readable." in text(response)
    assert "/verdict/" not in text(response)
    assert "/review/verdicts/" not in text(response)
    assert rule(as_viewer, waits, "confirmed").status_code == 403
    assert (
        as_viewer.post("/review/verdicts/", selection(response, verdict="rejected", all="1")).status_code
        == 403
    )
    assert read(waits).review_state is Verdict.PENDING


def cost(look: Callable[[], object]) -> int:
    look()  # takes in what was written below the services
    with counting() as statements:
        look()
    return len(statements)


def test_statements_do_not_grow_with_the_rows(as_operator: Client, store: Opening) -> None:
    many(20)
    few = cost(lambda: as_operator.get("/review/"))
    many(180)
    assert cost(lambda: as_operator.get("/review/")) == few
    assert few < 30


def test_default_views_read_by_index(as_operator: Client, store: Opening) -> None:
    many(200)
    as_operator.get("/review/")
    with counting() as statements:
        as_operator.get("/review/")
        as_operator.get("/review/?order=newest")
    reads = {sql for sql in statements if sql.startswith("SELECT") and " FROM chunks " in sql}
    plans = [row[3] for sql in reads for row in fetch(KNOWLEDGE, f"EXPLAIN QUERY PLAN {sql}")]
    assert plans
    assert [plan for plan in plans if plan.startswith("SCAN c") and "pc_chunks_waiting" not in plan] == []


def test_a_full_page_stays_light(as_operator: Client, legacy: Opening) -> None:
    assert len(as_operator.get("/review/").content) < 200_000


@pytest.mark.parametrize("page", ["/review/", "/store/"])
@pytest.mark.parametrize("query", ["gate\x00way", "\x00gateway\x00", "gateway " * 200])
def test_any_text_can_be_searched_for(store: Opening, as_operator: Client, page: str, query: str) -> None:
    note("The gateway has three nodes.")
    answer = as_operator.get(page, {"q": query})
    assert answer.status_code == 200
    assert "has three nodes" in answer.content.decode()


@pytest.mark.parametrize("page", ["/review/", "/store/"])
def test_nothing_but_what_cannot_be_stored_is_an_empty_search(
    store: Opening, as_operator: Client, page: str
) -> None:
    note("The gateway has three nodes.")
    assert "has three nodes" in as_operator.get(page, {"q": "\x00"}).content.decode()


def test_a_likeness_that_is_deleted_meanwhile_is_none(
    as_operator: Client, store: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    note("The gateway has three nodes in the cellar", domain="fact")
    waits = note("The gateway has three nodes in the attic", domain="fact")
    nearest = fact_index.nearest

    def found_then_deleted(*args: Any) -> fact_index.FactMatch | None:
        found = nearest(*args)
        assert found is not None
        fetch(KNOWLEDGE, "DELETE FROM chunks WHERE id = ?", (found.chunk_id,))
        return found

    monkeypatch.setattr(fact_index, "nearest", found_then_deleted)
    response = as_operator.get(f"/review/?chosen={waits.id}")
    assert response.status_code == 200
    assert response.context["card"].other is None
