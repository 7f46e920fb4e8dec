"""The example agent plays its conversation against a real server; the operator sees and governs each turn."""

import importlib.util
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx

from tests.processes.harness import CHECKOUT, RunningServer, make_key

SCRIPT = CHECKOUT / "examples" / "agent.py"
SESSION = "chat-example"
LOG = "api/memory/injections"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_agent", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def played(server: RunningServer) -> str:
    command = [sys.executable, str(SCRIPT), server.url, "--session", SESSION]
    env = os.environ | {"PROTOCONSOLE_KEY": str(server.agent_key)}
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=env)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_ten_turns_are_told_recorded_governed_and_replayed(server: RunningServer, root: Path) -> None:
    example = loaded()
    key = make_key(root, "olive", "operator")
    with (
        httpx.Client(base_url=server.url, headers={"X-API-Key": key}, timeout=30) as operator,
        example.connected(server.url, server.agent_key) as client,
    ):
        rule = {"content": "Answer in one sentence.", "domain": "hot"}
        assert operator.post("api/knowledge/chunks", json=rule).status_code == 201
        said = played(server)
        turns = operator.get(LOG, params={"session_id": SESSION}).json()["items"][::-1]
        texts = replayed(operator, turns)
        assert len(turns) == 10
        for turn, text in zip(turns, texts, strict=True):
            assert sha256(text).hexdigest() == turn["kept"]["text_sha256"]
            assert "\n".join(f"  | {line}" for line in text.decode().splitlines()) in said
            assert "* [hot] Answer in one sentence." in text.decode()
        assert "The shop moves to a new server in May." in texts[2].decode()

        learnt = turns[2]["rag_ids"][0]
        operator.post(f"api/memory/chunks/{learnt}/review", json={"state": "rejected"}).raise_for_status()
        agent = example.Agent(client, SESSION)
        for turn_id in (11, 3):  # a new turn, and a retry of the one that was told the row
            told = agent.told(example.CONVERSATION[2].message, turn_id)
            assert learnt not in told["rag_ids"]
            assert "* [hot] Answer in one sentence." in told["text"]
        assert replayed(operator, turns) == texts
        items = operator.get(f"{LOG}/{turns[2]['id']}").json()["items"]
        [entry] = [item for item in items if item["id"] == learnt]
        assert (entry["since"], entry["review_state"]) == (["rejected"], "pending")
        summary = operator.get(f"api/memory/sessions/{SESSION}").json()["summary"]
        assert summary["final_output"] == example.CONVERSATION[-1].answer


def replayed(operator: httpx.Client, turns: list[dict[str, Any]]) -> list[bytes]:
    return [operator.get(f"{LOG}/{turn['id']}/text").content for turn in turns]
