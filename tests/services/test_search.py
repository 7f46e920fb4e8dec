import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge import queries, services
from knowledge.adoption import Opening
from knowledge.errors import Invalid, SearchBroken
from knowledge.types import (
    Chunk,
    ChunkQuery,
    Edit,
    Kind,
    NewChunk,
    Policy,
    Ranking,
    State,
    TrustTier,
    Verdict,
)
from protoconsole.databases import KNOWLEDGE, fetch
from tests.actors import AGENT, OPERATOR, PLUGIN

HOSTILE = [
    entry[0] * (entry[1] if len(entry) > 1 else 1)
    for entry in json.loads(
        (Path(__file__).parent.parent / "fixtures/cases/hostile_queries.json").read_text()
    )["cases"]
]


def add(text: str, by: object = PLUGIN, **more: object) -> Chunk:
    chunk = services.add(NewChunk(text, **more), by).chunk  # type: ignore[arg-type]
    assert chunk is not None
    return chunk


def found(text: str, **filters: object) -> list[int]:
    query = ChunkQuery(text=text, **filters)  # type: ignore[arg-type]
    return [hit.chunk.id for hit in queries.search(query, OPERATOR, k=50).hits]


@pytest.fixture(params=["fts5", "like"])
def engine(request: pytest.FixtureRequest, store: Opening) -> str:
    """Every test of this fixture runs with FTS5 and without."""
    if request.param == "like":
        request.getfixturevalue("without_fts5")
    return str(request.param)


class TestBothEngines:
    @pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:20]))
    def test_hostile_queries_give_results_or_nothing(self, engine: str, query: str) -> None:
        add("Use C++ and .net on 10.0.0.1; don't NEAR(x) AND OR NOT 設備清單 100%")

        assert queries.search(ChunkQuery(text=query), OPERATOR).ranking is not None
        assert queries.browse(ChunkQuery(contains=query), OPERATOR).items is not None

    def test_the_percent_sign_is_no_wildcard(self, engine: str) -> None:
        add("nothing of the kind")

        assert found("100%") == []
        assert found("_") == []

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("設備清單(devices) NAS", "設備"),
            ("重跑gen-itgc后检查条目", "gen"),
            ("重跑gen-itgc后检查条目", "条"),
            ("每次发布前先运行冒烟测试。", "冒烟测试"),
            ("데이터베이스는 매일 백업한다", "데이터베이스"),
            ("ระบบฐานข้อมูลหลัก", "ฐานข้อมูล"),
            ("Резервная копия базы", "базы"),
            ("قاعدة البيانات الرئيسية", "قاعدة"),
            ("the region is eu-west-1", "eu-west-1"),
            ("the router is 192.168.9.1", "192.168.9.1"),
            ("ask-codex answers", "ask-codex"),
        ],
    )
    def test_words_inside_are_found(self, engine: str, text: str, query: str) -> None:
        row = add(text)
        add("an unrelated row about gardening")

        assert found(query)[:1] == [row.id]

    def test_each_filter_binds(self, engine: str) -> None:
        wanted = add(
            "tea time",
            by=OPERATOR,
            review_state=Verdict.PENDING,
            domain="finding",
            namespace="ops",
            epoch="e1",
            kind=Kind.DECISION,
            source="s1",
            source_type="extracted",
            delivery_policy=Policy.ON_DEMAND,
        )
        other = services.review(add("tea time", by=OPERATOR).id, Verdict.REJECTED, OPERATOR)

        both = {wanted.id, other.id}
        assert set(found("tea")) == both
        only_wanted: list[dict[str, object]] = [
            {"domains": ["finding"]},
            {"namespaces": ["ops"]},
            {"epoch": "e1"},
            {"kinds": [Kind.DECISION]},
            {"sources": ["s1"]},
            {"policies": [Policy.ON_DEMAND]},
            {"verdicts": [Verdict.PENDING]},
            {"states": [State.PENDING]},
            {"trust": [TrustTier.AGENT]},
            {"ids": [wanted.id]},
            {"exclude_rejected": True},
        ]
        for filters in only_wanted:
            assert found("tea", **filters) == [wanted.id], filters
        assert found("tea", namespaces=[""]) == [other.id]
        assert found("tea", min_trust=TrustTier.OPERATOR) == [other.id]
        assert found("tea", deliverable=True) == []

    def test_null_and_empty_namespaces_are_both_none(self, engine: str) -> None:
        row = add("tea", namespace="")
        also = add("tea")
        add("tea", namespace="ops")

        assert sorted(found("tea", namespaces=[""])) == [row.id, also.id]

    def test_superseded_and_expired_rows(self, engine: str) -> None:
        old = add("tea at four")
        new = services.edit(old.id, Edit(content="tea at five"), OPERATOR)
        lapsed = add("tea at six", expires_at="2020-01-01")

        assert sorted(found("tea")) == [new.id, lapsed.id]
        assert sorted(found("tea", include_superseded=True)) == [old.id, new.id, lapsed.id]
        assert found("tea", include_expired=False) == [new.id]
        assert found("tea", deliverable=True) == [new.id]

    def test_contains_wants_every_word(self, engine: str) -> None:
        add("green tea")
        both = add("green tea in the evening")

        page = queries.browse(ChunkQuery(contains="evening green"), OPERATOR)
        assert [chunk.id for chunk in page.items] == [both.id]


