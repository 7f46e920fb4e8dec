"""The rules that a configured value must keep. No Django, no clock, no file."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Rule(Protocol):
    """Turns a YAML value into a typed one, or raises `ValueError`; `allowed` says what it takes."""

    @property
    def allowed(self) -> str: ...

    def parse(self, value: object) -> object: ...


@dataclass(frozen=True, slots=True)
class Flag:
    """Takes true or false, and no other spelling of them."""

    @property
    def allowed(self) -> str:
        return "true or false"

    def parse(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError(value)
        return value


@dataclass(frozen=True, slots=True)
class Integer:
    """Takes a whole number between two bounds, both included; no lower bound when `least` is None."""

    least: int | None
    most: int

    @property
    def allowed(self) -> str:
        if self.least is None:
            return f"a whole number of at most {self.most}"
        return f"a whole number from {self.least} to {self.most}"

    def parse(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(value)
        if value > self.most or (self.least is not None and value < self.least):
            raise ValueError(value)
        return value


@dataclass(frozen=True, slots=True)
class Number:
    """Takes a finite number between two bounds, both included."""

    least: float
    most: float

    @property
    def allowed(self) -> str:
        return f"a number from {self.least:g} to {self.most:g}"

    def parse(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(value)
        if math.isnan(value) or not self.least <= value <= self.most:
            raise ValueError(value)
        return float(value)


@dataclass(frozen=True, slots=True)
class Text:
    """Takes one line of text; white space around it does not count."""

    @property
    def allowed(self) -> str:
        return "one line of text"

    def parse(self, value: object) -> str:
        if not isinstance(value, str) or not is_one_line(value.strip()):
            raise ValueError(value)
        return value.strip()


@dataclass(frozen=True, slots=True)
class Choice:
    """Takes one of a few words.

    YAML reads a bare `off` as false, so a choice that offers `off` takes that too.
    """

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        return "one of " + ", ".join(self.words)

    def parse(self, value: object) -> str:
        word = "off" if value is False else value
        if not isinstance(word, str) or word not in self.words:
            raise ValueError(value)
        return word


@dataclass(frozen=True, slots=True)
class TextList:
    """Takes a list of lines of text; '' is a member like any other."""

    @property
    def allowed(self) -> str:
        return "a list of lines of text"

    def parse(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise ValueError(value)
        return tuple(Text().parse(item) for item in value)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Takes a mapping of names to whole numbers."""

    each: Integer

    @property
    def allowed(self) -> str:
        return f"a mapping of names, each to {self.each.allowed}"

    def parse(self, value: object) -> dict[str, int]:
        if not isinstance(value, Mapping):
            raise ValueError(value)
        return {str(Text().parse(name)): self.each.parse(size) for name, size in value.items()}


def is_one_line(text: str) -> bool:
    """Say whether text can be printed on one line and written as UTF-8."""
    return text.isprintable()
