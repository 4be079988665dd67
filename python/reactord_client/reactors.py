"""Reactors, what they remember, and where they run."""

from __future__ import annotations

import json
import time
from typing import Any, Callable, Iterator, List, NamedTuple, Optional

from .backoff import pauses
from .errors import ApiError, Conflict, NotFound
from .records import JsonValue, Record
from .session import Session
from .transport import segment

# Far more than people who change one state at once: each round, one of them succeeds.
MOST_TRIES = 100


class Reactors:
    def __init__(self, session: Session) -> None:
        self._session = session

    def create(self, image: str, **fields: Any) -> Record:
        """Registers a reactor. ``fields`` are those of the API: ``name``, ``default_environment``, ``max_workers`` …"""
        return self._session.call("POST", "/actors/v2", json_body={"image": image, **fields})

    def get(self, reactor: str) -> Record:
        """By its id or an alias."""
        return self._session.call("GET", f"/actors/v2/{segment(reactor)}")

    def list(self, *, limit: int = 100, offset: int = 0, all: bool = False, **terms: Any) -> List[Record]:
        """One page, newest first: your own and those shared with you. ``terms`` are search terms: ``status="READY"``."""
        query = {"limit": limit, "offset": offset, "all": all or None, **terms}
        found = self._session.call("GET", "/actors/v2", query=query)
        return found if isinstance(found, list) else found["search"]

    def iterate(self, *, all: bool = False) -> Iterator[Record]:
        """All of them, newest first."""
        return self._session.pages("/actors/v2", {"all": all or None})

    def replace(self, reactor: str, image: str, **fields: Any) -> Record:
        """What is not given returns to its default; name, owner and state stay."""
        return self._session.call("PUT", f"/actors/v2/{segment(reactor)}", json_body={"image": image, **fields})

    def delete(self, reactor: str) -> None:
        """Also what it runs, what waits for it, its logs, results, aliases, nonces and permissions."""
        path = f"/actors/v2/{segment(reactor)}"
        # What a repeated request does not find, the first one has deleted; but a typo must not pass for success.
        self.get(reactor)
        try:
            self._session.send("DELETE", path, repeatable=True, timeout=120.0)
        except NotFound:
            pass

    def wait_until_ready(
        self,
        reactor: str,
        timeout: float = 300.0,
        told: Optional[Callable[[Record], None]] = None,
    ) -> Record:
        """The record once it says READY or ERROR; TimeoutError when it does not in time. ``told`` sees each look."""
        ends = time.monotonic() + timeout
        for wait in pauses(first=0.1, longest=2.0):
            record = self.get(reactor)
            if told is not None:
                told(record)
            if record["status"] != "SUBMITTED":
                return record
            left = ends - time.monotonic()
            if left <= 0:
                raise TimeoutError(
                    f"the reactor {reactor} was not ready within {timeout:g} s"
                    + (f": {record['statusMessage']}" if record.get("statusMessage") else "")
                )
            time.sleep(min(wait, left))
        raise AssertionError("pauses never end")

    def utilization(self) -> Record:
        return self._session.call("GET", "/actors/v2/utilization")


class StateVersion(NamedTuple):
    value: Any
    etag: str


class States:
    """What stateful reactors remember from one execution to the next."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, reactor: str) -> JsonValue:
        return self.read(reactor).value

    def read(self, reactor: str) -> StateVersion:
        """The state and the tag that names this version of it."""
        reply = self._session.send("GET", self._path(reactor), query={"naked": True}, repeatable=True)
        return StateVersion(reply.json()["state"], reply.headers["etag"])

    def set(self, reactor: str, value: JsonValue, *, if_match: Optional[str] = None) -> StateVersion:
        """Replaces it; with ``if_match`` only while it is that version (Conflict otherwise)."""
        headers = {"Content-Type": "application/json"}
        if if_match is not None:
            headers["If-Match"] = if_match
        body = json.dumps(value).encode()
        path = self._path(reactor)
        reply = self._session.send("POST", path, query={"naked": True}, headers=headers, body=body)
        return StateVersion(reply.json()["state"], reply.headers["etag"])

    def update(self, reactor: str, change: Callable[[Any], JsonValue]) -> Any:
        """
        Gives the state to the function and keeps what it returns, so that no change of anybody is lost: when another one
        was faster, the function is called again with what that one has left.
        """
        waits = pauses(first=0.01, longest=1.0)
        for _ in range(MOST_TRIES):
            value, etag = self.read(reactor)
            try:
                return self.set(reactor, change(value), if_match=etag).value
            except Conflict as error:
                conflict: ApiError = error
            time.sleep(next(waits))
        raise conflict

    @staticmethod
    def _path(reactor: str) -> str:
        return f"/actors/v2/{segment(reactor)}/state"


class Workers:
    """The places in which executions of a reactor run."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, reactor: str) -> List[Record]:
        return self._session.call("GET", self._path(reactor))

    def get(self, reactor: str, worker: str) -> Record:
        return self._session.call("GET", f"{self._path(reactor)}/{segment(worker)}")

    def keep(self, reactor: str, num: int) -> List[Record]:
        """At least so many are kept ready."""
        return self._session.call("POST", self._path(reactor), json_body={"num": num})

    def delete(self, reactor: str, worker: str) -> None:
        self._session.call("DELETE", f"{self._path(reactor)}/{segment(worker)}")

    @staticmethod
    def _path(reactor: str) -> str:
        return f"/actors/v2/{segment(reactor)}/workers"


