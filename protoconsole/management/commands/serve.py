"""`manage.py serve`: everything that a start needs, then the server and the maintenance work."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from socket import socket
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections
from django.utils import timezone

from protoconsole.errors import StoreBusy, StoreUnusable
from protoconsole.server import (
    DEFAULT_THREADS,
    CannotListen,
    end_well_on_signals,
    is_local,
    listen,
    origin_of,
    serve,
    supervise,
)
from protoconsole.startup import Start, prepare, start_message


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Make a parser of arguments that takes whole numbers of a range."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
            raise ArgumentTypeError(f"{text!a} is not a whole number from {low} to {high}")
        return int(text)

    return parse


class Command(BaseCommand):
    help = "Serve the console: makes ready what a start needs, tells the address, runs until stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s)")
        parser.add_argument(
            "--port", type=whole_number(0, 65_535), default=8000, help="0 takes a free one (default: 8000)"
        )
        parser.add_argument("--workers", type=whole_number(1, 64), default=1, help="processes (default: 1)")
        parser.add_argument(
            "--threads",
            type=whole_number(1, 64),
            default=DEFAULT_THREADS,
            help="requests that a process answers at a time (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        end_well_on_signals()
        # The address before all else: what comes after changes files and gives secrets away.
        try:
            listener = listen(options["host"], options["port"])
        except CannotListen as error:
            raise CommandError(str(error)) from error
        with listener:
            self._tell(listener, self._prepare())
            connections.close_all()
            if options["workers"] == 1:
                serve(listener, options["threads"])
            else:
                supervise(listener, options["threads"], options["workers"])

    def _prepare(self) -> Start:
        try:
            return prepare(timezone.now())
        except (StoreBusy, StoreUnusable, DatabaseError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error

    def _tell(self, listener: socket, start: Start) -> None:
        for line in start_message(origin_of(listener), start):
            self.stdout.write(line)
        if not is_local(listener) and not os.environ.get("PROTOCONSOLE_HOSTS"):
            self.stdout.write("  warning: set PROTOCONSOLE_HOSTS to the names by which others reach this")
        self.stdout.write("")  # the end of the message, for people and for programs that wait for it
        self.stdout.flush()
