"""What this process has done, counted for Prometheus. It knows neither app.

With several processes, each keeps its counts in files of the folder that PROMETHEUS_MULTIPROC_DIR names,
and whichever is asked adds them up. What is true of the store is read when it is asked for, not counted.
"""

import os
import time
from collections.abc import Callable, Mapping

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})

REQUESTS = Counter("protoconsole_requests", "Answered requests", ["method", "route", "status"])
SECONDS = Histogram("protoconsole_request_seconds", "Time to answer a request", ["method", "route"])
ROUNDS_LOST = Counter("protoconsole_maintenance_rounds_lost", "Rounds of maintenance that were not finished")
USES_UNNOTED = Counter("protoconsole_key_uses_unnoted", "Uses of keys whose time could not be written")
WRITES = Counter("protoconsole_writes", "New memory that was offered, by what became of it", ["outcome"])


class MetricsMiddleware:
    """Count every request by the pattern of its address, which names no row and no session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = self.get_response(request)
        method = request.method if request.method in _METHODS else "other"
        route = f"/{request.resolver_match.route}" if request.resolver_match else "unmatched"
        REQUESTS.labels(method, route, response.status_code).inc()
        SECONDS.labels(method, route).observe(time.perf_counter() - began)
        return response


def exposition(rows_by_state: Mapping[str, int], index_pending: int | None) -> bytes:
    """Write all counts, and what is known of the store, in the text format of Prometheus."""
    facts = CollectorRegistry()
    rows = Gauge("protoconsole_rows", "Rows of memory by state", ["state"], registry=facts)
    for state, n in rows_by_state.items():
        rows.labels(state).set(n)
    if index_pending is not None:
        Gauge("protoconsole_index_pending", "Rows not yet indexed", registry=facts).set(index_pending)
    return generate_latest(_counted()) + generate_latest(facts)


def _counted() -> CollectorRegistry:
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return together
