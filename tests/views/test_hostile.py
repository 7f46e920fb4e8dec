"""Stored text shows as text: whatever it holds, a page has the elements that it has for a harmless text."""

from html.parser import HTMLParser

import pytest
from django.test import Client

from knowledge import services
from knowledge.adoption import Opening
from knowledge.types import Chunk
from tests.actors import OPERATOR
from tests.cases import cases
from tests.views.stored import note


class Outline(HTMLParser):
    """The elements of a page with the names of their attributes, but for the marks of invisible characters."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if ("class", "mark-invisible") not in attrs:
            self.elements.append(" ".join([tag, *(name for name, _ in attrs)]))


def written(text: str) -> Chunk:
    name = text[:1_900]
    return note(text, heading=text, source=name, subject=name, namespace=name, domain=name, epoch=name)


def pages_of(client: Client, chunk: Chunk) -> dict[str, list[str]]:
    address = f"/chunks/{chunk.id}/"
    pages = {
        "chunk": address,
        "edit": f"{address}edit/",
        "store": f"/store/?chosen={chunk.id}",
        "sources": "/store/sources/",
    }
    return {name: Outline(client.get(url).content.decode()).elements for name, url in pages.items()}


@pytest.mark.parametrize("text", cases("hostile_text"))
def test_no_text_makes_an_element(store: Opening, as_operator: Client, text: str) -> None:
    harmless = written("x" * len(text))
    expected = pages_of(as_operator, harmless)
    services.delete(harmless.id, OPERATOR)

    assert pages_of(as_operator, written(text)) == expected


def test_a_filter_of_the_address_makes_no_element(store: Opening, as_operator: Client) -> None:
    note()
    for name in ("q", "domain", "namespace", "source"):
        answer = as_operator.get("/store/", {name: "<script>alert(1)</script>\"'"})
        assert answer.status_code == 200
        assert "<script>alert" not in answer.content.decode()
