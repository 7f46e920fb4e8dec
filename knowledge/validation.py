"""What a text must be before it is stored (SPEC 4)."""

from dataclasses import replace

from knowledge.errors import Invalid
from knowledge.reasoning import strip_reasoning
from knowledge.text import fault_in
from knowledge.times import parse_iso, to_iso
from knowledge.types import MAX_TEXT_CHARS, NewChunk

MAX_NAME_CHARS = 2_000
_NAMES = ("domain", "source", "source_type", "finding_type", "namespace", "epoch", "subject")


def guarded(new: NewChunk) -> NewChunk | None:
    """Strip leaked reasoning and check every value; None where nothing but reasoning was there.

    Raises Invalid naming the field.
    """
    check_text("content", new.content, MAX_TEXT_CHARS)
    check_text("heading", new.heading, MAX_TEXT_CHARS)
    for name in _NAMES:
        check_text(name, getattr(new, name), MAX_NAME_CHARS)
    if not new.domain.strip():
        raise Invalid("domain", "is empty; leave it out for 'general'")
    content = stripped_content(new.content)
    if content is None:
        return None
    return replace(
        new,
        content=content,
        heading=stripped_heading(new.heading),
        expires_at=checked_expiry(new.expires_at),
    )


def stripped_content(content: str) -> str | None:
    """Give a content without leaked reasoning, None where nothing is left. Raises Invalid for a blank one."""
    if not content.strip():
        raise Invalid("content", "is empty; send the text to remember")
    return strip_reasoning(content) or None


def stripped_heading(heading: str | None) -> str | None:
    return strip_reasoning(heading) or None if heading else heading


def checked_expiry(expires_at: str | None) -> str | None:
    """Normalise a time to UTC; a time without a zone is UTC. Raises Invalid for one that cannot be read."""
    if expires_at is None:
        return None
    moment = parse_iso(expires_at)
    if moment is None:
        raise Invalid("expires_at", f"{expires_at!r} is not a time; send ISO 8601, e.g. 2027-01-31T12:00:00Z")
    return to_iso(moment)


def check_text(field: str, text: str | None, most: int) -> None:
    """Raise Invalid for a text that SQLite cannot keep exactly, or that is too long."""
    if text is None:
        return
    fault = fault_in(text)
    if fault:
        raise Invalid(field, fault)
    if len(text) > most:
        raise Invalid(field, f"has {len(text):,} characters; at most {most:,} are kept, so send it in pieces")
