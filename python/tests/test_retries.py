"""When a request is made again, and when it is not: against a server that fails on purpose."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Iterator, List, Tuple

import pytest

from reactord_client import Client, ConnectionFailed, TooManyRequests, Unavailable

Answer = Tuple[int, dict, bytes]
BREAK: Answer = (0, {}, b"")
ACCEPTED: Answer = (201, {}, b'{"executionId": "abc"}')


class Failing(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: List[Answer] = []
        self.seen: List[Tuple[str, str, float]] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Failing

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.seen.append((self.command, self.headers.get("idempotency-key") or "", time.monotonic()))
        status, headers, body = self.server.answers.pop(0)
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture()
def server() -> Iterator[Failing]:
    with Failing() as made:
        threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True).start()
        yield made
        made.shutdown()


def client_of(server: Failing) -> Client:
    return Client(f"http://127.0.0.1:{server.server_port}", token="x", retries=3)


def test_a_message_is_sent_again_with_its_key(server: Failing) -> None:
    server.answers = [(503, {"retry-after": "0"}, b"{}"), BREAK, ACCEPTED]
    assert client_of(server).messages.send("r", "hello") == "abc"
    keys = {key for _, key, _ in server.seen}
    assert len(server.seen) == 3 and len(keys) == 1 and "" not in keys


def test_retry_after_is_respected(server: Failing) -> None:
    server.answers = [(429, {"retry-after": "1"}, b"{}"), (200, {}, b"{}")]
    assert client_of(server).reactors.get("r") == {}
    (_, _, first), (_, _, second) = server.seen
    assert 1.0 <= second - first < 5


def test_a_long_pause_is_left_to_the_caller(server: Failing) -> None:
    server.answers = [(429, {"retry-after": "3600"}, b'{"message": "slow down"}')]
    with pytest.raises(TooManyRequests, match="slow down"):
        client_of(server).reactors.get("r")


def test_what_must_not_happen_twice_is_not_sent_again(server: Failing) -> None:
    server.answers = [BREAK]
    with pytest.raises(ConnectionFailed):
        client_of(server).reactors.create("busybox")
    server.answers = [BREAK]
    with pytest.raises(ConnectionFailed):
        client_of(server).results.take("r", "e")
    assert len(server.seen) == 2


def test_it_gives_up_in_the_end(server: Failing) -> None:
    server.answers = [(503, {"retry-after": "0"}, b'{"message": "stopping"}')] * 4
    with pytest.raises(Unavailable, match="stopping"):
        client_of(server).reactors.get("r")
    assert len(server.seen) == 4


def test_a_broken_log_stream_goes_on_where_it_was(server: Failing) -> None:
    def event(number: int, text: str) -> bytes:
        return f'event: log\nid: {number}\ndata: {{"text": "{text}"}}\n\n'.encode()

    end = b'event: end\ndata: {"status": "COMPLETE", "exitCode": 0}\n\n'
    kind = {"content-type": "text/event-stream"}
    server.answers = [(200, kind, event(1, "a") + event(2, "b")), (200, kind, b": still here\n\n" + event(3, "c") + end)]
    assert [each.text for each in client_of(server).logs.follow("r", "e")] == ["a", "b", "c"]
