"""What is known of a model's window, and when its gateway is asked."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from memory import delivery, gathering, turn_faults, windows
from memory.models import ModelWindow
from memory.turn_faults import TurnFault
from memory.types import TurnRequest
from memory.windows import learn_next, window_of
from protoconsole import gateway, maintenance
from protoconsole.config import Model
from protoconsole.databases import CONSOLE, fetch
from protoconsole.gateway import GatewayError
from tests.memory.configured import configure

pytestmark = pytest.mark.usefixtures("store")

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Gateway:
    """Stands for a model server: knows some windows, can be down, and counts who is asked for."""

    def __init__(self) -> None:
        self.windows: dict[str, int] = {}
        self.down = False
        self.asked: list[str] = []

    def learn(self, model: Model, name: str) -> int | None:
        self.asked.append(name)
        if self.down:
            raise GatewayError("it did not answer")
        return self.windows.get(name)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Gateway:
    made = Gateway()
    monkeypatch.setattr(windows, "learn_window", made.learn)
    configure(settings, "model", name="small", api_base="http://models.example.net")
    windows._say_once.cache_clear()
    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The time is the last one in the list."""
    moments = [NOON]
    monkeypatch.setattr(timezone, "now", lambda: moments[-1])
    return moments


def test_the_request_beats_the_configuration_which_beats_the_gateway(settings: Any, server: Gateway) -> None:
    server.windows = {"large": 200_000, "small": 32_000}
    configure(settings, "model", windows={"large": 100_000})
    assert gathering.options_of(TurnRequest("x", model="large", window=5_000)).window == 5_000
    assert gathering.options_of(TurnRequest("x", model="large")).window == 100_000
    assert window_of("small") is None
    assert learn_next() == 1
    assert gathering.options_of(TurnRequest("x", model="small")).window == 32_000
    assert gathering.options_of(TurnRequest("x")).window == 32_000


def test_a_turn_does_not_wait_for_a_gateway_that_hangs(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*args: object, **kwargs: object) -> None:
        raise AssertionError("the gateway was asked in a turn")

    monkeypatch.setattr(httpx, "AsyncClient", hang)
    configure(settings, "model", name="small", api_base="http://models.example.net")
    assert window_of("small") is None
    assert [known.name for known in ModelWindow.objects.all()] == ["small"]


def test_a_window_is_learnt_once(server: Gateway) -> None:
    server.windows = {"small": 32_000}
    for _ in range(3):
        window_of("small")
        learn_next()
    assert server.asked == ["small"]
    assert learn_next() == 0


def test_a_model_that_nobody_knows_has_the_window_of_the_default_model(server: Gateway) -> None:
    server.windows = {"small": 32_000}
    assert window_of("unheard-of") is None
    while learn_next():
        pass
    assert sorted(server.asked) == ["small", "unheard-of"]
    assert window_of("unheard-of") == 32_000


def test_after_failures_the_pauses_grow_up_to_a_day(server: Gateway, clock: list[datetime]) -> None:
    server.down = True
    window_of("small")
    pauses = []
    for _ in range(14):
        assert learn_next() == 1
        assert learn_next() == 0
        due = ModelWindow.objects.get(name="small").ask_at
        pauses.append(due - clock[-1])
        clock.append(due)
    assert pauses[:4] == [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]
    assert pauses[-2:] == [timedelta(days=1), timedelta(days=1)]
    server.down, server.windows = False, {"small": 32_000}
    learn_next()
    assert window_of("small") == 32_000


def test_a_model_that_the_gateway_does_not_know_is_asked_for_again_after_a_day(
    server: Gateway, clock: list[datetime]
) -> None:
    window_of("new")
    while learn_next():
        pass
    clock.append(NOON + timedelta(hours=23))
    assert learn_next() == 0
    server.windows = {"new": 8_000}
    clock.append(NOON + timedelta(hours=25))
    while learn_next():
        pass
    assert window_of("new") == 8_000


def test_an_attempt_that_dies_is_followed_by_a_pause_too(
    server: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*args: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(windows, "learn_window", die)
    window_of("small")
    with pytest.raises(RuntimeError):
        learn_next()
    assert learn_next() == 0


def test_without_a_gateway_nothing_is_noted_or_asked(settings: Any) -> None:
    configure(settings, "model", name="small", api_base="")
    assert window_of("small") is None
    assert ModelWindow.objects.count() == 0
    assert learn_next() == 0


def test_incognito_notes_no_model(server: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    gathering.options_of(TurnRequest("x", model="secret-model", incognito=True))
    assert ModelWindow.objects.count() == 0
    assert "secret-model" not in caplog.text
    window_of("small")
    assert "small" in caplog.text


def test_a_preview_notes_no_model(server: Gateway) -> None:
    delivery.preview(TurnRequest("x", model="secret-model"))

    assert ModelWindow.objects.count() == 0


def test_callers_cannot_fill_the_table(server: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "MOST_NOTED", 3)
    for n in range(5):
        window_of(f"model-{n}")
    window_of("x" * 10_000)
    assert ModelWindow.objects.count() == 3


def test_names_that_no_gateway_knows_make_room_after_a_day(
    server: Gateway, clock: list[datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "MOST_NOTED", 3)
    server.windows = {"small": 32_000, "new": 8_000}
    for name in ("junk-1", "junk-2", "new"):
        window_of(name)
    names = ModelWindow.objects.order_by("name").values_list("name", flat=True)
    assert list(names.all()) == ["junk-1", "junk-2", "small"]
    for hours, left in ((0, ["junk-1", "junk-2", "small"]), (25, ["small"])):
        clock.append(NOON + timedelta(hours=hours))
        while learn_next():
            pass
        assert list(names.all()) == left
    window_of("new")
    learn_next()
    assert window_of("new") == 8_000


def test_a_read_only_console_store_stops_no_turn(server: Gateway) -> None:
    counted = turn_faults.FAULTS.labels(TurnFault.NOTES)._value
    before = counted.get()
    fetch(CONSOLE, "PRAGMA query_only = ON")
    assert window_of("small") is None
    assert counted.get() == before + 1
    fetch(CONSOLE, "PRAGMA query_only = OFF")
    assert window_of("small") is None
    assert [known.name for known in ModelWindow.objects.all()] == ["small"]
    assert turn_faults.reasons() == []


def test_an_unknown_window_is_said_once_for_each_model(
    server: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "protoconsole.windows"):
        for name in ("large", "large", None, None):
            window_of(name)
    assert [record.args for record in caplog.records] == [("large",), ("small",)]


def test_maintenance_asks() -> None:
    assert learn_next in [step.work for step in maintenance.STEPS]


def test_a_round_of_maintenance_asks_about_one_model(server: Gateway) -> None:
    for name in ("a", "b", "c"):
        window_of(name)
    [step] = [step for step in maintenance.STEPS if step.work is learn_next]

    maintenance.Maintenance([step]).round()
    assert len(server.asked) == 1
    maintenance.Maintenance([step]).round()
    assert len(set(server.asked)) == 2


def test_what_a_gateway_tells_is_kept(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(*args: object) -> bytes:
        return b'{"data": [{"id": "small", "max_model_len": 16384}]}'

    monkeypatch.setattr(gateway, "_fetch", answer)
    configure(settings, "model", name="small", api_base="http://models.example.net/v1")
    window_of("small")
    learn_next()
    assert window_of("small") == 16_384
