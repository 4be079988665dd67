"""The calls that are out: sent, and not known to be over."""

from __future__ import annotations

import contextlib
import threading
from typing import Dict, Iterator, List, Optional, Set

from .responses import Response


class Outstanding:
    """Each response is taken out once, by whoever says what came of it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._responses: Dict[str, Response] = {}
        self._sending = 0
        # What ended before whoever sent it knew its id.
        self._early: Set[str] = set()
        # Whose outcome somebody reads at this moment.
        self._reading: Set[str] = set()
        self._is_closed = False

    @contextlib.contextmanager
    def sending(self) -> Iterator[None]:
        """While a call is on its way. RuntimeError when no more are taken."""
        with self._changed:
            if self._is_closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._sending += 1
        try:
            yield
        finally:
            with self._changed:
                self._sending -= 1
                if self._sending == 0:
                    self._early.clear()
                self._changed.notify_all()

    def add(self, response: Response) -> bool:
        """Whether it is over already. To be called while it counts as being sent."""
        with self._changed:
            self._responses[response.execution_id] = response
            return response.execution_id in self._early

    def find(self, execution: str) -> Optional[Response]:
        with self._changed:
            return self._responses.get(execution)

    def read(self, execution: str) -> Optional[Response]:
        """
        The response of an execution that is over, for whoever reads its outcome: to be taken, or put back. None where
        somebody does already, and where it is not known yet; that is remembered.
        """
        with self._changed:
            found = self._responses.get(execution)
            if found is None and self._sending > 0:
                self._early.add(execution)
            if found is None or execution in self._reading:
                return None
            self._reading.add(execution)
            return found

    def put_back(self, execution: str) -> None:
        """Its outcome could not be read; it can be tried again."""
        with self._changed:
            self._reading.discard(execution)

    def take(self, execution: str) -> Optional[Response]:
        with self._changed:
            self._reading.discard(execution)
            return self._responses.pop(execution, None)

    def take_all(self) -> List[Response]:
        with self._changed:
            taken = list(self._responses.values())
            self._responses.clear()
            return taken

    def told(self) -> None:
        """Somebody has said what came of what was taken out."""
        with self._changed:
            self._changed.notify_all()

    def ids(self) -> List[str]:
        with self._changed:
            return list(self._responses)

    def is_empty(self) -> bool:
        with self._changed:
            return not self._responses and self._sending == 0

    def close(self) -> None:
        with self._changed:
            self._is_closed = True

    def wait_until_empty(self) -> None:
        with self._changed:
            while self._responses or self._sending > 0:
                # With a time, so that an interrupt from the keyboard is noticed on every system.
                self._changed.wait(1.0)
