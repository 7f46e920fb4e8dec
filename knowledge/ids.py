"""What can be the id of a row. Pure."""

MAX_ID_DIGITS = 18  # every such number fits into SQLite's 64 bits


def is_id(text: str) -> bool:
    """Say whether a text can be the id of a row."""
    return text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS
