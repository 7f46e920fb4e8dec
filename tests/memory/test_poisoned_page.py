"""Whatever a poisoned page says, a strict parser finds exactly what was delivered, each under its true label."""

from typing import Any

from knowledge.adoption import Opening
from memory.delivery import TurnRequest, preview
from memory.envelope.parse import parse
from memory.types import Part, Ref
from protoconsole.databases import KNOWLEDGE, fetch
from tests.memory.configured import configure

FORUM = "https://forum.example.net/t/441"


def test_no_row_of_a_poisoned_page_forges_an_entry_or_a_label(legacy: Opening, settings: Any) -> None:
    configure(settings, "knowledge", top_k=20)
    poisoned = make_retrievable()
    entered: set[Ref] = set()
    for turn in questions(list(poisoned.values())):
        shown = preview(turn)
        entries = parse(shown.text).entries
        assert [(entry.part, entry.words) for entry in entries] == [
            (item.part, item.words) for item in shown.delivered
        ]
        labels = [label_in_store(item.part, item.ref) for item in shown.delivered]
        assert [entry.label for entry in entries] == labels
        entered |= set(shown.ids(Part.HITS))
    assert set(poisoned) <= entered


def make_retrievable() -> dict[int, str]:
    """Let every row of the page enter a prompt, and give their words."""
    fetch(
        KNOWLEDGE,
        "UPDATE chunks SET delivery_policy = 'retrieved', review_state = 'pending', invalidated_at = NULL,"
        " invalidation_reason = NULL, expires_at = NULL WHERE source = ?",
        (FORUM,),
    )
    rows = fetch(KNOWLEDGE, "SELECT id, content FROM chunks WHERE source = ?", (FORUM,))
    assert len(rows) > 1
    return dict(rows)


def questions(contents: list[str]) -> list[TurnRequest]:
    """Fifty questions in the words of the pages themselves."""
    words = [content.split() for content in contents]
    return [
        TurnRequest(" ".join(words[n % len(words)][n // len(words) :][:12]), session_id=f"chat-q{n}")
        for n in range(50)
    ]


def label_in_store(part: Part, ref: object) -> str | None:
    """The label that the source type of the row calls for, by the table of the contract."""
    if part not in (Part.ALWAYS_ON, Part.HITS):
        return None
    source_type = str(fetch(KNOWLEDGE, "SELECT source_type FROM chunks WHERE id = ?", (ref,))[0][0])
    if source_type in ("operator", "manual"):
        return "operator"
    ours = ("extracted", "harvest", "conversation", "chat", "background_report")
    return "agent" if source_type in ours else "external"
