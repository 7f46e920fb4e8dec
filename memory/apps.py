"""What has to be in place before the first request."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"

    def ready(self) -> None:
        from memory import panels

        panels.install()
