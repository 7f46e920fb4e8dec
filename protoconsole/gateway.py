"""The model server, any that speaks the OpenAI protocol; foreign errors are mapped here alone."""

import httpx

from protoconsole.config import Model

TIMEOUT = httpx.Timeout(5.0, connect=2.0)


class GatewayError(Exception):
    """The gateway did not answer as it should; the text says how, in one line and without the key."""


def list_models(model: Model) -> list[str]:
    """Ask which models the gateway serves. Raises GatewayError."""
    headers = {"Authorization": f"Bearer {model.api_key}"} if model.api_key else {}
    url = f"{root_of(model.api_base)}/v1/models"
    try:
        answer = httpx.get(url, headers=headers, timeout=TIMEOUT)
        answer.raise_for_status()
        return [str(entry["id"]) for entry in answer.json()["data"]]
    except httpx.HTTPStatusError as error:
        raise GatewayError(f"{url} answered {error.response.status_code}") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise GatewayError(f"{url} did not answer ({type(error).__name__})") from error
    except (ValueError, KeyError, TypeError) as error:
        raise GatewayError(f"{url} answered something else than a list of models") from error


def root_of(api_base: str) -> str:
    """Give the base address, which may be written with or without `/v1`."""
    return api_base.rstrip("/").removesuffix("/v1").rstrip("/")
