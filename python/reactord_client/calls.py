"""
Calls of functions on their way to a container and back.

A call is a binary message: a line that says what it is, a line of JSON about who made it, and the pickled call. An outcome
comes back as one or more results of the execution, each with two such lines before its part of the bytes.
"""

from __future__ import annotations

import importlib
import io
import json
import pickle
import sys
import traceback
from types import ModuleType
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from .errors import ReactordError
from .own_modules import by_value

CALL_LINE = b"reactord-call 1\n"
OUTCOME_LINE = b"reactord-outcome 1\n"

# One result of the service takes 16 MiB unless its operator says otherwise; datagrams take less, and go first.
PART_BYTES = 8 * 1024 * 1024
LONGEST_TRACE = 64 * 1024


class CallNotLoaded(ReactordError):
    """The container could not make out the call; the message says why and what to do."""


class NotPicklable(ReactordError, TypeError):
    """A function, an argument or a return value cannot be sent over the network."""


class Call(NamedTuple):
    function: Callable[..., Any]
    args: Tuple[Any, ...]
    kwargs: Dict[str, Any]


class Failure(NamedTuple):
    """An exception as it left the container."""

    exception: Optional[BaseException]
    type_name: str
    message: str
    trace: str


class Outcome(NamedTuple):
    value: Any
    failure: Optional[Failure]


def pack_call(call: Call, modules: Sequence[ModuleType] = ()) -> bytes:
    """The message that has the call. ``modules`` are sent along, as is the one that the function is from."""
    import cloudpickle

    try:
        with by_value(call.function, modules):
            content = cloudpickle.dumps(tuple(call))
    except Exception as error:
        name = getattr(call.function, "__qualname__", repr(call.function))
        raise NotPicklable(f"the call of {name} cannot be pickled: {error}") from error
    return CALL_LINE + _line(_versions()) + content


def unpack_call(message: bytes) -> Call:
    """The call of a message. Versions that do not go together are found before anything of it runs."""
    if not message.startswith(CALL_LINE):
        raise CallNotLoaded("the message is not a call: executors are used by reactord_client.Executor alone")
    about, content = _split(message, CALL_LINE)
    here = _versions()
    sent = f"It was sent by Python {about['python']} with cloudpickle {about['cloudpickle']}"
    kept = f"the image has Python {here['python']} with cloudpickle {here['cloudpickle']}"
    try:
        loader = _Loader(content, same_code=_minor(about["python"]) == _minor(here["python"]))
        return Call(*loader.load())
    except _OtherCode:
        raise CallNotLoaded(
            f"{sent}, and {kept}: bytecode of one version does not run in another. Use an image whose Python is "
            f"{_minor(about['python'])}, or run your program with Python {_minor(here['python'])}. Functions that are "
            "imported from a module of the image work with any version."
        ) from None
    except ModuleNotFoundError as error:
        raise CallNotLoaded(
            f"the image has no module {error.name}. Use an image that has it, or, when it is your own, send it along: "
            f"Executor(…, modules=[{(error.name or '').split('.')[0]}])."
        ) from error
    except Exception as error:
        raise CallNotLoaded(f"the call cannot be read: {type(error).__name__}: {error}. {sent}, and {kept}.") from error


def pack_value(value: Any) -> List[bytes]:
    """The results that give back what a function returned."""
    import cloudpickle

    try:
        content = cloudpickle.dumps(value)
    except Exception as error:
        raise NotPicklable(f"the return value, a {type(value).__name__}, cannot be pickled: {error}") from error
    return _parts({"ok": True}, content)


def pack_failure(error: BaseException) -> List[bytes]:
    """The results that tell of an exception; without the exception itself where that cannot be pickled."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    kind = type(error)
    about = {
        "ok": False,
        "type": f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__,
        "message": _shown(error),
        "trace": trace if len(trace) <= LONGEST_TRACE else "… " + trace[-LONGEST_TRACE:],
    }
    return _parts(about, _pickled_exception(error))


def read_outcome(results: Iterable[bytes]) -> Optional[Outcome]:
    """The outcome among the results of an execution; None when they have none. Reads no further than it must."""
    contents: List[bytes] = []
    for result in results:
        # A function may give results of its own.
        if not result.startswith(OUTCOME_LINE):
            continue
        about, content = _split(result, OUTCOME_LINE)
        if about["part"] == 1:
            # Of two that begin, the later one tells why the earlier could not be completed.
            contents = []
        contents.append(content)
        if about["part"] == about["of"]:
            return _outcome(about, b"".join(contents))
    return None


def _outcome(about: Dict[str, Any], content: bytes) -> Outcome:
    same_code = _minor(about["python"]) == _minor(_versions()["python"])
    if about["ok"]:
        try:
            return Outcome(_Loader(content, same_code).load(), None)
        except _OtherCode:
            raise NotPicklable(
                f"the return value has functions of Python {about['python']}, which do not run in {sys.version.split()[0]}"
            ) from None
    exception: Optional[BaseException] = None
    if content:
        try:
            loaded = _Loader(content, same_code).load()
            # What ends a program must not end this one.
            exception = loaded if isinstance(loaded, Exception) else None
        except Exception:
            pass
    return Outcome(None, Failure(exception, about["type"], about["message"], about["trace"]))


def _parts(about: Dict[str, Any], content: bytes) -> List[bytes]:
    pieces = [content[at : at + PART_BYTES] for at in range(0, len(content), PART_BYTES)] or [b""]
    said = {**_versions(), **about, "of": len(pieces)}
    return [OUTCOME_LINE + _line({**said, "part": at}) + piece for at, piece in enumerate(pieces, start=1)]


def _pickled_exception(error: BaseException) -> bytes:
    import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(error)
        # Many exceptions can be pickled and not be made again, because their class wants other arguments.
        _Loader(content).load()
        return content if len(content) <= PART_BYTES else b""
    except Exception:
        return b""


def _shown(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text cannot be made)"


def _line(about: Dict[str, Any]) -> bytes:
    return json.dumps(about).encode() + b"\n"


def _split(message: bytes, first_line: bytes) -> Tuple[Dict[str, Any], bytes]:
    end = message.index(b"\n", len(first_line))
    return json.loads(message[len(first_line) : end]), message[end + 1 :]


def _versions() -> Dict[str, str]:
    import cloudpickle

    return {
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "cloudpickle": cloudpickle.__version__,
    }


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


class _OtherCode(Exception):
    """Bytecode of another version of Python."""


class _Loader(pickle.Unpickler):
    """Reads what cloudpickle wrote, of whichever version from 2 on; refuses bytecode where ``same_code`` is False."""

    def __init__(self, content: bytes, same_code: bool = True) -> None:
        super().__init__(io.BytesIO(content))
        self._same_code = same_code

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("cloudpickle."):
            if name in ("_make_function", "_make_skel_func") and not self._same_code:
                raise _OtherCode
            return _cloudpickle_part(module, name)
        return super().find_class(module, name)


def _cloudpickle_part(module: str, name: str) -> Any:
    """Version 3 has put into one module what version 2 has in two."""
    for place in (module, "cloudpickle.cloudpickle", "cloudpickle.cloudpickle_fast"):
        try:
            return getattr(importlib.import_module(place), name)
        except (ImportError, AttributeError):
            continue
    raise AttributeError(f"cloudpickle has no {name}")
