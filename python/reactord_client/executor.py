"""Runs Python functions in containers of the service."""

from __future__ import annotations

import concurrent.futures
import sys
import threading
from types import ModuleType, TracebackType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Type

from .calls import Call, pack_call, read_outcome
from .client import Client
from .errors import BadRequest, NotFound, ReactordError
from .own_modules import by_value
from .records import Record
from .responses import ExecutionFailed, Mapped, Response
from .watcher import Watcher

IMAGE = "reactord/executor"
DEFAULT_WORKERS = 4
READERS = 4
SHOWN_LINES = 20


class ExecutorFailed(ReactordError):
    """The executor cannot be used; the message is the service's own, such as why its image could not be pulled."""


class NotReady(ExecutorFailed, TimeoutError):
    """The executor was not ready in time. Nothing of it is left behind."""


class Executor(concurrent.futures.Executor):
    """
    A reactor that makes calls of Python functions, each in a container of its own:

        with Executor(client, num_workers=8) as executor:
            total = sum(executor.map(measure, samples))

    It is a ``concurrent.futures.Executor``. Making one waits until its image is ready, at most ``timeout`` seconds.
    ``num_workers`` (or ``max_workers``) calls run at once; ``fields`` are further ones of the registration, such as
    ``mem_limit="1g"``, ``max_cpus=2``, ``default_environment={…}`` or ``execution_timeout`` in seconds for each call.
    The module of a function goes with it unless it is an installed one; ``modules`` are others to be sent along.
    ``progress``: tell on stderr how far the image is; without it, on a terminal alone.
    """

    def __init__(
        self,
        client: Client,
        image: str = IMAGE,
        *,
        num_workers: Optional[int] = None,
        max_workers: Optional[int] = None,
        timeout: float = 300.0,
        name: str = "reactord-executor",
        modules: Sequence[ModuleType] = (),
        execution_timeout: Optional[int] = None,
        progress: Optional[bool] = None,
        **fields: Any,
    ) -> None:
        if num_workers is not None and max_workers is not None and num_workers != max_workers:
            raise ValueError("num_workers and max_workers mean the same: give one of them")
        if execution_timeout is not None:
            fields["timeout"] = execution_timeout
        self._client = client
        self._modules = tuple(modules)
        self._lock = threading.Lock()
        self._responses: Dict[str, Response] = {}
        # What ended before its response was known here.
        self._early: Set[str] = set()
        self._sending = 0
        self._is_closed = False
        self._is_deleted = False
        self._over = threading.Condition(self._lock)
        self.reactor_id = _register(client, image, num_workers or max_workers, {"name": name, **fields})
        try:
            self._wait_until_ready(timeout, sys.stderr.isatty() if progress is None else progress)
        except BaseException:
            self._remove()
            raise
        self._readers = concurrent.futures.ThreadPoolExecutor(READERS, thread_name_prefix="reactord-results")
        self._watcher = Watcher(
            client,
            self.reactor_id,
            pending=self._pending,
            started=self._note_start,
            ended=self._note_end,
            gone=self._note_gone,
        )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Response:
        """Sends the call and returns at once."""
        message = pack_call(Call(fn, args, kwargs), self._modules)
        return self._send(message)

    def call(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Makes the call and returns its result."""
        return self.submit(fn, *args, **kwargs).result()

    def submit_all(self, fn: Callable[..., Any], /, *iterables: Iterable[Any]) -> List[Response]:
        """One response for each input, in their order."""
        return [self.submit(fn, *args) for args in zip(*iterables)]

    def map(
        self,
        fn: Callable[..., Any],
        /,
        *iterables: Iterable[Any],
        timeout: Optional[float] = None,
        chunksize: int = 1,
    ) -> Mapped:
        """
        The results for all inputs, in their order, as an iterator whose ``responses`` are those of the calls. All inputs
        are read at once. ``chunksize``: how many of them go into one call, since a container takes a moment to start.
        """
        if chunksize < 1:
            raise ValueError("chunksize must be 1 or more")
        if chunksize == 1:
            return Mapped(self.submit_all(fn, *iterables), timeout, False)
        inputs = zip(*iterables)
        responses = [self._submit_chunk(fn, chunk) for chunk in _chunks(inputs, chunksize)]
        return Mapped(responses, timeout, True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """
        Takes no more calls, and removes the reactor when those that it has are over. ``wait``: returns after that.
        ``cancel_futures``: those that do not run yet are dropped.
        """
        with self._lock:
            self._is_closed = True
        if cancel_futures and not self._is_deleted:
            self._drop_waiting()
        if wait:
            with self._over:
                while self._responses or self._sending:
                    # With a time, so that an interrupt from the keyboard is noticed on every system.
                    self._over.wait(1.0)
            self.delete()
        else:
            self._delete_when_over()

    def delete(self) -> None:
        """Removes the reactor and all that belongs to it. What still runs is stopped."""
        with self._lock:
            self._is_closed = True
            if self._is_deleted:
                return
            self._is_deleted = True
        self._watcher.close()
        self._remove()
        self._readers.shutdown(wait=True)
        self._note_gone()

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> Optional[bool]:
        if kind is None:
            self.shutdown(wait=True)
        else:
            self.delete()
        return None

    def __repr__(self) -> str:
        return f"<Executor {self.reactor_id} at {self._client.base_url}>"

    def _submit_chunk(self, fn: Callable[..., Any], chunk: List[Tuple[Any, ...]]) -> Response:
        # The function decides what is sent along, and not the loop around it.
        with by_value(fn, self._modules):
            return self.submit(call_each, fn, chunk)

    def _send(self, message: bytes) -> Response:
        with self._lock:
            if self._is_closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._sending += 1
        try:
            execution = self._client.messages.send(self.reactor_id, message)
        except BaseException:
            with self._over:
                self._sending -= 1
                self._over.notify_all()
            raise
        response = Response(self._client, self.reactor_id, execution)
        with self._over:
            self._sending -= 1
            self._responses[execution] = response
            is_over = execution in self._early
            if self._sending == 0:
                self._early.clear()
            is_deleted = self._is_deleted
        if is_deleted:
            self._note_gone()
        elif is_over:
            self._note_end(execution)
        else:
            self._watcher.expect()
        return response

    def _wait_until_ready(self, timeout: float, progress: bool) -> None:
        said = ""

        def tell(record: Record) -> None:
            nonlocal said
            words = record.get("statusMessage") or ""
            if progress and words and words != said:
                print(f"reactord: {words}", file=sys.stderr, flush=True)
            said = words

        if progress:
            print(f"reactord: waiting for the executor {self.reactor_id}…", file=sys.stderr, flush=True)
        try:
            record = self._client.reactors.wait_until_ready(self.reactor_id, timeout, tell)
        except TimeoutError as error:
            raise NotReady(str(error)) from None
        if record["status"] != "READY":
            raise ExecutorFailed(record["statusMessage"] or f"the executor is {record['status']}")
        if progress:
            print(f"reactord: the executor {self.reactor_id} is ready", file=sys.stderr, flush=True)

    def _remove(self) -> None:
        try:
            self._client.reactors.delete(self.reactor_id)
        except NotFound:
            pass

    def _delete_when_over(self) -> None:
        """The last that ends removes the reactor."""
        with self._lock:
            is_over = not self._responses and not self._sending
        if is_over:
            self.delete()
            return
        waiting = threading.Thread(target=self.shutdown, name="reactord-shutdown", daemon=True)
        waiting.start()

    def _drop_waiting(self) -> None:
        with self._lock:
            waiting = [each for each in self._responses.values() if not each.running()]
        if not waiting:
            return
        self._client.messages.purge(self.reactor_id)
        for response in waiting:
            record = response.record()
            # Others had begun in between.
            if record["status"] == "ERROR" and record["startTime"] is None and self._take(response.execution_id):
                response._dropped()
        self._tell_over()

    # What the watcher tells.

    def _pending(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._responses))

    def _note_start(self, execution: str) -> None:
        with self._lock:
            response = self._responses.get(execution)
        if response is not None:
            response._started()

    def _note_end(self, execution: str) -> None:
        with self._lock:
            if execution not in self._responses:
                if self._sending:
                    self._early.add(execution)
                return
            response = self._responses[execution]
        try:
            self._readers.submit(self._finish, response)
        except RuntimeError:
            # The executor is being deleted, or the program ends.
            pass

    def _note_gone(self) -> None:
        """The reactor is no more: nothing comes of the calls that are out."""
        with self._lock:
            left = list(self._responses)
            self._early.clear()
        for execution in left:
            response = self._take(execution)
            if response is not None:
                response._dropped()
        self._tell_over()

    def _finish(self, response: Response) -> None:
        """Reads what came of a call. Its response is done when that is here."""
        client, execution = self._client, response.execution_id
        try:
            outcome = read_outcome(client.results.iterate(self.reactor_id, execution))
            error: Optional[BaseException] = None if outcome is not None else self._explain(execution)
        except Exception as problem:
            outcome, error = None, problem
        if self._take(execution) is None:
            return
        if outcome is None:
            response.set_exception(error)
        elif outcome.failure is not None:
            response._failed(outcome.failure)
        else:
            response.set_result(outcome.value)
        self._tell_over()

    def _explain(self, execution: str) -> ExecutionFailed:
        record = self._client.executions.get(self.reactor_id, execution)
        log = self._client.logs.get(self.reactor_id, execution, tail=SHOWN_LINES)
        words = record["statusMessage"] or ((record["finalState"] or {}).get("Error") or "")
        if not words:
            words = f"the container ended with exit code {record['exitCode']} before the call had an outcome"
        return ExecutionFailed(words, record, log)

    def _take(self, execution: str) -> Optional[Response]:
        """Whoever takes it says what came of it; nobody else does."""
        with self._lock:
            return self._responses.pop(execution, None)

    def _tell_over(self) -> None:
        with self._over:
            if not self._responses:
                self._over.notify_all()


def call_each(fn: Callable[..., Any], chunk: Sequence[Tuple[Any, ...]]) -> List[Any]:
    """Runs in the container, for inputs that go into one call."""
    return [fn(*args) for args in chunk]


def _chunks(inputs: Iterable[Tuple[Any, ...]], size: int) -> Iterator[List[Tuple[Any, ...]]]:
    chunk: List[Tuple[Any, ...]] = []
    for each in inputs:
        chunk.append(each)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _register(client: Client, image: str, workers: Optional[int], fields: Mapping[str, Any]) -> str:
    wanted = {**fields, "remove_when_idle": True}
    try:
        record = client.reactors.create(image, max_workers=workers or DEFAULT_WORKERS, **wanted)
    except BadRequest as error:
        # The operator allows fewer than the default; whoever asked for a number is told.
        if workers is not None or "max_workers" not in error.message:
            raise
        record = client.reactors.create(image, max_workers=1, **wanted)
    return str(record["id"])
