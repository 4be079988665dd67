"""Runs Python functions in containers of the service."""

from __future__ import annotations

import concurrent.futures
import sys
import threading
import time
from types import ModuleType, TracebackType
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence, Tuple, Type

from .backoff import retry_after
from .calls import Call, pack_call, read_outcome
from .client import Client
from .errors import ConnectionFailed, NotFound, ReactordError, ServerError, TooManyRequests
from .executor_reactor import IMAGE, register, wait_until_ready
from .outstanding import Outstanding
from .own_modules import by_value
from .responses import ExecutionFailed, Mapped, Response
from .watcher import Watcher

READERS = 4
SHOWN_LINES = 20


class Executor(concurrent.futures.Executor):
    """
    A reactor that makes calls of Python functions, each in a container of its own:

        with Executor(client, num_workers=8) as executor:
            total = sum(executor.map(measure, samples))

    It is a ``concurrent.futures.Executor``. Making one waits until its image is ready, at most ``timeout`` seconds.
    ``num_workers`` (or ``max_workers``) calls run at once; ``execution_timeout`` is the most seconds of one call, and
    ``fields`` are further ones of the registration, such as ``mem_limit="1g"``, ``max_cpus=2``, ``retries=2`` or
    ``default_environment={…}``. The module of a function goes with it unless it is an installed one; ``modules`` are
    others to be sent along. ``progress``: tell on stderr how far the image is; unless said, on a terminal alone.
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
        self._outstanding = Outstanding()
        self._lock = threading.Lock()
        self._is_deleted = False
        self._is_dropping = False
        workers = max_workers if num_workers is None else num_workers
        self.reactor_id = register(client, image, workers, {"name": name, **fields})
        try:
            shown = sys.stderr.isatty() if progress is None else progress
            wait_until_ready(client, self.reactor_id, timeout, shown)
        except BaseException:
            self._remove_quietly()
            raise
        self._readers = concurrent.futures.ThreadPoolExecutor(READERS, thread_name_prefix="reactord-results")
        self._watcher = Watcher(
            client,
            self.reactor_id,
            pending=self._outstanding.ids,
            started=self._note_start,
            ended=self._note_end,
            lost=self._note_lost,
        )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Response:
        """Sends the call and returns at once."""
        message = pack_call(Call(fn, args, kwargs), self._modules)
        with self._outstanding.sending():
            execution = self._send(message)
            response = Response(self._client, self.reactor_id, execution)
            is_over = self._outstanding.add(response)
        if self._is_deleted:
            self._note_lost(None)
        elif is_over:
            self._note_end(execution)
        else:
            self._watcher.expect()
        return response

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
        are sent at once. ``chunksize``: how many of them go into one call, since a container takes a moment to start.
        """
        if chunksize < 1:
            raise ValueError("chunksize must be 1 or more")
        if chunksize == 1:
            return Mapped(self.submit_all(fn, *iterables), timeout, False)
        # What is sent along is the function's module, and not the one of the loop around it.
        with by_value(fn, ()):
            chunks = _chunks(zip(*iterables), chunksize)
            return Mapped([self.submit(call_each, fn, chunk) for chunk in chunks], timeout, True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """
        Takes no more calls, and removes the reactor when those that it has are over. ``wait``: returns after that.
        ``cancel_futures``: those that do not run yet are dropped.
        """
        self._outstanding.close()
        if cancel_futures and not self._is_deleted and not self._outstanding.is_empty():
            self._is_dropping = True
            self._client.messages.purge(self.reactor_id)
        if wait or self._outstanding.is_empty():
            self._outstanding.wait_until_empty()
            self.delete()
        else:
            threading.Thread(target=self.shutdown, name="reactord-shutdown", daemon=True).start()

    def delete(self) -> None:
        """Removes the reactor and all that belongs to it. What still runs is stopped."""
        self._outstanding.close()
        with self._lock:
            if self._is_deleted:
                return
            self._is_deleted = True
        self._watcher.close()
        try:
            self._client.reactors.delete(self.reactor_id)
        except NotFound:
            pass
        finally:
            self._readers.shutdown(wait=True)
            self._note_lost(None)

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> Optional[bool]:
        """Waits for what is out; after an exception in the block nobody does."""
        if kind is None:
            self.shutdown(wait=True)
        else:
            self.delete()
        return None

    def __repr__(self) -> str:
        return f"<Executor {self.reactor_id} at {self._client.base_url}>"

    def _send(self, message: bytes) -> str:
        while True:
            try:
                return self._client.messages.send(self.reactor_id, message)
            except TooManyRequests as error:
                # A quota of waiting messages is full: there is room again when some of those have run.
                if not self._outstanding.ids():
                    raise
                time.sleep(min(retry_after(error.headers) or 1.0, 30.0))

    def _remove_quietly(self) -> None:
        """What went wrong before is to be told, and not this; it goes by itself when it is idle."""
        try:
            self._client.reactors.delete(self.reactor_id)
        except ReactordError:
            pass

    # What the watcher tells.

    def _note_start(self, execution: str) -> None:
        response = self._outstanding.find(execution)
        if response is not None:
            response._started()

    def _note_end(self, execution: str) -> None:
        response = self._outstanding.read(execution)
        if response is None:
            return
        try:
            self._readers.submit(self._finish, response)
        except RuntimeError:
            # The executor is being deleted, or the program ends.
            self._outstanding.put_back(execution)

    def _note_lost(self, error: Optional[ReactordError]) -> None:
        """Nothing is learned any more of the calls that are out: the reactor is gone, or we may not ask."""
        for response in self._outstanding.take_all():
            response._dropped(error)
        self._outstanding.told()

    def _finish(self, response: Response) -> None:
        """Reads what came of a call. Its response is done when that is here."""
        execution = response.execution_id
        error: Optional[Exception] = None
        try:
            outcome = read_outcome(self._client.results.iterate(self.reactor_id, execution))
            if outcome is None:
                error = self._explain(execution)
        except (ConnectionFailed, ServerError):
            # It is there, and the service is away: the watcher finds it again.
            return self._outstanding.put_back(execution)
        except Exception as problem:
            outcome, error = None, problem
        # What is deleted meanwhile is told so, once for all.
        if (error is not None and self._is_deleted) or self._outstanding.take(execution) is None:
            return
        if outcome is not None:
            response._came(outcome)
        elif self._is_dropping and isinstance(error, ExecutionFailed) and error.never_ran:
            response._dropped(None)
        else:
            response.set_exception(error)
        self._outstanding.told()

    def _explain(self, execution: str) -> ExecutionFailed:
        record = self._client.executions.get(self.reactor_id, execution)
        log = self._client.logs.get(self.reactor_id, execution, tail=SHOWN_LINES)
        words = record["statusMessage"] or ((record["finalState"] or {}).get("Error") or "")
        if not words:
            words = f"the container ended with exit code {record['exitCode']} before the call had an outcome"
        return ExecutionFailed(words, record, log)


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
