"""Keys of programs: made, shown once, verified, revoked."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone

from protoconsole.access.errors import BadValue, NameTaken
from protoconsole.access.models import ApiKey, Operator
from protoconsole.actors import Actor, Role, Surface
from protoconsole.databases import CONSOLE, write_transaction
from protoconsole.errors import StoreBusy
from protoconsole.metrics import USES_UNNOTED

PREFIX = "pc_"
SHOWN_CHARS = 8
RANDOM_BYTES = 32
MAX_NAME_CHARS = 100
USE_IS_NOTED_EVERY = timedelta(minutes=1)
NOTE_PATIENCE_S = 0.1


def create_key(name: str, role: Role, *, may_confirm: bool = False, created_by: str) -> tuple[ApiKey, str]:
    """Make a key and return it with its token, which nothing can show again.

    Raises BadValue for a name or right that cannot be, NameTaken while a live key or an account has the name:
    the trail of changes names both by it.
    """
    name = _checked_name(name)
    if may_confirm and role is not Role.PLUGIN:
        raise BadValue("may_confirm", "only a plugin's key can be given this right")
    token = f"{PREFIX}{role.value[0]}{secrets.token_urlsafe(RANDOM_BYTES)}"
    with write_transaction(CONSOLE):
        if ApiKey.objects.filter(name=name, revoked_at=None).exists():
            raise NameTaken("a live key", name)
        if Operator.objects.filter(username__iexact=name).exists():
            raise NameTaken("an operator", name)
        key = ApiKey.objects.create(
            name=name,
            role=role.value,
            prefix=token[:SHOWN_CHARS],
            hash=hashed(token),
            may_confirm=may_confirm,
            created_by=created_by,
        )
    return key, token


def verify(token: str) -> ApiKey | None:
    """Return the live key of a token and note its use, or None."""
    if not token.startswith(PREFIX):
        return None
    key = ApiKey.objects.filter(hash=hashed(token), revoked_at=None).first()
    if key is not None:
        _note_use(key, timezone.now())
    return key


def revoke(name: str) -> bool:
    """Shut the live key of a name out from now on; False when there is none."""
    return _revoke(Q(name=name))


def revoke_by_id(key_id: int) -> bool:
    """Shut a key out from now on; False when it already was."""
    return _revoke(Q(pk=key_id))


def actor_of(key: ApiKey, session_id: str | None = None, surface: Surface = Surface.API) -> Actor:
    return Actor(key.name, Role(key.role), surface, session_id, key.may_confirm)


def actor_of_operator(operator: Operator, surface: Surface = Surface.PAGE) -> Actor:
    return Actor(operator.username, Role(operator.role), surface)


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _revoke(which: Q) -> bool:
    with write_transaction(CONSOLE):
        changed = ApiKey.objects.filter(which, revoked_at=None).update(revoked_at=timezone.now())
    return changed > 0


def _note_use(key: ApiKey, now: datetime) -> None:
    """Write the time of use, but not so often that every read becomes a write."""
    due = now - USE_IS_NOTED_EVERY
    if key.last_used_at is not None and key.last_used_at > due:
        return
    try:
        with write_transaction(CONSOLE, NOTE_PATIENCE_S):
            ApiKey.objects.filter(Q(last_used_at=None) | Q(last_used_at__lte=due), pk=key.pk).update(
                last_used_at=now
            )
    except (StoreBusy, DatabaseError, OSError):  # a busy, full or read-only store must keep nobody out
        USES_UNNOTED.inc()


def _checked_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME_CHARS or not name.isprintable():
        raise BadValue("name", f"must be 1 to {MAX_NAME_CHARS} printable characters")
    return name
