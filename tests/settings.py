"""The project's settings over a throw-away instance; each test is then given files of its own."""

import atexit
import os
import shutil
import tempfile

_home = tempfile.mkdtemp(prefix="protoconsole-tests-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
for name in list(os.environ):
    if name.startswith(("PROTOCONSOLE_", "PROTOAGENT_")) or name in ("KNOWLEDGE_DB_PATH", "MEMORY_PATH"):
        del os.environ[name]
os.environ |= {"PROTOAGENT_HOME": _home, "PROTOCONSOLE_PLAIN_STATIC": "1"}

from protoconsole.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
