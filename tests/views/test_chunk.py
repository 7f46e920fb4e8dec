"""The page of a chunk: what it shows, and each change of it."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from knowledge import audit, queries, services
from knowledge.adoption import Opening
from knowledge.types import Chunk, Edit, NewChunk, Policy, State, Verdict
from tests.actors import AGENT, OPERATOR
from tests.views.stored import learnt, note, rows_now, statements

PART = {"HX-Request": "true", "HX-Target": "article#chunk", "HX-Request-Type": "partial"}


def url(chunk: Chunk, call: str = "") -> str:
    return f"/chunks/{chunk.id}/{call}"


def shown(client: Client, chunk: Chunk) -> str:
    answer = client.get(url(chunk))
    assert answer.status_code == 200
    return answer.content.decode()


def words(html: str) -> str:
    """Give a page as its reader sees it: without markup, each gap one blank."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def now(chunk: Chunk) -> Chunk:
    return queries.get(chunk.id, OPERATOR)


def test_shows_every_attribute_with_its_meaning(store: Opening, as_operator: Client) -> None:
    page = shown(
        as_operator,
        note(
            "The whole text.",
            heading="A heading",
            source="session-9",
            source_type="html",
            namespace="blue",
            epoch="2026",
            subject="olive",
            finding_type="risk",
            domain="finding",
        ),
    )

    for text in ("The whole text.", "A heading", "session-9", "blue", "2026", "olive", "risk", "finding"):
        assert text in page
    assert "Written by “html” , a path from outside." in words(page)
    assert "Delivered when a search matches." in page


def test_a_long_text_is_there_in_full(store: Opening, as_operator: Client) -> None:
    text = "".join(f"Sentence {n} of many.\n" for n in range(2_000))[:40_000]
    page = shown(as_operator, note(text))

    assert "Show all 40,000 characters" in page
    assert "Sentence 1700 of many." in page


@pytest.mark.parametrize(
    "path", ["/chunks/999/", "/chunks/0/", "/chunks/99999999999999999999/", "/chunks/x/"]
)
def test_an_id_that_names_nothing_is_not_found(store: Opening, as_operator: Client, path: str) -> None:
    assert as_operator.get(path).status_code == 404


@pytest.mark.parametrize("call", ["edit/", "settings/", "delete/"])
def test_only_operators_change_anything(store: Opening, client: Client, as_viewer: Client, call: str) -> None:
    chunk = note("as it was")
    sent = {"content": "other", "version": chunk.version, "delivery_policy": "always"}

    assert as_viewer.post(url(chunk, call), sent).status_code == 403
    client.logout()
    answer = client.post(url(chunk, call), sent)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/login/")
    assert now(chunk) == chunk


def test_a_viewer_sees_all_but_no_action(store: Opening, as_viewer: Client) -> None:
    chunk = note("as it was")
    main = shown(as_viewer, chunk).split('id="main"')[1].split("</main>")[0]

    assert "as it was" in main
    assert "added" in main
    assert "<form" not in main


@pytest.mark.parametrize("call", ["edit/", "settings/", "delete/"])
def test_a_change_of_nothing_is_not_found(store: Opening, as_operator: Client, call: str) -> None:
    assert as_operator.post(f"/chunks/999/{call}", {"content": "x", "version": "v"}).status_code == 404


def test_what_was_typed_for_a_deleted_row_is_offered_as_a_note(store: Opening, as_operator: Client) -> None:
    chunk = note("as it was")
    services.delete(chunk.id, OPERATOR)
    sent = {"content": "typed text", "heading": "typed heading", "version": chunk.version}

    answer = as_operator.post(url(chunk, "edit/"), sent)

    assert answer.status_code == 404
    page = answer.content.decode()
    assert "typed text</textarea>" in page
    assert 'value="typed heading"' in page
    assert 'action="/store/new/"' in page
    assert as_operator.get(url(chunk, "edit/")).status_code == 404


def test_settings_and_delete_take_a_form_only(store: Opening, as_operator: Client) -> None:
    chunk = note()
    for call in ("settings/", "delete/"):
        assert as_operator.get(url(chunk, call)).status_code == 405


def test_an_edit_is_the_same_as_by_the_service(store: Opening, as_operator: Client) -> None:
    chunk = learnt("three nodes", heading="Gateway")
    sent = {"content": "five nodes", "heading": "Gateway", "version": chunk.version}

    answer = as_operator.post(url(chunk, "edit/"), sent)

    assert answer.headers["Location"] == "/chunks/2/"
    by_page = rows_now()
    other = learnt("three nodes", heading="Gateway")
    services.edit(other.id, Edit(content="five nodes"), OPERATOR)
    by_service = rows_now()[2:]
    assert [row[1:12] for row in by_page] == [row[1:12] for row in by_service]
    assert now(chunk).superseded_by == 2
    entry = audit.trail(2).items[0]
    assert (entry.action, entry.actor, entry.surface) == ("edited", "olive", "page")


