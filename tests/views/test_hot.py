"""The page Hot memory: what every prompt is given, in which order, what stays out and why, and the changes."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from knowledge import queries, services
from knowledge.adoption import Opening
from knowledge.errors import NotFound
from knowledge.types import Chunk, Edit, Policy, State, Verdict
from memory.envelope.parse import parse
from memory.gathering import always_on_candidates
from memory.projection import project
from memory.types import Candidates, Options, Part
from protoconsole.instance import Instance
from tests.actors import OPERATOR
from tests.cases import cases
from tests.views.stored import knowledge_file, learnt, note, statements
from tests.views.test_hostile import Outline

URL = "/hot/"
ALWAYS = Policy.ALWAYS


def pinned(content: str, **values: Any) -> Chunk:
    return note(content, delivery_policy=ALWAYS, **values)


def board_of(client: Client, **params: str) -> Any:
    answer = client.get(URL, params)
    assert answer.status_code == 200
    return answer.context["board"]


def main_of(client: Client, **params: str) -> str:
    return client.get(URL, params).content.decode().split('id="main"')[1].split("</main>")[0]


def ids(rows: Any) -> list[int]:
    return [row.chunk.id for row in rows]


def stored_at(chunk: Chunk, moment: datetime) -> None:
    """Write when a row was stored, as the other program would have."""
    with closing(sqlite3.connect(knowledge_file())) as connection, connection:
        connection.execute("UPDATE chunks SET created_at = ? WHERE id = ?", (moment.isoformat(), chunk.id))


def test_rows_stand_in_the_order_of_the_prompt(store: Opening, as_operator: Client) -> None:
    for text in ("first", "second", "third"):
        pinned(text)
    note("found by a search only")
    text = project(Candidates(always_on=always_on_candidates()), Options()).text
    assert [entry.words.split()[2] for entry in parse(text).of(Part.ALWAYS_ON)] == [
        "third",
        "second",
        "first",
    ]

    board = board_of(as_operator)

    assert [(row.chunk.content, row.place) for row in board.delivered] == [
        ("third", 1),
        ("second", 2),
        ("first", 3),
    ]
    assert (board.rows_used, board.chars_used) == (3, 5 + 6 + 5)
    page = main_of(as_operator)
    assert "16 of 6,000" in page
    assert "3 of 100" in page


def test_the_heading_counts_as_the_prompt_writes_it(store: Opening, as_operator: Client) -> None:
    pinned("five nodes", heading="Gateway")  # [Gateway] five nodes
    assert board_of(as_operator).chars_used == 20


def test_the_limit_of_characters_ends_delivery_at_the_first_that_has_no_room(
    store: Opening, as_operator: Client
) -> None:
    old = pinned("short, and the oldest")
    blocking = pinned("y" * 3_001)
    newest = pinned("x" * 3_000)

    board = board_of(as_operator)

    assert ids(board.delivered) == [newest.id]
    assert ids(board.crowded_out) == [blocking.id, old.id]
    assert board.chars_used == 3_000
    assert f'href="#hot-{blocking.id}"' in main_of(as_operator)

    services.edit(blocking.id, Edit(delivery_policy=Policy.RETRIEVED), OPERATOR)
    assert ids(board_of(as_operator).delivered) == [newest.id, old.id]


def test_the_limit_of_rows_is_a_hundred(store: Opening, as_operator: Client) -> None:
    chunks = [pinned(f"row {n}") for n in range(103)]

    first, second = board_of(as_operator), board_of(as_operator, cursor=str(chunks[3].id))

    assert len(first.delivered) == 100
    assert (first.crowded_out, first.blocker) == ([], None)
    assert ids(second.crowded_out) == [chunks[2].id, chunks[1].id, chunks[0].id]
    assert second.rows_used == 100
    assert second.blocker is None
    assert "?cursor=" in main_of(as_operator)


def test_rejected_and_expired_rows_stay_out_and_say_why(store: Opening, as_operator: Client) -> None:
    rejected, expired = pinned("rejected"), pinned("expired")
    services.review(rejected.id, Verdict.REJECTED, OPERATOR)
    services.edit(expired.id, Edit(expires_at="2020-01-01T00:00:00+00:00"), OPERATOR)

    board = board_of(as_operator)

    assert board.delivered == []
    assert {row.chunk.id: row.why for row in board.held_back} == {
        rejected.id: "An operator rejected it",
        expired.id: "Its time has passed",
    }
    assert "An operator rejected it" in main_of(as_operator)


def test_a_pending_row_is_delivered_while_it_waits_and_says_so(store: Opening, as_operator: Client) -> None:
    chunk = learnt("Ignore the rota.", delivery_policy=ALWAYS)
    assert "delivered already while it waits" in main_of(as_operator)

    services.review(chunk.id, Verdict.CONFIRMED, OPERATOR)
    assert "delivered already while it waits" not in main_of(as_operator)


def test_the_newest_writes_stand_out_with_who_wrote_them(store: Opening, as_operator: Client) -> None:
    old = pinned("old")
    stored_at(old, datetime.now(UTC) - timedelta(days=8))
    learnt("new", delivery_policy=ALWAYS)

    new_row, old_row = board_of(as_operator).delivered

    assert (new_row.fresh, old_row.fresh) == (True, False)
    page = main_of(as_operator).split('id="hot-')
    assert "written by an agent in session" in page[1]
    assert 'by <strong dir="auto">agent-1</strong> (agent, tool)' in page[1]
    assert "New:" in page[1]
    assert "New:" not in page[2]


def test_the_rows_of_an_older_store(legacy: Opening, as_operator: Client) -> None:
    board = board_of(as_operator)
    assert board.rows_used == 4
    assert [row.place for row in board.delivered] == [1, 2, 3, 4]
    assert "Production database is read-only for agents. Ask before any write." in main_of(as_operator)


def test_unpin_and_its_way_back(store: Opening, as_operator: Client) -> None:
    chunk = pinned("first")

    answer = as_operator.post(f"/hot/{chunk.id}/unpin/", {"version": chunk.version}, follow=True)

    assert answer.redirect_chain == [(URL, 302)]
    assert queries.get(chunk.id, OPERATOR).delivery_policy is Policy.RETRIEVED
    assert "Nothing is always-on" in answer.content.decode()
    undo = answer.content.decode().split('id="toasts"')[1].split('action="')[1].split('"')[0]
    as_operator.post(undo)
    assert queries.get(chunk.id, OPERATOR).delivery_policy is ALWAYS


def test_an_expiry_is_set_and_cleared(store: Opening, as_operator: Client) -> None:
    chunk = pinned("first")
    url = f"/hot/{chunk.id}/expiry/"

    answer = as_operator.post(url, {"version": chunk.version, "expires_at": "2099-01-31"}, follow=True)
    assert "expires 2099-01-31 00:00 UTC" in answer.content.decode()
    chunk = queries.get(chunk.id, OPERATOR)
    assert chunk.expires_at == "2099-01-31T00:00:00+00:00"

    answer = as_operator.post(url, {"version": chunk.version, "clear_expiry": "1"}, follow=True)
    assert "no expiry" in answer.content.decode()
    chunk = queries.get(chunk.id, OPERATOR)
    assert chunk.expires_at is None

    answer = as_operator.post(url, {"version": chunk.version, "clear_expiry": "1"}, follow=True)
    assert "Nothing to change" in answer.content.decode()


@pytest.mark.parametrize("text", ["", "  ", "0", "9999", "tomorrow", "2027-13-40"])
def test_an_expiry_that_cannot_be_changes_nothing(store: Opening, as_operator: Client, text: str) -> None:
    chunk = pinned("first")
    answer = as_operator.post(f"/hot/{chunk.id}/expiry/", {"version": chunk.version, "expires_at": text})
    assert answer.status_code == 422
    assert queries.get(chunk.id, OPERATOR).version == chunk.version


def test_delete_takes_the_row_for_good(store: Opening, as_operator: Client) -> None:
    chunk = pinned("first")
    assert "cannot be undone" in main_of(as_operator)

    answer = as_operator.post(f"/hot/{chunk.id}/delete/", {"version": chunk.version}, follow=True)

    assert f"#{chunk.id} was deleted for good." in answer.content.decode()
    with pytest.raises(NotFound):
        queries.get(chunk.id, OPERATOR)


@pytest.mark.parametrize("act", ["unpin", "expiry", "delete"])
def test_a_change_of_what_somebody_changed_since_is_refused(
    store: Opening, as_operator: Client, act: str
) -> None:
    seen = pinned("first")
    services.review(seen.id, Verdict.REJECTED, OPERATOR)
    sent = {"version": seen.version, "expires_at": "30"}

    assert as_operator.post(f"/hot/{seen.id}/{act}/", sent).status_code == 409
    answer = as_operator.post(f"/hot/{seen.id}/{act}/", sent, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Reswap"]) == (409, "none")

    now = queries.get(seen.id, OPERATOR)
    assert (now.state, now.delivery_policy) == (State.REJECTED, ALWAYS)


@pytest.mark.parametrize("act", ["unpin", "expiry", "delete"])
def test_what_is_not_there_or_not_always_on_is_not_found(
    store: Opening, as_operator: Client, act: str
) -> None:
    chunk = note("found by a search only")
    sent = {"version": chunk.version, "expires_at": "30"}
    for row_id in (chunk.id, 99, "9" * 30, "x", "-1"):
        assert as_operator.post(f"/hot/{row_id}/{act}/", sent).status_code == 404
    assert queries.get(chunk.id, OPERATOR) == chunk


@pytest.mark.parametrize("act", ["unpin", "expiry", "delete"])
def test_only_operators_change_anything(store: Opening, client: Client, as_viewer: Client, act: str) -> None:
    chunk = pinned("first")
    sent = {"version": chunk.version, "expires_at": "30"}
    page = main_of(as_viewer)
    assert "first" in page
    assert 'method="post"' not in page

    assert as_viewer.post(f"/hot/{chunk.id}/{act}/", sent).status_code == 403
    assert as_viewer.get(f"/hot/{chunk.id}/{act}/").status_code == 405
    client.logout()
    assert client.get(URL).headers["Location"].startswith("/login/")
    assert client.post(f"/hot/{chunk.id}/{act}/", sent).headers["Location"] == "/login/"
    assert queries.get(chunk.id, OPERATOR) == chunk


def test_a_change_needs_the_version_that_was_seen(store: Opening, as_operator: Client) -> None:
    chunk = pinned("first")
    assert as_operator.post(f"/hot/{chunk.id}/delete/").status_code == 422
    assert queries.get(chunk.id, OPERATOR) == chunk


def test_a_cursor_that_no_list_gave_is_refused(store: Opening, as_operator: Client) -> None:
    assert as_operator.get(URL, {"cursor": "x"}).status_code == 422


def test_nothing_always_on_says_what_will_appear(store: Opening, as_operator: Client) -> None:
    page = main_of(as_operator)
    assert "Nothing is always-on" in page
    assert 'href="/store/"' in page


def test_memory_that_is_off_is_said(
    store: Opening, as_operator: Client, settings: Settings, instance: Instance
) -> None:
    pinned("first")
    config = replace(instance.config, middleware=replace(instance.config.middleware, knowledge=False))
    settings.INSTANCE = replace(instance, config=config)

    board = board_of(as_operator)

    assert (board.delivered, board.rows_used, board.chars_used) == ([], 0, 0)
    assert [row.why for row in board.held_back] == ["Memory is switched off"]
    assert "middleware.knowledge is false" in main_of(as_operator)


def test_htmx_is_given_the_rows_and_the_count_of_the_rail(store: Opening, as_operator: Client) -> None:
    pinned("first")
    answer = as_operator.get(URL, headers={"HX-Request": "true"}).content.decode()
    assert answer.lstrip().startswith('<div id="hot"')
    assert 'id="rail-count-review" hx-swap-oob="true"' in answer


@pytest.mark.parametrize("text", cases("hostile_text"))
def test_no_text_makes_an_element(store: Opening, as_operator: Client, text: str) -> None:
    def elements_for(content: str) -> list[str]:
        chunk = pinned(content, heading=content, source=content[:1_900])
        elements = Outline(main_of(as_operator)).elements
        services.delete(chunk.id, OPERATOR)
        return elements

    assert elements_for(text) == elements_for("x" * len(text))


def test_a_page_stays_small_however_long_its_rows_are(store: Opening, as_operator: Client) -> None:
    for n in range(40):
        pinned(f"{n} " + "x" * 90_000)
    assert len(as_operator.get(URL).content) < 200_000


def test_the_number_of_statements_does_not_grow(store: Opening, as_operator: Client) -> None:
    counted = []
    for size in (40, 70):  # beyond what is read at first, after which a part is read once more
        for n in range(size):
            pinned(f"row {size} {n}")
        as_operator.get(URL)
        with statements() as heard:
            as_operator.get(URL)
        counted.append(len(heard))

    assert counted[0] == counted[1]
