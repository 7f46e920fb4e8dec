"""Why somebody may not come in or may not do this.

AccessError
├── RoleForbidden   403
├── SessionTaken    403
├── BadSessionId    422
└── BadValue        422, or exit 1 of a command
    └── NameTaken
"""

from collections.abc import Sequence

from protoconsole.actors import Role
from protoconsole.session_ids import ALLOWED


class AccessError(Exception):
    """Base of all errors of this app; the text is a sentence for the caller."""


class RoleForbidden(AccessError):
    def __init__(self, role: Role, allowed: Sequence[Role]) -> None:
        super().__init__(f"A key of the role {role} may not do this; allowed: {', '.join(allowed)}.")


class SessionTaken(AccessError):
    def __init__(self) -> None:
        super().__init__("This session belongs to another agent's key.")


class BadSessionId(AccessError):
    def __init__(self, field: str) -> None:
        super().__init__(f"{field}: must be {ALLOWED}")
        self.field = field


class BadValue(AccessError):
    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field = field
        self.detail = detail


class NameTaken(BadValue):
    def __init__(self, what: str, name: str) -> None:
        super().__init__("name", f"there is already {what} of the name {name}")
