"""Serves the site on one listening socket, from this process or from several."""

import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from ipaddress import ip_address

import uvicorn
from django.conf import settings

DEFAULT_THREADS = 4
BACKLOG = 512
MOST_CONNECTIONS = 1_000  # of a process, idle ones included; below the usual limit of 1,024 open files
GRACE_S = 20  # for running requests, when asked to stop
LOCAL_PROXIES = ["127.0.0.1", "::1"]
RESTART_PAUSE_S = 1.0

_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}


class CannotListen(Exception):
    """The address cannot be had; the text is one line."""


def listen(host: str, port: int) -> socket.socket:
    """Take the address. Raises CannotListen when it is in use or not of this machine."""
    host = host.removeprefix("[").removesuffix("]")
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            problem = "another program listens there; stop it or choose another --port"
        else:
            problem = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error.strerror)
        raise CannotListen(f"cannot listen on {host} port {port}: {problem}") from error
    # Connections inherit it. asyncio sets it only where a socket names its protocol, which this one does not;
    # without it every answer waits some 40 ms for the acknowledgement of its own first part.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def origin_of(listener: socket.socket) -> str:
    """Return scheme, host and port under which this machine reaches the socket."""
    host, port = listener.getsockname()[:2]
    address = ip_address(host.partition("%")[0])
    if address.is_unspecified:
        host = "::1" if address.version == 6 else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_local(listener: socket.socket) -> bool:
    """Say whether only this machine can reach the socket."""
    return ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def end_well_on_signals() -> None:
    """Let SIGTERM and SIGINT end this process with 0, also when they come before it serves.

    The server catches them while it runs, and at its end sends itself again the one that ended it.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))


def serve(listener: socket.socket, threads: int) -> None:
    """Serve until SIGTERM or SIGINT, then finish what runs."""
    from protoconsole.asgi import compose  # here, because it wants Django's apps

    config = uvicorn.Config(
        compose(threads),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        limit_concurrency=MOST_CONNECTIONS,
        proxy_headers=True,
        forwarded_allow_ips=LOCAL_PROXIES,
        timeout_graceful_shutdown=GRACE_S,
    )
    uvicorn.Server(config).run(sockets=[listener])


def supervise(listener: socket.socket, threads: int, workers: int) -> None:
    """Serve from several processes until SIGTERM or SIGINT; one that dies is replaced.

    They are started anew rather than forked: a fork would share the open files of the write locks, and with
    them the locks.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    lifeline, held = os.pipe()
    counts = tempfile.TemporaryDirectory(prefix="protoconsole-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = counts.name  # so that /metrics adds up over the workers
    try:
        crew = [_start_worker(listener, lifeline, threads) for _ in range(workers)]
        while signal.sigwait(_SIGNALS) == signal.SIGCHLD:
            crew = [
                worker if worker.poll() is None else _replace(listener, lifeline, threads) for worker in crew
            ]
        _stop(crew)
    finally:
        os.close(held)
        counts.cleanup()


def serve_as_worker(descriptor: int, lifeline: int, threads: int) -> None:
    """Serve as one process of several, until told to stop or until the first process is gone."""
    end_well_on_signals()
    threading.Thread(target=_end_with, args=(lifeline,), name="lifeline", daemon=True).start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    serve(socket.socket(fileno=descriptor), threads)


def _start_worker(listener: socket.socket, lifeline: int, threads: int) -> subprocess.Popen[bytes]:
    descriptor = listener.fileno()
    command = [sys.executable, str(settings.ROOT / "manage.py"), "serve_worker"]
    arguments = [str(number) for number in (descriptor, lifeline, threads)]
    return subprocess.Popen([*command, *arguments], pass_fds=(descriptor, lifeline))  # noqa: S603


def _replace(listener: socket.socket, lifeline: int, threads: int) -> subprocess.Popen[bytes]:
    time.sleep(RESTART_PAUSE_S)  # so that one which cannot start does not keep the machine busy
    return _start_worker(listener, lifeline, threads)


def _stop(crew: list[subprocess.Popen[bytes]]) -> None:
    for worker in crew:
        worker.terminate()
    deadline = time.monotonic() + GRACE_S + 10
    for worker in crew:
        try:
            worker.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def _end_with(lifeline: int) -> None:
    """Wait for the end of the pipe, which comes when the process that holds the other end is gone."""
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)
