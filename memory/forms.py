"""What people send from the pages of delivery, checked."""

from typing import Any

from django import forms
from django.http import QueryDict

from knowledge.errors import Invalid
from knowledge.forms import TextField

_LONGEST_NUMBER = 9


class VersionForm(forms.Form):
    """A change of one row, bound to the version that the operator saw."""

    version = forms.CharField(max_length=64)


class ExpiryForm(VersionForm):
    """A new expiry of one row, or none."""

    expires_at = TextField(max_length=40, required=False)
    clear_expiry = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        sent: dict[str, Any] = super().clean() or {}
        if not (sent.get("clear_expiry") or sent.get("expires_at", "").strip() or self.errors):
            self.add_error("expires_at", "is empty; send a number of days, or a time")
        return sent


def page_number(params: QueryDict) -> int:
    """Read which page of a long text an address asks for, from 1. Raises Invalid for what is no such number."""
    sent = params.get("page", "1")
    if not (sent.isascii() and sent.isdigit() and len(sent) <= _LONGEST_NUMBER and int(sent)):
        raise Invalid("page", f"{sent[:40]!r} is not the number of a page")
    return int(sent)
