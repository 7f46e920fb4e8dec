"""What the store notes of itself in `_kb_meta`, a table shared with the agent's own program."""

from protoconsole.databases import KNOWLEDGE, fetch

SCHEMA = "pc_schema"
INDEX = "pc_index"
FIRST_OPENED = "pc_first_opened"
TYPED_BACKFILL = "typed_memory_backfill"
REVIEW_BACKFILL = "review_state_backfill"
# Set where the store came without typed columns; holds the newest id of that time.
OLDER_PROGRAM = "pc_adopted_untyped"


def get(key: str) -> str | None:
    rows = fetch(KNOWLEDGE, "SELECT value FROM _kb_meta WHERE key = ?", (key,))
    return str(rows[0][0]) if rows else None


def put(key: str, value: str) -> None:
    fetch(KNOWLEDGE, "INSERT OR REPLACE INTO _kb_meta (key, value) VALUES (?, ?)", (key, value))


def put_once(key: str, value: str) -> None:
    fetch(KNOWLEDGE, "INSERT OR IGNORE INTO _kb_meta (key, value) VALUES (?, ?)", (key, value))


def drop(key: str) -> None:
    fetch(KNOWLEDGE, "DELETE FROM _kb_meta WHERE key = ?", (key,))
