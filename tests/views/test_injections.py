"""The pages of the log, and what it says beside a row."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from knowledge import services
from knowledge.adoption import Opening
from knowledge.types import Chunk, Edit, NewChunk, Verdict
from memory.delivery import deliver
from memory.types import LeftOut, Part, Reason, TurnRequest
from protoconsole.databases import CONSOLE, INJECTIONS, KNOWLEDGE, fetch
from tests.actors import AGENT, OPERATOR, PLUGIN
from tests.cases import cases
from tests.memory.sessions import put, settle
from tests.memory.turns import FORUM, hit, projected, recorded
from tests.views.stored import note
from tests.views.test_hostile import Outline

AGO = timedelta(hours=1)


def page(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return answer.content.decode()


def words(html: str) -> str:
    """Give the main part of a page as its reader sees it."""
    main = html.split('id="main"')[1].split("</main>")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def imported(content: str, **more: Any) -> Chunk:
    chunk = services.add(NewChunk(content, source=FORUM, source_type="web", **more), PLUGIN).chunk
    assert chunk is not None
    return chunk


def learnt(content: str, session_id: str = "chat-1") -> Chunk:
    chunk = services.add(NewChunk(content), replace(AGENT, session_id=session_id)).chunk
    assert chunk is not None
    return chunk


def turn(query: str = "gateway nodes", session_id: str | None = "chat-1", **more: Any) -> int:
    answer = deliver(TurnRequest(query=query, session_id=session_id, **more), AGENT)
    assert answer.injection_id is not None
    return answer.injection_id


def statements(client: Client, address: str) -> dict[str, int]:
    """Count what a page asks of each store; what triggers and the search index run of their own is left out."""
    heard: dict[str, list[str]] = {alias: [] for alias in (CONSOLE, KNOWLEDGE, INJECTIONS)}
    for alias, texts in heard.items():
        connections[alias].ensure_connection()
        connections[alias].connection.set_trace_callback(texts.append)
    try:
        page(client, address)
    finally:
        for alias in heard:
            connections[alias].connection.set_trace_callback(None)
    return {alias: sum(not text.startswith("--") for text in texts) for alias, texts in heard.items()}


@pytest.mark.parametrize("address", ["/injections/", "/injections/1/", "/injections/1/text/"])
def test_everybody_who_is_signed_in_may_look(store: Opening, client: Client, address: str) -> None:
    note("The gateway has three nodes.")
    turn()
    answer = client.get(address)
    assert (answer.status_code, answer.headers["Location"]) == (
        302,
        f"/login/?next={quote(address, safe='')}",
    )


def test_a_viewer_sees_the_log(store: Opening, as_viewer: Client) -> None:
    note("The gateway has three nodes.")
    turn()
    for address in ("/injections/", "/injections/1/", "/injections/1/text/"):
        assert as_viewer.get(address).status_code == 200
        assert as_viewer.post(address).status_code == 405


@pytest.mark.parametrize("id_", ["999", "0", "999999999999999999"])
def test_a_turn_that_never_was_is_not_found(store: Opening, as_operator: Client, id_: str) -> None:
    assert as_operator.get(f"/injections/{id_}/").status_code == 404
    assert as_operator.get(f"/injections/{id_}/text/").status_code == 404


@pytest.mark.parametrize("id_", ["9999999999999999999", "x", "-1"])
def test_what_is_no_id_is_no_address(store: Opening, as_operator: Client, id_: str) -> None:
    assert as_operator.get(f"/injections/{id_}/").status_code == 404


def test_an_empty_log_says_what_will_appear_and_how(store: Opening, as_operator: Client) -> None:
    shown = words(page(as_operator, "/injections/"))
    assert "No turn was recorded yet" in shown
    assert "POST /api/context" in shown


def test_a_turn_is_listed_with_its_counts(store: Opening, as_operator: Client) -> None:
    note("Answer in short sentences.", domain="hot")
    imported("The forum knows the gateway nodes.")
    turn(model="qwen", window=32_000)

    answer = as_operator.get("/injections/")
    shown = words(answer.content.decode())
    assert "chat-1 qwen 1 always-on 1 hit 1 operator 1 external" in shown
    [row] = answer.context["turns"].rows
    assert f" {row.turn.approx_tokens} " in shown
    # 8 % of 32,000 tokens are less than the least ceiling of 16,000 characters.
    assert row.used == round(100 * row.turn.kept.budget.used_chars / 16_000)


def test_the_chart_is_told_in_words(store: Opening, as_operator: Client) -> None:
    recorded(projected(hit(1, "- [fact] one")))
    recorded(projected(hit(1, "- [fact] one"), hit(2, "- [fact] two", 2)))

    html = page(as_operator, "/injections/")
    assert 'aria-label="2 turns of ' in html
    assert "rows delivered by trust: 0 operator, 0 agent, 3 external." in html


def test_filters_narrow_and_stand_in_the_address(store: Opening, as_operator: Client) -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    recorded(projected(hit(1, "- one")), "chat-1", now=noon)
    recorded(projected(hit(2, "- two")), "chat-1", now=noon + timedelta(days=1))
    recorded(projected(hit(2, "- two")), "chat-2", now=noon + timedelta(days=2))

    def listed(**params: str) -> list[int]:
        found = as_operator.get("/injections/", params).context["turns"].rows
        return [row.turn.id for row in found]

    assert listed() == [3, 2, 1]
    assert listed(session_id="chat-1") == [2, 1]
    assert listed(chunk_id="2") == [3, 2]
    assert listed(chunk_id="#2", session_id="chat-1") == [2]
    assert listed(since="2026-03-02") == [3, 2]
    assert listed(until="2026-03-02") == [2, 1]
    assert listed(since="2026-03-01T12:00:01", until="2026-03-02T11:59") == []
    html = page(as_operator, "/injections/?session_id=chat-1&chunk_id=2")
    assert 'href="?session_id=chat-1"' in html
    assert 'href="?chunk_id=2"' in html
    assert "No turn matches" in words(page(as_operator, "/injections/?session_id=nobody"))


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("chunk_id=x", "chunk_id"),
        ("chunk_id=9999999999999999999", "chunk_id"),
        ("since=soon", "since"),
        ("until=2026-99-01", "until"),
        ("cursor=nonsense", "cursor"),
    ],
)
def test_a_filter_that_cannot_be_is_named(
    store: Opening, as_operator: Client, address: str, told: str
) -> None:
    assert told in words(page(as_operator, f"/injections/?{address}", 422))


def test_pages_go_back_in_time_and_keep_the_filters(store: Opening, as_operator: Client) -> None:
    for minute in range(52):
        recorded(projected(hit(1, f"- {minute}")), minute=minute)

    first = as_operator.get("/injections/?chunk_id=1")
    second = as_operator.get(f"/injections/{first.context['next_href']}")

    assert first.context["next_href"].startswith("?chunk_id=1&cursor=")
    assert [row.turn.id for row in second.context["turns"].rows] == [2, 1]
    assert second.context["next_href"] == ""
    assert second.context["first_href"] == "?chunk_id=1"


def test_the_page_of_a_turn_shows_the_text_word_for_word(store: Opening, as_operator: Client) -> None:
    note("Answer in short sentences.", domain="hot", heading="Style")
    imported("The forum knows <b>the gateway</b> nodes.")
    made = turn("what of the gateway?", model="qwen", window=64_000, turn_id="t-9")

    html = page(as_operator, f"/injections/{made}/")
    shown = words(html)
    text = as_operator.get(f"/injections/{made}/text/").content.decode()
    for line in text.split("\n"):
        assert line.replace("<", "&lt;").replace(">", "&gt;") in html
    for known in ("what of the gateway?", "chat-1", "qwen", "A window of 64,000 tokens", "agent-1", "t-9"):
        assert known in shown
    assert "the text shown here matches it" in shown
    assert [block.part for block in as_operator.get(f"/injections/{made}/").context["replay"].blocks] == [
        None,
        Part.ALWAYS_ON,
        Part.HITS,
        None,
    ]


def test_the_plain_text_is_the_one_that_was_sent(store: Opening, as_operator: Client) -> None:
    for text in cases("hostile_text"):
        note(text)
    sent = deliver(TurnRequest(query="memory tag script", session_id="chat-1"), AGENT)

    answer = as_operator.get(f"/injections/{sent.injection_id}/text/")
    assert answer.content == sent.text.encode()
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_became_of_the_rows_since_is_told(store: Opening, as_operator: Client) -> None:
    rejected = imported("The gateway nodes approve shell access.")
    edited = note("The gateway has three nodes.")
    deleted = note("The gateway nodes are in the north.")
    confirmed = imported("The gateway nodes are watched.")
    untouched = note("The gateway nodes are blue.")
    made = turn()
    services.review(rejected.id, Verdict.REJECTED, OPERATOR)
    revision = services.edit(edited.id, Edit(content="The gateway has five nodes."), OPERATOR)
    services.delete(deleted.id, OPERATOR)
    services.review(confirmed.id, Verdict.CONFIRMED, OPERATOR)

    answer = as_operator.get(f"/injections/{made}/")
    entries = [entry for block in answer.context["replay"].blocks for entry in block.entries]
    assert {entry.item.ref: [str(since) for since in entry.since] for entry in entries} == {
        rejected.id: ["rejected"],
        edited.id: ["edited"],
        deleted.id: ["deleted"],
        confirmed.id: ["confirmed"],
        untouched.id: [],
    }
    html = answer.content.decode()
    assert "The gateway has three nodes." in html
    assert "The gateway nodes are in the north." in html
    assert "five nodes" not in html
    assert f'href="/chunks/{revision.id}/"' in html
    assert f'href="/chunks/{deleted.id}/"' not in html


def test_a_number_that_names_another_row_by_now_is_not_linked(store: Opening, as_operator: Client) -> None:
    made = recorded(projected(hit(1, "- [fact] as it was")), now=timezone.now() - AGO)
    note("Another row under the number 1.")

    html = page(as_operator, f"/injections/{made}/")
    assert "deleted since" in words(html)
    assert 'href="/chunks/1/"' not in html


def test_sessions_that_still_have_a_summary_are_linked(store: Opening, as_operator: Client) -> None:
    put("chat-4")
    put("chat-5", minute=1)
    made = turn(session_id="chat-4")
    also = turn(session_id="chat-1")
    html = page(as_operator, f"/injections/{also}/")
    assert html.count('href="/sessions/chat-4/"') == 1
    assert 'href="/sessions/chat-1/"' not in html
    assert 'href="/sessions/chat-4/"' in page(as_operator, f"/injections/{made}/")

    put("chat-4").unlink()
    settle()
    html = page(as_operator, f"/injections/{also}/")
    assert 'href="/sessions/chat-4/"' not in html
    assert "chat-4 deleted since" in words(html)


def test_what_was_left_out_is_grouped_by_reason(store: Opening, as_operator: Client) -> None:
    chunk = note("x")
    left = [
        LeftOut(Part.HITS, chunk.id, Reason.BUDGET),
        LeftOut(Part.HITS, 77, Reason.BUDGET),
        LeftOut(Part.PRIOR_SESSIONS, "chat-<b>", Reason.CAP),
    ]
    made = recorded(projected(hit(chunk.id, "- x"), left_out=left))

    html = page(as_operator, f"/injections/{made}/")
    shown = words(html)
    assert "Search hits No room was left in the budget of the turn: 2 #1 , #77" in shown
    assert "Prior sessions Beyond the limit of its own part: 1" in shown
    assert "chat-&lt;b&gt;" in html


def test_a_damaged_text_is_never_shown_as_true(store: Opening, as_operator: Client) -> None:
    chunk = note("The gateway has three nodes.")
    made = turn()
    fetch(INJECTIONS, "UPDATE pc_texts SET body = X'00'")

    shown = words(page(as_operator, f"/injections/{made}/"))
    assert "The text cannot be shown." in shown
    assert "the text does not match it" in shown
    assert f"#{chunk.id}" in shown
    answer = as_operator.get(f"/injections/{made}/text/")
    assert answer.status_code == 410
    assert b"three nodes" not in answer.content


def test_a_turn_of_the_other_program_shows_what_it_kept(legacy: Opening, as_operator: Client) -> None:
    listed = page(as_operator, "/injections/")
    assert words(listed).count("ids only") == 50
    [newest, *_] = as_operator.get("/injections/").context["turns"].rows

    shown = words(page(as_operator, f"/injections/{newest.turn.id}/"))
    assert "Only the ids were kept." in shown
    for ref in newest.turn.hot_ids:
        assert f"#{ref}" in shown
    older = as_operator.get("/injections/?cursor=" + as_operator.get("/injections/").context["turns"].next)
    entered = words(page(as_operator, f"/injections/{older.context['turns'].rows[0].turn.id}/"))
    assert "then" not in entered
    assert "now operator confirmed" in entered
    answer = as_operator.get(f"/injections/{newest.turn.id}/text/")
    assert answer.status_code == 404
    assert "text not kept" in answer.content.decode()


def test_statements_do_not_grow_with_the_rows(store: Opening, as_operator: Client) -> None:
    rows = [imported(f"The gateway node {n}.") for n in range(30)]
    one = recorded(projected(hit(rows[0].id, "- one")), now=timezone.now() - 2 * AGO)
    written = learnt("It wrote this.")
    pages = ("/injections/", f"/chunks/{rows[0].id}/", f"/chunks/{written.id}/")
    turns = (f"/injections/{one}/", f"/injections/{one}/text/")
    for address in (*pages, *turns):
        page(as_operator, address)
    few_entries = [statements(as_operator, address) for address in turns]
    few = [statements(as_operator, address) for address in pages]

    for minute in range(-30, 0):
        entries = (hit(row.id, f"- {row.id}", n) for n, row in enumerate(rows, 1))
        many = recorded(projected(*entries), now=timezone.now() - AGO + timedelta(minutes=minute))

    assert [statements(as_operator, address) for address in pages] == few
    turns = (f"/injections/{many}/", f"/injections/{many}/text/")
    assert [statements(as_operator, address) for address in turns] == few_entries


@pytest.mark.parametrize("text", cases("hostile_text"))
def test_no_text_makes_an_element(store: Opening, as_operator: Client, text: str) -> None:
    def outlines(content: str) -> list[list[str]]:
        made = recorded(
            projected(hit(999, f"- {content}".replace("\n", " "), source=content)),
            "chat-1",
            query=content,
            model=content,
            key=content,
            turn_id=content,
        )
        listed = "/injections/?session_id=chat-1"
        found = [Outline(page(as_operator, address)).elements for address in (listed, f"/injections/{made}/")]
        fetch(INJECTIONS, "DELETE FROM injections")
        fetch(INJECTIONS, "DELETE FROM pc_injection_items")
        return found

    assert outlines(text) == outlines("x" * len(text))


@pytest.mark.parametrize("name", ["session_id", "chunk_id", "since", "until", "cursor"])
def test_a_filter_of_the_address_makes_no_element(store: Opening, as_operator: Client, name: str) -> None:
    answer = as_operator.get("/injections/", {name: "<script>alert(1)</script>\"'\x00"})
    assert answer.status_code in (200, 422)
    assert "<script>alert" not in answer.content.decode()
