"""The page Store: search, facets, the chosen row, and a note."""

import sqlite3
from contextlib import closing

import pytest
from django.test import Client

from knowledge import catch_up, queries, services
from knowledge.adoption import Opening
from knowledge.search import fts5
from knowledge.types import ChunkQuery, Edit, State, Verdict
from tests.actors import OPERATOR
from tests.views.stored import AT, knowledge_file, learnt, many, note, rows_now, statements

URL = "/store/"
NEW = "/store/new/"
PART = {"HX-Request": "true", "HX-Target": "section#detail", "HX-Request-Type": "partial"}


def text_of(client: Client, query: str = "", **more: str) -> str:
    answer = client.get(URL, {"q": query, **more} if query else more)
    assert answer.status_code == 200
    return answer.content.decode()


def listed(client: Client, **params: object) -> list[int]:
    return [row.hit.chunk.id for row in client.get(URL, params).context["rows"]]


def test_shows_what_is_known_newest_first(store: Opening, as_operator: Client) -> None:
    first, second = note("An old truth"), note("A new truth")

    assert listed(as_operator) == [second.id, first.id]
    assert "2 rows, newest first" in text_of(as_operator)


@pytest.mark.parametrize("path", [URL, NEW, "/store/export/csv/", "/store/sources/"])
def test_a_stranger_is_led_to_the_login(store: Opening, client: Client, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/login/")


def test_a_viewer_sees_all_and_is_offered_no_change(store: Opening, as_viewer: Client) -> None:
    chunk = note()
    page = text_of(as_viewer, chosen=str(chunk.id))

    assert chunk.content in page
    assert 'method="post" action="/chunks/' not in page
    assert NEW not in page
    assert as_viewer.get(NEW).status_code == 403
    assert as_viewer.post(NEW, {"content": "mine"}).status_code == 403
    assert len(rows_now()) == 1


def test_a_text_is_ranked_and_says_by_what(store: Opening, as_operator: Client) -> None:
    note("The printer is on the third floor.")
    hit = note("Deploy the gateway on Mondays.")

    answer = as_operator.get(URL, {"q": "gateway"})

    assert [row.hit.chunk.id for row in answer.context["rows"]] == [hit.id]
    page = answer.content.decode()
    assert "1 best by keyword" in page
    assert "<mark>gateway</mark>" in page
    assert 'class="row__score"' in page


def test_says_that_it_had_to_compare_letters(store: Opening, as_operator: Client, without_fts5: None) -> None:
    note("Deploy the gateway on Mondays.")

    assert "LIKE: no FTS5" in text_of(as_operator, "gateway")


def test_facets_count_exactly_and_live_in_the_address(store: Opening, as_operator: Client) -> None:
    note("a", domain="fact")
    note("b", domain="fact")
    learnt("c")

    groups = {group.name: group for group in as_operator.get(URL).context["groups"]}

    assert {item.value: item.count for item in groups["domain"].items} == {"fact": 2, "general": 1}
    assert {item.value: item.count for item in groups["trust"].items} == {"operator": 2, "agent": 1}
    fact = next(item for item in groups["domain"].items if item.value == "fact")
    assert fact.href == "?domain=fact"
    assert len(as_operator.get(URL + fact.href).context["rows"]) == 2


def test_counts_of_a_search_are_among_its_hits(store: Opening, as_operator: Client) -> None:
    note("gateway", domain="fact")
    note("printer", domain="fact")

    answer = as_operator.get(URL, {"q": "gateway"})

    domain = next(group for group in answer.context["groups"] if group.name == "domain")
    assert [(item.value, item.count) for item in domain.items] == [("fact", 1)]
    assert "counts are among these" in answer.content.decode()


def test_a_facet_of_very_many_values_shows_the_largest(store: Opening, as_operator: Client) -> None:
    for n in range(30):
        note(f"row {n}", namespace=f"team-{n:02}")
    note("one more", namespace="team-29")

    group = next(g for g in as_operator.get(URL).context["groups"] if g.name == "namespace")

    assert len(group.items) == 25
    assert group.more == 5
    assert "team-29" in [item.value for item in group.items]
    assert "and 5 smaller" in text_of(as_operator)


def test_a_filter_can_be_taken_off(store: Opening, as_operator: Client) -> None:
    note("a", domain="fact", namespace="blue")
    chips = as_operator.get(URL, {"domain": "fact", "namespace": "blue", "q": "a"}).context["chips"]

    assert [(chip.label, chip.value, chip.href) for chip in chips] == [
        ("Domain", "fact", "?namespace=blue&q=a"),
        ("Namespace", "blue", "?domain=fact&q=a"),
    ]


def test_shows_rows_that_are_gone_only_when_asked(store: Opening, as_operator: Client) -> None:
    old = note("old")
    new = services.edit(old.id, Edit(content="new"), OPERATOR)
    rejected = learnt("nonsense")
    services.review(rejected.id, Verdict.REJECTED, OPERATOR)
    lapsed = note("lapsed", expires_at="2020-01-01")
    deleted = note("deleted", source="notes.md")
    services.delete_by_source("notes.md", OPERATOR)

    assert listed(as_operator) == [lapsed.id, rejected.id, new.id]
    for state, chunk in (
        ("superseded", old),
        ("rejected", rejected),
        ("expired", lapsed),
        ("deleted", deleted),
    ):
        assert listed(as_operator, state=state) == [chunk.id]


def test_pages_through_everything_once(store: Opening, as_operator: Client) -> None:
    many(120)
    seen: list[int] = []
    href = "?"
    while href:
        context = as_operator.get(URL + href).context
        seen += [row.hit.chunk.id for row in context["rows"]]
        href = context["next_href"]

    assert seen == list(range(120, 0, -1))
    assert context["first_href"] == "?"


def test_the_chosen_row_is_beside_the_list(store: Opening, as_operator: Client) -> None:
    chunk, other = note("The whole text of the chosen row."), note("other")

    answer = as_operator.get(URL, {"chosen": chunk.id})

    assert answer.context["chosen"].id == chunk.id
    assert [row.current for row in answer.context["rows"]] == [False, True]
    part = as_operator.get(URL, {"chosen": chunk.id}, headers=PART)
    assert "<html" not in part.content.decode()
    assert part.content.decode().lstrip().startswith('<article class="detail" id="chosen">')
    assert other.content not in part.content.decode()
    assert "HX-Request" in part.headers["Vary"]


def test_a_history_restore_gets_the_whole_page(store: Opening, as_operator: Client) -> None:
    chunk = note()
    answer = as_operator.get(
        URL, {"chosen": chunk.id}, headers={**PART, "HX-History-Restore-Request": "true"}
    )

    assert answer.content.decode().startswith("<!doctype html>")


def test_a_chosen_row_that_is_gone_leaves_the_list(store: Opening, as_operator: Client) -> None:
    note()
    assert "#999 is not there" in text_of(as_operator, chosen="999")


def test_an_empty_store_says_how_to_fill_it(store: Opening, as_operator: Client) -> None:
    page = text_of(as_operator)

    assert "Nothing is known yet" in page
    assert f'href="{NEW}"' in page


def test_nothing_found_names_the_filters_and_looks_like_no_fault(store: Opening, as_operator: Client) -> None:
    note("a", domain="fact")
    page = text_of(as_operator, "zebra", domain="fact")

    assert "No row matches" in page
    assert "Domain <bdi>fact</bdi>" in page
    assert 'href="?q=zebra"' in page
    assert "danger" not in page.split('id="main"')[1].split("</main>")[0]


def test_a_page_beyond_the_end_leads_back(store: Opening, as_operator: Client) -> None:
    note()
    assert "No older rows" in text_of(as_operator, cursor="1")


def test_a_broken_search_is_a_fault(store: Opening, as_operator: Client) -> None:
    note("gateway")
    with closing(sqlite3.connect(knowledge_file())) as connection, connection:
        connection.execute("DROP TABLE pc_search")

    answer = as_operator.get(URL, {"q": "gateway"})

    assert answer.status_code == 503
    assert "No row matches" not in answer.content.decode()
    assert "doctor --repair" in answer.content.decode()


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"kind": "nonsense"}, "kind"),
        ({"state": "x"}, "state"),
        ({"trust": "9"}, "trust"),
        ({"cursor": "abc"}, "cursor"),
        ({"chosen": "x1"}, "chosen"),
        ({"domain": "a\x00b"}, "domain"),
    ],
)
def test_a_value_that_cannot_be_is_refused(
    store: Opening, as_operator: Client, params: dict[str, str], told: str
) -> None:
    answer = as_operator.get(URL, params)

    assert answer.status_code == 422
    assert told in answer.content.decode()


