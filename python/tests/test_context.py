"""What a container is told: from variables, and from inside real ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reactord_client import Client, Context, NoContext, get_context, send_result


def test_outside_of_a_container_there_is_nothing() -> None:
    context = get_context({})
    assert context.raw_message is None and context.actor_id is None and context.state is None
    assert context.message_dict == {}
    with pytest.raises(AttributeError):
        context.unknown
    with pytest.raises(KeyError):
        context["unknown"]
    with pytest.raises(NoContext, match="inside a container"):
        send_result("x", context)


def test_values_are_attributes_and_items() -> None:
    context = Context(
        {
            "MSG": '{"n": [1]}',
            "_svc_Content_Type": "application/json",
            "_svc_execution_id": "e",
            "_svc_username": "ada",
            "_svc_actor_id": "r",
            "_svc_actor_state": '{"seen": 1}',
            "_svc_attempt": "2",
            "_svc_access_token": "secret",
            "_svc_ce_type": "made",
            "GREETING": "hello",
        }
    )
    assert context.raw_message == context["raw_message"] == '{"n": [1]}'
    assert context.message_dict.n == [1] and context.message_json == {"n": [1]}
    assert (context.execution_id, context.username, context.actor_id) == ("e", "ada", "r")
    assert context.state == {"seen": 1} and context.state.seen == 1
    assert context.attempt == 2 and context.content_type == "application/json"
    assert context.ce_type == "made" and context.GREETING == "hello"
    assert dict(context)["username"] == "ada" and "GREETING" in context
    assert "secret" not in repr(context)


def test_the_prefix_of_the_ancestor_is_understood() -> None:
    context = Context({"MSG": "hi", "_abaco_actor_id": "r", "_abaco_Content_Type": "str"})
    assert (context.actor_id, context.raw_message, context.message_dict) == ("r", "hi", {})


def test_a_message_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "_svc_binary_data").write_bytes(b"\x00\xff")
    said = {"_svc_Content_Type": "application/octet-stream", "_svc_message_file": "/_svc_binary_data"}
    assert Context(said, str(tmp_path)).raw_message == b"\x00\xff"
    (tmp_path / "_abaco_binary_data").write_text('{"long": "ü"}')
    old = Context({"_abaco_Content_Type": "application/json"}, str(tmp_path / "_"))
    assert old.raw_message is None
    (tmp_path / "_svc_binary_data").unlink()
    old = Context({"_abaco_Content_Type": "application/json"}, str(tmp_path))
    assert old.raw_message == '{"long": "ü"}' and old.message_dict.long == "ü"


INSIDE = """
from reactord_client import get_context, send_result, update_state
context = get_context()
raw = context.raw_message
send_result(f"{type(raw).__name__} of {len(raw)}")
send_result({"execution": context.execution_id, "user": context.username, "state": context.state})
send_result(b"r" * 300_000)
update_state(lambda state: {"count": state.get("count", 0) + 1, "keys": list(context.message_dict)})
"""


def test_state_and_results_from_inside(client: Client, program_image: str) -> None:
    environment = {"RUN": INSIDE}
    reactor = client.reactors.create(program_image, stateless=False, default_environment=environment).id
    long = "ü" * 100_000
    messages = ["text", {"key": long}, b"\x00\xff" * 500_000]
    executions = [client.messages.send(reactor, message) for message in messages]
    for execution in executions:
        record = client.executions.wait(reactor, execution, timeout=60)
        assert record.exit_code == 0, client.logs.get(reactor, execution)
    results = [list(client.results.iterate(reactor, execution)) for execution in executions]
    size = len(json.dumps({"key": long}))
    assert [each[0].decode() for each in results] == ["str of 4", f"str of {size}", "bytes of 1000000"]
    assert json.loads(results[1][1]) == {
        "execution": executions[1],
        "user": "ada",
        "state": {"count": 1, "keys": []},
    }
    assert all(each[2] == b"r" * 300_000 for each in results)
    assert client.state.get(reactor) == {"count": 3, "keys": []}
    assert client.results.take(reactor, executions[0]) == b"str of 4"
    assert len(list(client.results.iterate(reactor, executions[0]))) == 2
    client.reactors.delete(reactor)
