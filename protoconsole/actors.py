"""Who does something: the one value that every write and every restricted read receives."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a key or an operator may do (the route × role table is in docs/api.md)."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    AGENT = "agent"
    PLUGIN = "plugin"


class Surface(StrEnum):
    """The door through which a request came; it goes to the audit trail."""

    PAGE = "page"
    API = "api"
    TOOL = "tool"
    COMMAND = "command"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True)
class Actor:
    """An operator or a key by name, with what it may do and on whose request it acts."""

    name: str
    role: Role
    surface: Surface
    session_id: str | None = None
    may_confirm: bool = False

    @property
    def is_operator(self) -> bool:
        return self.role is Role.OPERATOR

    @property
    def reads_rejected(self) -> bool:
        """Agents and plugins never read a rejected row; people who govern do."""
        return self.role in (Role.OPERATOR, Role.VIEWER)


MAINTENANCE = Actor("maintenance", Role.OPERATOR, Surface.MAINTENANCE)
