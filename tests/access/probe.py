"""Ask the WSGI application of a fresh process: a JSON list of requests on stdin, the answers on stdout."""

import io
import json
import os
import sys
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "protoconsole.settings"

from protoconsole.access.setup import prepare_console
from protoconsole.wsgi import application


def ask(path: str, host: str = "localhost", scheme: str = "http", method: str = "GET", **more: str) -> Any:
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": host,
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": scheme,
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        **more,
    }
    answer: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], *_: object) -> None:
        answer.update(status=int(status.split()[0]), headers=headers)

    chunks = application(environ, start_response)
    answer["text"] = b"".join(chunks).decode("utf-8", "replace")
    if hasattr(chunks, "close"):
        chunks.close()
    return answer


if __name__ == "__main__":
    prepare_console()
    print(json.dumps([ask(**request) for request in json.load(sys.stdin)]))
