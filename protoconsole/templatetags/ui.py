"""What the components need: icons by name, and the shape and the meaning of each word of state."""

from django import template

register = template.Library()

# One shape a word, the same everywhere.
SHAPES = {
    "operator": "shield-check",
    "agent": "sparkle",
    "external": "globe",
    "confirmed": "check",
    "pending": "half-circle",
    "rejected": "ban",
    "superseded": "strikethrough",
    "expired": "hourglass",
    "deleted": "trash-2",
    "always": "pin",
    "retrieved": "search",
    "on_demand": "pin-off",
    "info": "info",
    "good": "check",
    "warn": "triangle-alert",
    "danger": "octagon-alert",
}
# The names that Django gives to the levels of its messages.
TONES = {"success": "good", "warning": "warn", "error": "danger"}
MEANINGS = {
    "operator": "Written by an operator",
    "agent": "Written by an agent",
    "external": "Came from outside: a document, a page, an unknown source",
    "confirmed": "An operator confirmed it",
    "pending": "No operator has ruled on it yet",
    "rejected": "An operator rejected it; it is never delivered",
    "superseded": "A newer row took its place",
    "expired": "Its time has passed; it is no longer delivered",
    "deleted": "Deleted; can still be restored",
    "always": "Delivered on every turn",
    "retrieved": "Delivered when a search matches",
    "on_demand": "Reached by tools only",
}


@register.inclusion_tag("components/_icon.html")
def icon(name: str) -> dict[str, str]:
    """Draw an icon of the sprite, as decoration beside a word."""
    return {"name": name}


@register.filter
def shape(word: object) -> str:
    """Return the icon that stands for a trust tier, a state, a policy or a level."""
    return SHAPES.get(str(word), "info")


@register.filter
def meaning(word: object) -> str:
    """Return the sentence that explains a trust tier, a state or a policy."""
    return MEANINGS.get(str(word), "")


@register.filter
def tone(level_tag: str) -> str:
    """Return the level of a toast for the level of one of Django's messages."""
    return TONES.get(level_tag, level_tag or "info")


@register.filter
def thousands(number: object) -> str:
    """Write a whole number so that its size is seen at a glance: 12,345."""
    return f"{number:,}" if isinstance(number, int) else str(number)


@register.filter
def words(word: object) -> str:
    """Spell a stored value the way people read it: `on_demand` as "on demand"."""
    return str(word).replace("_", " ")
