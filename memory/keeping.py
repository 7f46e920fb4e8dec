"""What is left of a conversation that is to be kept: no echo of our own, no thinking aloud, no credential.

No Django, no clock, no file.
"""

import math

from knowledge.reasoning import strip_reasoning
from knowledge.text import clean_query
from memory.own_blocks import strip_own_blocks
from memory.redaction import REDACTED, names_secret, redact

MAX_DEPTH = 12


def kept_text(text: str) -> str:
    """Return the part of a text that may be stored, indexed and shown."""
    spoken = strip_reasoning(strip_own_blocks(clean_query(text)))
    return redact(strip_own_blocks(spoken))


def kept_json(value: object, depth: int = MAX_DEPTH) -> object:
    """Return the same of a value that JSON can hold; what lies deeper than a person would look is left out."""
    if isinstance(value, str):
        return kept_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict | list) and not depth:
        return "…"
    if isinstance(value, dict):
        return {kept_text(str(name)): _kept_field(str(name), held, depth - 1) for name, held in value.items()}
    if isinstance(value, list):
        return [kept_json(held, depth - 1) for held in value]
    return value


def _kept_field(name: str, value: object, depth: int) -> object:
    return REDACTED if isinstance(value, str) and names_secret(name) else kept_json(value, depth)
