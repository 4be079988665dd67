"""What an execution does to the service it runs in: it keeps state and gives results. For programs inside a container."""

from __future__ import annotations

import errno
import json
import os
import pickle
import socket
import time
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from .context import Context, get_context
from .errors import NoContext
from .records import JsonValue

if TYPE_CHECKING:
    from .client import Client
    from .executions import Results

# What any Linux takes in one datagram; it is a little more than that on most.
DATAGRAM_BYTES = 128 * 1024

Given = Union[str, bytes, bytearray, memoryview, JsonValue]


def update_state(value: Union[JsonValue, Callable[[Any], JsonValue]], context: Optional[Context] = None) -> Any:
    """
    Replaces the state of the reactor. A function gets the state as it is at this moment and returns the new one; when
    somebody else changes it meanwhile, the function is called again, so that no change is lost. Returns the new state.
    """
    context = context or get_context()
    reactor = context.require("actor_id")
    states = _client(context).state
    if callable(value):
        return states.update(reactor, value)
    return states.set(reactor, value).value


def send_result(value: Given, context: Optional[Context] = None) -> None:
    """Gives a result: bytes as they are, text as UTF-8, anything else as JSON. As often as you like."""
    if isinstance(value, str):
        send_bytes_result(value.encode(), context)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        send_bytes_result(bytes(value), context)
    else:
        send_bytes_result(json.dumps(value).encode(), context)


def send_python_result(value: Any, context: Optional[Context] = None) -> None:
    """Gives a result that another Python program reads with ``pickle.loads``."""
    send_bytes_result(pickle.dumps(value), context)


def send_bytes_result(content: bytes, context: Optional[Context] = None) -> None:
    """By a datagram where there is a socket and it has room, over HTTP otherwise."""
    if len(content) == 0:
        raise ValueError("a result has at least one byte")
    context = context or get_context()
    if len(content) <= DATAGRAM_BYTES and _by_datagram(content, context):
        _sent.datagrams += 1
        return
    reactor, execution = context.require("actor_id"), context.require("execution_id")
    if not context.access_token:
        raise NoContext(
            f"a result of {len(content)} bytes goes over HTTP, and there is no token: register the reactor with token=true"
        )
    results = _client(context).results
    _sent.wait_until_kept(results, reactor, execution)
    results.give(reactor, execution, content)
    _sent.posts += 1


class _Sent:
    """What this process has given. The service keeps what was posted at once, and a datagram a moment later."""

    LONGEST_WAIT = 10.0

    def __init__(self) -> None:
        self.datagrams = 0
        self.posts = 0
        self._kept = 0

    def wait_until_kept(self, results: "Results", reactor: str, execution: str) -> None:
        """So that what is posted now comes behind them. Somebody may take them as they come; then there is a limit."""
        given = self.datagrams + self.posts
        if self.datagrams == self._kept:
            return
        deadline = time.monotonic() + self.LONGEST_WAIT
        while results.read(reactor, execution, after=given - 1) is None and time.monotonic() < deadline:
            time.sleep(0.02)
        self._kept = self.datagrams


_sent = _Sent()


def _by_datagram(content: bytes, context: Context) -> bool:
    """False: there is no socket, or the datagram is too large for it."""
    path = context.results_socket
    if not path or not os.path.exists(path):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        try:
            sender.connect(path)
            sender.send(content)
            return True
        except OSError as error:
            if error.errno in (errno.EMSGSIZE, errno.ENOBUFS, errno.ECONNREFUSED, errno.ENOENT):
                return False
            raise


def _client(context: Context) -> "Client":
    # Most executions send a datagram and nothing else, and loading HTTP takes longer than that.
    from .client import Client

    return Client(context.require("api_server"), token=context.require("access_token"))
