"""The keys, the selection and the memory of taste that app.js adds, on a page served from this process."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.template import Context, Template
from django.test import RequestFactory
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from tests.browser.shots import launch

pytestmark = pytest.mark.browser
STATIC = Path(__file__).parents[2] / "static"
SITE = "http://console.test"
LIST = (
    '{% for n in rows %}{% include "components/_row.html" with id="row-"|add:n href="/item" title=n '
    'trust="agent" state="pending" select=n form_id="bulk" verdict_url="/rule" verdict_target="#list" only %}'
    "{% endfor %}"
)
PAGE = """{% extends "base.html" %}{% block main %}<div class="split"><div class="split__list">
{% include "components/_bulkbar.html" with form_id="bulk" action="/bulk" shown=4 matching=90 only %}
<ul id="list" class="rows" data-key-list>LIST</ul></div><section class="split__detail"><input id="words">
<form method="post" action="/detail">
{% include "components/_button.html" with label="Confirm" key="c" only %}</form>
{% include "components/_id.html" with value="#4107" only %}
{% include "components/_toast.html" with text="Done" undo_url="/undo" only %}</section></div>{% endblock %}"""


def html(source: str, rows: list[str]) -> str:
    context = {"rows": rows, "request": RequestFactory().get("/"), "jump_url": "/store/"}
    return Template(source.replace("LIST", LIST)).render(Context(context))


class Site:
    """Answers the browser from files and from rendered templates, and keeps what was posted."""

    def __init__(self) -> None:
        self.page = html(PAGE, ["a", "b", "c", "d"])
        self.after = f'<ul id="list" class="rows" data-key-list>{html(LIST, ["a", "c", "d"])}</ul>'
        self.posted: list[tuple[str, str]] = []

    def answer(self, route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path.startswith("/static/"):
            route.fulfill(path=STATIC / path.removeprefix("/static/"))
        elif route.request.method == "POST":
            self.posted.append((path, route.request.post_data or ""))
            partial = route.request.headers.get("hx-request") == "true"
            route.fulfill(body=self.after if partial else self.page, content_type="text/html")
        else:
            route.fulfill(body=self.page, content_type="text/html")


@pytest.fixture(scope="module")
def site() -> Site:
    return Site()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright, launch(playwright) as browser:
        yield browser


@pytest.fixture
def page(site: Site, browser: Browser) -> Iterator[Page]:
    site.posted.clear()
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.route("**/*", site.answer)
    page.goto(SITE)
    yield page
    page.close()
    assert complaints == []


def current(page: Page) -> str | None:
    row = page.locator("[data-current]")
    return row.get_attribute("id") if row.count() else None


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_j_and_k_move_and_stop_at_the_ends(page: Page) -> None:
    press(page, "j", "j", "k")
    assert current(page) == "row-a"
    press(page, "k")
    assert current(page) == "row-a"
    press(page, *"jjjjjj")
    assert current(page) == "row-d"
    expect(page.locator("#row-d [data-key-open]")).to_be_focused()


def test_a_verdict_falls_on_the_current_row_and_the_next_one_takes_its_place(page: Page, site: Site) -> None:
    press(page, "j", "j")
    assert current(page) == "row-b"
    press(page, "c")
    expect(page.locator("#row-b")).to_have_count(0)
    expect(page.locator("#row-c")).to_have_attribute("data-current", "")
    assert [(path, "verdict=confirmed" in body or "confirmed" in body) for path, body in site.posted] == [
        ("/rule", True)
    ]
    expect(page.locator("#row-c [data-key-open]")).to_be_focused()


def test_the_slash_goes_to_the_search_field(page: Page) -> None:
    press(page, "/")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_without_a_current_row_no_row_is_ruled_on(page: Page, site: Site) -> None:
    press(page, "r")
    assert site.posted == []
    press(page, "c")
    page.wait_for_url(f"{SITE}/detail")
    assert [path for path, _ in site.posted] == ["/detail"]


def test_u_takes_the_last_change_back(page: Page, site: Site) -> None:
    press(page, "u")
    page.wait_for_url(f"{SITE}/undo")
    assert [path for path, _ in site.posted] == ["/undo"]


@pytest.mark.parametrize("combination", ["Control+c", "Alt+r", "Meta+j"])
def test_combinations_are_left_to_the_browser(page: Page, site: Site, combination: str) -> None:
    press(page, "j", "j", combination)
    assert current(page) == "row-b"
    assert site.posted == []


def test_keys_that_are_typed_into_a_field_do_nothing_else(page: Page, site: Site) -> None:
    page.locator("#words").focus()
    press(page, *"jcrux?")
    assert page.locator("#words").input_value() == "jcrux?"
    assert (current(page), site.posted) == (None, [])


def test_the_selection_is_counted_and_named_on_the_buttons(page: Page) -> None:
    reject = page.locator("[data-select-act]", has_text="Reject")
    expect(reject).to_be_disabled()
    press(page, "j", "x", "j", "x")
    expect(page.locator("[data-select-count]")).to_have_text("2 selected")
    expect(reject).to_have_text("Reject 2")
    page.locator("[data-select-all]").check()
    expect(reject).to_have_text("Reject 4")
    page.locator("[data-select-matching]").check()
    expect(reject).to_have_text("Reject 90")


def test_shift_selects_what_lies_between(page: Page) -> None:
    boxes = page.locator("[data-key-select]")
    boxes.nth(0).click()
    boxes.nth(2).click(modifiers=["Shift"])
    expect(page.locator("[data-select-count]")).to_have_text("3 selected")


def test_the_theme_is_remembered_for_the_server(page: Page) -> None:
    page.locator("[data-theme-toggle]").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert "theme=dark" in page.evaluate("document.cookie")


def test_the_rail_is_remembered_for_the_server(page: Page) -> None:
    page.locator("[data-rail-toggle]").click()
    assert page.locator("#rail").bounding_box()["width"] < 60  # type: ignore[index]
    assert "rail=icons" in page.evaluate("document.cookie")


def test_the_question_mark_opens_the_help_and_no_key_works_behind_it(page: Page) -> None:
    press(page, "?")
    expect(page.locator("#keyboard-help")).to_be_visible()
    press(page, "j", "Escape")
    expect(page.locator("#keyboard-help")).to_be_hidden()
    assert current(page) is None


def test_a_toast_goes_when_it_is_dismissed(page: Page) -> None:
    page.locator("[data-dismiss]").first.click()
    expect(page.locator(".toast")).to_have_count(0)


def test_a_broken_answer_is_told_and_changes_nothing_on_the_page(page: Page) -> None:
    page.route("**/rule", lambda route: route.fulfill(status=500, body="<h1>broken</h1>"))
    press(page, "j", "r")
    expect(page.locator("#toasts .toast--danger")).to_have_count(1)
    expect(page.locator("[data-key-item]")).to_have_count(4)
    assert not re.search("broken", page.content())


def test_copying_is_offered_where_the_browser_allows_it(page: Page) -> None:
    expect(page.locator("[data-copy]")).to_be_hidden()  # the site is on plain http
    page.goto(SITE.replace("http:", "https:"))
    expect(page.locator("[data-copy]")).to_be_visible()
