"""Which agent a session belongs to."""

from protoconsole.access.errors import BadSessionId, SessionTaken
from protoconsole.access.models import ApiKey, SessionClaim
from protoconsole.actors import Role
from protoconsole.databases import CONSOLE, write_transaction
from protoconsole.session_ids import is_session_id

SESSION_HEADER = "X-Session-Id"


def claim_session(key: ApiKey, session_id: str, *, field: str = SESSION_HEADER) -> None:
    """Let an agent's key use a session, which is its own from the first use on.

    Keys of other roles pass, they only name a session. A new key of the same name is the same agent: names
    are unique among live keys, so the first one has been revoked.
    Raises BadSessionId naming `field`, SessionTaken when another agent was first.
    """
    if not is_session_id(session_id):
        raise BadSessionId(field)
    if key.role == Role.AGENT and _owner(key, session_id) != key.name:
        raise SessionTaken


def _owner(key: ApiKey, session_id: str) -> str:
    claims = SessionClaim.objects.select_related("key")
    claim = claims.filter(session_id=session_id).first()
    if claim is None:
        with write_transaction(CONSOLE):
            claim, _ = claims.get_or_create(session_id=session_id, defaults={"key": key})
    return claim.key.name
