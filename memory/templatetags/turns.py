"""The words and the addresses of what stands in a prompt."""

from django import template
from django.urls import reverse

from memory.budget import CHARS_PER_TOKEN
from memory.evidence import MEMORY_PARTS, Since
from memory.types import Part, Reason, Ref
from memory.wording import PARTS, REASONS

register = template.Library()

_STATES = {Since.EDITED: "superseded"}


@register.filter
def part_name(part: Part | None) -> str:
    """Name a part of a prompt; None is what stands around the parts."""
    return PARTS[part] if part else "Envelope"


@register.filter
def reason_words(reason: Reason) -> str:
    """Say in a sentence why something stayed out."""
    return REASONS[reason]


@register.filter
def state_of(since: Since) -> str:
    """Give the state whose shape and colour stand for what became of a row."""
    return _STATES.get(since, since.value)


@register.simple_tag
def chunk_url(part: Part, ref: Ref) -> str:
    """Give the address of a row of the own store, '' for whatever is none."""
    return reverse("knowledge:chunk", args=[ref]) if part in MEMORY_PARTS and isinstance(ref, int) else ""


@register.filter
def approx_tokens(text: str) -> int:
    """Estimate the tokens of a text the way budgets do."""
    return len(text) // CHARS_PER_TOKEN
