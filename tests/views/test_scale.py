"""50,000 rows: pages stay small, and those of a browser read no more of the store than at 5,000."""

import pytest
from django.test import Client

from knowledge.adoption import Opening
from protoconsole.databases import KNOWLEDGE, fetch
from tests.views.stored import many, vm_steps

FEW, ROWS = 5_000, 50_000
LARGEST_PAGE = 200_000
BOUNDED = [
    *("/", "/store/", "/store/sources/", "/store/sources/?prefix=chat-00"),
    *("/chunks/2500/", "/chunks/2500/edit/", "/store/?chosen=4990&cursor=4000"),
    *("/store/?kind=fact", "/store/?kind=decision", "/store/?trust=operator", "/store/?trust=agent"),
    *("/store/?domain=general&trust=external", "/store/?domain=nothing", "/store/?namespace=team-7"),
    *("/store/?source=chat-00007", "/store/?policy=always", "/store/?verdict=rejected"),
    *("/store/?state=pending", "/store/?state=pending&state=confirmed"),
    *("/store/?state=deleted", "/store/?state=rejected"),
    *("/review/?kind=decision", "/review/?namespace=team-7"),
]
# A ranking reads every hit, the queue counts its sources row by row, and these states have no index.
GROWING = [
    *("/store/?q=gateway", "/store/?q=cluster+node&domain=fact", "/review/?q=gateway"),
    *("/review/", "/review/?order=newest", "/review/?kind=fact", "/review/?kind=fact&trust=agent"),
    *("/store/?state=confirmed", "/store/?state=superseded", "/store/?state=expired"),
]
GROWTH = 2  # times; the rows are ten times as many


def steps_of(client: Client, view: str) -> int:
    with vm_steps() as taken:
        assert client.get(view).status_code == 200, view
    return taken()


@pytest.mark.parametrize(
    "walk",
    [
        "SELECT COUNT(*) FROM chunks WHERE content = 'x'",
        "SELECT COUNT(*) FROM chunks INDEXED BY pc_chunks_source WHERE +source = 'x'",
        "SELECT COUNT(*) FROM chunks WHERE id > 0 AND content = 'x'",
    ],
)
def test_every_walk_through_all_rows_is_counted(store: Opening, walk: str) -> None:
    many(500)
    with vm_steps() as taken:
        fetch(KNOWLEDGE, walk)
    assert taken() > 500


@pytest.mark.timeout(300)
def test_pages_are_small_and_read_no_more_of_a_larger_store(store: Opening, as_operator: Client) -> None:
    many(FEW)
    few = {view: steps_of(as_operator, view) for view in BOUNDED}
    many(ROWS - FEW)
    grown = {view: (few[view], steps_of(as_operator, view)) for view in BOUNDED}
    sizes = {view: len(as_operator.get(view).content) for view in (*BOUNDED, *GROWING)}

    assert {view: size for view, size in sizes.items() if size >= LARGEST_PAGE} == {}
    assert {view: steps for view, steps in grown.items() if steps[1] > steps[0] * GROWTH + 1_000} == {}
