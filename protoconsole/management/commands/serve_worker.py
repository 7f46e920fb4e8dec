"""`manage.py serve_worker`: one process of `manage.py serve --workers N`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from protoconsole.server import serve_as_worker


class Command(BaseCommand):
    help = "Started by serve --workers N, with the open files that it hands down."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("socket", type=int)
        parser.add_argument("lifeline", type=int)
        parser.add_argument("threads", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        serve_as_worker(options["socket"], options["lifeline"], options["threads"])
