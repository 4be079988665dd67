"""What became of messages: records, logs, results."""

from __future__ import annotations

import time
from typing import Any, Iterator, List, NamedTuple, Optional

from .backoff import pauses
from .errors import ConnectionFailed
from .event_stream import read_events
from .records import Record
from .session import Session
from .transport import segment

OVER = ("COMPLETE", "ERROR")


class Executions:
    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, reactor: str, execution: str) -> Record:
        return self._session.call("GET", path_of(reactor, execution))

    def list(self, reactor: str, *, limit: int = 100, offset: int = 0, **terms: Any) -> List[Record]:
        """One page, newest first. ``terms`` are search terms: ``status="ERROR"``."""
        query = {"limit": limit, "offset": offset, **terms}
        found = self._session.call("GET", path_of(reactor), query=query)
        return found["executions"] if "executions" in found else found["search"]

    def iterate(self, reactor: str, *, page: int = 100) -> Iterator[Record]:
        """All of them, newest first."""
        return self._session.pages(path_of(reactor), {"limit": page}, "executions")

    def totals(self, reactor: str) -> Record:
        """Sums over all of them: ``totalExecutions``, ``totalCpu``, ``totalIo``, ``totalRuntime``."""
        return self._session.call("GET", path_of(reactor), query={"limit": 1})

    def halt(self, reactor: str, execution: str) -> None:
        """Stops a running one; Conflict when it does not run."""
        self._session.call("DELETE", path_of(reactor, execution))

    def message(self, reactor: str, execution: str) -> bytes:
        path = f"{path_of(reactor, execution)}/message"
        return self._session.send("GET", path, repeatable=True).body

    def wait(self, reactor: str, execution: str, timeout: Optional[float] = None) -> Record:
        """The record once the execution is over; TimeoutError when it is not in time."""
        ends = None if timeout is None else time.monotonic() + timeout
        for wait in pauses(first=0.1, longest=2.0):
            record = self.get(reactor, execution)
            if record["status"] in OVER:
                return record
            left = wait if ends is None else ends - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"the execution {execution} was not over within {timeout:g} s")
            time.sleep(min(wait, left))
        raise AssertionError("pauses never end")


class Logs:
    def __init__(self, session: Session) -> None:
        self._session = session

    def get(
        self, reactor: str, execution: str, *, stream: Optional[str] = None, tail: Optional[int] = None
    ) -> str:
        """What it wrote so far. ``stream``: only stdout or stderr; ``tail``: only so many of the last lines."""
        path = f"{path_of(reactor, execution)}/logs"
        return str(self._session.call("GET", path, query={"stream": stream, "tail": tail})["logs"])

    def follow(
        self, reactor: str, execution: str, *, stream: Optional[str] = None, tail: Optional[int] = None
    ) -> Iterator[Record]:
        """
        Pieces as they are written (``stream``, ``time``, ``text``), until the execution is over. A connection that
        breaks is made again, and nothing comes twice.
        """
        path = f"{path_of(reactor, execution)}/logs"
        query = {"follow": True, "stream": stream, "tail": tail}
        last: Optional[str] = None
        waits = pauses(first=0.2, longest=5.0)
        failures = 0
        while True:
            headers = {} if last is None else {"Last-Event-ID": last}
            try:
                opened = self._session.open(path, query=query, headers=headers)
                try:
                    for event in read_events(opened.lines()):
                        failures = 0
                        last = event.id or last
                        if event.type == "end":
                            return
                        if event.type == "log":
                            yield event.data
                finally:
                    opened.close()
            except ConnectionFailed:
                failures += 1
                if failures > 5:
                    raise
            time.sleep(next(waits))


class Result(NamedTuple):
    # Among the results of the execution, from 1.
    number: int
    body: bytes


class Results:
    """What executions give back, as bytes."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def take(self, reactor: str, execution: Optional[str] = None) -> Optional[bytes]:
        """The oldest that nobody has taken, or None. Without an execution: of the newest that gave any."""
        reply = self._session.send("GET", self._path(reactor, execution))
        return reply.body or None

    def read(self, reactor: str, execution: str, after: int = 0) -> Optional[Result]:
        """The oldest behind the one of this number, which stays where it is; or None."""
        path = self._path(reactor, execution)
        reply = self._session.send("GET", path, query={"keep": True, "after": after}, repeatable=True)
        if not reply.body:
            return None
        return Result(int(reply.headers["x-result-index"]), reply.body)

    def iterate(self, reactor: str, execution: str) -> Iterator[bytes]:
        """All that are there, without taking them."""
        after = 0
        while True:
            found = self.read(reactor, execution, after)
            if found is None:
                return
            after = found.number
            yield found.body

    def give(self, reactor: str, execution: str, content: bytes) -> None:
        """From inside the execution, with its own token."""
        headers = {"Content-Type": "application/octet-stream"}
        path = self._path(reactor, execution)
        self._session.send("POST", path, headers=headers, body=content, timeout=300.0)

    @staticmethod
    def _path(reactor: str, execution: Optional[str]) -> str:
        if execution is None:
            return f"/actors/v2/{segment(reactor)}/results"
        return f"{path_of(reactor, execution)}/results"


def path_of(reactor: str, execution: Optional[str] = None) -> str:
    one = "" if execution is None else f"/{segment(execution)}"
    return f"/actors/v2/{segment(reactor)}/executions{one}"