def test_says_what_the_index_has_not_caught_up_with(
    store: Opening, as_operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(knowledge_file())) as connection, connection:
        connection.execute(
            "INSERT INTO chunks (content, created_at, updated_at) VALUES ('foreign', ?, ?)", (AT, AT)
        )
    monkeypatch.setattr(catch_up, "before_reading", lambda: None)

    assert "has not caught up with 1 row yet" in text_of(as_operator)


def test_a_note_is_confirmed_and_the_same_as_by_the_service(store: Opening, as_operator: Client) -> None:
    sent = {
        "content": "Answer in short sentences.",
        "heading": "Style",
        "domain": "preferences",
        "namespace": "team",
        "subject": "olive",
        "delivery_policy": "always",
        "expires_at": "",
    }
    answer = as_operator.post(NEW, sent)
    (by_page,) = rows_now()
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/chunks/1/"

    note(
        "Answer in short sentences.",
        heading="Style",
        domain="preferences",
        namespace="team",
        subject="olive",
        delivery_policy="always",
    )
    assert rows_now()[1][1:] == by_page[1:]
    chunk = queries.get(1, OPERATOR)
    assert (chunk.state, chunk.trust, chunk.delivery_policy) == (State.CONFIRMED, "operator", "always")


def test_a_note_may_expire_in_days(store: Opening, as_operator: Client) -> None:
    as_operator.post(NEW, {"content": "soon gone", "delivery_policy": "retrieved", "expires_at": "30"})

    chunk = queries.get(1, OPERATOR)
    assert chunk.expires_at is not None
    assert not chunk.expired


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"content": ""}, "This field is required"),
        ({"content": "  \n "}, "is empty"),
        ({"content": "a\x00b"}, "NUL at position 1"),
        ({"content": "<think>only this</think>"}, "reasoning"),
        ({"content": "x", "expires_at": "tomorrow"}, "is not a time"),
        ({"content": "x", "expires_at": "3651"}, "out of range"),
        ({"content": "x", "delivery_policy": "sometimes"}, "Select a valid choice"),
    ],
)
def test_a_note_that_cannot_be_keeps_what_was_typed(
    store: Opening, as_operator: Client, sent: dict[str, str], told: str
) -> None:
    answer = as_operator.post(NEW, {"delivery_policy": "retrieved", "heading": "typed before", **sent})

    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert "typed before" in answer.content.decode()
    assert rows_now() == []


def test_the_number_of_statements_does_not_grow(store: Opening, as_operator: Client) -> None:
    counts = []
    for size in (20, 180):
        many(size)
        for params in ({}, {"q": "gateway"}, {"chosen": "7", "domain": "fact"}):
            as_operator.get(URL, params)
            with statements() as heard:
                as_operator.get(URL, params)
            counts.append(len(heard))

    assert counts[:3] == counts[3:]


def test_searches_are_the_same_as_by_the_service(store: Opening, as_operator: Client) -> None:
    many(40)
    found = queries.search(ChunkQuery(text="node 7"), OPERATOR, k=100)

    assert listed(as_operator, q="node 7") == [hit.chunk.id for hit in found.hits]
    assert fts5.available()
