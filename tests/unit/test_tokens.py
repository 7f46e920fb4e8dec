"""Contrast of the colours, computed from tokens.css as WCAG 2.2 defines it."""

import re
from pathlib import Path

import pytest

TOKENS = (Path(__file__).parents[2] / "static" / "css" / "tokens.css").read_text(encoding="utf-8")
RAW = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", TOKENS))
PAIRS = dict(re.findall(r"--([\w-]+): (light-dark\(.+\));", TOKENS))
THEMES = ("light", "dark")

SURFACES = ("surface", "surface-bar", "surface-rail", "surface-sunken", "surface-raised", "surface-hover")
TINTED = ("surface-active", "surface-selected")
TEXTS = ("text", "text-muted")
BADGES = (
    *(f"trust-{tier}" for tier in ("operator", "agent", "external")),
    *(f"state-{state}" for state in ("confirmed", "pending", "rejected", "superseded", "expired", "deleted")),
)
READ = (
    *((text, surface) for text in TEXTS for surface in (*SURFACES, *TINTED)),
    *((text, f"{soft}-soft") for text in TEXTS for soft in ("info", "good", "warn", "danger")),
    *(("text-faint", surface) for surface in SURFACES),
    *((badge, surface) for badge in BADGES for surface in (*SURFACES, *TINTED)),
    *(("text-faint", surface) for surface in TINTED),
    ("text", "match"),
    ("danger", "surface"),
    ("danger", "danger-soft"),
    ("warn", "warn-soft"),
    ("on-accent", "accent"),
    ("on-accent", "accent-hover"),
    ("on-danger", "danger"),
    ("on-danger", "danger-hover"),
)
# What is not text but must be made out: the edge of a field, the ring of focus.
SEEN = (
    ("line-input", "surface"),
    ("focus", "surface"),
    ("focus", "surface-rail"),
    ("focus", "surface-selected"),
)


def colour(meaning: str, theme: str) -> str:
    both = re.findall(r"var\(--([\w-]+)\)|(#[0-9a-f]{6})", PAIRS[meaning])
    name, literal = both[THEMES.index(theme)]
    return literal or RAW[name]


def luminance(hexa: str) -> float:
    channels = [int(hexa[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_computed_as_the_standard_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("text", "surface"), READ)
def test_text_can_be_read(text: str, surface: str, theme: str) -> None:
    assert contrast(colour(text, theme), colour(surface, theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("shape", "surface"), SEEN)
def test_shapes_can_be_made_out(shape: str, surface: str, theme: str) -> None:
    assert contrast(colour(shape, theme), colour(surface, theme)) >= 3


def test_components_use_meanings_only() -> None:
    folder = Path(__file__).parents[2] / "static" / "css"
    for sheet in ("base", "layout", "components", "utilities"):
        text = (folder / f"{sheet}.css").read_text(encoding="utf-8")
        used = set(re.findall(r"var\(--([\w-]+)", text))
        assert not used & RAW.keys(), sheet
        assert not re.search(r"#[0-9a-f]{6}\b", text), sheet


def test_every_colour_that_is_used_exists() -> None:
    folder = Path(__file__).parents[2] / "static" / "css"
    sheets = "".join(sheet.read_text(encoding="utf-8") for sheet in folder.glob("*.css"))
    assert set(re.findall(r"var\(--([\w-]+)", sheets)) <= set(re.findall(r"--([\w-]+):", sheets))
