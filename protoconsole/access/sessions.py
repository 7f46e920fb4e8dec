"""Which agent a session belongs to."""

from protoconsole.access.errors import BadSessionId, SessionTaken
from protoconsole.access.models import ApiKey, SessionClaim
from protoconsole.actors import Role
from protoconsole.databases import CONSOLE, LOCK_TIMEOUT_S, write_transaction
from protoconsole.session_ids import is_session_id

SESSION_HEADER = "X-Session-Id"


def claim_session(
    key: ApiKey,
    session_id: str,
    *,
    field: str = SESSION_HEADER,
    patience: float = LOCK_TIMEOUT_S,
    leave_trace: bool = True,
) -> None:
    """Let an agent's key use a session, which is its own from the first use on.

    Keys of other roles pass, they only name a session. A new key of the same name is the same agent: names
    are unique among live keys, so the first one has been revoked. Without `leave_trace` the session is held
    for nobody, and only another agent's session is refused.
    Raises BadSessionId naming `field`, SessionTaken when another agent was first, StoreBusy when a first use
    could not be noted within `patience` seconds.
    """
    if not is_session_id(session_id):
        raise BadSessionId(field)
    if key.role != Role.AGENT:
        return
    owner = _owner(session_id)
    if owner is None and leave_trace:
        owner = _hold(key, session_id, patience)
    if owner not in (key.name, None):
        raise SessionTaken


def _owner(session_id: str) -> str | None:
    claims = SessionClaim.objects.filter(session_id=session_id)
    return claims.values_list("key__name", flat=True).first()


def _hold(key: ApiKey, session_id: str, patience: float) -> str:
    claims = SessionClaim.objects.select_related("key")
    with write_transaction(CONSOLE, patience):
        claim, _ = claims.get_or_create(session_id=session_id, defaults={"key": key})
    return claim.key.name
