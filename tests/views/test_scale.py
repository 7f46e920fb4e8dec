"""50,000 rows: pages stay small, and no view of a browser reads the whole table."""

import re

import pytest
from django.test import Client

from knowledge.adoption import Opening
from protoconsole.databases import KNOWLEDGE, fetch
from tests.views.stored import many, statements

ROWS = 50_000
LARGEST_PAGE = 200_000
VIEWS = [
    *("/", "/review/", "/store/", "/store/sources/", "/chunks/25000/", "/chunks/25000/edit/"),
    *("/store/?kind=fact", "/store/?domain=general&trust=external", "/store/?namespace=team-7"),
    *("/store/?state=pending&state=confirmed", "/store/?source=chat-00007", "/store/?state=deleted"),
    *(
        "/store/?chosen=49990&cursor=40000",
        "/store/sources/?prefix=chat-04",
        "/review/?kind=fact&trust=agent",
    ),
    *("/store/?q=gateway", "/store/?q=cluster+node&domain=fact", "/review/?q=gateway"),
]
SCAN_OF_ROWS = re.compile(r"SCAN (chunks|c)$")


def plan(statement: str) -> list[str]:
    if not statement.lstrip().upper().startswith(("SELECT", "WITH", "UPDATE", "DELETE", "INSERT")):
        return []
    return [str(row[3]) for row in fetch(KNOWLEDGE, f"EXPLAIN QUERY PLAN {statement}")]


def test_every_plan_that_reads_all_rows_is_seen(store: Opening) -> None:
    assert any(SCAN_OF_ROWS.match(step) for step in plan("SELECT content FROM chunks WHERE content = 'x'"))


@pytest.mark.timeout(300)
def test_pages_are_small_and_scan_nothing(store: Opening, as_operator: Client) -> None:
    many(ROWS)
    large: dict[str, int] = {}
    scans: dict[str, list[str]] = {}
    for view in VIEWS:
        with statements() as heard:
            answer = as_operator.get(view)
        assert answer.status_code == 200, view
        if len(answer.content) >= LARGEST_PAGE:
            large[view] = len(answer.content)
        scanning = [each for each in heard if any(map(SCAN_OF_ROWS.match, plan(each)))]
        if scanning:
            scans[view] = scanning

    assert large == {}
    assert scans == {}
