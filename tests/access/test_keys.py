"""Keys: made, shown once, verified, revoked; and which session is whose."""

import hashlib
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from protoconsole.access import keys
from protoconsole.access.errors import BadSessionId, BadValue, NameTaken, SessionTaken
from protoconsole.access.keys import actor_of, actor_of_operator, create_key, revoke, revoke_by_id, verify
from protoconsole.access.models import ApiKey, Operator, SessionClaim
from protoconsole.access.operators import create_operator
from protoconsole.access.sessions import claim_session
from protoconsole.actors import Actor, Role, Surface
from protoconsole.databases import CONSOLE, fetch
from protoconsole.metrics import USES_UNNOTED

pytestmark = pytest.mark.usefixtures("db")

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    def stand_at(moment: datetime) -> None:
        monkeypatch.setattr(keys.timezone, "now", lambda: moment)

    return stand_at


@pytest.mark.parametrize(
    ("role", "letter"),
    [(Role.AGENT, "a"), (Role.PLUGIN, "p"), (Role.OPERATOR, "o"), (Role.VIEWER, "v")],
)
def test_a_token_names_its_role_and_is_long_enough(role: Role, letter: str) -> None:
    key, token = create_key("k", role, created_by="olive")
    assert token.startswith(f"pc_{letter}")
    assert len(token) == 4 + 43  # 32 random bytes in base64 without padding
    assert (key.role, key.created_by, key.prefix) == (role, "olive", token[:8])


def test_only_the_hash_of_a_token_is_kept() -> None:
    key, token = create_key("k", Role.AGENT, created_by="olive")
    assert key.hash == hashlib.sha256(token.encode()).hexdigest()
    row = ApiKey.objects.values().get()
    assert not any(token[8:] in str(value) for value in row.values())


def test_a_live_token_is_verified() -> None:
    key, token = create_key("k", Role.AGENT, created_by="olive")
    assert verify(token) == key


@pytest.mark.parametrize("token", ["", "pc_", "pc_aXYZ", "Bearer", "\ud800", "pc_a\ud800", "x" * 100_000])
def test_an_unknown_token_is_not(token: str) -> None:
    create_key("k", Role.AGENT, created_by="olive")
    assert verify(token) is None


def test_a_part_of_a_token_or_its_hash_opens_nothing() -> None:
    key, token = create_key("k", Role.AGENT, created_by="olive")
    assert [verify(text) for text in (token[:-1], token + "a", key.hash, f"pc_{key.hash}")] == [None] * 4


def test_a_revoked_token_opens_nothing_and_is_revoked_once() -> None:
    _, token = create_key("k", Role.AGENT, created_by="olive")
    assert (revoke("k"), verify(token), revoke("k")) == (True, None, False)


def test_revoking_by_id_shuts_out_that_key_only() -> None:
    one, _ = create_key("one", Role.AGENT, created_by="olive")
    _, other = create_key("two", Role.AGENT, created_by="olive")
    assert (revoke_by_id(one.pk), revoke_by_id(one.pk), revoke_by_id(10_000)) == (True, False, False)
    assert verify(other) is not None


def test_two_live_keys_cannot_share_a_name() -> None:
    create_key("k", Role.AGENT, created_by="olive")
    with pytest.raises(NameTaken):
        create_key(" k ", Role.PLUGIN, created_by="olive")
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiKey.objects.create(name="k", role="agent", prefix="pc_a", hash="0" * 64, created_by="x")


def test_the_name_of_a_revoked_key_is_free() -> None:
    create_key("k", Role.AGENT, created_by="olive")
    revoke("k")
    _, token = create_key("k", Role.AGENT, created_by="olive")
    assert verify(token) is not None


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\0b", "x" * 101, "\ud800"])
def test_a_name_that_cannot_be_printed_is_refused(name: str) -> None:
    with pytest.raises(BadValue) as caught:
        create_key(name, Role.AGENT, created_by="olive")
    assert caught.value.field == "name"


@pytest.mark.parametrize("role", [Role.AGENT, Role.OPERATOR, Role.VIEWER])
def test_only_a_plugin_can_be_let_confirm(role: Role) -> None:
    with pytest.raises(BadValue) as caught:
        create_key("k", role, may_confirm=True, created_by="olive")
    assert caught.value.field == "may_confirm"
    key, _ = create_key("p", Role.PLUGIN, may_confirm=True, created_by="olive")
    assert actor_of(key).may_confirm


def test_use_is_noted_at_most_once_a_minute(clock: Callable[[datetime], None]) -> None:
    _, token = create_key("k", Role.AGENT, created_by="olive")
    noted = []
    for seconds in (0, 1, 59, 60, 61, 121):
        clock(NOON + timedelta(seconds=seconds))
        verify(token)
        noted.append((ApiKey.objects.get().last_used_at - NOON).total_seconds())
    assert noted == [0, 0, 0, 60, 60, 121]


