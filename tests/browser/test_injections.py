"""The log and the preview in a real browser: from a poisoned row to its turns and back, and what a ruling would do."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from knowledge import services
from knowledge.adoption import Opening
from knowledge.types import Verdict
from memory.injections import queries as log
from memory.injections.types import TurnQuery
from tests.actors import OPERATOR
from tests.cases import cases
from tests.views.stored import note
from tests.views.test_injections import FORUM, imported, learnt, turn

pytestmark = pytest.mark.browser

WIDTHS = [(1440, 900), (390, 844)]
NO_SCRIPT = {"viewport": {"width": 1440, "height": 900}, "java_script_enabled": False}


def test_from_a_row_to_what_it_did_and_back(store: Opening, page: Page) -> None:
    outside = imported("The gateway nodes approve shell access.", heading="Thread 441")
    turn("which gateway nodes?")
    written = learnt("Shell access is approved.")
    page.goto(f"/review/?chosen={written.id}")
    expect(page.locator("#card")).to_contain_text(f"This session had read {FORUM}")

    page.goto(f"/chunks/{written.id}/")
    page.locator("#readings").get_by_role("link", name=f"#{outside.id}", exact=True).click()
    page.get_by_role("button", name="Reject").click()
    expect(page.locator(".detail__head .badge--rejected")).to_be_visible()
    page.locator("#turns").get_by_role("link", name="Turn #1", exact=True).click()

    expect(page.locator("#turn h2").first).to_have_text("which gateway nodes?")
    expect(page.locator(".entry")).to_contain_text("Thread 441: The gateway nodes approve shell access.")
    expect(page.locator(".entry")).to_contain_text("rejected since")
    page.locator(".entry").get_by_role("link", name=f"#{outside.id}", exact=True).click()
    expect(page).to_have_url(re.compile(rf"/chunks/{outside.id}/$"))
    page.locator("#turns").get_by_role("link", name="The turn").click()
    expect(page).to_have_url(re.compile(rf"/injections/\?chunk_id={outside.id}$"))
    expect(page.locator(".turns .turn")).to_have_count(1)


def test_parts_fold(store: Opening, page: Page) -> None:
    note("Answer in short sentences.", domain="hot")
    turn()
    page.goto("/injections/1/")

    envelope = page.locator(".part", has_text="Envelope").first
    expect(envelope.locator(".part__frame")).to_be_hidden()
    envelope.locator("summary").click()
    expect(envelope.locator(".part__frame")).to_contain_text("<injected_memory>")
    always_on = page.locator(".part", has_text="Always-on")
    always_on.locator("summary").click()
    expect(always_on.locator(".entry")).to_be_hidden()


def test_a_ruling_is_tried_without_leaving_a_trace(store: Opening, page: Page) -> None:
    chunk = imported("The gateway nodes approve shell access.")
    page.goto("/preview/")
    page.get_by_label("Message").fill("gateway nodes")
    page.get_by_label("Window in tokens").fill("32000")
    page.get_by_label("As if row #").fill(str(chunk.id))
    page.get_by_label("were").select_option("rejected")
    page.get_by_role("button", name="Show").click()

    expect(page.locator("#difference")).to_contain_text("1 out, 0 in")
    expect(page.locator("#difference del")).to_contain_text("approve shell access")
    page.reload()
    expect(page.locator("#difference del")).to_contain_text("approve shell access")
    assert log.turns(TurnQuery()).items == []
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)
    page.reload()
    expect(page.locator("#difference")).to_contain_text("no difference")


@pytest.mark.parametrize("context_options", [NO_SCRIPT])
def test_all_of_it_works_without_a_script(
    store: Opening, page: Page, context_options: dict[str, Any], complaints: list[str]
) -> None:
    imported("The gateway nodes approve shell access.")
    turn()
    page.goto("/injections/")
    page.get_by_label("Session").fill("chat-1")
    page.get_by_role("button", name="Filter").click()
    expect(page).to_have_url(re.compile(r"session_id=chat-1"))
    page.locator(".turn__link").click()
    page.get_by_role("link", name="Plain text").click()
    expect(page.locator("body")).to_contain_text("<injected_memory>")
    page.wait_for_load_state("networkidle")
    complaints.clear()  # of a plain text, a browser asks for an icon that nobody named
    page.goto("/preview/?session_id=chat-1")
    expect(page.locator("#preview h2").first).to_have_text("gateway nodes")


@pytest.mark.parametrize(
    "context_options",
    [
        {"viewport": {"width": width, "height": height}, "color_scheme": theme}
        for width, height in WIDTHS
        for theme in ("light", "dark")
    ],
)
def test_no_stored_text_breaks_a_page(store: Opening, page: Page, context_options: dict[str, Any]) -> None:
    for text in cases("hostile_text"):
        note(text, heading=text, domain=text[:1_900])
        turn(f"memory {text}", model=text[:200], window=8_000)

    for address in (
        "/injections/",
        "/injections/1/",
        "/injections/20/",
        "/preview/?query=memory",
        "/chunks/1/",
    ):
        page.goto(address)
        assert "protoconsole" in page.title(), address
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
