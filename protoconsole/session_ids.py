"""What may name a session. No Django, no clock, no file."""

import re

_SHAPE = re.compile(r"[A-Za-z0-9._:-]{1,200}")
ALLOWED = "1 to 200 of the characters A-Z a-z 0-9 . _ : - and not . or .."


def is_session_id(text: str) -> bool:
    """Say whether text can name a session, and so a file."""
    return _SHAPE.fullmatch(text) is not None and text not in (".", "..")
