"""The page of the next prompt: what it shows, what it supposes, and that it leaves nothing behind."""

import re
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from knowledge import services
from knowledge.adoption import Opening
from knowledge.types import Verdict
from memory.delivery import deliver
from memory.types import Goal, Part, TurnRequest, WorkingState
from memory.working_states import put_working_state
from protoconsole.databases import INJECTIONS, fetch
from protoconsole.instance import Instance
from tests.actors import AGENT, OPERATOR
from tests.cases import cases
from tests.memory.configured import configure
from tests.memory.sessions import put
from tests.views.stored import note
from tests.views.test_hostile import Outline
from tests.views.test_injections import imported, page, statements, turn, words


def entries(client: Client, **params: object) -> list[tuple[str, object]]:
    """Give part and row of each entry that the page shows."""
    shown = client.get("/preview/", params).context["preview"]
    return [(entry.item.part, entry.item.ref) for block in shown.blocks for entry in block.entries]


def test_anonymous_is_led_to_the_login(store: Opening, client: Client) -> None:
    assert client.get("/preview/").headers["Location"].startswith("/login/")


def test_viewers_look_and_nobody_posts(store: Opening, as_viewer: Client) -> None:
    assert as_viewer.get("/preview/").status_code == 200
    assert as_viewer.post("/preview/").status_code == 405


def test_an_empty_store_says_what_will_appear(store: Opening, as_operator: Client) -> None:
    shown = words(page(as_operator, "/preview/"))
    assert "Nothing to say" in shown
    assert "Always-on rows, sessions with a summary, playbooks" in shown


def test_it_shows_exactly_what_the_turn_is_told_next(store: Opening, as_operator: Client) -> None:
    note("Answer in short sentences.", domain="hot")
    imported("The forum knows the gateway nodes.")
    params = {"query": "gateway nodes", "session_id": "chat-1", "model": "qwen", "window": "64000"}

    shown = as_operator.get("/preview/", params).context["preview"]
    sent = deliver(TurnRequest("gateway nodes", "chat-1", model="qwen", window=64_000), AGENT)

    assert shown.projection.text == sent.text
    assert entries(as_operator, **params) == [(Part.ALWAYS_ON, 1), (Part.HITS, 2)]
    told = words(page(as_operator, "/preview/?query=gateway+nodes&window=64000"))
    # 8 % of 64,000 tokens of four characters each.
    assert "20,480 possible" in told
    assert "nothing of this is recorded" in told


def test_the_blocks_put_together_are_the_text(legacy: Opening, as_operator: Client) -> None:
    put_working_state("chat-1", WorkingState(goal=Goal("active", 1, 3, "Ship it", "First this.")), AGENT)
    shown = as_operator.get(
        "/preview/", {"query": "what of the cluster nodes and the backup?", "session_id": "chat-1"}
    ).context["preview"]

    lines = [
        line
        for block in shown.blocks
        for line in (block.opening, *(entry.item.words for entry in block.entries), block.closing)
        if line
    ]
    assert "\n".join(lines) == shown.projection.text
    assert [block.part for block in shown.blocks] == [
        None,
        Part.PRIOR_SESSIONS,
        Part.ALWAYS_ON,
        Part.HITS,
        None,
        Part.AVAILABLE_SKILLS,
        Part.WORKING_STATE,
    ]


def test_nothing_of_it_is_recorded(store: Opening, as_operator: Client, instance: Instance) -> None:
    note("Answer in short sentences.", domain="hot")
    for address in ("/preview/", "/preview/?query=unheardof+zebra&session_id=chat-1&row=1&supposed=rejected"):
        page(as_operator, address)

    assert fetch(INJECTIONS, "SELECT COUNT(*) FROM injections") == [(0,)]
    assert fetch(INJECTIONS, "SELECT COUNT(*) FROM pc_texts") == [(0,)]
    files = [path for path in Path(instance.paths.instance_root).rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if b"unheardof" in path.read_bytes()] == []


def test_an_incognito_turn_is_told_nothing_of_memory(store: Opening, as_operator: Client) -> None:
    note("Answer in short sentences.", domain="hot")
    assert entries(as_operator, query="short sentences", incognito="on") == []


def test_a_goal_turn_is_told_of_no_other_session(store: Opening, as_operator: Client) -> None:
    put("chat-4")
    assert entries(as_operator) == [(Part.PRIOR_SESSIONS, "chat-4")]
    assert entries(as_operator, session_id="chat-4") == []

    answer = as_operator.get("/preview/", {"goal_turn": "on"})
    assert answer.context["preview"].projection.text == ""
    assert "A turn towards a goal is told of no other sessions: 1 chat-4" in words(answer.content.decode())


