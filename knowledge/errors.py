"""What can go wrong with memory. Doors map these once: `protoconsole.api` to JSON, `knowledge.views` to pages."""


class KnowledgeError(Exception):
    """Base of all errors of this app; the text is a sentence for the caller."""


class NotFound(KnowledgeError):
    """No such row, or none that the caller may see (404)."""


class Invalid(KnowledgeError):
    """A value that cannot be stored (422)."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field = field
        self.detail = detail


class Forbidden(KnowledgeError):
    """The caller's role may not do this (403)."""


class Conflict(KnowledgeError):
    """The state is no longer the one that the caller decided on (409)."""

    def __init__(self, detail: str, *, count: int | None = None) -> None:
        super().__init__(detail)
        self.count = count


class Stale(KnowledgeError):
    """`If-Match` named an older version of the row (412)."""


class SearchBroken(KnowledgeError):
    """The search index cannot answer; never to be mistaken for an empty result (503)."""
