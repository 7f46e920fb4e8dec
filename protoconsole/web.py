"""What the environment says about how the site is reached. No Django."""

from collections.abc import Mapping

from protoconsole.config import ConfigError

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def base_path(env: Mapping[str, str]) -> str:
    """Return the sub-path with a leading and no trailing slash; '' at the root of an address."""
    raw = env.get("PROTOCONSOLE_BASE_PATH", "").strip()
    parts = [part for part in raw.split("/") if part]
    if any(part in (".", "..") or not _is_plain(part) for part in parts):
        raise ConfigError(f"PROTOCONSOLE_BASE_PATH: {raw!a} is not allowed, must be a path like /console")
    return "".join(f"/{part}" for part in parts)


def allowed_hosts(env: Mapping[str, str]) -> list[str]:
    """Return the host names that requests may carry: this machine's own, and those of the environment."""
    return [*LOOPBACK, *(_without_port(host) for host in _hosts(env))]


def trusted_origins(env: Mapping[str, str]) -> list[str]:
    """Return the origins whose forms are taken although a proxy ended their TLS without saying so."""
    return [f"https://{'*' if host.startswith('.') else ''}{host}" for host in _hosts(env) if host != "*"]


def _hosts(env: Mapping[str, str]) -> list[str]:
    hosts = [host.strip().lower() for host in env.get("PROTOCONSOLE_HOSTS", "").split(",")]
    return [host for host in hosts if host]


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and not name.endswith(":") else host


def _is_plain(part: str) -> bool:
    return part.isascii() and all(char.isalnum() or char in "-._~" for char in part)
