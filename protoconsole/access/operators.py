"""People: made by a command, let in once by a link."""

import secrets
from datetime import timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from protoconsole.access.errors import BadValue, NameTaken
from protoconsole.access.keys import hashed
from protoconsole.access.models import ApiKey, OneTimeLink, Operator
from protoconsole.actors import Role
from protoconsole.databases import CONSOLE, write_transaction

LINK_LASTS = timedelta(hours=24)


def create_operator(name: str, role: Role = Role.OPERATOR, password: str | None = None) -> Operator:
    """Make an account; without a password the way in is a one-time link.

    Raises BadValue for a name, role or password that cannot be, NameTaken when an account has the name or a
    key ever had it: the trail of changes names both by it.
    """
    operator = Operator(username=Operator.normalize_username(name.strip()), role=role.value)
    _check_account(operator)
    _set_password(operator, password)
    with write_transaction(CONSOLE):
        if Operator.objects.filter(username=operator.username).exists():
            raise NameTaken("an operator", operator.username)
        if ApiKey.objects.filter(name__iexact=operator.username).exists():
            raise NameTaken("a key", operator.username)
        operator.save()
    return operator


def issue_link(operator: Operator) -> str:
    """Make a way in that is good once and for a day, and return its path on this site."""
    token = secrets.token_urlsafe(32)
    with write_transaction(CONSOLE):
        OneTimeLink.objects.create(
            operator=operator, hash=hashed(token), expires_at=timezone.now() + LINK_LASTS
        )
    return reverse("access:welcome", args=[token])


def link_is_live(token: str) -> bool:
    return OneTimeLink.objects.live(timezone.now()).filter(hash=hashed(token)).exists()


def redeem_link(token: str) -> Operator | None:
    """Use a link up and return whom it lets in; None when it is used, expired or unknown."""
    now = timezone.now()
    with write_transaction(CONSOLE):
        if not OneTimeLink.objects.live(now).filter(hash=hashed(token)).update(used_at=now):
            return None
        return Operator.objects.get(links__hash=hashed(token))


def _check_account(operator: Operator) -> None:
    try:
        operator.clean_fields(exclude=["password"])
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise BadValue("name" if field == "username" else field, " ".join(messages)) from error


def _set_password(operator: Operator, password: str | None) -> None:
    if password is None:
        operator.set_unusable_password()
        return
    try:
        validate_password(password, operator)
    except ValidationError as error:
        raise BadValue("password", " ".join(error.messages)) from error
    operator.set_password(password)
