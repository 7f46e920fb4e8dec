"""An operator's morning as one walk: in by name and password, through the store and the queue, and out again."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from knowledge import queries
from knowledge.adoption import Opening
from tests.actors import OPERATOR
from tests.conftest import PASSWORD
from tests.views.stored import learnt

pytestmark = pytest.mark.browser


def test_sign_in_search_edit_confirm_reject_undo_sign_out(
    store: Opening, context: BrowserContext, page: Page
) -> None:
    rows = [learnt(f"Row number {n}.", heading=f"Heading {n}") for n in range(12)]
    gateway = learnt("The gateway listens on port 8443.", heading="Gateway")
    context.clear_cookies()

    page.goto("/store/")
    page.get_by_label("Username").fill("olive")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"/store/$"))

    page.goto("/store/?q=which+port+has+the+gateway")
    expect(page.locator("mark").first).to_be_visible()
    page.goto(f"/chunks/{gateway.id}/edit/")
    page.get_by_label("Text").fill("The gateway listens on port 9443.")
    page.get_by_role("button", name="Save").click()
    expect(page).not_to_have_url(re.compile("/edit/$"))
    assert queries.get(gateway.id, OPERATOR).superseded_by is not None

    page.goto("/review/")
    for n in range(5):
        page.keyboard.press("c")
        expect(page.locator("#card h2")).to_have_text(f"Heading {n + 1}")
    for n in (5, 6, 7):
        page.keyboard.press("x")
        page.keyboard.press("j")
        expect(page.locator("#card h2")).to_have_text(f"Heading {n + 1}")
    page.get_by_role("button", name="Reject 3").click()
    expect(page.locator(".toast").last).to_contain_text("Rejected 3 rows.")
    page.keyboard.press("u")
    expect(page.locator(".toast").last).to_contain_text("Undone: 3 changes")
    verdicts = [queries.get(row.id, OPERATOR).review_state for row in rows]
    assert verdicts == ["confirmed"] * 5 + ["pending"] * 7

    page.locator("summary", has_text="olive").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/login/"))
    page.goto("/review/")
    expect(page).to_have_url(re.compile("/login/"))
