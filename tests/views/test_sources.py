"""The page Sources: bulk delete and its way back."""

import pytest
from django.test import Client

from knowledge import queries, services
from knowledge.adoption import Opening
from knowledge.types import Edit, State
from tests.actors import OPERATOR
from tests.views.stored import many, note, rows_now, statements

URL = "/store/sources/"
DELETE = "/store/sources/delete/"
RESTORE = "/store/sources/restore/"
OLD = "notes/old-project.md"


def counts(client: Client, **params: str) -> dict[str, tuple[int, int, int]]:
    found = client.get(URL, params).context["sources"]
    return {item.source: (item.total, item.valid, item.deleted) for item in found}


def test_counts_what_a_delete_and_a_restore_would_take(store: Opening, as_operator: Client) -> None:
    for n in range(3):
        note(f"a {n}", source="a.md")
    services.edit(1, Edit(content="a new"), OPERATOR)
    note("b", source="b.md")
    services.delete_by_source("b.md", OPERATOR)

    assert counts(as_operator) == {"a.md": (4, 3, 0), "b.md": (1, 0, 1)}
    page = as_operator.get(URL).content.decode()
    assert "Delete all 3 rows" in page
    assert "Restore 1 row" in page
    assert "can be restored for 24 hours" in page


def test_a_source_is_deleted_softly_and_restored(store: Opening, as_operator: Client) -> None:
    note("a", source="a.md")
    note("b", source="b.md")

    answer = as_operator.post(DELETE, {"source": "a.md"}, follow=True)

    assert answer.redirect_chain == [(URL, 302)]
    page = answer.content.decode()
    assert "1 row of a.md deleted" in page
    assert "/undo/" in page.split('id="toasts"')[1]
    assert queries.get(1, OPERATOR).state is State.DELETED
    assert queries.get(2, OPERATOR).state is State.CONFIRMED

    as_operator.post(RESTORE, {"source": "a.md"})
    assert queries.get(1, OPERATOR).state is State.CONFIRMED


def test_page_and_service_leave_the_same_rows(store: Opening, as_operator: Client) -> None:
    note("same", source="a.md")
    note("same", source="b.md")
    as_operator.post(DELETE, {"source": "a.md"})
    services.delete_by_source("b.md", OPERATOR)

    one, two = ([row[i] for i in range(1, 13) if i != 4] for row in rows_now())
    assert one == two


def test_one_click_restores_the_old_project(legacy: Opening, as_operator: Client) -> None:
    assert counts(as_operator, prefix="notes/") == {OLD: (18, 0, 18)}

    as_operator.post(RESTORE, {"source": OLD})

    assert counts(as_operator, prefix="notes/") == {OLD: (18, 18, 0)}
    assert as_operator.get("/store/", {"source": OLD}).context["total"] == 18


def test_the_same_again_says_that_there_was_nothing_to_do(store: Opening, as_operator: Client) -> None:
    note(source="a.md")
    as_operator.post(DELETE, {"source": "a.md"})
    answer = as_operator.post(DELETE, {"source": "a.md"}, follow=True)

    assert "nothing to change" in answer.content.decode()


@pytest.mark.parametrize("source", ["line\r\nend", "tab\there", "50% & more+", "<script>", " blank "])
def test_a_name_reaches_the_service_exactly(store: Opening, as_operator: Client, source: str) -> None:
    note(source=source)
    page = as_operator.get(URL).content.decode()
    quoted = page.split('name="source_quoted" value="')[1].split('"')[0]

    as_operator.post(DELETE, {"source_quoted": quoted})

    assert queries.get(1, OPERATOR).state is State.DELETED


@pytest.mark.parametrize("source", ["", "  ", "a\x00b"])
@pytest.mark.parametrize("path", [DELETE, RESTORE])
def test_a_source_that_cannot_be_changes_nothing(
    store: Opening, as_operator: Client, source: str, path: str
) -> None:
    note(source="a.md")
    assert as_operator.post(path, {"source": source}).status_code == 422
    assert queries.get(1, OPERATOR).state is State.CONFIRMED


@pytest.mark.parametrize("path", [DELETE, RESTORE])
def test_only_operators_change_anything(store: Opening, client: Client, as_viewer: Client, path: str) -> None:
    note(source="a.md")
    page = as_viewer.get(URL).content.decode()
    assert "a.md" in page
    assert 'method="post"' not in page.split('id="main"')[1].split("</main>")[0]

    assert as_viewer.post(path, {"source": "a.md"}).status_code == 403
    assert as_viewer.get(path).status_code == 405
    client.logout()
    assert client.post(path, {"source": "a.md"}).status_code == 302
    assert queries.get(1, OPERATOR).state is State.CONFIRMED


def test_narrows_to_a_beginning_letter_by_letter(store: Opening, as_operator: Client) -> None:
    for source in ("chat-1", "chat-10", "Chat-2", "cha%", "notes"):
        note(source, source=source)

    assert list(counts(as_operator, prefix="chat-1")) == ["chat-1", "chat-10"]
    assert list(counts(as_operator, prefix="cha%")) == ["cha%"]
    assert "No source begins like that" in as_operator.get(URL, {"prefix": "zz"}).content.decode()


def test_pages_by_name(store: Opening, as_operator: Client) -> None:
    many(1200)
    first = as_operator.get(URL)
    assert len(first.context["sources"]) == 50
    second = as_operator.get(URL + first.context["next_href"])
    assert second.context["sources"][0].source == "chat-00050"


def test_a_form_comes_back_to_where_it_was(store: Opening, as_operator: Client) -> None:
    note(source="a.md")
    back = "/store/sources/?prefix=a"

    assert as_operator.post(DELETE, {"source": "a.md", "back": back}).headers["Location"] == back
    answer = as_operator.post(RESTORE, {"source": "a.md", "back": "https://evil.example/"})
    assert answer.headers["Location"] == URL


def test_an_empty_store_says_what_will_appear(store: Opening, as_operator: Client) -> None:
    assert "No sources yet" in as_operator.get(URL).content.decode()


def test_the_number_of_statements_does_not_grow(store: Opening, as_operator: Client) -> None:
    counted = []
    for size in (20, 180):
        many(size)
        as_operator.get(URL)
        with statements() as heard:
            as_operator.get(URL)
        counted.append(len(heard))

    assert counted[0] == counted[1]
