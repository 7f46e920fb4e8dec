"""The pages of sessions: the lines that the agent is told, what was said, delete and its way back."""

import re
from dataclasses import replace
from html import unescape
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import pytest
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from knowledge.adoption import Opening
from memory import digest, session_index
from memory.envelope.parse import parse
from memory.projection import project
from memory.threads import post_turns
from memory.types import Candidates, DigestPolicy, Options, Part
from protoconsole.databases import CONSOLE, fetch
from protoconsole.instance import Instance
from tests.actors import AGENT
from tests.cases import cases
from tests.memory.sessions import assistant, folder, put, settle, user, write
from tests.views.stored import learnt
from tests.views.test_hostile import Outline

URL = "/sessions/"


def main_of(client: Client, url: str, **params: str) -> str:
    answer = client.get(url, params)
    assert answer.status_code == 200
    return answer.content.decode().split('id="main"')[1].split("</main>")[0]


def listed(client: Client, **params: str) -> dict[str, tuple[str, str]]:
    """Give the line and the standing of each session of a list."""
    found = client.get(URL, params).context["sessions"]
    return {session.session_id: (" · ".join(session.told), standing) for session, standing in found}


def shown_lines(page: str) -> list[str]:
    """Read the lines of a list as a person does."""
    lines = (chunk.split("</a>")[0] for chunk in page.split('<span class="told__line">')[1:])
    return [unescape(re.sub("<[^>]*>", "", line)).strip() for line in lines]


def put_many(count: int) -> None:
    for n in range(count):
        write(
            f"chat-{n:03}", f"Question {n}", n % 60, timestamp=f"2026-04-01T{n // 60:02}:{n % 60:02}:00+00:00"
        )
    settle()


def test_a_row_is_the_line_of_the_digest_word_for_word(legacy: Opening, as_operator: Client) -> None:
    told = digest.candidates(DigestPolicy.NEWEST, None, "", max_sessions=10)
    text = project(Candidates(sessions=told), Options()).text
    lines = [line for line in text.splitlines() if line.endswith(" msgs")]
    assert len(lines) == 10
    assert (
        lines[0] == "chat-p023 · 2026-04-03T13:30:00+00:00 · chat · Plan the DNS cut-over (case 35) · 4 msgs"
    )

    rows = listed(as_operator)

    assert [line for line, standing in rows.values() if standing == "in digest"] == lines
    assert [entry.words for entry in parse(text).of(Part.PRIOR_SESSIONS)] == lines
    assert shown_lines(main_of(as_operator, URL))[1:11] == lines


def test_says_why_a_session_is_not_in_the_digest(legacy: Opening, as_operator: Client) -> None:
    rows = listed(as_operator)

    assert rows["a2a:000019"][1] == "not among the newest 10"
    assert rows["background:job-17"][1] == "background worker"
    assert rows["chat-corrupt"] == ("", "unreadable")
    assert rows["a2a:legacy-colon"][0].startswith(
        "a2a:legacy-colon · 2026-02-01T10:00:00+00:00 · a2a/other · "
    )
    assert rows["chat-nouser"][0].split(" · ")[3] == "(no topic)"
    page = main_of(as_operator, URL)
    assert "the file is not readable JSON" in page
    assert "44 bytes" in unescape(page).replace("\xa0", " ")


def test_no_credential_and_no_reasoning_is_shown(legacy: Opening, as_operator: Client) -> None:
    for page in (main_of(as_operator, URL), main_of(as_operator, "/sessions/chat-leaky/")):
        for secret in ("sk-test-51H", "hunter2", "secret plan", "leak<"):
            assert secret not in page
    page = main_of(as_operator, "/sessions/chat-leaky/")
    assert page.count('class="redacted"') == 2
    assert "2 credentials taken out" in page


def test_a_summary_is_shown_by_speaker(legacy: Opening, as_operator: Client) -> None:
    page = main_of(as_operator, "/sessions/chat-p003/")

    assert [
        page.index(text) for text in ("Compare the two capacity", "Here is the plan", "Thanks, go ahead.")
    ]
    assert page.count('class="said__who"') == 4
    assert "memory_recall" in page
    assert "The same as the last message." in page
    assert "trace-0003" in page


def test_leads_to_the_rows_that_it_wrote_and_to_its_turns(store: Opening, as_operator: Client) -> None:
    put(AGENT.session_id or "")
    put("chat-2")
    learnt("The gateway has three nodes.")

    page = main_of(as_operator, f"/sessions/{AGENT.session_id}/")
    assert f'href="/store/?source={AGENT.session_id}"' in page
    assert "1 row that it wrote" in page
    assert f'href="/injections/?session_id={AGENT.session_id}"' in page
    assert "It wrote no row of memory" in main_of(as_operator, "/sessions/chat-2/")


