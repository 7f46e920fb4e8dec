"""What the server says on stderr, and what it never says."""

import logging
import re

# One-time links and keys of programs: both let in whoever reads them.
_SECRETS = re.compile(r"(?<=/welcome/)[\w-]+|\bpc_[a-z][\w-]{16,}")


class WithoutSecrets(logging.Formatter):
    """Take links and keys out of every line, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        return _SECRETS.sub("[secret]", super().format(record))


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": WithoutSecrets, "format": "%(asctime)s %(message)s"},
        "named": {"()": WithoutSecrets, "format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
    },
    "handlers": {
        "line": {"class": "logging.StreamHandler", "formatter": "line"},
        "named": {"class": "logging.StreamHandler", "formatter": "named"},
    },
    "root": {"handlers": ["named"], "level": "WARNING"},
    "loggers": {
        "protoconsole.requests": {"handlers": ["line"], "level": "INFO", "propagate": False},
        "django": {"handlers": [], "level": "WARNING"},
        # Refusals have their line among the requests already.
        "django.request": {"level": "ERROR"},
    },
}
