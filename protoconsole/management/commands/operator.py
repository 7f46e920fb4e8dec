"""`manage.py operator create NAME`: make an account for a person."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from protoconsole.access.errors import AccessError
from protoconsole.access.models import Operator
from protoconsole.access.operators import create_operator, issue_link
from protoconsole.access.setup import prepare_console
from protoconsole.actors import Role
from protoconsole.errors import StoreBusy, StoreUnusable


class Command(BaseCommand):
    help = "Make accounts for people. Prints a one-time way in unless a password is given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make an account")
        create.add_argument("name")
        create.add_argument("--role", choices=[Role.VIEWER, Role.OPERATOR], default=Role.OPERATOR, type=Role)
        create.add_argument("--password-stdin", action="store_true", help="read the password from stdin")
        link = actions.add_parser("link", help="print a new one-time way in, for a lost password")
        link.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            prepare_console()
            if options["action"] == "create":
                self._create(options["name"], options["role"], options["password_stdin"])
            else:
                self._link(options["name"])
        except (AccessError, StoreBusy, StoreUnusable) as error:
            raise CommandError(str(error)) from error

    def _create(self, name: str, role: Role, password_stdin: bool) -> None:
        password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
        operator = create_operator(name, role, password)
        self.stderr.write(f"{operator.username} can sign in as {role}.")
        if password is None:
            self._print_link(operator)

    def _link(self, name: str) -> None:
        operator = Operator.objects.filter(username=name, is_active=True).first()
        if operator is None:
            raise CommandError(f"There is no operator of the name {name}.")
        self._print_link(operator)

    def _print_link(self, operator: Operator) -> None:
        self.stderr.write("Open this path of the site within a day; it lets in once, to set a password:")
        self.stdout.write(issue_link(operator))
