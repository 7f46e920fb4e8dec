"""The page that shows every component to whoever changes how the site looks."""

import re
from pathlib import Path

from django.test import RequestFactory

from protoconsole.patterns import HOSTILE, patterns

TEMPLATES = Path(__file__).parents[2] / "templates"
COMPONENTS = {path.name for path in (TEMPLATES / "components").glob("_*.html")}
INCLUDED = re.compile(r'include "components/(_\w+\.html)"')


def included(template: Path) -> set[str]:
    """Name the components that a template shows, by itself or through others."""
    direct = set(INCLUDED.findall(template.read_text("utf-8")))
    return direct.union(*(included(TEMPLATES / "components" / name) for name in direct))


def test_the_page_can_be_shown_and_runs_nothing() -> None:
    page = patterns(RequestFactory().get("/patterns/")).content.decode()
    assert page.count("<script") == 2  # our own
    assert not [text for text in HOSTILE if "<" in text and text in page]


def test_every_component_is_on_it() -> None:
    shown = included(TEMPLATES / "patterns.html") | included(TEMPLATES / "base.html")
    drawn_by_a_tag = {"_icon.html"}
    assert COMPONENTS - shown - drawn_by_a_tag == set()