def test_a_use_soon_after_another_writes_nothing(clock: Callable[[datetime], None]) -> None:
    _, token = create_key("k", Role.AGENT, created_by="olive")
    clock(NOON)
    verify(token)
    with CaptureQueriesContext(connection) as queries:
        verify(token)
    assert [query["sql"].split()[0] for query in queries] == ["SELECT"]


def test_a_use_that_comes_late_does_not_turn_the_time_back(clock: Callable[[datetime], None]) -> None:
    key, _ = create_key("k", Role.AGENT, created_by="olive")
    ApiKey.objects.update(last_used_at=NOON)
    keys._note_use(key, NOON - timedelta(seconds=5))  # this process read the row before the other wrote it
    assert ApiKey.objects.get().last_used_at == NOON


def test_a_key_acts_under_its_name_and_role() -> None:
    key, _ = create_key("roxy", Role.AGENT, created_by="olive")
    assert actor_of(key, "chat-1") == Actor("roxy", Role.AGENT, Surface.API, "chat-1", False)
    assert actor_of(key, None, Surface.TOOL).surface is Surface.TOOL


def test_a_person_acts_under_name_and_role(operator: Operator, viewer: Operator) -> None:
    assert actor_of_operator(operator) == Actor("olive", Role.OPERATOR, Surface.PAGE)
    assert actor_of_operator(viewer) == Actor("vera", Role.VIEWER, Surface.PAGE)


def test_a_session_belongs_to_the_agent_that_first_used_it() -> None:
    first, _ = create_key("first", Role.AGENT, created_by="olive")
    second, _ = create_key("second", Role.AGENT, created_by="olive")
    claim_session(first, "chat-1")
    claim_session(first, "chat-1")
    with pytest.raises(SessionTaken):
        claim_session(second, "chat-1")
    claim_session(second, "chat-2")
    assert set(SessionClaim.objects.values_list("session_id", "key__name")) == {
        ("chat-1", "first"),
        ("chat-2", "second"),
    }


def test_the_key_that_replaces_a_revoked_one_keeps_its_sessions() -> None:
    old, _ = create_key("roxy", Role.AGENT, created_by="olive")
    claim_session(old, "chat-1")
    revoke("roxy")
    new, _ = create_key("roxy", Role.AGENT, created_by="olive")
    claim_session(new, "chat-1")


@pytest.mark.parametrize("role", [Role.PLUGIN, Role.OPERATOR, Role.VIEWER])
def test_other_roles_name_a_session_without_claiming_it(role: Role) -> None:
    other, _ = create_key("other", role, created_by="olive")
    agent, _ = create_key("agent", Role.AGENT, created_by="olive")
    claim_session(other, "chat-1")
    claim_session(agent, "chat-1")
    claim_session(other, "chat-1")
    assert SessionClaim.objects.get().key == agent


@pytest.mark.parametrize("role", [Role.AGENT, Role.PLUGIN])
def test_an_id_that_names_no_session_is_refused_by_its_field(role: Role) -> None:
    key, _ = create_key("k", role, created_by="olive")
    with pytest.raises(BadSessionId, match=r"^session_id: must be 1 to 200"):
        claim_session(key, "../etc", field="session_id")


def test_a_busy_store_keeps_nobody_out(clock: Callable[[datetime], None]) -> None:
    key, token = create_key("k", Role.AGENT, created_by="olive")
    path = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        assert verify(token) == key
        assert time.monotonic() - began < 5  # a write waits for ten
        other.execute("ROLLBACK")
    assert ApiKey.objects.get().last_used_at is None
    verify(token)
    assert ApiKey.objects.get().last_used_at is not None


@pytest.mark.parametrize("name", ["olive", "OLIVE"])
def test_a_key_does_not_take_the_name_of_a_person(operator: Operator, name: str) -> None:
    with pytest.raises(NameTaken, match="already an operator of the name"):
        create_key(name, Role.AGENT, created_by="olive")
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("is_live", [True, False])
def test_a_person_does_not_take_the_name_that_a_key_has_or_had(is_live: bool) -> None:
    create_key("roxy", Role.AGENT, created_by="tests")
    if not is_live:
        revoke("roxy")
    with pytest.raises(NameTaken, match="already a key of the name roxy"):
        create_operator("roxy")
    assert not Operator.objects.exists()


def test_a_read_only_store_keeps_nobody_out() -> None:
    key, token = create_key("k", Role.AGENT, created_by="olive")
    fetch(CONSOLE, "PRAGMA query_only = ON")
    before = USES_UNNOTED._value.get()
    assert verify(token) == key
    assert USES_UNNOTED._value.get() == before + 1


def test_a_folder_where_no_lock_can_be_taken_keeps_nobody_out() -> None:
    key, token = create_key("k", Role.AGENT, created_by="olive")
    lock = Path(f"{connection.settings_dict['NAME']}.lock")
    lock.unlink()
    lock.mkdir()  # no permission keeps root from opening a file

    def verified() -> ApiKey | None:
        try:
            return verify(token)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as anew:  # a thread that holds no lock file open yet
        assert anew.submit(verified).result() == key
