"""Summary files as another program writes them, and turns as agents post them."""

import json
import os
from pathlib import Path
from typing import Any

from memory.models import IndexState
from protoconsole.instance import current

LONG_AGO_NS = 10**18  # so that the folder's time stamp is settled


def folder() -> Path:
    path = current().paths.memory_dir
    path.mkdir(exist_ok=True)
    return path


def put(session_id: str, said: str = "Rotate the certificates", minute: int = 0, **more: Any) -> Path:
    """Write a summary file as another program does, with an old time stamp on the folder."""
    path = write(session_id, said, minute, **more)
    settle()
    return path


def write(session_id: str, said: str, minute: int, **more: Any) -> Path:
    """Write a summary file and leave the folder with the time stamp of this moment."""
    document = {
        "session_id": session_id,
        "messages": [{"role": "user", "content": said}, {"role": "assistant", "content": "Done."}],
        "final_output": "Done.",
        "timestamp": f"2026-04-01T09:{minute:02}:00+00:00",
        **more,
    }
    path = folder() / (session_id.replace(":", "%3A") + ".json")
    path.write_text(json.dumps(document), "utf-8")
    return path


def settle() -> None:
    """Give the folder a time stamp that is old, and other than any before."""
    seen = IndexState.objects.get(pk=1).folder_stamp or LONG_AGO_NS
    os.utime(folder(), ns=(seen, seen + 1_000))


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def assistant(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}
