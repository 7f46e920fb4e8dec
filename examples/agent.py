"""An agent in small, without a model: ten turns of one conversation, each told what memory holds for it.

    PROTOCONSOLE_KEY=pc_a… python examples/agent.py http://127.0.0.1:8000/

Needs nothing but httpx and an agent's key, which it takes from the environment: arguments are for all to see.
Where a real agent would call its model with `text` in front of the conversation, this one has its answers ready.
Watch the turns on the page Injections meanwhile, and rule on what it remembers on the page Review: the next turn
follows.
"""

import argparse
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class Exchange:
    """What the user says, what the agent answers, and what it finds worth keeping of it."""

    message: str
    answer: str
    learnt: str = ""


CONVERSATION = (
    Exchange(
        "Hello! We are moving the shop to a new server in May.",
        "Good to know. I will keep the date in mind.",
        "The shop moves to a new server in May.",
    ),
    Exchange(
        "The database stays on the old machine until July.",
        "Then the shop will talk to it over the network for two months.",
        "The shop's database stays on the old machine until July.",
    ),
    Exchange("When does the shop move to the new server?", "In May."),
    Exchange(
        "The certificate of the shop runs out on the 3rd of June.",
        "I would renew it together with the move.",
        "The certificate of the shop runs out on 3 June.",
    ),
    Exchange("Until when does the database stay where it is?", "Until July."),
    Exchange(
        "Anna signs off every change of the server.",
        "Then she should see the plan first.",
        "Anna signs off every change of the shop's server.",
    ),
    Exchange("Who has to sign off the change of the server?", "Anna does."),
    Exchange("When does the certificate run out?", "On 3 June, a month after the move."),
    Exchange(
        "The backups of the shop run at four in the morning.",
        "So we had better not move at night.",
        "The backups of the shop run at four in the morning.",
    ),
    Exchange("Sum it up: what matters for the move of the shop?", "May, Anna's word, and no move at four."),
)


class Agent:
    """Plays one conversation through the API of a console."""

    def __init__(self, client: httpx.Client, session_id: str) -> None:
        self.session_id = session_id
        self._client = client

    def told(self, message: str, turn: int) -> dict[str, Any]:
        """Ask what the model should know; the turn's id makes it safe to ask again after a failure."""
        turn_id = f"{self.session_id}/{turn}"
        return self._post(
            "api/context", {"query": message, "session_id": self.session_id, "turn_id": turn_id}
        )

    def post_turn(self, exchange: Exchange) -> dict[str, Any]:
        """Hand in what was said; only what is new is kept."""
        messages = [
            {"role": "user", "content": exchange.message},
            {"role": "assistant", "content": exchange.answer},
        ]
        return self._post(f"api/sessions/{self.session_id}/turns", {"messages": messages})

    def remember(self, fact: str) -> dict[str, Any]:
        """Keep a fact; where it came from, the console knows from the session's header."""
        return self._post("api/tools/memory_ingest", {"content": fact, "domain": "fact"})

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._client.post(path, json=body, headers={"X-Session-Id": self.session_id})
        answer.raise_for_status()
        return dict(answer.json())


def connected(url: str, key: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30)


def play(agent: Agent, conversation: Sequence[Exchange]) -> Iterator[str]:
    """Go through the turns and tell of each, line by line, what happened."""
    for turn, exchange in enumerate(conversation, 1):
        yield f"\n— Turn {turn} — user: {exchange.message}"
        told = agent.told(exchange.message, turn)
        yield from (f"  | {line}" for line in told["text"].splitlines())
        yield f"  told {len(told['text'])} characters, recorded as turn #{told['injection_id']}"
        yield f"  agent: {exchange.answer}"
        agent.post_turn(exchange)
        if exchange.learnt:
            yield f"  {agent.remember(exchange.learnt)['text']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("url", help="where the console is, with a slash at the end")
    parser.add_argument("--session", default=f"chat-example-{secrets.token_hex(4)}")
    asked = parser.parse_args()
    if "PROTOCONSOLE_KEY" not in os.environ:
        parser.error("set PROTOCONSOLE_KEY to the key of an agent")
    with connected(asked.url, os.environ["PROTOCONSOLE_KEY"]) as client:
        for line in play(Agent(client, asked.session), CONVERSATION):
            print(line, flush=True)


if __name__ == "__main__":
    main()
