"""The small facts that the log keeps about itself."""

from protoconsole.databases import INJECTIONS, fetch


def get(key: str) -> str | None:
    rows = fetch(INJECTIONS, "SELECT value FROM pc_injection_meta WHERE key = ?", (key,))
    return str(rows[0][0]) if rows else None


def put(key: str, value: str) -> None:
    fetch(INJECTIONS, "INSERT OR REPLACE INTO pc_injection_meta (key, value) VALUES (?, ?)", (key, value))
