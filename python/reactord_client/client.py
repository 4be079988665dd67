"""A client for the API of the service."""

from __future__ import annotations

import os
import ssl
from typing import Any, Mapping, Optional

from .accounts import Applications, Profiles
from .configs import Configs
from .event_stream import Events
from .executions import Executions, Logs, Results
from .messages import DeadLetters, Messages
from .reactors import Reactors, States, Workers
from .search import Search
from .session import NoToken, Session, Tokens
from .sharing import Aliases, Nonces, Permissions
from .tokens import GivenToken, GrantedToken
from .transport import Transport


class Client:
    """
    Speaks to one service in somebody's name:

    - ``token``: an access token, used as it is;
    - ``key`` and ``secret`` of a client application: client credentials, for whoever registered it;
    - with ``username`` and ``password``, or with ``refresh_token``, besides: for that user;
    - ``username`` and ``password`` alone: client applications can be registered, and nothing else done.

    Tokens that were asked for are renewed when they end. May be used by many threads at once.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: Optional[str] = None,
        key: Optional[str] = None,
        secret: Optional[str] = None,
        username: Optional[str] = None,
        password: Optional[str] = None,
        refresh_token: Optional[str] = None,
        timeout: float = 60.0,
        retries: int = 5,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        transport = Transport(base_url, timeout=timeout, retries=retries, ssl_context=ssl_context)
        tokens = _tokens(transport, token, key, secret, username, password, refresh_token)
        session = Session(transport, tokens, username, password)
        self.session = session
        self.reactors = Reactors(session)
        self.state = States(session)
        self.workers = Workers(session)
        self.messages = Messages(session)
        self.dead_letters = DeadLetters(session)
        self.executions = Executions(session)
        self.logs = Logs(session)
        self.results = Results(session)
        self.permissions = Permissions(session)
        self.aliases = Aliases(session)
        self.nonces = Nonces(session)
        self.configs = Configs(session)
        self.events = Events(session)
        self.search = Search(session)
        self.applications = Applications(session)
        self.profiles = Profiles(session)

    @classmethod
    def from_environment(cls, environment: Optional[Mapping[str, str]] = None, **options: Any) -> "Client":
        """
        From ``REACTORD_URL`` and ``REACTORD_TOKEN``, ``REACTORD_KEY``, ``REACTORD_SECRET``, ``REACTORD_USERNAME``,
        ``REACTORD_PASSWORD``; inside a container of a reactor from what the service has put there.
        """
        given = os.environ if environment is None else environment
        names = ("token", "key", "secret", "username", "password")
        found = {name: given[f"REACTORD_{name.upper()}"] for name in names if given.get(f"REACTORD_{name.upper()}")}
        url = given.get("REACTORD_URL")
        if url:
            return cls(url, **{**found, **options})
        for prefix in ("_svc_", "_abaco_"):
            server, token = given.get(f"{prefix}api_server"), given.get(f"{prefix}access_token")
            if server and token:
                return cls(server, token=token, **options)
        raise ValueError("REACTORD_URL is not set, and this is no container of a reactor that has a token")

    @property
    def base_url(self) -> str:
        return self.session.transport.base_url

    @property
    def token(self) -> str:
        """The access token that holds at this moment."""
        return self.session.tokens.current()

    def call(self, method: str, path: str, **options: Any) -> Any:
        """Any operation of the API by its path: the result without its envelope."""
        return self.session.call(method, path, **options)

    def close(self) -> None:
        """Closes connections that are kept for later requests. The client can be used on."""
        self.session.transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.base_url!r})"


def _tokens(
    transport: Transport,
    token: Optional[str],
    key: Optional[str],
    secret: Optional[str],
    username: Optional[str],
    password: Optional[str],
    refresh_token: Optional[str],
) -> Tokens:
    if (key is None) != (secret is None):
        raise ValueError("key and secret belong together: give both, or none")
    if (username is None) != (password is None):
        raise ValueError("username and password belong together: give both, or none")
    if key is not None and secret is not None:
        return GrantedToken(
            transport,
            key=key,
            secret=secret,
            username=username,
            password=password,
            token=token,
            refresh_token=refresh_token,
        )
    if refresh_token is not None:
        raise ValueError("refresh_token needs the key and secret of the client application that it was issued to")
    if token is not None:
        return GivenToken(token)
    if username is not None:
        return NoToken()
    raise ValueError("give a token, or the key and secret of a client application")
