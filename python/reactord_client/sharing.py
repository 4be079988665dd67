"""Who may use a reactor, and under which names."""

from __future__ import annotations

from typing import Dict, List, Optional

from .records import Record
from .session import Session
from .transport import segment


class Permissions:
    """READ, EXECUTE and UPDATE, each with those before it; ``alias=True`` for those of an alias."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, reactor: str, *, alias: bool = False) -> Dict[str, str]:
        return self._session.call("GET", f"{owner_path(reactor, alias)}/permissions")

    def give(self, reactor: str, user: str, level: str, *, alias: bool = False) -> Dict[str, str]:
        """NONE takes it away. The user WORLD is everyone."""
        path = f"{owner_path(reactor, alias)}/permissions"
        return self._session.call("POST", path, json_body={"user": user, "level": level})


class Aliases:
    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, *, limit: int = 100, offset: int = 0) -> List[Record]:
        return self._session.call("GET", "/actors/v2/aliases", query={"limit": limit, "offset": offset})

    def create(self, alias: str, reactor: str) -> Record:
        return self._session.call("POST", "/actors/v2/aliases", json_body={"alias": alias, "actor_id": reactor})

    def get(self, alias: str) -> Record:
        return self._session.call("GET", owner_path(alias, True))

    def move(self, alias: str, reactor: str) -> Record:
        """Lets it lead to another reactor."""
        return self._session.call("PUT", owner_path(alias, True), json_body={"actor_id": reactor})

    def delete(self, alias: str) -> None:
        self._session.call("DELETE", owner_path(alias, True))


class Nonces:
    """Secrets that open one reactor without a token; ``alias=True`` for those of an alias."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, reactor: str, *, alias: bool = False, limit: int = 100, offset: int = 0) -> List[Record]:
        path = f"{owner_path(reactor, alias)}/nonces"
        return self._session.call("GET", path, query={"limit": limit, "offset": offset})

    def create(
        self,
        reactor: str,
        *,
        level: str = "EXECUTE",
        max_uses: Optional[int] = None,
        description: Optional[str] = None,
        alias: bool = False,
    ) -> Record:
        fields = {"level": level, "max_uses": max_uses, "description": description}
        given = {name: value for name, value in fields.items() if value is not None}
        return self._session.call("POST", f"{owner_path(reactor, alias)}/nonces", json_body=given)

    def get(self, reactor: str, nonce: str, *, alias: bool = False) -> Record:
        return self._session.call("GET", f"{owner_path(reactor, alias)}/nonces/{segment(nonce)}")

    def delete(self, reactor: str, nonce: str, *, alias: bool = False) -> None:
        self._session.call("DELETE", f"{owner_path(reactor, alias)}/nonces/{segment(nonce)}")


def owner_path(name: str, alias: bool) -> str:
    return f"/actors/v2/aliases/{segment(name)}" if alias else f"/actors/v2/{segment(name)}"
