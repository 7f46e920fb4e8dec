"""The pages of errors, which Django renders without any context when nothing else can be had."""

import pytest
from django.template.loader import render_to_string
from django.urls import set_script_prefix

PAGES = ("400", "403", "403_csrf", "404", "409", "429", "500")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_needs_no_context(page: str) -> None:
    html = render_to_string(f"{page}.html")
    assert f"Error {page[:3]}" in html
    assert html.count("<h1>") == 1
    assert 'href="/"' in html


def test_the_way_back_keeps_the_sub_path() -> None:
    set_script_prefix("/console/")
    try:
        assert 'href="/console/"' in render_to_string("500.html")
    finally:
        set_script_prefix("/")


def test_what_went_wrong_is_told_as_text() -> None:
    assert "<p>&lt;b&gt; is gone</p>" in render_to_string("404.html", {"detail": "<b> is gone"})
