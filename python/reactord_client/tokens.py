"""Access tokens: given, or asked for and renewed when they end."""

from __future__ import annotations

import base64
import threading
import time
from typing import Dict, Optional
from urllib.parse import urlencode

from .errors import TokenError
from .transport import Reply, Transport, failure_of

# A token that ends while a request is on its way is of no use.
EARLY_SECONDS = 30.0


class GivenToken:
    """One that somebody else looks after."""

    def __init__(self, token: str) -> None:
        self._token = token

    def current(self) -> str:
        return self._token

    def renew(self, stale: str) -> bool:
        """Whether there is another one than the stale one now."""
        return self._token != stale


class GrantedToken:
    """Asked for with the key and secret of a client application, and, where given, a user's password or refresh token."""

    def __init__(
        self,
        transport: Transport,
        *,
        key: str,
        secret: str,
        username: Optional[str] = None,
        password: Optional[str] = None,
        token: Optional[str] = None,
        refresh_token: Optional[str] = None,
    ) -> None:
        self._transport = transport
        self._basic = basic(key, secret)
        self._username = username
        self._password = password
        self._refresh_token = refresh_token
        self._token = token
        self._ends: Optional[float] = None
        self._lock = threading.Lock()

    def current(self) -> str:
        with self._lock:
            if self._token is None or (self._ends is not None and time.monotonic() > self._ends):
                return self._ask()
            return self._token

    def renew(self, stale: str) -> bool:
        with self._lock:
            # Another thread may have been here meanwhile.
            if self._token == stale:
                self._ask()
            return True

    def _ask(self) -> str:
        if self._refresh_token is not None:
            try:
                form = {"grant_type": "refresh_token", "refresh_token": self._refresh_token, "scope": "PRODUCTION"}
                return self._keep(self._post(form))
            except TokenError as error:
                if error.error != "invalid_grant" or self._password is None:
                    raise
                self._refresh_token = None
        if self._username is not None and self._password is not None:
            form = {"grant_type": "password", "username": self._username, "password": self._password}
            return self._keep(self._post({**form, "scope": "PRODUCTION"}))
        return self._keep(self._post({"grant_type": "client_credentials", "scope": "PRODUCTION"}))

    def _keep(self, reply: Reply) -> str:
        granted = reply.json()
        token = str(granted["access_token"])
        self._token = token
        self._refresh_token = granted.get("refresh_token") or self._refresh_token
        seconds = granted.get("expires_in")
        if seconds is not None:
            early = min(EARLY_SECONDS, float(seconds) / 10)
            self._ends = time.monotonic() + float(seconds) - early
        return token

    def _post(self, form: Dict[str, str]) -> Reply:
        reply = self._transport.request(
            "POST",
            "/token",
            headers={"Authorization": self._basic, "Content-Type": "application/x-www-form-urlencoded"},
            body=urlencode(form).encode(),
        )
        if reply.status == 200:
            return reply
        try:
            said = reply.json()
            raise TokenError(str(said["error"]), str(said.get("error_description", "")))
        except (ValueError, KeyError, TypeError):
            raise failure_of(reply, "POST", "/token") from None


def basic(name: str, secret: str) -> str:
    """The header of HTTP Basic."""
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()
