"""The store in a real browser: find, read, edit, pin, delete, restore; and that no stored text runs."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from knowledge import queries, services
from knowledge.adoption import Opening
from knowledge.types import NewChunk, Policy, State, Verdict
from tests.actors import OPERATOR
from tests.cases import cases
from tests.views.stored import learnt, note, rows_now

pytestmark = pytest.mark.browser

HOSTILE = cases("hostile_text")
PHONE = {"viewport": {"width": 390, "height": 844}}
NO_SCRIPT = {"viewport": {"width": 1440, "height": 900}, "java_script_enabled": False}


def search(page: Page, text: str) -> None:
    page.goto("/store/")
    field = page.get_by_role("searchbox", name="Search what is known")
    field.fill(text)
    field.press("Enter")


def test_a_hit_opens_beside_the_list(store: Opening, page: Page) -> None:
    note("The printer is on the third floor.")
    chunk = note("Deploy the gateway on Mondays.\n\nNever on a Friday.", heading="Deploying")

    search(page, "gateway")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row mark")).to_have_text("gateway")
    page.locator(".row__link").click()

    expect(page.locator("#detail h2")).to_have_text("Deploying")
    expect(page.locator("#detail")).to_contain_text("Never on a Friday.")
    expect(page).to_have_url(re.compile(rf"/store/\?q=gateway&chosen={chunk.id}$"))
    page.reload()
    expect(page.locator("#detail h2")).to_have_text("Deploying")


def test_keys_step_through_the_list(store: Opening, page: Page) -> None:
    note("first", heading="First")
    note("second", heading="Second")
    page.goto("/store/")

    page.keyboard.press("j")
    expect(page.locator("#detail h2")).to_have_text("Second")
    page.keyboard.press("j")
    expect(page.locator("#detail h2")).to_have_text("First")
    page.go_back()
    expect(page.locator("#detail h2")).to_have_text("Second")


def test_a_row_is_pinned_beside_the_list(store: Opening, page: Page) -> None:
    chunk = note("first", heading="First")
    page.goto(f"/store/?chosen={chunk.id}")

    page.get_by_role("button", name="Pin").click()

    expect(page.locator("#toasts")).to_contain_text("always-on")
    expect(page.locator(f"#row-{chunk.id} .badge--always")).to_be_visible()
    assert queries.get(chunk.id, OPERATOR).delivery_policy is Policy.ALWAYS


@pytest.mark.parametrize("context_options", [PHONE])
def test_on_a_phone_a_row_leads_to_its_page(
    store: Opening, page: Page, context_options: dict[str, Any]
) -> None:
    chunk = note("first", heading="First")
    page.goto("/store/")

    page.locator(".row__link").click()

    expect(page).to_have_url(re.compile(rf"/chunks/{chunk.id}/$"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_edit_makes_a_revision_and_can_be_undone(store: Opening, page: Page) -> None:
    chunk = learnt("three nodes")
    page.goto(f"/chunks/{chunk.id}/")
    page.keyboard.press("e")
    page.get_by_label("Text").fill("five nodes")
    page.get_by_role("button", name="Save as a revision").click()

    expect(page).to_have_url(re.compile(r"/chunks/2/$"))
    expect(page.locator(".revision ins").first).to_contain_text("five")
    expect(page.locator("#toasts")).to_contain_text("Saved as #2")

    page.locator("#trail").get_by_role("button", name="Undo").first.click()
    expect(page.locator("#chunk")).to_contain_text("A newer row took its place.")
    assert queries.get(chunk.id, OPERATOR).state is State.PENDING


def test_what_was_typed_survives_another_operator(store: Opening, page: Page, complaints: list[str]) -> None:
    chunk = note("three nodes")
    page.goto(f"/chunks/{chunk.id}/edit/")
    page.get_by_label("Text").fill("five nodes")
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)

    page.get_by_role("button", name="Save as a revision").click()

    expect(page.get_by_role("alert")).to_contain_text("was changed while you wrote")
    expect(page.get_by_label("Text")).to_have_value("five nodes")
    assert [text for text in complaints if "409" not in text] == []
    complaints.clear()


def test_pin_expire_and_delete_on_the_page_of_a_chunk(store: Opening, page: Page) -> None:
    chunk = note("first")
    page.goto(f"/chunks/{chunk.id}/")

    page.keyboard.press("p")
    expect(page.locator(".detail__head .badge--always")).to_be_visible()
    page.get_by_label("Expires").fill("30")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Clear the expiry")).to_be_visible()
    page.get_by_role("button", name="Clear the expiry").click()
    expect(page.get_by_role("button", name="Clear the expiry")).to_have_count(0)

    page.locator("summary", has_text="Delete").click()
    expect(page.locator(".danger__body")).to_contain_text("cannot be undone")
    page.get_by_role("button", name="Delete 1 row").click()
    expect(page.locator("#toasts")).to_contain_text("deleted for good")
    assert rows_now() == []


def test_a_source_goes_and_comes_back(store: Opening, page: Page) -> None:
    for n in range(3):
        note(f"row {n}", source="notes.md")
    page.goto("/store/sources/")

    page.locator("summary", has_text="Delete all 3 rows").click()
    page.get_by_role("button", name="Delete 3 rows").click()
    expect(page.locator("#toasts")).to_contain_text("3 rows of notes.md deleted")
    page.get_by_role("button", name="Restore 3 rows").click()
    expect(page.locator(".source summary", has_text="Delete all 3 rows")).to_be_visible()
    assert queries.get(1, OPERATOR).state is State.CONFIRMED


def test_a_note_is_added(store: Opening, page: Page) -> None:
    page.goto("/store/")
    page.get_by_role("link", name="Add a note").first.click()
    page.get_by_label("Text").fill("Answer in short sentences.")
    page.get_by_role("button", name="Store the note").click()

    expect(page.locator("#chunk")).to_contain_text("Answer in short sentences.")
    expect(page.locator(".detail__head .badge--confirmed")).to_be_visible()


@pytest.mark.parametrize("context_options", [NO_SCRIPT])
def test_everything_works_without_a_script(
    store: Opening, page: Page, context_options: dict[str, Any]
) -> None:
    chunk = learnt("three nodes", heading="Gateway")
    note("other", source="notes.md")

    search(page, "nodes")
    page.locator(".row__link").click()
    page.get_by_role("button", name="Pin").click()
    expect(page.locator(".detail__head .badge--always")).to_be_visible()
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator(".detail__head .badge--confirmed")).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Text").fill("five nodes")
    page.get_by_role("button", name="Save as a revision").click()
    expect(page.locator(".revision ins").first).to_contain_text("five")
    assert queries.get(chunk.id, OPERATOR).superseded_by == 3

    page.goto("/store/sources/?prefix=notes")
    page.locator("summary", has_text="Delete its 1 row").click()
    page.get_by_role("button", name="Delete 1 row").click()
    page.get_by_role("button", name="Restore 1 row").click()
    expect(page.locator("#toasts")).to_contain_text("1 row of notes.md restored")


def test_no_stored_text_runs_or_breaks_a_page(store: Opening, page: Page) -> None:
    ids = []
    for text in HOSTILE:
        name = text[:1_900]
        new = NewChunk(text, heading=text, source=name, subject=name, namespace=name, domain=name)
        chunk = services.add(new, OPERATOR).chunk
        assert chunk is not None
        ids.append(chunk.id)
    addresses = ["/store/", "/store/?q=memory", "/store/sources/", "/"]
    addresses += [f"/chunks/{n}/" for n in ids] + [f"/store/?chosen={ids[0]}", f"/chunks/{ids[-1]}/edit/"]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    for address in addresses:
        page.goto(address)
        assert "protoconsole" in page.title()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address

    host = page.evaluate("location.origin")
    assert [url for url in asked if not url.startswith((host, "data:"))] == []


def test_a_verdict_beside_the_list_changes_list_and_counts(store: Opening, page: Page) -> None:
    chunk = learnt("three nodes")
    page.goto(f"/store/?chosen={chunk.id}")
    expect(page.locator("#rail-count-review")).to_have_text("1")

    page.keyboard.press("c")

    expect(page.locator(f"#row-{chunk.id} .badge--confirmed")).to_be_visible()
    expect(page.locator("#rail-count-review")).to_have_text("")
    page.keyboard.press("u")
    expect(page.locator(f"#row-{chunk.id} .badge--pending")).to_be_visible()
    assert queries.get(chunk.id, OPERATOR).state is State.PENDING
