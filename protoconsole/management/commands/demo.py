"""`manage.py demo`: a small sample to look at, and its removal."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone

from knowledge import sample
from knowledge.adoption import open_store
from protoconsole.errors import StoreBusy, StoreUnusable


class Command(BaseCommand):
    help = "Load a small sample of memory into this instance, or remove it again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--remove", action="store_true", help="delete the rows of the sample for good")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            open_store(timezone.now())
            if options["remove"]:
                self.stdout.write(f"{sample.remove()} rows of the sample removed")
            else:
                self.stdout.write(f"{sample.load()} rows of the sample are in the store")
                self.stderr.write(
                    f"They lie in the namespace {sample.NAMESPACE}; remove them with {sample.REMOVE}"
                )
        except (StoreUnusable, StoreBusy, DatabaseError) as error:
            raise CommandError(str(error)) from error
