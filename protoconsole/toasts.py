"""Messages that the next page, or the next fragment, shows as toasts."""

from django.contrib import messages
from django.http import HttpRequest


def toast(request: HttpRequest, text: str, *, undo_url: str = "", level: int = messages.SUCCESS) -> None:
    """Queue a sentence for the operator; `undo_url` is where a POST takes the change back."""
    messages.add_message(request, level, text, extra_tags=undo_url)
