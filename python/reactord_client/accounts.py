"""Client applications and profiles."""

from __future__ import annotations

from typing import Any, List

from .records import Record
from .session import Session
from .transport import segment


class Applications:
    """Client applications: who they belong to proves it with username and password."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def create(self, name: str, **fields: Any) -> Record:
        """The only answer that has the secret. ``fields``: ``description``, ``callbackUrl``, ``tier``."""
        fields = {"clientName": name, **fields}
        return self._session.call("POST", "/clients/v2", json_body=fields, by_password=True)

    def list(self) -> List[Record]:
        return self._session.call("GET", "/clients/v2", by_password=True)

    def get(self, name: str) -> Record:
        return self._session.call("GET", f"/clients/v2/{segment(name)}", by_password=True)

    def delete(self, name: str) -> None:
        """Its tokens end with it."""
        self._session.call("DELETE", f"/clients/v2/{segment(name)}", by_password=True)

    def new_secret(self, name: str) -> Record:
        return self._session.call("POST", f"/clients/v2/{segment(name)}/secret", by_password=True)

    def subscriptions(self, name: str) -> List[Record]:
        return self._session.call("GET", f"/clients/v2/{segment(name)}/subscriptions", by_password=True)

    def subscribe(self, name: str, api: str = "*") -> List[Record]:
        path = f"/clients/v2/{segment(name)}/subscriptions"
        return self._session.call("POST", path, json_body={"name": api}, by_password=True)


class Profiles:
    def __init__(self, session: Session) -> None:
        self._session = session

    def me(self) -> Record:
        return self._session.call("GET", "/profiles/v2/me")

    def get(self, username: str) -> Record:
        return self._session.call("GET", f"/profiles/v2/{segment(username)}")