def test_an_unreadable_summary_has_a_page_that_says_why(legacy: Opening, as_operator: Client) -> None:
    page = main_of(as_operator, "/sessions/chat-corrupt/")
    assert "This summary cannot be read" in page
    assert "the file is not readable JSON" in page
    assert "Delete 1 summary" in page


def test_the_dialog_that_deletes_says_that_an_active_conversation_brings_the_words_back(
    store: Opening, as_operator: Client
) -> None:
    post_turns("chat-1", [user("Buy a kettle"), assistant("Bought.")], by=AGENT)
    page = main_of(as_operator, "/sessions/chat-1/")
    assert "Its words come back with the session's next answer" in page
    as_operator.post("/sessions/chat-1/delete/")
    assert session_index.find("chat-1") is None
    post_turns("chat-1", [user("And a cup"), assistant("Bought too.")], by=AGENT)
    assert "Buy a kettle" in main_of(as_operator, "/sessions/chat-1/")


def test_pages_by_time_then_id(store: Opening, as_operator: Client) -> None:
    put_many(120)
    session_index.deep_sync()  # a page reads only the newest of so many new files
    seen, href = [], URL
    while href:
        answer = as_operator.get(f"{URL}{href.removeprefix(URL)}")
        seen += [session.session_id for session, _ in answer.context["sessions"]]
        href = answer.context["next_href"]

    assert seen == [f"chat-{n:03}" for n in reversed(range(120))]


@pytest.mark.parametrize("cursor", ["x", "~", "2026-04-01T09:00:00+00:00~../etc", "~chat-1", "2026~"])
def test_a_cursor_that_no_list_gave_is_refused(store: Opening, as_operator: Client, cursor: str) -> None:
    put("chat-1")
    assert as_operator.get(URL, {"cursor": cursor}).status_code == 422


def test_a_list_that_ended_says_so(store: Opening, as_operator: Client) -> None:
    put("chat-1")
    page = main_of(as_operator, URL, cursor="2020-01-01T00:00:00+00:00~chat-0")
    assert "No older sessions" in page


def test_finds_by_what_was_said(store: Opening, as_operator: Client) -> None:
    put("chat-1", "Rotate the certificates")
    put("chat-2", "Book a meeting room", minute=1)

    assert list(listed(as_operator, q="certificate")) == ["chat-1"]
    assert "<mark>certificates</mark>" in main_of(as_operator, URL, q="certificate")
    assert "No session matches" in main_of(as_operator, URL, q="zebra")
    assert "No session matches" in main_of(as_operator, URL, q="!!!")


@pytest.mark.parametrize("query", cases("hostile_queries"))
def test_any_query_is_answered(store: Opening, as_operator: Client, query: str) -> None:
    put("chat-1")
    assert as_operator.get(URL, {"q": query}).status_code == 200


def test_a_broken_index_is_not_an_empty_list(store: Opening, as_operator: Client) -> None:
    put("chat-1")
    session_index.sync()
    fetch(CONSOLE, "UPDATE memory_session_words_config SET v = 99 WHERE k = 'version'")
    connections[CONSOLE].close()

    assert as_operator.get(URL, {"q": "certificates"}).status_code == 503


def test_a_session_is_deleted_and_comes_back(store: Opening, as_operator: Client) -> None:
    path = put("chat:1", "Rotate the certificates")
    before = path.read_bytes()
    page = main_of(as_operator, "/sessions/chat:1/")
    assert "chat%3A1.json" in page
    assert "its row in the session index and its line in the digest" in page

    answer = as_operator.post("/sessions/chat:1/delete/", follow=True)

    assert answer.redirect_chain == [(URL, 302)]
    toasts = answer.content.decode().split('id="toasts"')[1]
    assert "The summary of chat:1 was deleted" in toasts
    assert 'action="/sessions/chat:1/restore/"' in toasts
    assert not path.exists()
    assert digest.candidates(DigestPolicy.NEWEST, None, "", max_sessions=10) == []
    assert as_operator.get("/sessions/chat:1/").status_code == 404
    assert "deleted by <bdi>olive</bdi>" in main_of(as_operator, URL)

    answer = as_operator.post("/sessions/chat:1/restore/", follow=True)

    assert path.read_bytes() == before
    assert listed(as_operator)["chat:1"][1] == "in digest"
    assert "deleted by" not in main_of(as_operator, URL)


def test_a_summary_written_meanwhile_is_not_overwritten(store: Opening, as_operator: Client) -> None:
    put("chat-1", "old")
    as_operator.post("/sessions/chat-1/delete/")
    path = put("chat-1", "new")

    assert as_operator.post("/sessions/chat-1/restore/").status_code == 409
    assert "new" in path.read_text("utf-8")


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("session_id", ["nothing-here", "a%20b", "..%2Fagent", "x" * 201, "%00", "né"])
def test_what_is_no_session_is_not_found(
    store: Opening, as_operator: Client, method: str, session_id: str
) -> None:
    suffix = "" if method == "get" else "delete/"
    assert getattr(as_operator, method)(f"/sessions/{session_id}/{suffix}").status_code == 404
    assert as_operator.post(f"/sessions/{session_id}/restore/").status_code == 404