@pytest.mark.parametrize(
    ("back", "led_to"),
    [("/review/?kind=fact&chosen=9", "/review/?kind=fact&chosen=9"), ("https://evil.example/", "/chunks/2/")],
)
def test_an_edit_leads_back_to_the_page_of_ours_that_asked_for_it(
    store: Opening, as_operator: Client, back: str, led_to: str
) -> None:
    chunk = learnt("three nodes")
    sent = {"content": "five nodes", "version": chunk.version, "back": back}

    assert as_operator.post(url(chunk, "edit/"), sent).headers["Location"] == led_to


def test_the_edit_form_holds_the_text_and_the_version(store: Opening, as_operator: Client) -> None:
    chunk = note("line one\nline <two>", heading="two\nlines")
    form = as_operator.get(url(chunk, "edit/")).content.decode()

    assert "line one\nline &lt;two&gt;</textarea>" in form
    assert "two\nlines</textarea>" in form
    assert f'value="{chunk.version}"' in form


def test_saving_what_a_browser_did_to_the_line_ends_changes_nothing(
    store: Opening, as_operator: Client
) -> None:
    chunk = note("one\r\ntwo\nthree", heading="a\r\nb")
    sent = {"content": "one\r\ntwo\r\nthree", "heading": "a\r\nb", "version": chunk.version}

    answer = as_operator.post(url(chunk, "edit/"), sent, follow=True)

    assert len(rows_now()) == 1
    assert "Nothing to change" in answer.content.decode()
    assert "Undo" not in words(answer.content.decode().split('id="toasts"')[1].split("<template")[0])


def test_a_cleared_heading_is_gone(store: Opening, as_operator: Client) -> None:
    chunk = note("text", heading="heading")
    as_operator.post(url(chunk, "edit/"), {"content": "text", "heading": "", "version": chunk.version})

    assert queries.get(2, OPERATOR).heading is None


def test_a_stale_edit_shows_both_texts_and_loses_nothing(store: Opening, as_operator: Client) -> None:
    chunk = note("three nodes")
    standing = services.edit(chunk.id, Edit(content="four nodes"), OPERATOR)
    before = rows_now()

    answer = as_operator.post(
        url(chunk, "edit/"), {"content": "five nodes", "heading": "mine", "version": chunk.version}
    )

    assert answer.status_code == 409
    page = answer.content.decode()
    assert "five nodes</textarea>" in page
    assert "mine</textarea>" in page
    assert '<div class="memory__text" dir="auto">four nodes</div>' in page
    assert rows_now() == before
    assert f'action="{url(standing, "edit/")}"' in page
    again = as_operator.post(
        url(standing, "edit/"), {"content": "five nodes", "heading": "mine", "version": standing.version}
    )
    assert again.status_code == 302
    assert queries.get(3, OPERATOR).content == "five nodes"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "This field is required"),
        ("  ", "is empty"),
        ("a\x00b", "NUL at position 1"),
        ("x" * 100_001, "at most 100,000"),
        ("<think>no more</think>", "reasoning"),
    ],
)
def test_an_edit_that_cannot_be_keeps_what_was_typed(
    store: Opening, as_operator: Client, content: str, told: str
) -> None:
    chunk = note("as it was")
    sent = {"content": content, "heading": "typed before", "version": chunk.version}

    answer = as_operator.post(url(chunk, "edit/"), sent)

    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert "typed before</textarea>" in answer.content.decode()
    assert len(rows_now()) == 1


def test_a_row_is_pinned_and_unpinned_in_place(store: Opening, as_operator: Client) -> None:
    chunk = note()
    as_operator.post(url(chunk, "settings/"), {"delivery_policy": "always", "version": chunk.version})
    assert now(chunk).delivery_policy is Policy.ALWAYS

    pinned = now(chunk)
    as_operator.post(url(chunk, "settings/"), {"delivery_policy": "retrieved", "version": pinned.version})
    assert now(chunk).delivery_policy is Policy.RETRIEVED
    assert len(rows_now()) == 1


def test_an_expiry_is_set_in_utc_and_cleared(store: Opening, as_operator: Client) -> None:
    chunk = note()
    as_operator.post(url(chunk, "settings/"), {"expires_at": "2031-05-01T12:00", "version": chunk.version})
    assert now(chunk).expires_at == "2031-05-01T12:00:00+00:00"

    set_now = now(chunk)
    as_operator.post(
        url(chunk, "settings/"), {"expires_at": "", "clear_expiry": "1", "version": set_now.version}
    )
    assert now(chunk).expires_at is None


