"""The model server, any that speaks the OpenAI protocol; foreign errors are mapped here alone."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from protoconsole.config import Model

CONNECT_S = 2.0
DEADLINE_S = 5.0  # of a whole call: the limits of httpx begin anew with every byte
MOST_BYTES = 2_000_000
_LARGEST_WINDOW = 100_000_000


class GatewayError(Exception):
    """The gateway did not answer as it should; the text says how, in one line and without the key."""


def list_models(model: Model) -> list[str]:
    """Ask which models the gateway serves. Raises GatewayError."""
    return [str(entry["id"]) for entry in _listed(_ask(model, "GET", "/v1/models"), "id")]


def learn_window(model: Model, name: str) -> int | None:
    """Ask for the context window of a model in tokens; None where the gateway does not tell.

    LiteLLM, vLLM and Ollama tell it in different places, which are asked in that order. Raises GatewayError
    when none of them answers at all.
    """
    errors: list[GatewayError] = []
    for place in (_litellm_window, _vllm_window, _ollama_window):
        try:
            window = place(model, name)
        except GatewayError as error:
            errors.append(error)
        else:
            if window:
                return window
    if len(errors) == 3:
        raise errors[1]
    return None


def root_of(api_base: str) -> str:
    """Give the base address, which may be written with or without `/v1`."""
    return api_base.rstrip("/").removesuffix("/v1").rstrip("/")


def _litellm_window(model: Model, name: str) -> int | None:
    for entry in _listed(_ask(model, "GET", "/model/info"), "model_name"):
        info = entry.get("model_info")
        if entry["model_name"] == name and isinstance(info, dict):
            return _tokens(info.get("max_input_tokens")) or _tokens(info.get("max_tokens"))
    return None


def _vllm_window(model: Model, name: str) -> int | None:
    entries = _listed(_ask(model, "GET", "/v1/models"), "id")
    return next((_tokens(entry.get("max_model_len")) for entry in entries if entry["id"] == name), None)


def _ollama_window(model: Model, name: str) -> int | None:
    answer = _ask(model, "POST", "/api/show", {"model": name})
    info = answer.get("model_info") if isinstance(answer, dict) else None
    if not isinstance(info, dict):
        return None
    lengths = (_tokens(value) for key, value in info.items() if key.endswith(".context_length"))
    return next((length for length in lengths if length), None)


def _tokens(value: object) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST_WINDOW
    return value if usable else None  # type: ignore[return-value]


def _listed(answer: Any, key: str) -> Iterator[dict[str, Any]]:
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        raise GatewayError("the gateway answered something else than a list of models")
    return (entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get(key), str))


def _ask(model: Model, method: str, path: str, body: object = None) -> Any:
    if not (model.api_key.isascii() and model.api_key.isprintable()):
        raise GatewayError("model.api_key has characters that no HTTP header can carry")
    headers = {"Authorization": f"Bearer {model.api_key}"} if model.api_key else {}
    url = f"{root_of(model.api_base)}{path}"
    try:
        return json.loads(asyncio.run(_fetch(method, url, headers, body)))
    except httpx.HTTPStatusError as error:
        raise GatewayError(f"{url} answered {error.response.status_code}") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise GatewayError(f"{url} did not answer ({type(error).__name__})") from error
    except TimeoutError as error:
        raise GatewayError(f"{url} did not finish its answer within {DEADLINE_S:g} s") from error
    except (ValueError, RecursionError) as error:
        raise GatewayError(f"{url} answered something else than JSON") from error


async def _fetch(method: str, url: str, headers: Mapping[str, str], body: object) -> bytes:
    """Read an answer; asynchronous, since only that way one deadline holds for connection, headers and body."""
    limits = httpx.Timeout(DEADLINE_S, connect=CONNECT_S)
    async with (
        asyncio.timeout(DEADLINE_S),
        httpx.AsyncClient(timeout=limits) as client,
        client.stream(method, url, headers=headers, json=body) as answer,
    ):
        answer.raise_for_status()
        read = bytearray()
        async for piece in answer.aiter_bytes():
            read += piece
            if len(read) > MOST_BYTES:
                raise GatewayError(f"{url} answered more than {MOST_BYTES:,} bytes")
        return bytes(read)
