"""Hostile text in every field of a row is text on the page of the queue."""

from html import escape
from html.parser import HTMLParser

import pytest
from django.test import Client

from knowledge.adoption import Opening
from knowledge.text import segments
from tests.cases import cases
from tests.views.queue import imported, text


class Tags(HTMLParser):
    """Collects the elements of a page, their attributes, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src", "action")}


@pytest.mark.parametrize("field", ["content", "heading", "source", "subject", "namespace"])
def test_hostile_text_adds_no_element(as_operator: Client, store: Opening, field: str) -> None:
    imported("plain", heading="plain", source="plain", subject="plain", namespace="plain")
    honest = Tags(text(as_operator.get("/review/")))
    for hostile in cases("hostile_text"):
        row = imported(**{"content": "plain", "heading": "plain", field: hostile[:900]})
        page = text(as_operator.get(f"/review/?chosen={row.id}"))
        tags = Tags(page)
        assert tags.seen - honest.seen <= {"bdi", "br"}
        assert {name for name in tags.attributes if name.startswith("on")} == set()
        assert [link for link in tags.links if link.lower().startswith("javascript:")] == []
        assert shown(hostile) in page


def shown(hostile: str) -> str:
    """Give the first visible stretch as Django escapes it; of a text that shows nothing, its marks."""
    visible = "".join("\n" if hidden else part for hidden, part in segments(hostile)).strip()
    return escape(visible.splitlines()[0][:40]) if visible else "mark-invisible"
