"""Ruling in a real browser: by keyboard, by mouse, without a script, and over hostile text."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from knowledge import queries, services
from knowledge.adoption import Opening
from knowledge.types import Chunk, NewChunk, Verdict
from tests.actors import OPERATOR, PLUGIN
from tests.cases import cases
from tests.views.stored import learnt

pytestmark = pytest.mark.browser

WITHOUT_SCRIPT = {"java_script_enabled": False, "viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def rows(store: Opening) -> list[Chunk]:
    """Twelve rows that wait."""
    return [learnt(f"Row number {n}.", heading=f"Heading {n}") for n in range(12)]


def verdicts(rows: list[Chunk]) -> str:
    """Write the verdicts as letters, in the order of the rows."""
    return "".join(queries.get(row.id, OPERATOR).review_state[0] for row in rows)


def heading(page: Page) -> Any:
    return page.locator("#card h2")


def press(page: Page, key: str, *, then: str) -> None:
    """Press a key and wait until the card shows the heading that must come next."""
    page.keyboard.press(key)
    expect(heading(page)).to_have_text(then)


def test_confirm_five_reject_three_undo_by_keyboard(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    for n in range(5):
        press(page, "c", then=f"Heading {n + 1}")
    assert verdicts(rows) == "ccccc" + "p" * 7
    expect(page).to_have_title("Review · 7 · protoconsole")
    expect(page.locator("#rail-count-review")).to_have_text("7")
    for n in (5, 6, 7):
        page.keyboard.press("x")
        press(page, "j", then=f"Heading {n + 1}")
    expect(page.locator("[data-select-count]")).to_have_text("3 selected")
    page.get_by_role("button", name="Reject 3").click()
    expect(page.locator(".toast").last).to_contain_text("Rejected 3 rows.")
    assert verdicts(rows) == "cccccrrrpppp"
    page.keyboard.press("u")
    expect(page.locator(".toast").last).to_contain_text("Undone: 3 changes")
    assert verdicts(rows) == "ccccc" + "p" * 7
    page.keyboard.press("u")
    expect(page.locator(".toast").last).to_contain_text("Undone: 1 change taken back.")
    assert verdicts(rows) == "cccc" + "p" * 8


def test_moving_shows_the_card_and_keeps_it_in_the_address(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    press(page, "j", then="Heading 1")
    expect(page).to_have_url(f"{page.url.partition('/review/')[0]}/review/?chosen={rows[1].id}")
    press(page, "k", then="Heading 0")
    press(page, "s", then="Heading 1")
    expect(page.locator("[data-current]")).to_have_id(f"waiting-{rows[1].id}")
    page.reload()
    expect(heading(page)).to_have_text("Heading 1")
    assert verdicts(rows) == "p" * 12


def test_back_shows_the_card_before(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    press(page, "j", then="Heading 1")
    press(page, "j", then="Heading 2")
    page.go_back()
    expect(heading(page)).to_have_text("Heading 1")
    expect(page.locator("#rail")).to_be_visible()


def test_a_verdict_does_not_load_the_page_anew(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    page.evaluate("window.kept = true")
    page.locator("#card").get_by_role("button", name="Reject").click()
    expect(heading(page)).to_have_text("Heading 1")
    page.locator(f"#waiting-{rows[1].id}").hover()
    page.locator(f"#waiting-{rows[1].id}").get_by_role("button", name="Confirm").click()
    expect(heading(page)).to_have_text("Heading 2")
    assert page.evaluate("window.kept") is True
    assert verdicts(rows)[:3] == "rcp"


def test_a_key_held_down_rules_once_on_each_card(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    for _ in range(3):
        page.keyboard.down("c")
    page.keyboard.up("c")
    expect(heading(page)).to_have_text("Heading 1")
    assert verdicts(rows) == "c" + "p" * 11


def test_no_second_verdict_while_one_is_under_way(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    held: list[Route] = []
    page.route("**/verdict/", lambda route: held.append(route))
    for key in "cr":
        page.keyboard.press(key)
    press(page, "j", then="Heading 1")
    assert [route.request.post_data_json["verdict"] for route in held] == ["confirmed"]
    held[0].continue_()
    expect(page.locator(".toast")).to_contain_text(f"Confirmed #{rows[0].id}.")
    press(page, "j", then="Heading 2")
    assert len(held) == 1
    assert verdicts(rows) == "c" + "p" * 11


def test_keys_in_a_field_are_words(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    page.get_by_role("searchbox", name="Narrow to words").press_sequentially("crejsx")
    assert verdicts(rows) == "p" * 12


def test_a_row_that_somebody_ruled_on_first(page: Page, rows: list[Chunk], complaints: list[str]) -> None:
    page.goto("/review/")
    services.review(rows[0].id, Verdict.REJECTED, OPERATOR)
    page.keyboard.press("c")
    expect(page.locator("#card")).to_contain_text("It waits no longer: rejected.")
    expect(page.locator("#card")).to_contain_text("olive")
    expect(page.locator("[data-current]")).to_have_id(f"waiting-{rows[0].id}")
    assert verdicts(rows) == "r" + "p" * 11
    page.keyboard.press("c")  # the row on show has nothing to confirm, and no other may be taken for it
    press(page, "j", then="Heading 1")
    assert verdicts(rows) == "r" + "p" * 11
    assert [text for text in complaints if "409" not in text] == []
    complaints.clear()


def test_editing_confirms_and_comes_back(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    page.keyboard.press("e")
    page.get_by_label("Text").fill("Put right by hand.")
    page.get_by_role("button", name="Save and confirm").click()
    expect(heading(page)).to_have_text("Heading 1")
    revision = queries.history(rows[0].id, OPERATOR)[-1]
    assert (revision.content, revision.review_state) == ("Put right by hand.", Verdict.CONFIRMED)


def test_the_last_verdict_leaves_an_empty_queue(page: Page, store: Opening) -> None:
    learnt("Alone.", heading="Alone")
    page.goto("/review/")
    page.keyboard.press("c")
    expect(page.locator("#review")).to_contain_text("Nothing waits for you")
    expect(page).to_have_title("Review · protoconsole")
    page.keyboard.press("u")
    expect(heading(page)).to_have_text("Alone")


def test_an_ended_session_leads_to_sign_in(page: Page, context: BrowserContext, rows: list[Chunk]) -> None:
    page.goto("/review/")
    context.clear_cookies(name="protoconsole_session")
    page.keyboard.press("c")
    expect(page).to_have_url(f"{page.url.partition('/review/')[0]}/login/?next=%2Freview%2F")
    assert verdicts(rows) == "p" * 12


@pytest.mark.parametrize("context_options", [WITHOUT_SCRIPT])
def test_without_a_script(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    page.locator("#card").get_by_role("button", name="Confirm").click()
    expect(heading(page)).to_have_text("Heading 1")
    page.locator("#card").get_by_role("button", name="Reject").click()
    page.locator("#card").get_by_role("link", name="Skip").click()
    expect(heading(page)).to_have_text("Heading 3")
    for n in (4, 5):
        page.locator(f"#waiting-{rows[n].id} input[type=checkbox]").check()
    page.locator("#bulk").get_by_role("button", name="Reject").click()
    expect(page.locator(".toast")).to_contain_text("Rejected 2 rows.")
    assert verdicts(rows) == "crpprr" + "p" * 6
    page.locator(".toast").get_by_role("button", name="Undo").click()
    assert verdicts(rows) == "cr" + "p" * 10
    page.get_by_role("link", name="Oldest first").click()
    expect(heading(page)).to_have_text("Heading 11")


@pytest.mark.parametrize("context_options", [PHONE])
def test_on_a_phone_the_decision_is_under_the_thumb(page: Page, rows: list[Chunk]) -> None:
    page.goto("/review/")
    confirm = page.locator("#card").get_by_role("button", name="Confirm")
    expect(confirm).to_be_in_viewport()
    confirm.tap()
    expect(heading(page)).to_have_text("Heading 1")
    expect(page.locator("#card").get_by_role("button", name="Confirm")).to_be_in_viewport()
    page.locator(f"#waiting-{rows[9].id} .row__link").tap()
    expect(heading(page)).to_have_text("Heading 9")
    expect(heading(page)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_hostile_text_runs_nothing(page: Page, store: Opening) -> None:
    waiting = []
    for hostile in cases("hostile_text"):
        fields = dict.fromkeys(("content", "heading", "source", "subject", "namespace"), hostile[:900])
        waiting.append(services.add(NewChunk(**fields), PLUGIN).chunk)
    for chunk in waiting:
        assert chunk is not None
        page.goto(f"/review/?chosen={chunk.id}")
        page.locator("#card").hover()
        expect(page).to_have_title(f"Review · {len(waiting)} · protoconsole")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto("/")
    expect(page).to_have_title("Overview · protoconsole")
