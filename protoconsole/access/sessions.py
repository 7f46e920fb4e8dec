"""Which agent a session belongs to."""

from protoconsole.access.errors import BadSessionId, SessionTaken
from protoconsole.access.models import ApiKey, SessionClaim
from protoconsole.actors import Role
from protoconsole.databases import CONSOLE, LOCK_TIMEOUT_S, write_transaction
from protoconsole.session_ids import is_session_id

SESSION_HEADER = "X-Session-Id"


def check_session(key: ApiKey, session_id: str, *, field: str = SESSION_HEADER) -> bool:
    """Refuse another agent's session, and say whether this one is still to be claimed.

    Keys of other roles pass, they only name a session. A new key of the same name is the same agent: names
    are unique among live keys, so the first one has been revoked.
    Raises BadSessionId naming `field`, SessionTaken when another agent was first.
    """
    if not is_session_id(session_id):
        raise BadSessionId(field)
    if key.role != Role.AGENT:
        return False
    owner = _owner(session_id)
    if owner not in (key.name, None):
        raise SessionTaken
    return owner is None


def claim_session(
    key: ApiKey, session_id: str, *, field: str = SESSION_HEADER, patience: float = LOCK_TIMEOUT_S
) -> None:
    """Let an agent's key use a session, which is its own from the first use on.

    Raises what `check_session` raises, and StoreBusy when a first use could not be noted within `patience`
    seconds.
    """
    if not check_session(key, session_id, field=field):
        return
    with write_transaction(CONSOLE, patience):
        SessionClaim.objects.get_or_create(session_id=session_id, defaults={"key": key})
    check_session(key, session_id, field=field)  # another agent may have been quicker


def _owner(session_id: str) -> str | None:
    claims = SessionClaim.objects.filter(session_id=session_id)
    return claims.values_list("key__name", flat=True).first()
