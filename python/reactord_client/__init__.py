"""
reactord from Python.

- inside a container: ``get_context``, ``update_state``, ``send_result``;
- everywhere: ``Client``, for every operation of the API;
- ``Executor``: Python functions in containers, as a ``concurrent.futures.Executor`` (needs cloudpickle).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calls import CallNotLoaded, NotPicklable
    from .client import Client
    from .context import Context, get_context
    from .errors import (
        ApiError,
        BadRequest,
        Conflict,
        ConnectionFailed,
        Forbidden,
        NoContext,
        NotFound,
        ReactordError,
        ServerError,
        TokenError,
        TooLarge,
        TooManyRequests,
        Unauthorized,
        Unavailable,
        Unprocessable,
    )
    from .executor import Executor
    from .executor_reactor import ExecutorFailed, NotReady
    from .inside import send_bytes_result, send_python_result, send_result, update_state
    from .records import Record
    from .responses import ExecutionFailed, Mapped, RemoteError, RemoteTraceback, Response

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "BadRequest",
    "CallNotLoaded",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "Context",
    "ExecutionFailed",
    "Executor",
    "ExecutorFailed",
    "Forbidden",
    "Mapped",
    "NoContext",
    "NotFound",
    "NotPicklable",
    "NotReady",
    "ReactordError",
    "Record",
    "RemoteError",
    "RemoteTraceback",
    "Response",
    "ServerError",
    "TokenError",
    "TooLarge",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "Unprocessable",
    "get_context",
    "send_bytes_result",
    "send_python_result",
    "send_result",
    "update_state",
]

# Loaded when they are asked for: a container that makes one call should not load a whole client first.
_homes = {
    "calls": ("CallNotLoaded", "NotPicklable"),
    "client": ("Client",),
    "context": ("Context", "get_context"),
    "errors": ("ApiError", "BadRequest", "Conflict", "ConnectionFailed", "Forbidden", "NoContext", "NotFound", "ReactordError", "ServerError", "TokenError", "TooLarge", "TooManyRequests", "Unauthorized", "Unavailable", "Unprocessable"),
    "executor": ("Executor",),
    "executor_reactor": ("ExecutorFailed", "NotReady"),
    "inside": ("send_bytes_result", "send_python_result", "send_result", "update_state"),
    "records": ("Record",),
    "responses": ("ExecutionFailed", "Mapped", "RemoteError", "RemoteTraceback", "Response"),
}


def __getattr__(name: str) -> Any:
    for home, names in _homes.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
