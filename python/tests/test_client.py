"""The client against the running service."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Iterator

import pytest

from reactord_client import BadRequest, Client, Conflict, ConnectionFailed, NotFound, TokenError, Unauthorized
from reactord_client.tokens import basic

URL = os.environ["REACTORD_URL"]
KEYS = {"key": os.environ["TEST_KEY"], "secret": os.environ["TEST_SECRET"]}
LOGIN = {"username": "ada", "password": os.environ["TEST_PASSWORD"]}

ECHO = "import os, sys; print(os.environ.get('GREETING', ''), os.environ['MSG']); print('oops', file=sys.stderr)"


@pytest.fixture(scope="module")
def echo(client: Client, program_image: str) -> Iterator[str]:
    reactor = client.reactors.create(program_image, name="echo", default_environment={"RUN": ECHO, "GREETING": "hello"})
    assert client.reactors.wait_until_ready(reactor.id).status == "READY"
    yield reactor.id
    client.reactors.delete(reactor.id)


def test_every_way_to_a_token(client: Client) -> None:
    assert Client(URL, token=client.token).profiles.me().email is not None
    assert Client(URL, **KEYS).profiles.me()["email"] is not None
    person = Client(URL, **KEYS, **LOGIN)
    first = person.token
    assert person.profiles.me() and person.token == first
    # A token that has ended is renewed in the middle of what is being done.
    headers = {"Authorization": basic(KEYS["key"], KEYS["secret"]), "Content-Type": "application/x-www-form-urlencoded"}
    reply = person.session.transport.request(
        "POST", "/revoke", headers=headers, body=f"token={first}".encode()
    )
    assert reply.status == 200
    assert person.profiles.me() and person.token != first


def test_refusals_have_classes_and_sentences(client: Client) -> None:
    with pytest.raises(TokenError) as wrong:
        Client(URL, **KEYS, username="ada", password="wrong").profiles.me()
    assert wrong.value.error == "invalid_grant"
    with pytest.raises(Unauthorized):
        Client(URL, token="nothing").profiles.me()
    with pytest.raises(NotFound, match="There is no reactor called nobody"):
        client.reactors.get("nobody")
    with pytest.raises(NotFound):
        client.reactors.delete("nobody")
    with pytest.raises(BadRequest, match="max_workers"):
        client.reactors.create("busybox", max_workers=0)
    with pytest.raises(TokenError, match="key and secret"):
        Client(URL, **LOGIN).profiles.me()
    with pytest.raises(ValueError, match="belong together"):
        Client(URL, key="one")
    with pytest.raises(ConnectionFailed, match="cannot be reached"):
        Client("http://127.0.0.1:1", token="x", retries=1).profiles.me()
    with pytest.raises(ValueError, match="an address such as"):
        Client("reactors.example.org", token="x")


def test_a_client_application_is_made_with_a_password() -> None:
    person = Client(URL, **LOGIN)
    made = person.applications.create("made-by-python", description="for a test")
    assert Client(URL, key=made.key, secret=made.secret).profiles.me().email is not None
    assert "made-by-python" in [each.name for each in person.applications.list()]
    assert person.applications.subscriptions("made-by-python")
    person.applications.delete("made-by-python")
    with pytest.raises(NotFound):
        person.applications.get("made-by-python")


def test_a_message_its_execution_and_its_log(client: Client, echo: str) -> None:
    execution = client.messages.send(echo, "wörld", environment={"GREETING": "bye"})
    record = client.executions.wait(echo, execution, timeout=60)
    assert (record.status, record.exit_code, record.executor) == ("COMPLETE", 0, "ada")
    assert record.final_state.ExitCode == 0
    assert client.logs.get(echo, execution, stream="stdout") == "bye wörld\n"
    assert client.logs.get(echo, execution, stream="stderr") == "oops\n"
    followed = [(each.stream, each.text) for each in client.logs.follow(echo, execution)]
    assert sorted(followed) == [("stderr", "oops\n"), ("stdout", "bye wörld\n")]
    assert client.executions.message(echo, execution) == "wörld".encode()
    answer = client.messages.send_and_wait(echo, {"n": 1}, 60)
    assert answer.status == "COMPLETE" and b'hello {"n": 1}' in answer.body
    one = client.messages.send(echo, "once", idempotency_key="python-1")
    assert client.messages.send(echo, "once", idempotency_key="python-1") == one
    many = client.messages.send_many(echo, [{"n": 1}, "two"])
    assert len(many) == 2
    assert client.executions.wait(echo, many[1], timeout=60).status == "COMPLETE"
    assert client.logs.get(echo, many[1], stream="stdout") == "hello two\n"
    listed = [each.id for each in client.executions.iterate(echo, page=2)]
    assert listed[:2] == list(reversed(many)) and execution in listed
    assert client.executions.totals(echo).total_executions == len(listed)
    assert client.search.executions(actorId=echo, exitCode__gt=0)["search"] == []
    assert client.messages.waiting(echo).messages == 0
    with pytest.raises(Conflict):
        client.executions.halt(echo, execution)


def test_sharing_and_configs(client: Client, echo: str) -> None:
    assert client.aliases.create("python-echo", echo).actor_id == echo
    assert client.reactors.get("python-echo").id == echo
    nonce = client.nonces.create(echo, level="READ", max_uses=2)
    assert nonce.remaining_uses == 2 and [each.id for each in client.nonces.list(echo)] == [nonce.id]
    client.nonces.delete(echo, nonce.id)
    assert client.permissions.give(echo, "WORLD", "READ")["WORLD"] == "READ"
    client.configs.create("PYTHON_CONFIG", "1", reactors=[echo])
    assert client.configs.change("PYTHON_CONFIG", value="2").value == "2"
    client.configs.delete("PYTHON_CONFIG")
    client.aliases.delete("python-echo")
    with pytest.raises(NotFound):
        client.aliases.get("python-echo")
    assert client.workers.keep(echo, 1)[0].status in ("READY", "REQUESTED", "BUSY")


def test_ten_that_change_one_state_at_once_lose_nothing(client: Client, program_image: str) -> None:
    reactor = client.reactors.create(program_image, stateless=False)
    client.state.set(reactor.id, {"count": 0, "by": []})

    def add(who: int) -> None:
        mine = Client(URL, token=client.token)
        mine.state.update(reactor.id, lambda state: {"count": state["count"] + 1, "by": [*state["by"], who]})

    with ThreadPoolExecutor(10) as threads:
        list(threads.map(add, range(10)))
    state = client.state.get(reactor.id)
    assert state["count"] == 10 and sorted(state["by"]) == list(range(10))
    version = client.state.read(reactor.id)
    client.state.set(reactor.id, {"count": 11}, if_match=version.etag)
    with pytest.raises(Conflict):
        client.state.set(reactor.id, {"count": 12}, if_match=version.etag)
    client.reactors.delete(reactor.id)