def test_who_is_not_signed_in_is_led_to_the_login(store: Opening, client: Client) -> None:
    put("chat-1")
    for url in (URL, "/sessions/chat-1/"):
        assert client.get(url).headers["Location"] == f"/login/?next={quote(url, safe='')}"
    for act in ("delete", "restore"):
        assert client.post(f"/sessions/chat-1/{act}/").headers["Location"] == "/login/"
    assert (folder() / "chat-1.json").exists()


def test_viewers_look_and_change_nothing(store: Opening, as_viewer: Client) -> None:
    put("chat-1")
    put("chat-2")
    for url in (URL, "/sessions/chat-1/"):
        assert 'method="post"' not in main_of(as_viewer, url)
    for act in ("delete", "restore"):
        assert as_viewer.post(f"/sessions/chat-1/{act}/").status_code == 403
        assert as_viewer.get(f"/sessions/chat-1/{act}/").status_code == 405
    assert (folder() / "chat-1.json").exists()


def test_an_empty_folder_says_what_will_appear(store: Opening, as_operator: Client) -> None:
    page = main_of(as_operator, URL)
    assert "No sessions yet" in page
    assert str(folder()) in page


def test_htmx_is_given_the_list_alone(store: Opening, as_operator: Client) -> None:
    put("chat-1")
    answer = as_operator.get(URL, headers={"HX-Request": "true"})
    assert answer.content.decode().startswith('<div id="sessions">')
    assert "HX-Request" in answer.headers["Vary"]


def test_a_long_session_is_paged_and_a_long_message_cut(store: Opening, as_operator: Client) -> None:
    said = [
        {"role": "user", "content": f"message-{n} " + "x" * (30_000 if n == 1 else 5)} for n in range(1, 121)
    ]
    put("chat-1", messages=said)

    first, last = (
        main_of(as_operator, "/sessions/chat-1/"),
        main_of(as_operator, "/sessions/chat-1/", page="3"),
    )

    assert ("message-50 " in first, "message-51 " in first) == (True, False)
    assert ("message-100 " in last, "message-101 " in last, "message-120 " in last) == (False, True, True)
    assert len(first) < 60_000
    assert "Show all 30,010 characters" in first
    assert "The rest stands in the file." in first
    for page in ("0", "-1", "x", "1" * 30):
        assert as_operator.get("/sessions/chat-1/", {"page": page}).status_code == 422


def hostile(text: str) -> dict[str, Any]:
    return {
        "surface": text[:500],
        "trace_id": text[:100],
        "messages": [{"role": "user", "content": text}, {"role": text[:60], "content": text}],
        "tool_calls": [{"name": text[:100], "args": {text[:50]: text}, "result": text, "duration_ms": 1}],
        "final_output": f"{text}.",
    }


def elements(client: Client) -> set[str]:
    urls = (URL, "/sessions/chat-1/")
    return {element for url in urls for element in Outline(main_of(client, url)).elements}


@pytest.mark.parametrize("text", cases("hostile_text"))
def test_no_text_makes_an_element(store: Opening, as_operator: Client, text: str) -> None:
    put("chat-1", **hostile("x" * 2_000))
    known = elements(as_operator)
    put("chat-1", minute=1, **hostile(text))

    assert elements(as_operator) <= known | {"span class"}


def test_a_query_of_the_address_makes_no_element(store: Opening, as_operator: Client) -> None:
    put("chat-1")
    assert "<script>alert" not in main_of(as_operator, URL, q="<script>alert(1)</script>")


@pytest.mark.parametrize("params", [{}, {"q": "question"}])
def test_the_number_of_queries_does_not_grow(
    store: Opening, as_operator: Client, params: dict[str, str]
) -> None:
    counted = []
    for size in (5, 45):
        put_many(size)
        as_operator.get(URL, params)
        with CaptureQueriesContext(connections[CONSOLE]) as heard:
            answer = as_operator.get(URL, params)
        assert len(answer.context["sessions"]) == size
        counted.append(len(heard))

    assert counted[0] == counted[1]


def test_a_list_opens_no_file_that_it_knows(store: Opening, as_operator: Client) -> None:
    put_many(3)
    as_operator.get(URL)
    with patch("memory.summaries.read_file", side_effect=AssertionError):
        assert len(listed(as_operator)) == 3


@pytest.mark.parametrize(
    ("policy", "standing"), [("off", "digest is off"), ("relevant", "when its words are asked")]
)
def test_the_policy_of_the_digest_is_told(
    store: Opening, as_operator: Client, settings: Settings, instance: Instance, policy: str, standing: str
) -> None:
    put("chat-1")
    config = instance.config
    changed = replace(config, context=replace(config.context, prior_sessions=policy))
    settings.INSTANCE = replace(instance, config=changed)

    assert listed(as_operator)["chat-1"][1] == standing
