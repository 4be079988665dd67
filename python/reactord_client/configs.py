"""Named values and secrets that containers get as variables."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

from .records import Record
from .session import Session
from .transport import segment


class Configs:
    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, *, limit: int = 100, offset: int = 0) -> List[Record]:
        return self._session.call("GET", "/actors/v2/configs", query={"limit": limit, "offset": offset})

    def create(self, name: str, value: Any, *, secret: bool = False, reactors: Sequence[str] = ()) -> Record:
        fields = {"name": name, "value": value, "is_secret": secret, "actors": list(reactors)}
        return self._session.call("POST", "/actors/v2/configs", json_body=fields)

    def get(self, name: str) -> Record:
        return self._session.call("GET", f"/actors/v2/configs/{segment(name)}")

    def change(
        self,
        name: str,
        *,
        value: Any = None,
        secret: Optional[bool] = None,
        reactors: Optional[Sequence[str]] = None,
    ) -> Record:
        """What is None stays as it is."""
        fields = {"value": value, "is_secret": secret, "actors": None if reactors is None else list(reactors)}
        given = {key: each for key, each in fields.items() if each is not None}
        return self._session.call("PUT", f"/actors/v2/configs/{segment(name)}", json_body=given)

    def delete(self, name: str) -> None:
        self._session.call("DELETE", f"/actors/v2/configs/{segment(name)}")
