"""requests-oauthlib through each of its flows. Arguments: address of the service, key, secret, callback, username, password."""

import sys

from oauthlib.oauth2 import (
    AccessDeniedError,
    BackendApplicationClient,
    InvalidClientError,
    InvalidGrantError,
    LegacyApplicationClient,
    MismatchingStateError,
    MobileApplicationClient,
)
from redirects import error_of, visit
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

service, key, secret, callback, username, password = sys.argv[1:]
token_url = f"{service}/token"
authorization_url = f"{service}/authorize"
basic = HTTPBasicAuth(key, secret)


def check_user(session):
    reply = session.get(f"{service}/profiles/v2/me")
    assert reply.status_code == 200, reply.text
    assert reply.json()["username"] == username


def web_session():
    return OAuth2Session(key, redirect_uri=callback, scope=["PRODUCTION"])


def legacy_client():
    # This flow needs a scope, and the library sends the one of its client here, never the one of its session.
    return LegacyApplicationClient(key, scope=["PRODUCTION"])


def web_application_with_basic():
    session = web_session()
    address, _ = session.authorization_url(authorization_url)
    token = session.fetch_token(
        token_url, authorization_response=visit(address), client_secret=secret
    )
    assert token["token_type"] == "bearer"
    assert token["expires_in"] == 14400
    check_user(session)
    first = token["access_token"]
    # The library repeats the scope in a refresh, and takes credentials as an argument only.
    token = session.refresh_token(token_url, auth=basic)
    assert token["access_token"] != first and token["refresh_token"]
    check_user(session)


def web_application_with_credentials_in_the_body():
    session = web_session()
    address, _ = session.authorization_url(authorization_url)
    session.fetch_token(
        token_url,
        authorization_response=visit(address),
        client_secret=secret,
        include_client_id=True,
    )
    check_user(session)
    session.refresh_token(token_url, client_id=key, client_secret=secret)
    check_user(session)


def web_application_with_basic_and_the_key_repeated_in_the_body():
    session = web_session()
    address, _ = session.authorization_url(authorization_url)
    session.fetch_token(
        token_url,
        authorization_response=visit(address),
        auth=basic,
        include_client_id=True,
    )
    check_user(session)


def an_expired_token_is_refreshed_by_itself():
    saved = []
    session = OAuth2Session(
        client=legacy_client(),
        auto_refresh_url=token_url,
        auto_refresh_kwargs={"client_id": key, "client_secret": secret},
        token_updater=saved.append,
    )
    token = session.fetch_token(
        token_url, username=username, password=password, client_secret=secret
    )
    session.token = {**token, "expires_in": -10, "expires_at": 1}
    check_user(session)
    assert len(saved) == 1


def denial_and_foreign_state():
    session = web_session()
    address, _ = session.authorization_url(authorization_url, show_dialog="true")
    back = visit(address, "deny")
    error = error_of(
        AccessDeniedError,
        lambda: session.fetch_token(
            token_url, authorization_response=back, client_secret=secret
        ),
    )
    assert error.description
    session = web_session()
    address, _ = session.authorization_url(authorization_url)
    back = visit(address)
    other = web_session()
    other.authorization_url(authorization_url)
    error_of(
        MismatchingStateError,
        lambda: other.fetch_token(
            token_url, authorization_response=back, client_secret=secret
        ),
    )


def mobile_application():
    def session():
        return OAuth2Session(
            client=MobileApplicationClient(key),
            redirect_uri=callback,
            scope=["PRODUCTION"],
        )

    mobile = session()
    address, _ = mobile.authorization_url(authorization_url)
    token = mobile.token_from_fragment(visit(address))
    assert "refresh_token" not in token
    assert int(token["expires_in"]) == 3600
    check_user(mobile)

    denied = session()
    address, _ = denied.authorization_url(authorization_url, show_dialog="true")
    back = visit(address, "deny")
    error_of(AccessDeniedError, lambda: denied.token_from_fragment(back))


def legacy_application():
    def session():
        return OAuth2Session(client=legacy_client())

    legacy = session()
    legacy.fetch_token(
        token_url, username=username, password=password, client_secret=secret
    )
    check_user(legacy)
    legacy.refresh_token(token_url, auth=basic)
    check_user(legacy)

    in_body = session()
    in_body.fetch_token(
        token_url,
        username=username,
        password=password,
        client_secret=secret,
        include_client_id=True,
    )
    check_user(in_body)
    error_of(
        InvalidGrantError,
        lambda: session().fetch_token(
            token_url, username="nobody", password="wrong one", client_secret=secret
        ),
    )


def backend_application():
    backend = OAuth2Session(client=BackendApplicationClient(key))
    token = backend.fetch_token(token_url, client_secret=secret)
    assert "refresh_token" not in token
    check_user(backend)

    in_body = OAuth2Session(client=BackendApplicationClient(key, scope=["PRODUCTION"]))
    in_body.fetch_token(token_url, client_secret=secret, include_client_id=True)
    check_user(in_body)

    wrong = OAuth2Session(client=BackendApplicationClient(key))
    error_of(
        InvalidClientError, lambda: wrong.fetch_token(token_url, client_secret="wrong")
    )


for flow in [
    web_application_with_basic,
    web_application_with_credentials_in_the_body,
    web_application_with_basic_and_the_key_repeated_in_the_body,
    an_expired_token_is_refreshed_by_itself,
    denial_and_foreign_state,
    mobile_application,
    legacy_application,
    backend_application,
]:
    flow()
    print("DONE", flow.__name__, flush=True)
