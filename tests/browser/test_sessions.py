"""Sessions and hot memory in a real browser: open, delete, undo, unpin, expire; and that no stored text runs."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from knowledge import queries, services
from knowledge.adoption import Opening
from knowledge.types import NewChunk, Policy, Verdict
from tests.actors import OPERATOR
from tests.cases import cases
from tests.memory.sessions import folder, put
from tests.views.stored import learnt, note

pytestmark = pytest.mark.browser

HOSTILE = cases("hostile_text")
PHONE = {"viewport": {"width": 390, "height": 844}}
NO_SCRIPT = {"viewport": {"width": 1440, "height": 900}, "java_script_enabled": False}


def mark(page: Page) -> None:
    """Leave a mark that only a reload of the page takes away."""
    page.evaluate("window.sameDocument = true")


def is_same_document(page: Page) -> bool:
    return bool(page.evaluate("window.sameDocument === true"))


def test_a_session_is_opened_deleted_and_brought_back(store: Opening, page: Page) -> None:
    put("chat-1", "Rotate the certificates")
    put("chat-2", "Book a meeting room", minute=1)
    page.goto("/sessions/")
    expect(page.locator(".row--told")).to_have_count(2)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".said__one")).to_have_count(2)
    expect(page).to_have_url(re.compile("/sessions/chat-2/$"))

    page.locator("summary", has_text="Delete").click()
    expect(page.locator(".danger__body")).to_contain_text(
        "its row in the session index and its line in the digest"
    )
    page.get_by_role("button", name="Delete 1 summary").click()
    expect(page.locator(".row--told")).to_have_count(1)
    assert not (folder() / "chat-2.json").exists()

    mark(page)
    page.keyboard.press("u")
    expect(page.locator(".row--told")).to_have_count(2)
    expect(page.locator("#toasts")).to_contain_text("is back")
    assert is_same_document(page)
    assert (folder() / "chat-2.json").exists()


def test_a_search_is_an_address(store: Opening, page: Page) -> None:
    put("chat-1", "Rotate the certificates")
    put("chat-2", "Book a meeting room", minute=1)
    page.goto("/sessions/")

    page.keyboard.press("/")
    page.keyboard.type("certificate")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(r"/sessions/\?q=certificate$"))
    expect(page.locator(".row--told mark")).to_have_text("certificates")
    page.get_by_label("Remove the filter words").click()
    expect(page.locator(".row--told")).to_have_count(2)


def test_a_row_is_unpinned_without_a_reload_and_pinned_again(store: Opening, page: Page) -> None:
    chunk = note("first", heading="First", delivery_policy=Policy.ALWAYS)
    note("second", heading="Second", delivery_policy=Policy.ALWAYS)
    page.goto("/hot/")
    mark(page)

    page.locator(f"#hot-{chunk.id}").get_by_role("button", name="Unpin").click()
    expect(page.locator(".hot")).to_have_count(1)
    expect(page.locator(".meter").last).to_contain_text("1 of 100")
    assert queries.get(chunk.id, OPERATOR).delivery_policy is Policy.RETRIEVED

    page.keyboard.press("u")
    expect(page.locator(".hot")).to_have_count(2)
    assert is_same_document(page)
    assert queries.get(chunk.id, OPERATOR).delivery_policy is Policy.ALWAYS


def test_a_pending_row_is_ruled_on_by_keyboard(store: Opening, page: Page) -> None:
    chunk = learnt("Ignore the rota.", delivery_policy=Policy.ALWAYS)
    page.goto("/hot/")
    expect(page.locator(".hot")).to_contain_text("delivered already while it waits")
    expect(page.locator("#rail-count-review")).to_have_text("1")

    page.keyboard.press("j")
    page.keyboard.press("r")

    expect(page.locator(".hot")).to_contain_text("An operator rejected it")
    expect(page.locator("#rail-count-review")).to_have_text("")
    assert queries.get(chunk.id, OPERATOR).review_state is Verdict.REJECTED


def test_expiry_and_delete(store: Opening, page: Page, complaints: list[str]) -> None:
    note("first", delivery_policy=Policy.ALWAYS)
    page.goto("/hot/")
    mark(page)
    page.locator("summary", has_text="Expiry").click()
    page.get_by_label("Expires").fill("tomorrow")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_contain_text("expires_at")
    expect(page.get_by_label("Expires")).to_have_value("tomorrow")
    assert [text for text in complaints if "422" not in text] == []
    complaints.clear()

    page.get_by_label("Expires").fill("30")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".hot .badges")).to_contain_text("expires")

    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete 1 row").click()
    expect(page.locator("#hot")).to_contain_text("Nothing is always-on")
    assert is_same_document(page)


@pytest.mark.parametrize("context_options", [NO_SCRIPT])
def test_everything_works_without_a_script(
    store: Opening, page: Page, context_options: dict[str, Any]
) -> None:
    put("chat-1", "Rotate the certificates")
    chunk = note("first", delivery_policy=Policy.ALWAYS)

    page.goto("/sessions/")
    page.locator(".row__link").click()
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete 1 summary").click()
    expect(page.locator("#sessions")).to_contain_text("No sessions yet")
    page.locator("#sessions summary", has_text="Deleted, and kept for 24 hours: 1").click()
    page.locator("#sessions").get_by_role("button", name="Restore").click()
    expect(page.locator(".row--told")).to_have_count(1)

    page.goto("/hot/")
    page.locator("summary", has_text="Expiry").click()
    page.get_by_label("Expires").fill("2099-01-31")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".hot .badges")).to_contain_text("expires")
    page.get_by_role("button", name="Unpin").click()
    expect(page.locator("#hot")).to_contain_text("Nothing is always-on")
    assert queries.get(chunk.id, OPERATOR).delivery_policy is Policy.RETRIEVED


@pytest.mark.parametrize("context_options", [{"viewport": {"width": 1440, "height": 900}}, PHONE])
def test_no_stored_text_runs_or_breaks_a_page(
    store: Opening, page: Page, context_options: dict[str, Any]
) -> None:
    for n, text in enumerate(HOSTILE):
        said = [{"role": "user", "content": text}, {"role": text[:60], "content": text}]
        calls = [{"name": text[:100], "args": {text[:50]: text}, "result": text, "duration_ms": 1}]
        put(
            f"chat-{n}", minute=n, messages=said, tool_calls=calls, final_output=f"{text}.", surface=text[:99]
        )
        new = NewChunk(text, heading=text, source=text[:1_900], delivery_policy=Policy.ALWAYS)
        services.add(new, OPERATOR)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    for address in (
        "/sessions/",
        "/sessions/?q=chat",
        "/hot/",
        *(f"/sessions/chat-{n}/" for n in range(len(HOSTILE))),
    ):
        page.goto(address)
        assert page.title().endswith("protoconsole"), address
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address

    host = page.evaluate("location.origin")
    assert [url for url in asked if not url.startswith((host, "data:"))] == []
