"""The first page: what waits, what is known, what changed, what is wrong."""

from dataclasses import replace

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from knowledge import services, summary
from knowledge.adoption import Opening
from knowledge.facets import selection_of
from knowledge.types import ChunkQuery, Policy, Verdict
from protoconsole.databases import KNOWLEDGE, fetch
from protoconsole.instance import Instance
from tests.actors import OPERATOR
from tests.cases import cases
from tests.views.queue import imported, many
from tests.views.stored import learnt, note, statements

OLDER = "The other program of this store is older than verdicts"


def text(response: HttpResponse) -> str:
    assert response.status_code == 200
    return response.content.decode()


def test_strangers_are_led_to_sign_in(client: Client, store: Opening) -> None:
    assert client.get("/")["Location"] == "/login/?next=%2F"


def test_nothing_is_changed_here(as_operator: Client, store: Opening) -> None:
    assert as_operator.post("/").status_code == 405


def test_the_numbers_of_the_legacy_instance(as_operator: Client, legacy: Opening) -> None:
    text(as_operator.get("/"))
    found = summary.read()
    assert (found.total, found.waiting, found.current, found.always_on) == (157, 136, 138, 4)
    assert sum(count.n for count in found.trust) == 138
    assert sum(count.n for count in found.states) == 157


def test_the_next_action_is_the_review(as_operator: Client, store: Opening) -> None:
    learnt("waits")
    learnt("waits too")
    page = text(as_operator.get("/"))
    assert "<strong>2</strong> rows wait for a verdict" in page
    assert page.count("button--primary") == 1
    assert '<a class="button button--primary" href="/review/">' in page


def test_viewers_look(as_viewer: Client, store: Opening) -> None:
    learnt("waits")
    page = text(as_viewer.get("/"))
    assert "<strong>1</strong> row waits for a verdict" in page
    assert "button--primary" not in page


def test_numbers_lead_into_the_store(as_operator: Client, store: Opening) -> None:
    note("known")
    services.review(learnt("bad").id, Verdict.REJECTED, OPERATOR)
    page = text(as_operator.get("/"))
    for address in (
        "/store/?state=confirmed&amp;state=pending&amp;trust=operator",
        "/store/?state=confirmed&amp;state=pending&amp;policy=always",
        "/store/?state=rejected",
        "/store/?source=chat-1",
    ):
        assert f'href="{address}"' in page


def test_the_latest_changes_newest_first(as_operator: Client, store: Opening) -> None:
    rows = [learnt(str(n)) for n in range(13)]
    services.review(rows[0].id, Verdict.CONFIRMED, OPERATOR)
    changes = [(change.entry.action, change.entry.chunk_id) for change in summary.read().changes]
    assert changes == [("confirmed", rows[0].id), *(("added", row.id) for row in rows[:1:-1])]
    assert "by <bdi>olive</bdi>" in text(as_operator.get("/"))


def test_always_on_rows_that_are_rejected_do_not_count(as_operator: Client, store: Opening) -> None:
    learnt("on", delivery_policy=Policy.ALWAYS)
    services.review(learnt("off", delivery_policy=Policy.ALWAYS).id, Verdict.REJECTED, OPERATOR)
    assert summary.read().always_on == 1


def test_an_empty_store_says_how_to_begin(as_operator: Client, store: Opening) -> None:
    page = text(as_operator.get("/"))
    assert "Nothing is known yet" in page
    assert 'href="/keys/"' in page
    assert 'href="/store/new/"' in page
    assert "python manage.py demo" in page
    assert str(store.path) in page


def test_an_older_program_is_named_with_the_mend(as_operator: Client, legacy: Opening) -> None:
    page = text(as_operator.get("/"))
    assert OLDER in page
    assert "knowledge.reject_invalidates: true" in page


def test_no_warning_once_mended(
    as_operator: Client, legacy: Opening, instance: Instance, settings: Settings
) -> None:
    knowledge = replace(instance.config.knowledge, reject_invalidates=True)
    settings.INSTANCE = replace(instance, config=replace(instance.config, knowledge=knowledge))
    assert OLDER not in text(as_operator.get("/"))


def test_no_warning_for_a_store_of_our_own(as_operator: Client, store: Opening) -> None:
    assert OLDER not in text(as_operator.get("/"))


def test_warnings_of_the_configuration(
    as_operator: Client, store: Opening, instance: Instance, settings: Settings
) -> None:
    config = replace(instance.config, warnings=("config.yaml: knowledge.topk: unknown key",))
    settings.INSTANCE = replace(instance, config=config)
    assert "knowledge.topk: unknown key" in text(as_operator.get("/"))


def test_sample_data_is_told(as_operator: Client, store: Opening) -> None:
    note("real")
    assert "sample data" not in text(as_operator.get("/"))
    note("sample", namespace="protoconsole-demo")
    assert "python manage.py demo --remove" in text(as_operator.get("/"))


def test_an_index_that_is_behind_is_told(
    as_operator: Client, store: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    note("known")
    monkeypatch.setattr("knowledge.catch_up.pending", lambda: 1_234)
    assert "1,234 rows to go" in text(as_operator.get("/"))


def test_statements_do_not_grow_with_the_rows(as_operator: Client, store: Opening) -> None:
    def cost() -> int:
        as_operator.get("/")
        with statements() as heard:
            as_operator.get("/")
        return len(heard)

    many(20)
    few = cost()
    many(180)
    assert cost() == few
    assert few < 20


def test_no_full_scan(as_operator: Client, store: Opening) -> None:
    many(200)
    as_operator.get("/")
    with statements() as heard:
        as_operator.get("/")
    reads = [sql for sql in heard if sql.startswith("SELECT")]
    plans = [row[3] for sql in reads for row in fetch(KNOWLEDGE, f"EXPLAIN QUERY PLAN {sql}")]
    assert [plan for plan in plans if plan in ("SCAN c", "SCAN chunks")] == []


def test_hostile_names_are_text(as_operator: Client, store: Opening) -> None:
    for hostile in cases("hostile_text"):
        imported("x", source=hostile[:900], namespace=hostile[:900])
    page = text(as_operator.get("/"))
    assert "<img src=x" not in page
    assert page.count("<script") == 2  # htmx and ours


def test_what_was_changed_as_one_is_one_line(as_operator: Client, store: Opening) -> None:
    rows = [note(f"tea {n}") for n in range(4)]
    query = ChunkQuery(ids=tuple(row.id for row in rows))
    services.review_matching(selection_of(query), Verdict.REJECTED, OPERATOR)

    first = summary.read().changes[0]

    assert (first.entry.action, first.lines) == ("rejected", 4)
    assert "and 3 more" in as_operator.get("/").content.decode()
