"""The instance that this process serves: its configuration and its paths."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings

from protoconsole.config import Config, load_config
from protoconsole.paths import Paths, instance_root, resolve_paths


@dataclass(frozen=True, slots=True)
class Instance:
    config: Config
    paths: Paths


def load_instance(env: Mapping[str, str]) -> Instance:
    """Read the configuration and settle the paths; raise `ConfigError` when they cannot be obeyed."""
    config = load_config(env, instance_root(env))
    return Instance(config, resolve_paths(env, config))


def current() -> Instance:
    """Return the instance that the settings were made for."""
    instance: Instance = settings.INSTANCE
    return instance