@pytest.mark.usefixtures("store")
class TestKeyword:
    def test_natural_questions_find_what_shares_their_words(self) -> None:
        row = add("The gateway runs scheduled tasks nightly")
        add("The printer is on the third floor")

        assert found("what are the gateway scheduled tasks")[0] == row.id
        assert found("running a nightly task")[0] == row.id

    def test_a_title_is_among_the_first_three(self) -> None:
        for n in range(30):
            add(f"notes about the release process and its release notes, part {n}", heading=f"Part {n}")
        row = add("See the wiki.", heading="Release process")

        assert row.id in found("Release process")[:3]

    def test_leaked_reasoning_of_old_rows_is_neither_found_nor_read_by_agents(self) -> None:
        fetch(
            KNOWLEDGE,
            "INSERT INTO chunks (content, domain, created_at, updated_at)"
            " VALUES ('<think>platypus</think>The port is 8443.', 'fact', '2026', '2026')",
        )

        assert found("platypus") == []
        [hit] = queries.search(ChunkQuery(text="port"), AGENT).hits
        assert hit.chunk.content == "The port is 8443."
        [row] = queries.search(ChunkQuery(text="port"), OPERATOR).hits
        assert row.chunk.content == "<think>platypus</think>The port is 8443."

    def test_no_text_browses_and_says_so(self) -> None:
        first, second = add("one"), add("two")

        result = queries.search(ChunkQuery(text="  "), OPERATOR)

        assert result.ranking is Ranking.NEWEST
        assert [hit.chunk.id for hit in result.hits] == [second.id, first.id]
        assert [hit.score for hit in result.hits] == [None, None]

    def test_a_broken_index_is_a_fault_and_not_an_empty_list(self) -> None:
        add("tea")
        fetch(KNOWLEDGE, "DROP TABLE pc_search")

        with pytest.raises(SearchBroken, match="doctor --repair"):
            queries.search(ChunkQuery(text="tea"), OPERATOR)

    @pytest.mark.parametrize("k", [0, -1, 201])
    def test_k_is_bounded(self, k: int) -> None:
        with pytest.raises(Invalid, match="k"):
            queries.search(ChunkQuery(text="tea"), OPERATOR, k=k)

    def test_cursors_walk_all_rows_once_though_rows_come_in_between(self) -> None:
        ids = [add(f"row {n}").id for n in range(7)]

        seen: list[int] = []
        cursor = None
        while True:
            page = queries.browse(ChunkQuery(), OPERATOR, cursor=cursor, limit=3)
            seen += [chunk.id for chunk in page.items]
            cursor = page.next
            if cursor is None:
                break
            add("a newer row")

        assert seen == sorted(ids, reverse=True)

    @pytest.mark.parametrize("cursor", ["", "x", "-1", "١", "9" * 30])
    def test_a_cursor_that_no_list_gave(self, cursor: str) -> None:
        with pytest.raises(Invalid, match="cursor"):
            queries.browse(ChunkQuery(), OPERATOR, cursor=cursor)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters()))  # surrogates and NUL among them
def test_any_text_is_a_query(legacy: Opening, query: str) -> None:
    queries.search(ChunkQuery(text=query), OPERATOR)
    queries.browse(ChunkQuery(contains=query), OPERATOR)


def test_narrowing_by_words_over_a_broken_index_is_a_fault_too(store: Opening) -> None:
    fetch(KNOWLEDGE, "DROP TABLE pc_search")

    with pytest.raises(SearchBroken):
        queries.browse(ChunkQuery(contains="tea"), OPERATOR)


def test_letter_case_beyond_ascii_does_not_matter(engine: str) -> None:
    row = add("ÜBERSICHT der Änderungen")

    assert found("übersicht") == found("Übersicht") == [row.id]


@pytest.mark.parametrize(
    ("written", "lapsed"),
    [
        ("2020-01-01", True),
        ("2020-01-01 10:00", True),
        ("2020-01-01T10:00:00.5Z", True),
        ("2020-01-01T10:00:00+02:00", True),
        ("2099-01-01T00:00:00+00:00", False),
        ("2027", False),
        ("2020-W05-1", False),
        ("2020-01-01T12", False),
        ("2020-01-01T12:00+0000", False),
        ("soon", False),
        ("", False),
    ],
)
def test_the_filters_and_the_badge_agree_on_what_has_lapsed(
    store: Opening, written: str, lapsed: bool
) -> None:
    row = add("tea")
    fetch(KNOWLEDGE, "UPDATE chunks SET expires_at = ?", (written,))

    assert queries.get(row.id, OPERATOR).expired is lapsed
    assert (found("tea", include_expired=False) == []) is lapsed
    assert (found("tea", states=[State.EXPIRED]) != []) is lapsed


def test_a_long_chain_is_read_whole_in_one_statement(store: Opening) -> None:
    first = chunk = add("revision 0")
    for n in range(1, 300):
        chunk = services.edit(chunk.id, Edit(content=f"revision {n}"), OPERATOR)

    middle = queries.history(first.id + 150, OPERATOR)

    assert [link.content for link in middle] == [f"revision {n}" for n in range(300)]
