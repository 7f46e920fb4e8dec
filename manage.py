#!/usr/bin/env python
"""The command line of the project."""

import os
import sys

from django.core.management import execute_from_command_line

from protoconsole.config import ConfigError


def main() -> int:
    """Run a command; a setting that stops the start is one line on stderr and exit 1."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "protoconsole.settings")
    try:
        execute_from_command_line(sys.argv)
    except ConfigError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
