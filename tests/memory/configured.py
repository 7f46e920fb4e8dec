"""An instance with other settings, for one test."""

from dataclasses import replace
from typing import Any

from protoconsole.instance import current


def configure(settings: Any, block: str, **values: Any) -> None:
    """Change keys of one block; `settings` is the fixture, which puts everything back."""
    config = current().config
    changed = replace(getattr(config, block), **values)
    settings.INSTANCE = replace(current(), config=replace(config, **{block: changed}))
