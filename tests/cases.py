"""The shared cases of the contract."""

import json
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures"
LEGACY = FIXTURES / "legacy"


def cases(name: str) -> list[Any]:
    """Read the list of cases in `fixtures/cases/<name>.json`."""
    return list(json.loads((FIXTURES / "cases" / f"{name}.json").read_text("utf-8"))["cases"])
