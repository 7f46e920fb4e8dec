"""Everything that changes memory. Each call is one transaction: the rows, their index, their audit trail."""

from knowledge.services.bulk import (
    delete_by_source,
    purge,
    restore_by_source,
    review_matching,
    sweep,
)
from knowledge.services.editing import delete, edit, forget, reinstate
from knowledge.services.reviewing import review
from knowledge.services.undoing import undo
from knowledge.services.writing import add, remember

__all__ = [
    "add",
    "delete",
    "delete_by_source",
    "edit",
    "forget",
    "purge",
    "reinstate",
    "remember",
    "restore_by_source",
    "review",
    "review_matching",
    "sweep",
    "undo",
]
