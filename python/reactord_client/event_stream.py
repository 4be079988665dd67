"""Server-sent events, as the service sends them, and the stream of what happens."""

from __future__ import annotations

import json
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence

from .records import Record, record_hook
from .session import Session
from .transport import Stream


class Event(NamedTuple):
    type: str
    id: Optional[str]
    data: Any


def read_events(lines: Iterable[str], beats: bool = False) -> Iterator[Event]:
    """The events of a stream. ``beats``: also its signs of life, as events without a type."""
    kind = ""
    last: Optional[str] = None
    data: List[str] = []
    for line in lines:
        if line.startswith(":"):
            if beats:
                yield Event("", None, None)
        elif line == "":
            if data:
                yield Event(kind or "message", last, json.loads("\n".join(data), object_hook=record_hook))
            kind, last = "", None
            data = []
        else:
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                kind = value
            elif field == "id":
                last = value
            elif field == "data":
                data.append(value)


class Events:
    """What happens to reactors and executions."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def open(
        self,
        *,
        reactor: Optional[str] = None,
        types: Optional[Sequence[str]] = None,
        after: Optional[int] = None,
        all: bool = False,
    ) -> Stream:
        """The stream itself, for ``read_events``; it can be closed from another thread."""
        query = {"reactor": reactor, "type": types, "after": after, "all": all or None}
        return self._session.open("/actors/v2/events", query=query)

    def follow(
        self,
        *,
        reactor: Optional[str] = None,
        types: Optional[Sequence[str]] = None,
        after: Optional[int] = None,
        all: bool = False,
    ) -> Iterator[Record]:
        """Events as they happen, each with its number as ``id``; ends with the stream. ``after``: behind that number."""
        opened = self.open(reactor=reactor, types=types, after=after, all=all)
        try:
            for event in read_events(opened.lines()):
                yield Record({"id": int(event.id or 0), **event.data})
        finally:
            opened.close()