def test_a_ruling_on_trial_shows_what_comes_and_what_leaves(store: Opening, as_operator: Client) -> None:
    chunk = imported("The forum knows the gateway nodes.")
    other = note("Always answer in short sentences.")

    rejected = as_operator.get(
        "/preview/", {"query": "gateway nodes", "row": chunk.id, "supposed": "rejected"}
    )
    change = rejected.context["preview"].difference
    assert [entry.item.ref for entry in change.removed] == [chunk.id]
    assert change.added == []
    assert "1 out, 0 in" in words(rejected.content.decode())

    pinned = as_operator.get("/preview/", {"query": "gateway nodes", "row": other.id, "supposed": "pinned"})
    change = pinned.context["preview"].difference
    assert [(entry.item.part, entry.item.ref) for entry in change.added] == [(Part.ALWAYS_ON, other.id)]
    assert change.removed == []

    assert services.review(chunk.id, Verdict.REJECTED, OPERATOR).review_state is Verdict.REJECTED
    confirmed = as_operator.get(
        "/preview/", {"query": "gateway nodes", "row": chunk.id, "supposed": "confirmed"}
    )
    change = confirmed.context["preview"].difference
    assert [entry.item.ref for entry in change.added] == [chunk.id]


def test_a_ruling_that_changes_nothing_says_so(store: Opening, as_operator: Client) -> None:
    note("The gateway has three nodes.")
    shown = words(page(as_operator, "/preview/?query=gateway&row=999&supposed=rejected"))
    assert "no difference" in shown


def test_a_session_without_a_message_asks_its_last_one_again(store: Opening, as_operator: Client) -> None:
    note("The gateway has three nodes.")
    note("The printer is on the third floor.")
    turn("where is the printer?", "chat-7")

    shown = words(page(as_operator, "/preview/?session_id=chat-7"))
    assert "where is the printer?" in shown
    assert "this is the one that the session sent last" in shown
    assert entries(as_operator, session_id="chat-7") == [(Part.HITS, 2)]


def test_what_is_shed_and_what_stays_out_is_told(
    store: Opening, as_operator: Client, settings: Settings
) -> None:
    configure(settings, "knowledge", top_k=30)
    for n in range(25):
        note(f"The gateway node {n}. " + "word " * 300)

    answer = as_operator.get("/preview/", {"query": "gateway node", "window": "1000"})
    shown = answer.context["preview"]
    [shed] = shown.projection.budget.overflow
    assert shed.label is Part.HITS
    assert f"{shed.dropped_items} lines shed" in words(answer.content.decode())
    assert "No room was left in the budget of the turn" in words(answer.content.decode())
    assert 'class="tone tone--shed"' in answer.content.decode()
    assert shown.projection.budget.used_chars <= 16_000


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("window=x", "whole number"),
        ("window=0", "greater than or equal to 1"),
        ("session_id=../x", "1 to 200 of the characters"),
        ("supposed=rejected", "Name the row."),
        ("supposed=promoted&row=1", "Select a valid choice"),
        ("row=9999999999999999999&supposed=pinned", "less than or equal"),
        ("query=a%00b", "NUL"),
    ],
)
def test_what_cannot_be_is_named_beside_its_field(
    store: Opening, as_operator: Client, address: str, told: str
) -> None:
    html = page(as_operator, f"/preview/?{address}", 422)
    assert told in html.split('id="main"')[1]
    assert "No preview" in words(html)


def test_the_address_fills_the_form(store: Opening, as_operator: Client) -> None:
    html = page(as_operator, "/preview/?query=two%0Alines&session_id=chat-1&window=500&goal_turn=on")
    assert "two\nlines</textarea>" in html
    assert re.search(r'name="session_id"[^>]* value="chat-1"', html)
    assert re.search(r'name="window" value="500"', html)
    assert re.search(r'name="goal_turn"[^>]* checked', html)
    assert not re.search(r'name="incognito"[^>]* checked', html)


def test_statements_do_not_grow_with_the_rows(store: Opening, as_operator: Client) -> None:
    # Beyond what is read at first, after which a part is read once more.
    for n in range(40):
        note(f"The gateway node {n}.")
        note(f"Pinned {n}.", domain="hot")
    page(as_operator, "/preview/?query=gateway")
    few = statements(as_operator, "/preview/?query=gateway")
    for n in range(40):
        note(f"The gateway node {n} again.")
        note(f"Pinned {n} again.", domain="hot")

    assert statements(as_operator, "/preview/?query=gateway") == few


@pytest.mark.parametrize("text", cases("hostile_text"))
def test_no_text_makes_an_element(store: Opening, as_operator: Client, text: str) -> None:
    def outline(content: str) -> list[str]:
        params = {"query": content, "model": content[:200], "session_id": "chat-1"}
        return Outline(as_operator.get("/preview/", params).content.decode()).elements

    assert outline(text) == outline("x" * len(text))
    row = note(f"zebra {text}", heading=f"zebra {text}")
    answer = as_operator.get("/preview/", {"query": "zebra", "row": row.id, "supposed": "rejected"})
    names = {element.split()[0] for element in Outline(answer.content.decode()).elements}
    assert names.isdisjoint({"injected_memory", "working_state", "b", "img", "iframe", "skill"})
    assert "<script>document" not in answer.content.decode()
