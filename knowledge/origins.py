"""Where a row came from, in words: the reason for its tier of trust. Pure."""

from dataclasses import dataclass

from knowledge.trust import normal_source_type
from knowledge.types import Chunk

# What stands before the name of the source, and what is said where no source is named.
_WORDS = {
    "operator": ("written by an operator in", "written by an operator"),
    "manual": ("entered by hand by an operator in", "entered by hand by an operator"),
    "conversation": ("written by an agent in session", "written by an agent outside any session"),
    "chat": ("written by an agent in session", "written by an agent outside any session"),
    "extracted": ("fact drawn from session", "fact drawn from a session that is not named"),
    "harvest": ("summary of session", "summary of a session that is not named"),
    "background_report": ("report of a background worker to session", "report of a background worker"),
    "web": ("web page import of", "web page import without an address"),
    "youtube": ("video transcript of", "video transcript without an address"),
    "external": ("third party, brought in from", "third party, without a source"),
    "ingest": ("import of", "import without a source"),
}
_DOCUMENTS = frozenset({"text", "markdown", "pdf", "html", "audio", "video", "image"})


@dataclass(frozen=True, slots=True)
class Origin:
    """How a row was written: words to be followed by the name of its source, where there is one."""

    words: str
    source: str | None


def origin_of(chunk: Chunk) -> Origin:
    """Say in words which path wrote a row."""
    with_source, without = _words_of(chunk.source_type)
    return Origin(with_source if chunk.source else without, chunk.source or None)


def _words_of(source_type: str | None) -> tuple[str, str]:
    path = normal_source_type(source_type)
    if path in _WORDS:
        return _WORDS[path]
    if path in _DOCUMENTS:
        return f"{path} import of", f"{path} import without a source"
    unknown = f"third party, unknown path {path[:60]!r}" if path else "third party, unknown path"
    return f"{unknown}, from", unknown
