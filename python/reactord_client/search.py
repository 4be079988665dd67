"""Search among what one may read."""

from __future__ import annotations

from typing import Any

from .records import Record
from .session import Session


class Search:
    """
    Terms are ``field=value``; with another comparison than equality the name has a double underscore:
    ``runtime__gt=60``, ``status__in=["ERROR", "COMPLETE"]``. ``search="text"`` looks for words.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def reactors(self, **terms: Any) -> Record:
        return self._find("actors", terms)

    def executions(self, **terms: Any) -> Record:
        return self._find("executions", terms)

    def workers(self, **terms: Any) -> Record:
        return self._find("workers", terms)

    def logs(self, **terms: Any) -> Record:
        return self._find("logs", terms)

    def _find(self, kind: str, terms: Any) -> Record:
        query = {name.replace("__", "."): value for name, value in terms.items()}
        return self._session.call("GET", f"/actors/v2/search/{kind}", query=query)
