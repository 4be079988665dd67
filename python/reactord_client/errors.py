"""Everything that can go wrong, as classes that a program can tell apart."""

from __future__ import annotations

from typing import Mapping, Optional


class ReactordError(Exception):
    """The parent of every error of this package."""


class ConnectionFailed(ReactordError, ConnectionError):
    """The service could not be reached, or the connection broke before its answer was complete."""


class ApiError(ReactordError):
    """The service refused a request. The message is its own sentence."""

    status: int

    def __init__(
        self,
        status: int,
        message: str,
        *,
        method: str = "",
        path: str = "",
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.method = method
        self.path = path
        self.headers = dict(headers or {})

    @property
    def request_id(self) -> Optional[str]:
        """What the operator finds the request by in the log of the service."""
        return self.headers.get("x-request-id")

    def __str__(self) -> str:
        place = f" ({self.method} {self.path}: {self.status})" if self.path else ""
        return f"{self.message}{place}"

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return (_api_error, (self.status, self.message, self.method, self.path, self.headers))


class BadRequest(ApiError):
    """400: the message names the field and what it takes."""


class Unauthorized(ApiError):
    """401: no token, or one that has expired or was revoked."""


class Forbidden(ApiError):
    """403: known, and not allowed to."""


class NotFound(ApiError):
    """404: there is none, or none that the caller may know of."""


class Conflict(ApiError):
    """409: it does not fit the state that the resource is in."""


class TooLarge(ApiError):
    """413: larger than the service takes."""


class Unprocessable(ApiError):
    """422: an idempotency key was used with another message before."""


class TooManyRequests(ApiError):
    """429: the rate of the tier or a quota is exceeded, also after the pauses that the service asked for."""


class ServerError(ApiError):
    """5xx: a fault of the service."""


class Unavailable(ServerError):
    """503: the service cannot accept anything now."""


class TokenError(ReactordError):
    """No token was issued. ``error`` is the code of RFC 6749, such as ``invalid_grant``."""

    def __init__(self, error: str, description: str = "") -> None:
        super().__init__(error, description)
        self.error = error
        self.description = description

    def __str__(self) -> str:
        return f"{self.description or 'no token was issued'} ({self.error})"


class NoContext(ReactordError):
    """Something that only works inside a container of a reactor was used elsewhere."""


_by_status = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: Unprocessable,
    429: TooManyRequests,
    503: Unavailable,
}


def api_error(
    status: int, message: str, *, method: str = "", path: str = "", headers: Optional[Mapping[str, str]] = None
) -> ApiError:
    """The error of the class that the status has."""
    kind = _by_status.get(status, ServerError if status >= 500 else ApiError)
    return kind(status, message, method=method, path=path, headers=headers)


def _api_error(status: int, message: str, method: str, path: str, headers: Mapping[str, str]) -> ApiError:
    return api_error(status, message, method=method, path=path, headers=headers)
