"""What can go wrong with the injection log."""

from knowledge.errors import KnowledgeError, NotFound


class LogUnwritable(Exception):
    """A turn could not be recorded. It never stops the turn: the caller counts it and shows it."""


class TextNotKept(NotFound):
    """The row comes from a program that keeps ids only (404)."""


class TextDamaged(KnowledgeError):
    """The kept pieces no longer make the text whose SHA-256 the row holds; it must not be shown as true."""


class HeadDamaged(Exception):
    """The note of the chain's head is there and was not signed with this key."""


class ChainBroken(Exception):
    """Rows about to be pruned are not as they were written; they stay, as evidence."""
