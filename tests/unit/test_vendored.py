"""Vendored files are those that VENDORED.md names, and pages draw only icons that the sprite has."""

import hashlib
import re
from pathlib import Path

import pytest

from protoconsole.templatetags.ui import SHAPES

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "static"
LISTED = re.findall(
    r"^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$", (STATIC / "vendor" / "VENDORED.md").read_text("utf-8"), re.M
)
SYMBOLS = set(re.findall(r'<symbol id="([\w-]+)"', (STATIC / "icons.svg").read_text("utf-8")))
TEMPLATES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in ROOT.glob("templates/**/*.html")
}


@pytest.mark.parametrize(("name", "digest"), LISTED)
def test_a_vendored_file_is_the_one_named(name: str, digest: str) -> None:
    assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest


def test_every_vendored_file_is_named() -> None:
    files = {f"vendor/{path.name}" for path in (STATIC / "vendor").iterdir()}
    assert files - {"vendor/VENDORED.md", "vendor/LICENSES.txt"} == {name for name, _ in LISTED} - {
        "icons.svg"
    }


def test_every_icon_that_is_drawn_exists() -> None:
    named = {
        name for text in TEMPLATES.values() for name in re.findall(r'(?:\bicon |\bicon=)"([\w-]+)"', text)
    }
    assert named | set(SHAPES.values()) <= SYMBOLS


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_runs_nothing_and_styles_nothing_itself(name: str) -> None:
    assert not re.search(
        r"\son\w+=|\sstyle=|<style|<script(?! src=)|hx-on|javascript:|\|safe\b|https?://", TEMPLATES[name]
    )


def test_every_component_says_what_it_takes() -> None:
    components = {name: text for name, text in TEMPLATES.items() if name.startswith("templates/components/")}
    assert [name for name, text in components.items() if not text.startswith("{% comment %}")] == []


def test_the_help_for_the_keyboard_names_every_key_of_a_page() -> None:
    keys = {
        key
        for name, text in TEMPLATES.items()
        if not name.endswith(("patterns.html", "_keys.html"))
        for key in re.findall(r'\bkey="([^"{])"', text)
    }
    moves = re.findall(r'^  "?(.)"?: \(\) =>', (STATIC / "js" / "app.js").read_text("utf-8"), re.M)
    told = re.findall(r'<kbd class="key">(.)</kbd>', TEMPLATES["templates/components/_keys.html"])
    assert sorted(told) == sorted(keys | set(moves))
