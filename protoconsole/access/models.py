"""Who may come in: people, keys of programs, and which key a session belongs to."""

from datetime import datetime
from typing import ClassVar, Self

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

from protoconsole.actors import Role


class Operator(AbstractUser):
    """A person who signs in; the role says whether they may change anything."""

    ROLES: ClassVar = [(role.value, role.value) for role in (Role.OPERATOR, Role.VIEWER)]

    role = models.CharField(max_length=16, choices=ROLES, default=Role.OPERATOR.value)

    def __str__(self) -> str:
        return self.username


class ApiKey(models.Model):
    """A program's way in. Only the hash of the key is kept."""

    ROLES: ClassVar = [(role.value, role.value) for role in Role]

    name = models.CharField(max_length=100)
    role = models.CharField(max_length=16, choices=ROLES)
    prefix = models.CharField(max_length=16)
    hash = models.CharField(max_length=64, unique=True)
    may_confirm = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=150)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(revoked_at=None), name="one_live_key_of_a_name"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.role})"

    @property
    def state(self) -> str:
        return "live" if self.revoked_at is None else "revoked"


class SessionClaim(models.Model):
    """The agent key that first used a session; no other agent key may use it."""

    session_id = models.CharField(max_length=200, unique=True)
    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="sessions")
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.session_id


class OneTimeLinks(models.QuerySet["OneTimeLink"]):
    def live(self, now: datetime) -> Self:
        """Keep the links that still let somebody in."""
        return self.filter(used_at=None, expires_at__gt=now, operator__is_active=True)


class OneTimeLink(models.Model):
    """A way in for an operator without a password, good once and not for long."""

    operator = models.ForeignKey(Operator, on_delete=models.CASCADE, related_name="links")
    hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    objects = OneTimeLinks.as_manager()

    def __str__(self) -> str:
        return f"a link for {self.operator_id}"
