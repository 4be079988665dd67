"""What is sent to reactors."""

from __future__ import annotations

import json
import uuid
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from .records import JsonValue, Record
from .session import Session
from .transport import Body, Query, Reply, segment

Message = Union[str, Body, JsonValue]


class Answer(NamedTuple):
    """What came of a message whose sender waited."""

    execution_id: str
    # COMPLETE or ERROR, or None when the time had passed before.
    status: Optional[str]
    exit_code: Optional[int]
    # The first result, or the log of an execution without one.
    body: bytes


class Messages:
    """
    The inboxes of reactors. Text is sent as a raw string, bytes as bytes, anything else as JSON. Each request carries a
    key, so that a repeated one makes no second execution.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def send(
        self,
        reactor: str,
        message: Message,
        *,
        environment: Optional[Mapping[str, str]] = None,
        delay: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> str:
        """The id of the execution that it leads to. ``environment``: variables of this execution alone."""
        query = {**(environment or {}), "delay": delay}
        reply = self._post(reactor, *encode(message), query, idempotency_key)
        return str(reply.json()["executionId"])

    def send_and_wait(
        self,
        reactor: str,
        message: Message,
        seconds: float,
        *,
        environment: Optional[Mapping[str, str]] = None,
    ) -> Answer:
        """Waits for the first result, or for the end of an execution without one; at most so long."""
        query = {**(environment or {}), "wait": max(1, int(seconds))}
        reply = self._post(reactor, *encode(message), query, None, timeout=seconds + 30)
        headers = reply.headers
        if reply.status == 201:
            return Answer(str(reply.json()["executionId"]), None, None, b"")
        code = headers.get("x-exit-code")
        return Answer(
            headers["x-execution-id"],
            headers.get("x-execution-status"),
            int(code) if code else None,
            reply.body,
        )

    def send_many(
        self, reactor: str, messages: Iterable[JsonValue], *, idempotency_key: Optional[str] = None
    ) -> List[str]:
        """All of them or none: JSON or text. The ids of their executions, in the same order."""
        body = b"".join(json.dumps(_line(each)).encode() + b"\n" for each in messages)
        reply = self._post(reactor, "application/x-ndjson", body, {}, idempotency_key)
        return [str(each) for each in reply.json()["executionIds"]]

    def waiting(self, reactor: str, peek: Optional[int] = None) -> Record:
        """How many wait; with ``peek`` also the oldest of them."""
        return self._session.call("GET", _path(reactor), query={"peek": peek})

    def purge(self, reactor: str) -> int:
        """Drops what waits. How many those were."""
        return int(self._session.call("DELETE", _path(reactor))["dropped"])

    def _post(
        self,
        reactor: str,
        content_type: str,
        body: Body,
        query: Query,
        key: Optional[str],
        timeout: Optional[float] = None,
    ) -> Reply:
        headers = {"Content-Type": content_type, "Idempotency-Key": key or uuid.uuid4().hex}
        return self._session.send(
            "POST",
            _path(reactor),
            query={"naked": True, **query},
            headers=headers,
            body=body,
            timeout=timeout,
            repeatable=True,
        )


class DeadLetters:
    """Messages whose executions have failed for the last time."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, reactor: str, *, limit: int = 100, cursor: Optional[str] = None) -> Record:
        return self._session.call("GET", self._path(reactor), query={"limit": limit, "cursor": cursor})

    def replay(self, reactor: str, execution: Optional[str] = None) -> Record:
        """One of them, or all."""
        return self._session.call("POST", self._path(reactor, execution))

    def delete(self, reactor: str, execution: Optional[str] = None) -> None:
        self._session.call("DELETE", self._path(reactor, execution))

    @staticmethod
    def _path(reactor: str, execution: Optional[str] = None) -> str:
        one = "" if execution is None else f"/{segment(execution)}"
        return f"/actors/v2/{segment(reactor)}/dead-letters{one}"


def encode(message: Message) -> Tuple[str, Body]:
    """Its content type and its bytes."""
    if isinstance(message, (bytes, bytearray, memoryview)):
        return "application/octet-stream", message
    if isinstance(message, str):
        return "text/plain; charset=utf-8", message.encode()
    return "application/json", json.dumps(message).encode()


def _line(message: JsonValue) -> JsonValue:
    """A line of a batch is JSON; text is the one that has a field for itself."""
    if isinstance(message, str):
        raw: Dict[str, Any] = {"message": message}
        return raw
    return message


def _path(reactor: str) -> str:
    return f"/actors/v2/{segment(reactor)}/messages"
