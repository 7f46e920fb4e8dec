from io import StringIO
from itertools import count

import pytest
from django.core.management import CommandError, call_command

from knowledge import checkup, queries, sample, services
from knowledge.adoption import Opening
from knowledge.types import ChunkQuery, NewChunk, Relation, State
from protoconsole.databases import KNOWLEDGE, fetch
from tests.actors import OPERATOR


def demo(*options: str) -> str:
    out = StringIO()
    call_command("demo", *options, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_it_shows_every_state_and_a_proposal(store: Opening) -> None:
    assert demo() == f"{len(sample.rows())} rows of the sample are in the store\n"

    rows = sample.rows()
    assert {row.trust for row in rows} == {"operator", "agent", "external"}
    assert {State.PENDING, State.CONFIRMED, State.SUPERSEDED} <= {row.state for row in rows}
    links = [queries.link_of(row.id) for row in rows]
    assert Relation.PROPOSES in [link.relation for link in links if link]


def test_every_row_came_through_the_public_calls(store: Opening) -> None:
    demo()

    audited = {row[0] for row in fetch(KNOWLEDGE, "SELECT DISTINCT chunk_id FROM pc_audit")}
    assert {row.id for row in sample.rows()} <= audited


def test_a_second_time_adds_nothing(store: Opening) -> None:
    assert demo() == demo()


def test_it_goes_with_one_command_and_leaves_the_rest(store: Opening) -> None:
    mine = services.add(NewChunk("my own"), OPERATOR).chunk
    demo()
    loaded = len(sample.rows())

    assert demo("--remove") == f"{loaded} rows of the sample removed\n"

    everything = ChunkQuery(include_superseded=True)
    assert [chunk.id for chunk in queries.browse(everything, OPERATOR).items] == [mine and mine.id]
    assert all(finding.ok for finding in checkup.examine())
    assert not sample.is_loaded()


def test_it_makes_the_store_where_there_is_none(instance: object) -> None:
    assert "sample" in demo()


@pytest.mark.usefixtures("store")
def test_removing_nothing_says_so() -> None:
    assert demo("--remove") == "0 rows of the sample removed\n"


@pytest.mark.parametrize(
    ("call", "done"),
    [("add", 0), ("add", 4), ("remember", 2), ("remember", 7), ("review", 0), ("review", 1), ("edit", 0)],
)
def test_what_was_interrupted_is_completed(
    store: Opening, monkeypatch: pytest.MonkeyPatch, call: str, done: int
) -> None:
    demo()
    whole = sorted((row.content, row.state) for row in sample.rows())
    demo("--remove")
    calls = count()

    def interrupted(*args: object, **options: object) -> object:
        if next(calls) == done:
            raise KeyboardInterrupt
        return uninterrupted(*args, **options)

    uninterrupted = getattr(services, call)
    with monkeypatch.context() as patch:
        patch.setattr(services, call, interrupted)
        with pytest.raises(KeyboardInterrupt):
            demo()

    demo()

    assert sorted((row.content, row.state) for row in sample.rows()) == whole


def test_a_store_that_cannot_take_it_is_one_line(store: Opening) -> None:
    fetch(KNOWLEDGE, "DROP TABLE pc_dirty")
    with pytest.raises(CommandError, match=r"^no such table: pc_dirty$"):
        demo()
