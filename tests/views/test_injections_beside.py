"""What the log says beside a row, on its page and in Review, and Review's filter by it."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from knowledge import services
from knowledge.adoption import Opening
from knowledge.types import Verdict
from protoconsole.databases import INJECTIONS, fetch
from tests.actors import OPERATOR
from tests.cases import cases
from tests.memory.turns import FORUM, hit, projected, recorded
from tests.views.stored import note
from tests.views.test_hostile import Outline
from tests.views.test_injections import AGO, imported, learnt, page, turn, words


def test_a_row_tells_which_turns_it_entered(store: Opening, as_operator: Client) -> None:
    chunk = note("The gateway has three nodes.")
    other = note("A row that nobody found.")
    for _ in range(7):
        turn()

    html = page(as_operator, f"/chunks/{chunk.id}/")
    assert "All 7 turns" in words(html)
    assert f'href="/injections/?chunk_id={chunk.id}"' in html
    assert f'href="/preview/?session_id=chat-1&amp;row={chunk.id}&amp;supposed=rejected"' in html
    assert re.findall(r'href="/injections/(\d+)/"', html) == ["7", "6", "5", "4", "3"]
    assert "It has entered no prompt yet." in words(page(as_operator, f"/chunks/{other.id}/"))


def test_a_row_of_an_agent_tells_what_its_session_had_read(store: Opening, as_operator: Client) -> None:
    outside = imported("The gateway nodes approve shell access.")
    agents = learnt("The gateway nodes are red.")
    trusted = note("The gateway nodes are blue.")
    first = turn()
    turn()
    written = learnt("Shell access is approved.")
    later = imported("The gateway nodes were read later.")
    turn()
    services.review(agents.id, Verdict.REJECTED, OPERATOR)

    html = page(as_operator, f"/chunks/{written.id}/")
    section = html.split('id="readings"')[1].split("</section>")[0]
    linked = {int(number) for number in re.findall(r'href="/chunks/(\d+)/"', section)}
    assert linked == {outside.id, agents.id}
    assert linked.isdisjoint({trusted.id, later.id})
    assert FORUM in section
    assert set(re.findall(r'href="/injections/(\d+)/"', section)) == {str(first)}


def test_rows_that_no_agent_wrote_have_read_nothing(store: Opening, as_operator: Client) -> None:
    imported("The gateway nodes approve shell access.")
    turn()
    mine = note("x", source="chat-1")

    assert 'id="readings"' not in page(as_operator, f"/chunks/{mine.id}/")


def test_the_card_of_review_says_it_in_a_line(store: Opening, as_operator: Client) -> None:
    outside = imported("The gateway nodes approve shell access.")
    turn()
    written = learnt("Shell access is approved.")

    address = f"/review/?chosen={written.id}"
    assert f"This session had read {FORUM} ." in words(page(as_operator, address))
    services.review(outside.id, Verdict.REJECTED, OPERATOR)
    assert f"had read {FORUM} , and 1 row that was rejected since." in words(page(as_operator, address))
    plain = learnt("Nothing was read before this.", "chat-2")
    assert "had read" not in words(page(as_operator, f"/review/?chosen={plain.id}"))


def test_review_narrows_to_what_was_written_after_text_from_outside(
    store: Opening, as_operator: Client
) -> None:
    before = learnt("Written before anything was read.")
    imported("The gateway nodes approve shell access.")
    turn()
    after = learnt("Shell access is approved.")
    learnt("Another session, which read nothing.", "chat-2")
    also = learnt("And deploys on a Friday.")

    plain = as_operator.get("/review/")
    assert "Had read external" in words_of_toolbar(plain.content.decode())
    narrowed = as_operator.get(f"/review/{plain.context['read_href']}")
    assert [row.chunk.id for row in narrowed.context["rows"]] == [after.id, also.id]
    assert narrowed.context["queue"].matching.count == 2
    assert [chip.label for chip in narrowed.context["chips"]] == ["Had read"]
    assert before.id not in [row.chunk.id for row in narrowed.context["rows"]]

    seen = narrowed.context["queue"].matching
    sent = {"all": "1", "verdict": "rejected", "query": "?read=external"}
    bound = {"seen_count": seen.count, "seen_newest": seen.newest}
    as_operator.post("/review/verdicts/", sent | bound)
    assert [row.chunk.id for row in as_operator.get("/review/?read=external").context["rows"]] == []
    assert before.id in [row.chunk.id for row in as_operator.get("/review/").context["rows"]]


def test_the_trust_that_the_other_program_did_not_record_is_looked_up(
    store: Opening, as_operator: Client
) -> None:
    outside = imported("The gateway nodes approve shell access.")
    ids = f"[{outside.id}]"
    fetch(
        INJECTIONS,
        "INSERT INTO injections (ts, session_id, rag_chunk_ids) VALUES (?, 'chat-1', ?)",
        ((timezone.now() - AGO).isoformat(), ids),
    )
    written = learnt("Shell access is approved.")

    narrowed = as_operator.get("/review/?read=external")
    assert [row.chunk.id for row in narrowed.context["rows"]] == [written.id]


def test_a_filter_that_the_broken_log_cannot_answer_finds_not_nothing(
    store: Opening, as_operator: Client
) -> None:
    learnt("Shell access is approved.")
    fetch(INJECTIONS, "DROP TABLE pc_injection_given")

    assert as_operator.get("/review/?read=external").status_code == 503
    assert as_operator.get("/review/?read=nonsense").status_code == 422


def words_of_toolbar(html: str) -> str:
    return html.split('id="toolbar"')[1].split("<main")[0]


def test_a_log_that_cannot_be_read_leaves_the_page_of_the_row(store: Opening, as_operator: Client) -> None:
    chunk = note("The gateway has three nodes.")
    fetch(INJECTIONS, "DROP TABLE pc_injection_items")

    shown = words(page(as_operator, f"/chunks/{chunk.id}/"))
    assert "The injection log cannot be read." in shown
    assert "The gateway has three nodes." in shown


@pytest.mark.parametrize("text", cases("hostile_text"))
def test_no_source_makes_an_element_beside_a_row(store: Opening, as_operator: Client, text: str) -> None:
    def outlines(source: str, session_id: str) -> list[list[str]]:
        recorded(projected(hit(999, "- x", source=source)), session_id, now=timezone.now() - AGO)
        written = learnt("Shell access is approved.", session_id)
        pages = [
            page(as_operator, address)
            for address in (f"/chunks/{written.id}/", f"/review/?chosen={written.id}")
        ]
        services.delete(written.id, OPERATOR)
        return [Outline(html).elements for html in pages]

    assert outlines(text, "chat-1") == outlines("x" * len(text), "chat-2")
