"""Verdicts on one row and on many, and what they leave behind."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from knowledge import queries, services
from knowledge.adoption import Opening
from knowledge.types import Edit, NewChunk, Policy, Verdict
from protoconsole.access.keys import create_key
from protoconsole.actors import Role
from protoconsole.databases import KNOWLEDGE, fetch
from tests.actors import AGENT, OPERATOR
from tests.views.queue import CARD, HTMX, listed, many, read, rule, selection, text
from tests.views.stored import learnt as note


@pytest.mark.parametrize("verdict", ["confirmed", "rejected"])
def test_a_verdict_and_its_undo(as_operator: Client, store: Opening, verdict: str) -> None:
    first, second = note("one"), note("two")
    response = rule(as_operator, first, verdict, follow=True)
    assert response.redirect_chain == [(f"/review/?chosen={second.id}", 302)]
    assert read(first).review_state == verdict
    undo = next(message.extra_tags for message in response.context["messages"])
    as_operator.post(undo)
    assert read(first).review_state is Verdict.PENDING


def test_page_and_api_leave_the_same_rows(as_operator: Client, store: Opening) -> None:
    by_page, by_api = note("same"), note("same")
    _, token = create_key("olive's script", Role.OPERATOR, created_by="olive")
    rule(as_operator, by_page, "rejected")
    as_operator.post(
        f"/api/memory/chunks/{by_api.id}/review",
        {"state": "rejected"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    first, second = (replace(read(row), id=0, created_at="", updated_at="") for row in (by_page, by_api))
    assert first == second
    assert first.review_state is Verdict.REJECTED
    entries = [queries.trail(row.id, OPERATOR).items[0] for row in (by_page, by_api)]
    told = [(entry.action, entry.role, entry.before, entry.after) for entry in entries]
    assert told[0] == told[1]
    assert [(entry.actor, entry.surface) for entry in entries] == [
        ("olive", "page"),
        ("olive's script", "api"),
    ]


def test_a_part_brings_the_next_card_and_the_counts(as_operator: Client, store: Opening) -> None:
    first, second = note("one"), note("two")
    response = rule(as_operator, first, "confirmed", headers=HTMX)
    page = text(response)
    assert response.status_code == 200
    assert "<html" not in page
    assert listed(response) == [second.id]
    assert response["HX-Replace-Url"] == f"/review/?chosen={second.id}"
    assert "HX-Request" in response["Vary"]
    assert "<title>Review · 1 · protoconsole</title>" in page
    assert 'id="rail-count-review" hx-swap-oob="true">1</span>' in page
    assert f"Confirmed #{first.id}." in page


def test_filters_order_and_page_survive_a_verdict(as_operator: Client, store: Opening) -> None:
    first, second, third = (note(str(n), namespace="team") for n in range(3))
    note("elsewhere")
    address = "?namespace=team&order=newest"
    assert (
        rule(as_operator, second, "confirmed", address)["Location"] == f"/review/{address}&chosen={first.id}"
    )
    assert listed(as_operator.get(f"/review/{address}")) == [third.id, first.id]


def test_a_history_restore_gets_the_whole_page(as_operator: Client, store: Opening) -> None:
    note("x")
    response = as_operator.get("/review/", headers={"HX-History-Restore-Request": "true"})
    assert "<html" in text(response)


def test_the_card_alone(as_operator: Client, store: Opening) -> None:
    note("one")
    second = note("two")
    page = text(as_operator.get(f"/review/?chosen={second.id}", headers=CARD))
    assert page.lstrip().startswith('<article class="detail" id="card">')
    assert 'id="review"' not in page


def test_a_stale_verdict_shows_what_is_and_who_ruled(as_operator: Client, store: Opening) -> None:
    seen = note("contested")
    services.review(seen.id, Verdict.REJECTED, OPERATOR)
    for headers in ({}, HTMX):
        response = rule(as_operator, seen, "confirmed", headers=headers)
        page = text(response)
        assert response.status_code == 409
        assert "It waits no longer: rejected." in page
        assert '<strong dir="auto">olive</strong>' in page
        assert listed(response) == [seen.id]
    assert read(seen).review_state is Verdict.REJECTED
    assert len(queries.trail(seen.id, OPERATOR).items) == 2  # added, rejected


def test_a_row_that_changed_but_waits_keeps_its_buttons(as_operator: Client, store: Opening) -> None:
    seen = note("contested")
    services.edit(seen.id, Edit(delivery_policy=Policy.ALWAYS), OPERATOR)
    response = rule(as_operator, seen, "confirmed")
    page = text(response)
    assert response.status_code == 409
    assert "It still waits, but changed while you looked at it." in page
    assert "delivery policy: retrieved → always" in page
    assert f'value="{read(seen).version}"' in page
    assert read(seen).review_state is Verdict.PENDING


def test_a_missing_row(as_operator: Client, store: Opening) -> None:
    fields = {"verdict": "confirmed", "version": "x"}
    assert as_operator.post("/chunks/999/verdict/", fields).status_code == 404
    assert as_operator.post(f"/chunks/{'9' * 30}/verdict/", fields).status_code == 404
    part = as_operator.post("/chunks/999/verdict/", fields, headers=HTMX)
    assert (part.status_code, part["HX-Reswap"]) == (404, "none")


def test_a_chosen_row_that_is_gone_leaves_the_queue_in_peace(as_operator: Client, store: Opening) -> None:
    waits = note("x")
    response = as_operator.get("/review/?chosen=999")
    assert (response.status_code, response.context["card"].chunk.id) == (200, waits.id)


@pytest.mark.parametrize("fields", [{}, {"verdict": "confirmed"}, {"verdict": "maybe", "version": "x"}])
def test_a_verdict_that_cannot_be_read(as_operator: Client, store: Opening, fields: dict[str, str]) -> None:
    waits = note("x")
    assert as_operator.post(f"/chunks/{waits.id}/verdict/", fields).status_code == 422
    assert read(waits).review_state is Verdict.PENDING


@pytest.mark.parametrize("address", ["kind=bogus", "chosen=abc", "chosen=0", "cursor=x", "order=random"])
def test_an_address_that_cannot_be_read(as_operator: Client, store: Opening, address: str) -> None:
    assert as_operator.get(f"/review/?{address}").status_code == 422


def test_looking_by_post_and_ruling_by_get_are_refused(as_operator: Client, store: Opening) -> None:
    waits = note("x")
    assert as_operator.post("/review/").status_code == 405
    assert as_operator.get(f"/chunks/{waits.id}/verdict/").status_code == 405
    assert as_operator.get("/review/verdicts/").status_code == 405


def test_ticked_rows_and_their_undo(as_operator: Client, store: Opening) -> None:
    rows = [note(str(n)) for n in range(5)]
    page = as_operator.get("/review/")
    ids = [row.id for row in rows[:3]]
    response = as_operator.post(
        "/review/verdicts/", selection(page, verdict="rejected", ids=ids), follow=True
    )
    assert "Rejected 3 rows." in text(response)
    assert [read(row).review_state for row in rows] == ["rejected"] * 3 + ["pending"] * 2
    as_operator.post(next(message.extra_tags for message in response.context["messages"]))
    assert {read(row).review_state for row in rows} == {Verdict.PENDING}


def test_all_that_match_in_one_batch(as_operator: Client, store: Opening) -> None:
    scoped = [note(str(n), namespace="team") for n in range(3)]
    other = note("elsewhere")
    page = as_operator.get("/review/?namespace=team")
    as_operator.post("/review/verdicts/", selection(page, verdict="confirmed", all="1"))
    assert {read(row).review_state for row in scoped} == {Verdict.CONFIRMED}
    assert read(other).review_state is Verdict.PENDING
    assert len(fetch(KNOWLEDGE, "SELECT DISTINCT batch FROM pc_audit WHERE action = 'confirmed'")) == 1


def test_thousands_at_once(as_operator: Client, store: Opening) -> None:
    many(3_000)
    page = as_operator.get("/review/")
    response = as_operator.post(
        "/review/verdicts/", selection(page, verdict="rejected", all="1"), follow=True
    )
    assert "Rejected 3,000 rows." in text(response)
    assert "Nothing waits for you" in text(response)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_rows_that_came_since_stop_a_bulk_verdict(
    as_operator: Client, store: Opening, headers: dict[str, str]
) -> None:
    first = note("seen")
    fields = selection(as_operator.get("/review/"), verdict="rejected", all="1")
    second = note("came since")
    response = as_operator.post("/review/verdicts/", fields, headers=headers)
    assert response.status_code == 409
    assert "2 rows match now, not 1" in text(response)
    assert response.context["queue"].matching.count == 2
    assert {read(first).review_state, read(second).review_state} == {Verdict.PENDING}


def test_a_ticked_row_that_was_ruled_on_since_stops_all(as_operator: Client, store: Opening) -> None:
    first, second = note("one"), note("two")
    fields = selection(as_operator.get("/review/"), verdict="confirmed", ids=[first.id, second.id])
    services.review(first.id, Verdict.REJECTED, OPERATOR)
    assert as_operator.post("/review/verdicts/", fields).status_code == 409
    assert read(second).review_state is Verdict.PENDING


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"ids": ["x"]},
        {"ids": ["-1"]},
        {"all": "1", "seen_count": "many"},
        {"all": "1", "query": "?kind=bogus"},
    ],
)
def test_a_bulk_verdict_that_cannot_be_read(
    as_operator: Client, store: Opening, wrong: dict[str, Any]
) -> None:
    waits = note("x")
    fields = selection(as_operator.get("/review/"), verdict="rejected") | wrong
    assert as_operator.post("/review/verdicts/", fields).status_code == 422
    assert read(waits).review_state is Verdict.PENDING


def test_the_count_of_a_verdict_leaves_out_what_it_supersedes(as_operator: Client, store: Opening) -> None:
    words = "The gateway must never restart by itself without approval of a person"
    services.add(NewChunk(words, domain="fact"), OPERATOR)
    services.remember(NewChunk(words.replace("never", "always"), domain="fact"), AGENT)
    fields = selection(as_operator.get("/review/"), verdict="confirmed", all="1")
    assert "Confirmed 1 row." in text(as_operator.post("/review/verdicts/", fields, follow=True))
