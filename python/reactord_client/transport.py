"""Requests over HTTP: connections that are used again, and tries that are made again where that is safe."""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import threading
import time
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

from .backoff import pauses, retry_after
from .errors import ApiError, ConnectionFailed, api_error
from .records import record_hook

Body = Union[bytes, bytearray, memoryview]
Query = Mapping[str, Any]

# The service and what stands in front of it keep idle connections longer than that. A request that must not be made
# twice would otherwise meet one that is just being closed, and not know whether it arrived.
IDLE_SECONDS = 4.0
MOST_IDLE = 8

# The service says so when it has accepted nothing, so that any request may come again.
NOTHING_ACCEPTED = (429, 503)
# Said by what stands between: the request may have arrived.
MAY_HAVE_ARRIVED = (408, 502, 504)


class Reply(NamedTuple):
    status: int
    headers: Dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body.decode("utf-8"), object_hook=record_hook)


class Stream:
    """An answer that is read line by line as it comes."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._response = response
        self._closed = False

    def lines(self) -> Iterator[str]:
        """Ends with the stream; raises ConnectionFailed when the connection breaks, and nothing once it was closed."""
        try:
            for line in self._response:
                yield line.decode("utf-8", "replace").rstrip("\r\n")
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            if not self._closed:
                raise ConnectionFailed(f"the stream broke: {error}") from error
        finally:
            self._connection.close()

    def close(self) -> None:
        """From any thread: whoever reads is woken."""
        self._closed = True
        connected = self._connection.sock
        if connected is None and self._response.fp is not None:
            # http.client lets go of the socket of an answer that ends with its connection.
            connected = getattr(getattr(self._response.fp, "raw", None), "_sock", None)
        if connected is not None:
            try:
                connected.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Transport:
    """Speaks to one service. May be used by many threads at once."""

    def __init__(
        self,
        base_url: str,
        *,
        timeout: float = 60.0,
        retries: int = 5,
        longest_pause: float = 60.0,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"base_url takes an address such as https://reactors.example.org, not {base_url!r}")
        self.base_url = base_url.rstrip("/")
        self.timeout = timeout
        self._retries = retries
        self._longest_pause = longest_pause
        self._is_tls = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._root = parts.path.rstrip("/")
        self._ssl = ssl_context
        self._idle: List[Tuple[float, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Query] = None,
        headers: Optional[Mapping[str, str]] = None,
        body: Optional[Body] = None,
        timeout: Optional[float] = None,
        repeatable: bool = False,
    ) -> Reply:
        """The answer, whatever its status. ``repeatable``: making the request twice is as good as making it once."""
        waits = pauses()
        for attempt in range(self._retries + 1):
            is_last = attempt == self._retries
            try:
                reply = self._attempt(method, self._target(path, query), headers or {}, body, timeout)
            except NotSent as failure:
                if is_last:
                    raise ConnectionFailed(f"{self.base_url} cannot be reached: {failure}") from failure.__cause__
            except (OSError, http.client.HTTPException) as error:
                if is_last or not repeatable:
                    raise ConnectionFailed(f"{method} {path}: the connection broke: {error}") from error
            else:
                if is_last or not _may_come_again(reply.status, repeatable):
                    return reply
                wished = retry_after(reply.headers)
                if wished is not None:
                    if wished > self._longest_pause:
                        return reply
                    time.sleep(wished)
                    continue
            time.sleep(next(waits))
        raise AssertionError("the last attempt answers or raises")

    def stream(
        self,
        path: str,
        *,
        query: Optional[Query] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = 60.0,
    ) -> Stream:
        """A GET whose answer goes on. ``timeout``: how long it may be silent. Not tried again."""
        connection = self._connect(timeout)
        try:
            connection.request("GET", self._target(path, query), headers=dict(headers or {}))
            response = connection.getresponse()
            if response.status == 200:
                return Stream(connection, response)
            reply = _read(response)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ConnectionFailed(f"GET {path}: {error}") from error
        connection.close()
        raise failure_of(reply, "GET", path)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _attempt(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: Optional[Body],
        timeout: Optional[float],
    ) -> Reply:
        connection = self._take_idle()
        if connection is None:
            connection = self._connect(timeout or self.timeout)
            try:
                connection.connect()
            except OSError as error:
                raise NotSent(str(error)) from error
        elif connection.sock is not None:
            connection.sock.settimeout(timeout or self.timeout)
        try:
            sent = dict(headers)
            # Told also where there is none, as http.client does for some methods only.
            sent.setdefault("Content-Length", str(0 if body is None else len(body)))
            if method in ("GET", "DELETE") and body is None:
                del sent["Content-Length"]
            try:
                connection.request(method, target, body=body, headers=sent)
            except (BrokenPipeError, ConnectionResetError):
                # The service may have answered before it had read everything, and then closed: 413 is said so.
                pass
            response = connection.getresponse()
            reply = _read(response)
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._keep(connection)
        return reply

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._is_tls:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._ssl)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _take_idle(self) -> Optional[http.client.HTTPConnection]:
        now = time.monotonic()
        with self._lock:
            if self._process != os.getpid():
                # A child process must not speak into the connections of its parent.
                self._process, self._idle = os.getpid(), []
            while self._idle:
                since, connection = self._idle.pop()
                if now - since < IDLE_SECONDS:
                    return connection
                connection.close()
        return None

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < MOST_IDLE and self._process == os.getpid():
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()

    def _target(self, path: str, query: Optional[Query]) -> str:
        given = [(name, _text(value)) for name, value in (query or {}).items() if value is not None]
        return f"{self._root}{path}" + (f"?{urlencode(given, quote_via=quote)}" if given else "")


class NotSent(Exception):
    """No connection was made, so that nothing can have arrived."""


def segment(name: str) -> str:
    """A name as a part of a path."""
    if name in ("", ".", ".."):
        raise ValueError(f"{name!r} names nothing")
    return quote(name, safe="")


def failure_of(reply: Reply, method: str, path: str) -> ApiError:
    """What an answer that is no success says."""
    message = ""
    try:
        document = reply.json()
        message = str(document.get("message") or document.get("error_description") or "")
    except (ValueError, AttributeError):
        pass
    message = message or f"the service answered with status {reply.status}"
    return api_error(reply.status, message, method=method, path=path, headers=reply.headers)


def _may_come_again(status: int, repeatable: bool) -> bool:
    return status in NOTHING_ACCEPTED or (repeatable and status in MAY_HAVE_ARRIVED)


def _read(response: http.client.HTTPResponse) -> Reply:
    body = response.read()
    return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(each) for each in value)
    return str(value)
