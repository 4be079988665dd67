"""What comes of calls that an executor was given."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence

from .calls import OUTCOME_LINE, Outcome
from .errors import ReactordError
from .records import Record

if TYPE_CHECKING:
    from .client import Client


class RemoteTraceback(Exception):
    """The traceback in the container, as the cause of the exception that is raised here."""

    def __init__(self, trace: str) -> None:
        super().__init__(trace)
        self.trace = trace

    def __str__(self) -> str:
        return f'\n"""\n{self.trace}"""'


class RemoteError(ReactordError):
    """The function raised an exception that cannot be brought here: one that cannot be pickled, or ends a program."""

    def __init__(self, type_name: str, message: str, trace: str) -> None:
        super().__init__(type_name, message, trace)
        self.type_name = type_name
        self.message = message
        self.trace = trace

    def __str__(self) -> str:
        return f"{self.type_name}: {self.message}"


class ExecutionFailed(ReactordError):
    """The container ended, or could not be started, before the function had returned or raised."""

    def __init__(self, message: str, record: Optional[Record] = None, log: str = "") -> None:
        super().__init__(message, record, log)
        self.message = message
        self.record = record
        self.log = log

    @property
    def never_ran(self) -> bool:
        """Its message was dropped while it waited."""
        return self.record is not None and self.record["status"] == "ERROR" and self.record["startTime"] is None

    def __str__(self) -> str:
        shown = f"\n--- the end of its log\n{self.log}" if self.log else ""
        return f"{self.message}{shown}"


class Response(Future):  # type: ignore[type-arg]
    """
    One call. A ``concurrent.futures.Future``: ``done()``, ``result(timeout)``, ``exception(timeout)`` and callbacks are
    its. What the service has accepted cannot be taken back one by one, so that ``cancel()`` is False: ``halt()`` stops it.
    """

    def __init__(self, client: "Client", reactor: str, execution: str) -> None:
        super().__init__()
        self._client = client
        self.reactor_id = reactor
        self.execution_id = execution

    def cancel(self) -> bool:
        return self.cancelled()

    def halt(self) -> None:
        """Stops it while it runs; its result is then ExecutionFailed. Conflict when it does not run."""
        self._client.executions.halt(self.reactor_id, self.execution_id)

    def logs(self, tail: Optional[int] = None) -> str:
        """What the function has printed, as long as the executor is not deleted."""
        return self._client.logs.get(self.reactor_id, self.execution_id, tail=tail)

    def record(self) -> Record:
        """The execution: its status, times, exit code, and what it used."""
        return self._client.executions.get(self.reactor_id, self.execution_id)

    def results(self) -> List[bytes]:
        """What the function has given with ``send_result`` besides what it returned."""
        found = self._client.results.iterate(self.reactor_id, self.execution_id)
        return [result for result in found if not result.startswith(OUTCOME_LINE)]

    def __repr__(self) -> str:
        return f"<Response of {self.execution_id}, {'done' if self.done() else 'not done'}>"

    # What the executor tells it.

    def _started(self) -> None:
        if self.done() or self.running():
            return
        try:
            self.set_running_or_notify_cancel()
        except RuntimeError:
            # It has come to its end in this moment.
            pass

    def _dropped(self, error: Optional[ReactordError]) -> None:
        """Nothing is known to come of it. What did not run yet, and will not, is cancelled."""
        if error is None and super().cancel():
            self.set_running_or_notify_cancel()
        else:
            self.set_exception(error or ExecutionFailed("the executor was deleted before the call was over"))

    def _came(self, outcome: Outcome) -> None:
        failure = outcome.failure
        if failure is None:
            self.set_result(outcome.value)
            return
        error: BaseException = failure.exception or RemoteError(failure.type_name, failure.message, failure.trace)
        error.__cause__ = RemoteTraceback(failure.trace)
        self.set_exception(error)


class Mapped(Iterator[Any]):
    """
    The calls of one ``map``. Iterating gives their results in the order of the inputs, as ``concurrent.futures`` does it;
    ``responses`` has one response for each input (for each chunk, with ``chunksize``).
    """

    def __init__(self, responses: Sequence[Response], timeout: Optional[float], chunked: bool) -> None:
        self.responses = list(responses)
        self._ends = None if timeout is None else time.monotonic() + timeout
        self._results = self._iterate(chunked)

    def __iter__(self) -> "Mapped":
        return self

    def __next__(self) -> Any:
        return next(self._results)

    def __len__(self) -> int:
        return len(self.responses)

    def _iterate(self, chunked: bool) -> Iterator[Any]:
        for response in self.responses:
            left = None if self._ends is None else max(0.0, self._ends - time.monotonic())
            result = response.result(left)
            if chunked:
                yield from result
            else:
                yield result


