"""The reactor behind an executor: registered, and waited for until its image is there."""

from __future__ import annotations

import sys
from typing import Any, Mapping, Optional

from .client import Client
from .errors import BadRequest, ReactordError
from .records import Record

IMAGE = "reactord/executor"
DEFAULT_WORKERS = 4


class ExecutorFailed(ReactordError):
    """The executor cannot be used; the message is the service's own, such as why its image could not be pulled."""


class NotReady(ExecutorFailed, TimeoutError):
    """The executor was not ready in time. Nothing of it is left behind."""


def register(client: Client, image: str, workers: Optional[int], fields: Mapping[str, Any]) -> str:
    """Its id. It goes by itself when it has not been used for some hours, should nobody delete it."""
    wanted = {**fields, "remove_when_idle": True}
    try:
        record = client.reactors.create(image, max_workers=DEFAULT_WORKERS if workers is None else workers, **wanted)
    except BadRequest as error:
        # The operator allows fewer than the default; whoever asked for a number is told.
        if workers is not None or "max_workers" not in error.message:
            raise
        record = client.reactors.create(image, max_workers=1, **wanted)
    return str(record["id"])


def wait_until_ready(client: Client, reactor: str, timeout: float, progress: bool) -> None:
    said = ""

    def tell(words: str) -> None:
        nonlocal said
        if progress and words and words != said:
            print(f"reactord: {words}", file=sys.stderr, flush=True)
        said = words

    def look(record: Record) -> None:
        tell(record.get("statusMessage") or said)

    tell(f"waiting for the executor {reactor}…")
    try:
        record = client.reactors.wait_until_ready(reactor, timeout, look)
    except TimeoutError as error:
        raise NotReady(str(error)) from None
    if record["status"] != "READY":
        raise ExecutorFailed(record["statusMessage"] or f"the executor is {record['status']}")
    tell(f"the executor {reactor} is ready")
