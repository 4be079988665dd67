"""Learns when executions of a reactor start and end: one thread, however many calls there are."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Callable, List, Optional

from .backoff import pauses
from .errors import Forbidden, NotFound, ReactordError, TokenError, Unauthorized
from .event_stream import Event, read_events
from .executions import OVER
from .transport import Stream

if TYPE_CHECKING:
    from .client import Client

TYPES = ("EXECUTION_STARTED", "EXECUTION_COMPLETE", "EXECUTION_ERROR")
# The stream is closed when there was nothing to wait for, for so long.
IDLE_SECONDS = 20.0


class Watcher:
    """
    Follows the events of one reactor while calls are out. A broken stream goes on where it broke; what may have happened
    meanwhile, and is no event any more, is found by a look at the list of executions.
    """

    def __init__(
        self,
        client: "Client",
        reactor: str,
        *,
        pending: Callable[[], List[str]],
        started: Callable[[str], None],
        ended: Callable[[str], None],
        lost: Callable[[Optional[ReactordError]], None],
    ) -> None:
        self._client = client
        self._reactor = reactor
        self._pending = pending
        self._started = started
        self._ended = ended
        self._lost = lost
        self._wake = threading.Condition()
        self._stream: Optional[Stream] = None
        self._thread: Optional[threading.Thread] = None
        self._closed = False
        # The events of a reactor of our own begin with it.
        self._last = 0

    def expect(self) -> None:
        """There is something to wait for."""
        with self._wake:
            if self._closed:
                return
            if self._thread is None:
                # A daemon: a program that wants to end is not held up by what runs elsewhere.
                self._thread = threading.Thread(target=self._run, name="reactord-watcher", daemon=True)
                self._thread.start()
            self._wake.notify()

    def close(self) -> None:
        with self._wake:
            self._closed = True
            stream = self._stream
            self._wake.notify()
        if stream is not None:
            stream.close()

    def _run(self) -> None:
        waits = pauses(first=0.2, longest=10.0)
        while self._has_work():
            try:
                self._follow()
                waits = pauses(first=0.2, longest=10.0)
            except Exception as error:
                # Also what nobody thought of: without this thread no call would ever be over.
                if self._tell_if_lost(error):
                    continue
            self._pause(next(waits))
            self._look()

    def _has_work(self) -> bool:
        with self._wake:
            while not self._closed and not self._pending():
                self._wake.wait()
            return not self._closed

    def _follow(self) -> None:
        """Until there is nothing to wait for any more, or the stream ends."""
        stream = self._client.events.open(reactor=self._reactor, types=TYPES, after=self._last)
        with self._wake:
            self._stream = stream
            if self._closed:
                stream.close()
        idle_since: Optional[float] = None
        try:
            for event in read_events(stream.lines(), beats=True):
                self._handle(event)
                if self._pending():
                    idle_since = None
                elif idle_since is None:
                    idle_since = time.monotonic()
                elif time.monotonic() - idle_since > IDLE_SECONDS:
                    return
        finally:
            stream.close()
            with self._wake:
                self._stream = None

    def _handle(self, event: Event) -> None:
        if event.type == "":
            # A sign of life after silence: time to see whether something was missed, or could not be read.
            self._look()
        if event.type not in TYPES:
            return
        self._last = int(event.id or self._last)
        execution = str(event.data["execution_id"])
        if event.type == "EXECUTION_STARTED":
            self._started(execution)
        else:
            self._ended(execution)

    def _look(self) -> None:
        """At what the stream has not told, or not yet."""
        waited_for = set(self._pending())
        if not waited_for or self._closed:
            return
        try:
            for record in self._client.executions.iterate(self._reactor, page=1000):
                if record["id"] in waited_for:
                    waited_for.discard(record["id"])
                    if record["status"] in OVER:
                        self._ended(record["id"])
                    if not waited_for:
                        return
        except ReactordError as error:
            self._tell_if_lost(error)

    def _tell_if_lost(self, error: Exception) -> bool:
        """Whether there is no use in asking again. While the service is away, there is."""
        if self._closed or not isinstance(error, (NotFound, Unauthorized, Forbidden, TokenError)):
            return False
        self._lost(None if isinstance(error, NotFound) else error)
        return True

    def _pause(self, seconds: float) -> None:
        with self._wake:
            if not self._closed:
                self._wake.wait(seconds)
