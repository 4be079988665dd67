"""Requests to the API in somebody's name, and their results."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, Mapping, Optional, Union
from urllib.parse import parse_qs, urlsplit

from .errors import TokenError, Unauthorized
from .records import Record
from .tokens import GivenToken, GrantedToken, basic
from .transport import Body, Query, Reply, Stream, Transport, failure_of


class NoToken:
    """For a user without a client application: only what takes a password works."""

    def current(self) -> str:
        raise TokenError(
            "no_token",
            "this needs a token: give the Client a token, or the key and secret of a client application",
        )

    def renew(self, stale: str) -> bool:
        return False


Tokens = Union[GivenToken, GrantedToken, NoToken]


class Session:
    """A service and who speaks to it."""

    def __init__(
        self,
        transport: Transport,
        tokens: Tokens,
        username: Optional[str] = None,
        password: Optional[str] = None,
    ) -> None:
        self.transport = transport
        self.tokens = tokens
        self._basic = basic(username, password) if username is not None and password is not None else None

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Query] = None,
        json_body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
        by_password: bool = False,
    ) -> Any:
        """The result of an operation, without its envelope. Fields that are None are not sent."""
        body: Optional[bytes] = None
        sent: Dict[str, str] = {"Accept": "application/json", **(headers or {})}
        if json_body is not None:
            body = json.dumps(json_body).encode()
            sent.setdefault("Content-Type", "application/json")
        reply = self.send(
            method,
            path,
            query={"naked": True, **(query or {})},
            headers=sent,
            body=body,
            repeatable=method in ("GET", "PUT"),
            by_password=by_password,
        )
        return reply.json()

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Query] = None,
        headers: Optional[Mapping[str, str]] = None,
        body: Optional[Body] = None,
        timeout: Optional[float] = None,
        repeatable: bool = False,
        by_password: bool = False,
    ) -> Reply:
        """The answer of a request that has succeeded. A token that has ended is renewed once."""
        for is_renewed in (False, True):
            token = None if by_password else self.tokens.current()
            reply = self.transport.request(
                method,
                path,
                query=query,
                headers={**(headers or {}), "Authorization": self._authorization(token)},
                body=body,
                timeout=timeout,
                repeatable=repeatable,
            )
            if reply.status < 400:
                return reply
            if reply.status != 401 or token is None or is_renewed or not self.tokens.renew(token):
                break
        raise failure_of(reply, method, path)

    def open(
        self, path: str, *, query: Optional[Query] = None, headers: Optional[Mapping[str, str]] = None
    ) -> Stream:
        """A stream of events."""
        token = self.tokens.current()
        sent = {"Accept": "text/event-stream", **(headers or {})}
        try:
            return self.transport.stream(path, query=query, headers={**sent, "Authorization": f"Bearer {token}"})
        except Unauthorized:
            if not self.tokens.renew(token):
                raise
        renewed = {**sent, "Authorization": f"Bearer {self.tokens.current()}"}
        return self.transport.stream(path, query=query, headers=renewed)

    def pages(self, path: str, query: Query, member: Optional[str] = None) -> Iterator[Record]:
        """Everything of a list, page by page as it is asked for. ``member``: where the list stands in the result."""
        wanted = dict(query)
        while True:
            reply = self.send("GET", path, query={"naked": True, **wanted}, repeatable=True)
            result = reply.json()
            yield from (result if member is None else result[member])
            cursor = _next_cursor(reply.headers.get("link", ""))
            if cursor is None:
                return
            wanted["cursor"] = cursor

    def _authorization(self, token: Optional[str]) -> str:
        if token is not None:
            return f"Bearer {token}"
        if self._basic is None:
            raise TokenError("no_password", "this needs a username and a password: give them to the Client")
        return self._basic


def _next_cursor(link: str) -> Optional[str]:
    for part in link.split(","):
        address, _, relation = part.partition(";")
        if 'rel="next"' in relation:
            found = parse_qs(urlsplit(address.strip(" <>")).query).get("cursor")
            return found[0] if found else None
    return None
