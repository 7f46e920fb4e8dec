"""The context window of a model, as three kinds of servers tell it, over a real connection."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Event, Thread

import pytest

from protoconsole import gateway
from protoconsole.config import Model
from protoconsole.gateway import GatewayError, learn_window, list_models


class Server(ThreadingHTTPServer):
    """A gateway whose answers a test lays out by path; anything else is 404."""

    answers: dict[str, object]

    @property
    def model(self) -> Model:
        return Model(api_base=f"http://127.0.0.1:{self.server_port}/v1")


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = self.server.answers.get(self.path)
        self.send_response(200 if answer is not None else 404)
        self.end_headers()
        self.wfile.write(answer.encode() if isinstance(answer, str) else json.dumps(answer).encode())

    do_POST = do_GET

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as running:
        running.answers = {}
        thread = Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


LITELLM = {"data": [{"model_name": "m", "model_info": {"max_input_tokens": 128_000, "max_tokens": 4096}}]}
VLLM = {"data": [{"id": "m", "max_model_len": 32_768}]}
OLLAMA = {"model_info": {"general.architecture": "llama", "llama.context_length": 8192}}


def test_litellm_then_vllm_then_ollama(server: Server) -> None:
    server.answers = {"/model/info": LITELLM, "/v1/models": VLLM, "/api/show": OLLAMA}
    assert learn_window(server.model, "m") == 128_000
    del server.answers["/model/info"]
    assert learn_window(server.model, "m") == 32_768
    del server.answers["/v1/models"]
    assert learn_window(server.model, "m") == 8192


@pytest.mark.parametrize("window", [0, -5, None, "8192", True, 10**12, [], 1.5])
def test_a_window_that_cannot_be_is_not_believed(server: Server, window: object) -> None:
    server.answers = {"/v1/models": {"data": [{"id": "m", "max_model_len": window}]}, "/api/show": OLLAMA}

    assert learn_window(server.model, "m") == 8192


def test_a_model_that_the_gateway_does_not_know_has_none(server: Server) -> None:
    server.answers = {"/model/info": LITELLM, "/v1/models": VLLM}

    assert learn_window(server.model, "other") is None


def test_a_gateway_that_answers_nothing_is_an_error(server: Server) -> None:
    with pytest.raises(GatewayError, match="404"):
        learn_window(server.model, "m")


@pytest.mark.parametrize("answer", ["<html>", "[]", '{"data": {}}', '{"data": [7]}', '{"data": [{"id": 7}]}'])
def test_strange_lists_of_models(server: Server, answer: str) -> None:
    server.answers = {"/v1/models": answer}

    assert learn_window_or_error(server) is None


def learn_window_or_error(server: Server) -> int | None:
    try:
        return learn_window(server.model, "m")
    except GatewayError:
        return None


@pytest.mark.parametrize("info", [["llama.context_length"], "llama.context_length", 7, None, {}])
def test_what_ollama_tells_in_another_shape_is_no_window(server: Server, info: object) -> None:
    server.answers = {"/api/show": {"model_info": info}}

    assert learn_window(server.model, "m") is None


@pytest.mark.parametrize("key", ["schlüssel", "sk-secret\n", "sk-\x00secret"])
def test_a_key_that_no_header_can_carry_is_named_and_not_shown(server: Server, key: str) -> None:
    server.answers = {"/v1/models": VLLM}

    with pytest.raises(GatewayError, match="api_key") as caught:
        list_models(replace(server.model, api_key=key))
    assert key.strip() not in str(caught.value)


def test_models_are_listed(server: Server) -> None:
    server.answers = {"/v1/models": VLLM}

    assert list_models(server.model) == ["m"]


@pytest.mark.parametrize("length", [2_000_000, 2_000_001])
def test_an_answer_is_read_up_to_two_million_bytes(server: Server, length: int) -> None:
    server.answers = {"/v1/models": json.dumps(VLLM).ljust(length)}

    if length == 2_000_000:
        assert list_models(server.model) == ["m"]
    else:
        with pytest.raises(GatewayError, match="more than 2,000,000 bytes"):
            list_models(server.model)


def test_an_answer_nested_without_end_is_no_list_of_models(server: Server) -> None:
    server.answers = {"/v1/models": "[" * 500_000}

    with pytest.raises(GatewayError, match="else than JSON"):
        list_models(server.model)


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize("opening", [HEAD + b"X-Slow: ", HEAD + b"\r\n"], ids=["headers", "body"])
def test_a_gateway_that_drips_is_left_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch, opening: bytes
) -> None:
    stopped = Event()

    class Dripping(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65_536)
            self.request.sendall(opening)
            with suppress(OSError):
                for _ in range(300):  # 15 s, each pause far below what a single read may take
                    if stopped.wait(0.05):
                        return
                    self.request.sendall(b" ")

    monkeypatch.setattr(gateway, "DEADLINE_S", 1.0)
    with ThreadingTCPServer(("127.0.0.1", 0), Dripping) as running:
        thread = Thread(target=running.serve_forever)
        thread.start()
        try:
            with pytest.raises(GatewayError, match="did not finish its answer within 1 s"):
                list_models(Model(api_base=f"http://127.0.0.1:{running.server_address[1]}"))
        finally:
            stopped.set()
            running.shutdown()
            thread.join()