def test_an_empty_expiry_leaves_it_as_it_is(store: Opening, as_operator: Client) -> None:
    chunk = note(expires_at="2031-05-01")
    as_operator.post(
        url(chunk, "settings/"),
        {"expires_at": "", "delivery_policy": "on_demand", "version": chunk.version},
    )

    assert now(chunk).expires_at == chunk.expires_at
    assert now(chunk).delivery_policy is Policy.ON_DEMAND


@pytest.mark.parametrize("sent", [{"expires_at": "soon"}, {"expires_at": "0"}, {"delivery_policy": "often"}])
def test_a_setting_that_cannot_be_is_refused(
    store: Opening, as_operator: Client, sent: dict[str, str]
) -> None:
    chunk = note()
    answer = as_operator.post(url(chunk, "settings/"), {"version": chunk.version, **sent})

    assert answer.status_code == 422
    assert "field__error" in answer.content.decode()
    assert next(iter(sent.values())) in answer.content.decode()
    assert now(chunk) == chunk


@pytest.mark.parametrize("call", ["settings/", "delete/"])
def test_a_change_from_a_stale_page_shows_the_state_that_stands(
    store: Opening, as_operator: Client, call: str
) -> None:
    chunk = note()
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)
    rejected = now(chunk)

    answer = as_operator.post(url(chunk, call), {"delivery_policy": "always", "version": chunk.version})

    assert answer.status_code == 409
    assert "Nothing was changed." in answer.content.decode()
    assert "It is never delivered" in answer.content.decode()
    assert now(chunk) == rejected


def test_a_deleted_row_is_gone_for_good(store: Opening, as_operator: Client) -> None:
    chunk, other = note("goes"), note("stays")
    assert "cannot be undone" in shown(as_operator, chunk)

    answer = as_operator.post(url(chunk, "delete/"), {"version": chunk.version}, follow=True)

    assert "was deleted for good" in answer.content.decode()
    assert [row[0] for row in rows_now()] == [other.id]
    assert as_operator.get(url(chunk)).status_code == 404


def test_the_chain_shows_what_each_revision_changed(store: Opening, as_operator: Client) -> None:
    first = note("The gateway has three nodes.")
    second = services.edit(first.id, Edit(content="The gateway has five nodes."), OPERATOR)

    page = shown(as_operator, second)

    assert re.search(r"<del>\s*three\s*</del>", page)
    assert re.search(r"<ins>\s*five\s*</ins>", page)
    assert f'href="{url(first)}"' in page
    old = shown(as_operator, first)
    assert "A newer row took its place." in old
    assert f'replaced by <a class="link" href="{url(second)}">' in old
    assert url(first, "edit/") not in old


def test_a_proposal_shows_what_it_would_replace(store: Opening, as_operator: Client) -> None:
    standing = note("The user always prefers short answers in plain English words", domain="fact")
    told = services.remember(
        NewChunk("The user always prefers long answers in plain English words", domain="fact"), AGENT
    )
    proposal = told.chunk
    assert proposal is not None

    page = shown(as_operator, proposal)
    assert f"confirming it replaces #{standing.id}" in words(page)
    assert re.search(r"<del>\s*short\s*</del>", page)
    assert "Proposed in its place" in shown(as_operator, standing)


def test_the_trail_tells_who_did_what_and_takes_it_back(store: Opening, as_operator: Client) -> None:
    chunk = learnt("three nodes")
    services.review(chunk.id, Verdict.REJECTED, OPERATOR, reason="not true")

    page = shown(as_operator, chunk)
    assert "rejected by olive (operator, page)" in words(page)
    assert "not true" in page
    undo = re.findall(r'action="(/changes/[0-9a-f]+/undo/)"', page)
    assert len(undo) == 1

    answer = as_operator.post(undo[0], {"back": url(chunk)})

    assert answer.headers["Location"] == url(chunk)
    assert now(chunk).state is State.PENDING


def test_an_edit_is_taken_back_from_either_row(store: Opening, as_operator: Client) -> None:
    chunk = note("three nodes")
    revision = services.edit(chunk.id, Edit(content="five nodes"), OPERATOR)
    batch = audit.trail(revision.id).items[0].batch

    for row in (chunk, revision):
        assert f"/changes/{batch}/undo/" in shown(as_operator, row)


def test_a_change_that_was_overtaken_offers_no_undo(store: Opening, as_operator: Client) -> None:
    chunk = learnt()
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)
    first = audit.trail(chunk.id).items[0].batch
    services.review(chunk.id, Verdict.CONFIRMED, OPERATOR)

    assert f"/changes/{first}/undo/" not in shown(as_operator, chunk)


