"""Functions in containers, against the running service."""

from __future__ import annotations

import concurrent.futures
import hashlib
import importlib
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

import reactord_client
from reactord_client import (
    CallNotLoaded,
    Client,
    ExecutionFailed,
    Executor,
    ExecutorFailed,
    NotFound,
    NotPicklable,
    NotReady,
    RemoteError,
    RemoteTraceback,
    Response,
)


def square(number: int) -> int:
    return number * number


def divide(one: int, other: int) -> float:
    return one / other


class Picky(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def test_fifty_inputs_give_fifty_results_in_their_order(executor: Executor) -> None:
    mapped = executor.map(square, range(50))
    assert len(mapped.responses) == 50
    assert all(isinstance(each, Response) for each in mapped.responses)
    assert list(mapped) == [number * number for number in range(50)]
    assert all(each.done() for each in mapped.responses)
    # One watcher and a few readers, however many calls there are.
    names = [thread.name for thread in threading.enumerate() if thread.name.startswith("reactord")]
    assert len(names) <= 6, names


def test_call_blocks_and_submit_does_not(executor: Executor) -> None:
    assert executor.call(divide, 1, other=4) == 0.25

    def slow(seconds: float) -> str:
        time.sleep(seconds)
        print("slept well")
        return "awake"

    response = executor.submit(slow, 1)
    assert not response.done()
    with pytest.raises(concurrent.futures.TimeoutError):
        response.result(timeout=0.1)
    assert response.result(timeout=60) == "awake"
    assert response.done() and not response.cancelled()
    assert response.logs() == "slept well\n"
    assert response.record().status == "COMPLETE" and response.record().exit_code == 0


def test_code_for_concurrent_futures_works_as_it_is(executor: Executor) -> None:
    assert isinstance(executor, concurrent.futures.Executor)

    def total(pool: concurrent.futures.Executor) -> int:
        futures = {pool.submit(pow, base, 2): base for base in range(4)}
        done, not_done = concurrent.futures.wait(futures, timeout=60)
        assert not not_done
        assert {futures[each]: each.result() for each in concurrent.futures.as_completed(futures)} == {
            base: base**2 for base in range(4)
        }
        told = []
        last = pool.submit(divmod, 7, 2)
        last.add_done_callback(lambda future: told.append(future.result()))
        last.result(60)
        assert told == [(3, 1)]
        return sum(pool.map(pow, [1, 2, 3], [2, 2, 2], timeout=60)) + sum(pool.map(square, range(10), chunksize=4))

    with concurrent.futures.ThreadPoolExecutor() as threads:
        assert total(executor) == total(threads) == 14 + 285


def test_exceptions_come_back_with_their_traceback(executor: Executor) -> None:
    failed = executor.submit(divide, 1, 0)
    with pytest.raises(ZeroDivisionError, match="division by zero") as caught:
        failed.result(60)
    cause = caught.value.__cause__
    assert isinstance(cause, RemoteTraceback)
    assert "in divide" in cause.trace and "run_call" not in cause.trace
    assert isinstance(failed.exception(), ZeroDivisionError)
    assert "ZeroDivisionError" in failed.logs() and failed.record().exit_code == 1

    def picky() -> None:
        raise Picky("this", "that")

    def leaves() -> None:
        sys.exit("enough")

    with pytest.raises(RemoteError, match="Picky: this and that") as odd:
        executor.call(picky)
    assert "in picky" in odd.value.trace
    with pytest.raises(RemoteError, match="SystemExit: enough"):
        executor.call(leaves)


def test_what_is_large_or_odd_comes_through(executor: Executor) -> None:
    mebibyte = 1024 * 1024
    content = bytes(range(256)) * (mebibyte // 256)

    def repeat(data: bytes, times: int) -> "tuple[str, bytes]":
        return hashlib.sha256(data).hexdigest(), data * times

    assert executor.call(repeat, content, 1) == (hashlib.sha256(content).hexdigest(), content)
    # More than one result takes.
    assert executor.call(repeat, content, 10)[1] == content * 10

    def size_of(data: bytes) -> int:
        reactord_client.send_result("between")
        return len(data)

    sized = executor.submit(size_of, b"x" * (16 * mebibyte))
    assert sized.result(120) == 16 * mebibyte
    assert sized.results() == [b"between"]
    assert executor.call(lambda: (lambda each: each + 1))(41) == 42
    with pytest.raises(reactord_client.ReactordError, match="does not keep what the call gave back.*may have"):
        executor.call(lambda: bytes(14 * mebibyte))


def test_a_package_of_ones_own_goes_along(executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    (tmp_path / "mine" / "parts.py").write_text("def double(number):\n    return 2 * number\n")
    (tmp_path / "mine" / "whole.py").write_text(
        "from . import parts\nfrom .parts import double\n\n"
        "def both(number):\n    return double(number) + parts.double(number)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    whole = importlib.import_module("mine.whole")
    assert executor.call(whole.both, 3) == 12


def test_what_cannot_be_sent_is_said(executor: Executor) -> None:
    with pytest.raises(NotPicklable, match="cannot be pickled"):
        executor.submit(square, threading.Lock())
    with pytest.raises(NotPicklable, match="the return value, a lock"):
        executor.call(threading.Lock)
    with pytest.raises(CallNotLoaded, match="no module _pytest.*modules=\\[_pytest\\]"):
        executor.call(pytest.approx, 1)


def test_a_container_that_dies_is_told_with_its_log(client: Client, executor_image: str) -> None:
    import os

    def dies() -> None:
        print("last words", flush=True)
        os._exit(7)

    def hungry() -> int:
        return len(bytearray(512 * 1024 * 1024))

    with Executor(client, image=executor_image, mem_limit="96m", execution_timeout=2) as small:
        dead, full, late = small.submit(dies), small.submit(hungry), small.submit(time.sleep, 60)
        with pytest.raises(ExecutionFailed, match="exit code 7") as caught:
            dead.result(60)
        assert caught.value.log == "last words\n" and caught.value.record is not None
        with pytest.raises((ExecutionFailed, MemoryError)):
            full.result(60)
        with pytest.raises(ExecutionFailed, match="ran longer than 2 s"):
            late.result(60)


def test_an_image_that_cannot_be_had_is_an_error_and_leaves_nothing(client: Client) -> None:
    name = "executor-without-image"
    with pytest.raises(ExecutorFailed, match="127.0.0.1:1 cannot be reached"):
        Executor(client, image="127.0.0.1:1/nothing", name=name, timeout=60)
    assert client.reactors.list(name=name) == []


def test_an_executor_that_is_not_ready_in_time_leaves_nothing(client: Client) -> None:
    name = "executor-too-late"
    began = time.monotonic()
    # A registry that never answers.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        image = f"127.0.0.1:{silent.getsockname()[1]}/nothing"
        with pytest.raises(NotReady, match="was not ready within 1.5 s"):
            Executor(client, image=image, name=name, timeout=1.5)
    assert time.monotonic() - began < 30
    assert client.reactors.list(name=name) == []


def test_progress_is_told_where_it_is_asked_for(
    client: Client, executor_image: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Executor(client, image=executor_image, progress=True, token=False) as untrusted:
        # Without a token, only the socket is left for the result.
        assert untrusted.call(square, 5) == 25
    assert "is ready" in capsys.readouterr().err
    Executor(client, image=executor_image).delete()
    assert capsys.readouterr().err == ""


def test_delete_removes_everything_at_once(client: Client, executor_image: str) -> None:
    executor = Executor(client, image=executor_image, num_workers=1)
    reactor = client.reactors.get(executor.reactor_id)
    assert reactor.remove_when_idle and reactor.max_workers == 1
    assert reactor.idle_removal_time is not None
    running = executor.submit(time.sleep, 300)
    waiting = executor.submit(square, 3)
    while not running.running():
        time.sleep(0.05)
    executor.delete()
    with pytest.raises(NotFound):
        client.reactors.get(executor.reactor_id)
    with pytest.raises(ExecutionFailed, match="deleted"):
        running.result(1)
    assert waiting.cancelled()
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(square, 1)
    executor.delete()


def test_shutdown_can_drop_what_waits(client: Client, executor_image: str) -> None:
    executor = Executor(client, image=executor_image, num_workers=1)
    first = executor.submit(time.sleep, 1.5)
    others = executor.submit_all(square, range(5))
    while not first.running():
        time.sleep(0.05)
    assert not others[0].cancel()
    executor.shutdown(wait=True, cancel_futures=True)
    assert first.result(1) is None
    assert all(each.cancelled() for each in others)
    assert not concurrent.futures.wait(others, timeout=1).not_done
    with pytest.raises(NotFound):
        client.reactors.get(executor.reactor_id)


def test_an_error_in_the_block_removes_the_executor_too(client: Client, executor_image: str) -> None:
    with pytest.raises(KeyError):
        with Executor(client, image=executor_image) as executor:
            executor.submit(time.sleep, 300)
            raise KeyError("mine")
    with pytest.raises(NotFound):
        client.reactors.get(executor.reactor_id)
