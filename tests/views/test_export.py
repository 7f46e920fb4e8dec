"""The export of a filter: JSON lines hold rows exactly, CSV is safe to open in a spreadsheet."""

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from knowledge import export, services
from knowledge.adoption import Opening
from knowledge.types import Edit
from tests.actors import OPERATOR
from tests.cases import cases
from tests.views.stored import many, note

HOSTILE = cases("hostile_text")
COLUMNS = [
    *("id", "content", "domain", "heading", "source", "source_type", "finding_type", "namespace", "epoch"),
    *("created_at", "updated_at", "invalidated_at", "invalidation_reason", "memory_kind", "subject"),
    *("review_state", "expires_at", "delivery_policy", "trust", "valid"),
]


def body(client: Client, form: str, **params: Any) -> str:
    answer = client.get(f"/store/export/{form}/", params)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


def json_rows(client: Client, **params: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in body(client, "jsonl", **params).splitlines()]


def csv_rows(client: Client, **params: Any) -> list[list[str]]:
    text = body(client, "csv", **params)
    assert text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text[1:], newline="")))


def test_every_column_with_trust_and_validity(store: Opening, as_operator: Client) -> None:
    note("the text", domain="fact", heading="h", source="s", namespace="n", subject="olive", epoch="e")

    (row,) = json_rows(as_operator)

    assert list(row) == COLUMNS
    assert (row["id"], row["content"], row["domain"], row["namespace"]) == (1, "the text", "fact", "n")
    assert (row["trust"], row["valid"], row["finding_type"]) == ("operator", True, None)
    names, values = csv_rows(as_operator)
    assert names == COLUMNS
    assert values[:5] == ["1", "the text", "fact", "h", "s"]
    assert values[-2:] == ["operator", "true"]
    assert values[6] == ""


def test_all_rows_that_match_newest_first(store: Opening, as_operator: Client) -> None:
    many(450)

    assert [row["id"] for row in json_rows(as_operator)] == list(range(450, 0, -1))
    assert len(csv_rows(as_operator, domain="fact")) == 1 + 90


def test_a_search_exports_its_best_hits_and_says_so(store: Opening, as_operator: Client) -> None:
    many(450)
    answer = as_operator.get("/store/export/jsonl/", {"q": "gateway"})

    assert len(b"".join(answer.streaming_content).splitlines()) == 200
    today = f"{timezone.now():%Y-%m-%d}"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="memory-best-200-{today}.jsonl"'


def test_the_file_has_a_type_and_a_dated_name(store: Opening, as_operator: Client) -> None:
    today = f"{timezone.now():%Y-%m-%d}"
    for form, kind in (("jsonl", "application/x-ndjson"), ("csv", "text/csv")):
        answer = as_operator.get(f"/store/export/{form}/")
        assert answer.headers["Content-Type"] == f"{kind}; charset=utf-8"
        assert answer.headers["Content-Disposition"] == f'attachment; filename="memory-{today}.{form}"'


def test_rows_that_are_gone_come_along_when_the_filter_lets_them_in(
    store: Opening, as_operator: Client
) -> None:
    services.edit(note("old").id, Edit(content="new"), OPERATOR)

    (row,) = json_rows(as_operator, state="superseded")
    assert (row["content"], row["valid"], row["invalidation_reason"]) == ("old", False, "superseded_by:2")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("\nplain", "'\nplain"),
        ("  =1", "'  =1"),
        ("\u3000@x", "'\u3000@x"),
        ("\ufeff=1", "'\ufeff=1"),
        ("\u200b+1", "'\u200b+1"),
        ("＝1+1", "'＝1+1"),
        ("﹣1", "'﹣1"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        ("  plain", "  plain"),
        ("1=1", "1=1"),
        ('say "hi", twice', 'say "hi", twice'),
        ("two\nlines", "two\nlines"),
    ],
)
def test_no_cell_is_a_formula(store: Opening, as_operator: Client, text: str, cell: str) -> None:
    note(text, heading=text, source=text, domain=text)

    row = dict(zip(COLUMNS, csv_rows(as_operator)[1], strict=True))

    assert [row[name] for name in ("content", "heading", "source", "domain")] == [cell] * 4


@pytest.mark.parametrize("text", [*HOSTILE, "one\u2028two\u2029three\x85four"])
def test_json_lines_hold_any_text_exactly_on_one_line(store: Opening, as_operator: Client, text: str) -> None:
    chunk = note(text, heading=text)

    (row,) = json_rows(as_operator)

    assert (row["content"], row["heading"]) == (chunk.content, chunk.heading)


@pytest.mark.parametrize("text", HOSTILE)
def test_csv_holds_any_text_in_its_cell(store: Opening, as_operator: Client, text: str) -> None:
    chunk = note(text)

    row = csv_rows(as_operator)[1]

    assert len(row) == len(COLUMNS)
    assert row[1].removeprefix("'") == chunk.content.removeprefix("'")


def test_a_viewer_may_export_and_a_stranger_not(store: Opening, client: Client, as_viewer: Client) -> None:
    note()
    assert len(json_rows(as_viewer)) == 1
    client.logout()
    assert client.get("/store/export/jsonl/").status_code == 302


def test_other_forms_and_bad_filters_are_refused(store: Opening, as_operator: Client) -> None:
    assert as_operator.get("/store/export/xlsx/").status_code == 404
    assert as_operator.get("/store/export/csv/", {"kind": "nonsense"}).status_code == 422
    assert as_operator.post("/store/export/csv/").status_code == 405


def test_nothing_gives_a_file_of_names_alone(store: Opening, as_operator: Client) -> None:
    assert body(as_operator, "jsonl") == ""
    assert csv_rows(as_operator) == [COLUMNS]


def test_the_lines_end_as_rfc_4180_says(store: Opening) -> None:
    (line,) = export.as_csv([])
    assert line.endswith("trust,valid\r\n")