def test_the_trail_is_paged(store: Opening, as_operator: Client) -> None:
    chunk = learnt()
    for n in range(24):
        services.review(chunk.id, Verdict.CONFIRMED if n % 2 else Verdict.REJECTED, OPERATOR)

    first = as_operator.get(url(chunk))
    cursor = first.context["file"].trail.next
    second = as_operator.get(url(chunk), {"trail": cursor})

    lines = [len(answer.context["file"].trail.items) for answer in (first, second)]
    assert lines == [20, 5]
    assert as_operator.get(url(chunk), {"trail": "x"}).status_code == 422


@pytest.mark.parametrize("verdict", ["confirmed", "rejected"])
def test_a_verdict_from_here_comes_back_here(store: Opening, as_operator: Client, verdict: str) -> None:
    chunk = learnt()
    sent = {"verdict": verdict, "version": chunk.version, "back": url(chunk)}
    assert f'action="{url(chunk, "verdict/")}"' in shown(as_operator, chunk)

    answer = as_operator.post(url(chunk, "verdict/"), sent)

    assert answer.headers["Location"] == url(chunk)
    assert now(chunk).review_state == verdict


def test_a_deleted_source_is_restored_from_its_row(store: Opening, as_operator: Client) -> None:
    chunk = note(source="notes.md")
    note(source="notes.md")
    services.delete_by_source("notes.md", OPERATOR)
    page = shown(as_operator, chunk)
    assert "Restore 2 rows" in page

    as_operator.post("/store/sources/restore/", {"source": "notes.md", "back": url(chunk)})

    assert now(chunk).state is State.CONFIRMED


def test_htmx_gets_the_part_with_the_toast(store: Opening, as_operator: Client) -> None:
    chunk = note()
    sent = {"delivery_policy": "always", "version": chunk.version}

    answer = as_operator.post(url(chunk, "settings/"), sent, headers=PART, follow=True)
    part = as_operator.get(url(chunk), headers=PART)

    assert answer.redirect_chain == [(url(chunk), 302)]
    body = part.content.decode()
    assert body.lstrip().startswith("<article")
    assert 'hx-swap-oob="beforeend"' in body
    assert "HX-Request" in part.headers["Vary"]


def test_the_number_of_statements_does_not_grow(store: Opening, as_operator: Client) -> None:
    chunk = note("text 0")
    counts = []
    for revisions in (2, 5, 20):
        for n in range(revisions):
            chunk = services.edit(chunk.id, Edit(content=f"text {revisions} {n}"), OPERATOR)
        for n in range(revisions * 4):
            services.review(chunk.id, Verdict.REJECTED if n % 2 else Verdict.CONFIRMED, OPERATOR)
        with statements() as heard:
            shown(as_operator, chunk)
        counts.append(len(heard))

    assert counts == [counts[0]] * 3


@pytest.mark.parametrize(
    ("referer", "location"),
    [
        ("http://testserver/chunks/1/?trail=9", "/chunks/1/?trail=9"),
        ("http://testserver//evil.example/", "/review/"),
        ("https://evil.example/chunks/1/", "/review/"),
        ("http://[", "/review/"),
        ("", "/review/"),
    ],
)
def test_an_undo_leads_back_to_a_page_of_ours(
    store: Opening, as_operator: Client, referer: str, location: str
) -> None:
    chunk = learnt()
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)
    batch = audit.trail(chunk.id).items[0].batch

    answer = as_operator.post(f"/changes/{batch}/undo/", headers={"Referer": referer})

    assert answer.headers["Location"] == location


class TestReinstating:
    def test_a_row_whose_revision_was_deleted_comes_back(self, as_operator: Client, store: Opening) -> None:
        old = services.add(NewChunk("The port is 1"), OPERATOR).chunk
        assert old is not None
        new = services.edit(old.id, Edit(content="The port is 2"), OPERATOR)
        page = reverse("knowledge:chunk", args=[old.id])
        assert "Bring it back" not in as_operator.get(page).content.decode()
        services.delete(new.id, OPERATOR)
        assert "Bring it back" in as_operator.get(page).content.decode()

        answer = as_operator.post(reverse("knowledge:reinstate", args=[old.id]))

        assert answer.status_code == 302
        assert queries.get(old.id, OPERATOR).valid

    def test_not_beside_a_successor_and_not_by_a_viewer(self, as_operator: Client, store: Opening) -> None:
        old = services.add(NewChunk("The port is 1"), OPERATOR).chunk
        assert old is not None
        services.edit(old.id, Edit(content="The port is 2"), OPERATOR)

        assert as_operator.post(reverse("knowledge:reinstate", args=[old.id])).status_code == 409
        assert as_operator.post(reverse("knowledge:reinstate", args=[999])).status_code == 404

    def test_a_viewer_may_not(self, as_viewer: Client, store: Opening) -> None:
        chunk = services.add(NewChunk("The port is 1"), OPERATOR).chunk
        assert chunk is not None
        assert as_viewer.post(reverse("knowledge:reinstate", args=[chunk.id])).status_code == 403
