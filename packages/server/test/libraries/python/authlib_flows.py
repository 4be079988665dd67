"""Authlib's session through each of its flows. Arguments: address of the service, key, secret, callback, username, password."""

import sys

from authlib.common.errors import AuthlibBaseError
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from redirects import error_of, visit

service, key, secret, callback, username, password = sys.argv[1:]
token_url = f"{service}/token"
authorization_url = f"{service}/authorize"
methods = ["client_secret_basic", "client_secret_post"]


def session(method="client_secret_basic", **more):
    return OAuth2Session(
        key,
        secret,
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        scope="PRODUCTION",
        redirect_uri=callback,
        **more,
    )


def check_user(each):
    reply = each.get(f"{service}/profiles/v2/me")
    assert reply.status_code == 200, reply.text
    assert reply.json()["username"] == username


def code_flow():
    for method in methods:
        web = session(method)
        address, state = web.create_authorization_url(authorization_url)
        token = web.fetch_token(
            token_url, authorization_response=visit(address), state=state
        )
        assert token["expires_in"] == 14400
        check_user(web)
        first = token["access_token"]
        token = web.refresh_token(token_url)
        assert token["access_token"] != first and token["refresh_token"]
        check_user(web)


def code_flow_with_pkce():
    for method in methods:
        web = session(method, code_challenge_method="S256")
        verifier = generate_token(48)
        address, state = web.create_authorization_url(
            authorization_url, code_verifier=verifier
        )
        assert "code_challenge_method=S256" in address
        web.fetch_token(
            token_url,
            authorization_response=visit(address),
            state=state,
            code_verifier=verifier,
        )
        check_user(web)


def foreign_state_and_used_code():
    web = session()
    address, state = web.create_authorization_url(authorization_url)
    back = visit(address)
    error_of(
        AuthlibBaseError,
        lambda: web.fetch_token(token_url, authorization_response=back, state="other"),
    )
    web.fetch_token(token_url, authorization_response=back, state=state)
    error = error_of(
        OAuthError,
        lambda: web.fetch_token(token_url, authorization_response=back, state=state),
    )
    assert error.error == "invalid_grant" and error.description


def implicit_flow():
    mobile = session(response_type="token")
    address, state = mobile.create_authorization_url(authorization_url)
    token = mobile.fetch_token(authorization_response=visit(address), state=state)
    assert "refresh_token" not in token
    check_user(mobile)

    denied = session(response_type="token")
    address, state = denied.create_authorization_url(
        authorization_url, show_dialog="true"
    )
    back = visit(address, "deny")
    # It looks for the token before it looks for an error, so what it reports is that the token is missing.
    error = error_of(
        AuthlibBaseError,
        lambda: denied.fetch_token(authorization_response=back, state=state),
    )
    assert error.error == "missing_token", error


def denial():
    web = session()
    address, _ = web.create_authorization_url(authorization_url, show_dialog="true")
    back = visit(address, "deny")
    # The session does not look for an error (it would go on with the client's own credentials): an application, and
    # Authlib's own integrations for web frameworks, read it before they ask for a token.
    assert "error=access_denied" in back and "error_description=" in back
    assert "code=" not in back


def password_flow():
    for method in methods:
        legacy = session(method)
        legacy.fetch_token(token_url, username=username, password=password)
        check_user(legacy)
        legacy.refresh_token(token_url)
        check_user(legacy)
    error = error_of(
        OAuthError,
        lambda: session().fetch_token(
            token_url, username="nobody", password="wrong one"
        ),
    )
    assert error.error == "invalid_grant"


def an_expired_token_is_refreshed_by_itself():
    saved = []
    web = session(
        token_endpoint=token_url,
        update_token=lambda token, refresh_token=None, access_token=None: saved.append(
            token
        ),
    )
    token = web.fetch_token(token_url, username=username, password=password)
    web.token = {**token, "expires_at": 1}
    check_user(web)
    assert len(saved) == 1


def client_credentials_flow():
    for method in methods:
        backend = session(method)
        token = backend.fetch_token(token_url, grant_type="client_credentials")
        assert "refresh_token" not in token
        check_user(backend)
    wrong = OAuth2Session(key, "wrong")
    error = error_of(
        OAuthError,
        lambda: wrong.fetch_token(token_url, grant_type="client_credentials"),
    )
    assert error.error == "invalid_client"


def introspection_and_revocation():
    for method in methods:
        legacy = session(method)
        token = legacy.fetch_token(token_url, username=username, password=password)
        access = token["access_token"]
        about = legacy.introspect_token(f"{service}/introspect", token=access).json()
        assert about["active"] and about["username"] == username, about
        reply = legacy.revoke_token(
            f"{service}/revoke", token=access, token_type_hint="access_token"
        )
        assert reply.status_code == 200, reply.text
        about = legacy.introspect_token(f"{service}/introspect", token=access).json()
        assert about == {"active": False}, about
        # Without a token it revokes the refresh token.
        legacy.revoke_token(f"{service}/revoke")
        error = error_of(OAuthError, lambda: legacy.refresh_token(token_url))
        assert error.error == "invalid_grant"


for flow in [
    code_flow,
    code_flow_with_pkce,
    foreign_state_and_used_code,
    implicit_flow,
    denial,
    password_flow,
    an_expired_token_is_refreshed_by_itself,
    client_credentials_flow,
    introspection_and_revocation,
]:
    flow()
    print("DONE", flow.__name__, flush=True)
