"""`manage.py apikey create|list|revoke`: the keys of programs."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from protoconsole.access.errors import AccessError
from protoconsole.access.keys import create_key, revoke
from protoconsole.access.models import ApiKey
from protoconsole.access.setup import prepare_console
from protoconsole.actors import Role
from protoconsole.errors import StoreBusy, StoreUnusable

CREATED_BY = "command line"


class Command(BaseCommand):
    help = "Make, list and revoke the keys of programs. A new key is printed alone on stdout, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make a key and print it")
        create.add_argument("name")
        create.add_argument("--role", choices=list(Role), type=Role, required=True)
        create.add_argument("--may-confirm", action="store_true", help="a plugin's rows need no review")
        actions.add_parser("list", help="print every key: name, role, prefix, created, last used, state")
        actions.add_parser("revoke", help="shut a key out").add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            prepare_console()
            self._run(options)
        except (AccessError, StoreBusy, StoreUnusable) as error:
            raise CommandError(str(error)) from error

    def _run(self, options: dict[str, Any]) -> None:
        match options["action"]:
            case "create":
                self._create(options["name"], options["role"], options["may_confirm"])
            case "list":
                self._list()
            case "revoke":
                self._revoke(options["name"])

    def _create(self, name: str, role: Role, may_confirm: bool) -> None:
        key, token = create_key(name, role, may_confirm=may_confirm, created_by=CREATED_BY)
        self.stderr.write(f"The key of {key.name} ({role}); it is not shown again:")
        self.stdout.write(token)

    def _list(self) -> None:
        for key in ApiKey.objects.order_by("created_at", "pk"):
            used = key.last_used_at.isoformat(timespec="seconds") if key.last_used_at else "never"
            created = key.created_at.isoformat(timespec="seconds")
            self.stdout.write("\t".join((key.name, key.role, key.prefix, created, used, key.state)))

    def _revoke(self, name: str) -> None:
        if not revoke(name):
            raise CommandError(f"There is no live key of the name {name}.")
        self.stderr.write(f"{name} is revoked: the key opens nothing any more.")
