"""What an execution is told: its message, who sent it, and what it may use. For programs inside a container."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator, Mapping, Optional, Union

from .errors import NoContext
from .records import Record, record_hook

# The second one is what images for the ancestor of the service read.
PREFIXES = ("_svc_", "_abaco_")

# The names of the context, and of the variables behind them.
SAID = {
    "content_type": "Content_Type",
    "execution_id": "execution_id",
    "username": "username",
    "actor_id": "actor_id",
    "actor_dbid": "actor_dbid",
    "actor_name": "actor_name",
    "actor_revision": "actor_revision",
    "worker_id": "worker_id",
    "container_repo": "container_repo",
    "attempt": "attempt",
    "api_server": "api_server",
    "access_token": "access_token",
    "jwt_header_name": "jwt_header_name",
    "message_file": "message_file",
    "results_socket": "results_socket",
}
NUMBERS = ("actor_revision", "attempt")
MADE = ("raw_message", "message_json", "message_dict", "state", "configs")


class Context(Mapping[str, Any]):
    """
    The context of an execution: ``context.raw_message`` and ``context["raw_message"]`` are the same. What the service does
    not say is None. Names beyond the fields are looked up among the variables of the environment.

    ``raw_message`` is the text of the message (for JSON: its text), or bytes for a binary one; ``message_dict`` is the
    object of a JSON message, and empty for any other; ``message_json`` is the value of a JSON message of any kind.
    """

    def __init__(self, environment: Mapping[str, str], root: str = "/") -> None:
        self._environment = environment
        self._root = root
        self._made: Dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name in SAID:
            return self._value(name)
        if name in MADE:
            # Made when it is asked for, and once: a message may have 64 MiB.
            if name not in self._made:
                self._made[name] = getattr(self, f"_make_{name}")()
            return self._made[name]
        # What comes with a CloudEvent, or may come later.
        found = self._said(name)
        return self._environment[name] if found is None else found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the context has no {name}, and neither has the environment") from None

    def __iter__(self) -> Iterator[str]:
        return iter((*MADE, *SAID))

    def __len__(self) -> int:
        return len(MADE) + len(SAID)

    def __contains__(self, name: object) -> bool:
        return name in SAID or name in MADE or (isinstance(name, str) and name in self._environment)

    def __repr__(self) -> str:
        shown = {name: self[name] for name in SAID if name != "access_token"}
        return f"Context({shown})"

    def require(self, name: str) -> str:
        """A value without which nothing can be done."""
        value = self[name]
        if not value:
            hint = "; register the reactor with token=true" if name == "access_token" else ""
            raise NoContext(f"{PREFIXES[0]}{SAID[name]} is not set: this works inside a container of a reactor{hint}")
        return str(value)

    def _said(self, name: str) -> Optional[str]:
        for prefix in PREFIXES:
            value = self._environment.get(prefix + name)
            if value is not None:
                return value
        return None

    def _value(self, name: str) -> Union[str, int, None]:
        value = self._said(SAID[name])
        if value is not None and name in NUMBERS:
            return int(value) if value.isdigit() else None
        return value

    def _make_raw_message(self) -> Union[str, bytes, None]:
        text = self._environment.get("MSG")
        if text is not None:
            return text
        file = self._message_file()
        if file is None:
            return None
        with open(file, "rb") as opened:
            content = opened.read()
        return content if self._value("content_type") == "application/octet-stream" else content.decode("utf-8")

    def _message_file(self) -> Optional[str]:
        named = self._value("message_file")
        files = [str(named)] if named else [f"/{prefix}binary_data" for prefix in PREFIXES]
        for file in files:
            path = os.path.join(self._root, file.lstrip("/"))
            if os.path.exists(path):
                return path
        return None

    def _make_message_json(self) -> Any:
        if self._value("content_type") != "application/json":
            return None
        return json.loads(self["raw_message"], object_hook=record_hook)

    def _make_message_dict(self) -> Record:
        value = self["message_json"]
        return value if isinstance(value, Record) else Record()

    def _make_state(self) -> Any:
        text = self._said("actor_state")
        if text is None:
            return None
        try:
            return json.loads(text, object_hook=record_hook)
        except ValueError:
            return text

    def _make_configs(self) -> Record:
        """The configs of the reactor; each is a variable of its own too."""
        text = self._environment.get("_actor_configs")
        return Record() if text is None else Record(json.loads(text))


def get_context(environment: Optional[Mapping[str, str]] = None) -> Context:
    """The context of this execution. Outside of a container its fields are None."""
    return Context(os.environ if environment is None else environment)
