"""`manage.py doctor`: what is wrong with this instance, and how to mend it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from protoconsole import doctor
from protoconsole.errors import StoreBusy, StoreUnusable


class Command(BaseCommand):
    help = "Check every store, index, setting and the gateway; exit 1 when something is wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--repair", action="store_true", help="close modes and build indexes and counts anew"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["repair"]:
                doctor.repair()
            findings = list(doctor.examine())
        except (StoreBusy, StoreUnusable, DatabaseError) as error:
            raise CommandError(str(error)) from error
        for finding in findings:
            self.stdout.write(f"{finding.level:<8} {finding.name:<18} {finding.detail}")
            if finding.mend:
                self.stdout.write(f"{'':<8} {'':<18} → {finding.mend}")
        faults = sum(not finding.ok for finding in findings)
        if faults:
            raise CommandError(f"{faults} of {len(findings)} checks found a fault")
