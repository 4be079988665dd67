"""The program of the executor image: makes the call that the message has, and gives back what came of it."""

from __future__ import annotations

import io
import sys
import traceback
from typing import List

from .calls import CallNotLoaded, pack_failure, pack_value, unpack_call
from .context import get_context
from .errors import ReactordError
from .inside import send_bytes_result


class NotKept(ReactordError):
    """The call was made, and its outcome cannot be given back."""


def main() -> int:
    """The exit code: 0 when the function returned, 1 when it raised, 2 when there was no call to make."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Whoever follows the log sees each line when it is written, also of a call that takes hours.
        sys.stdout.reconfigure(line_buffering=True)
    message = get_context().raw_message
    try:
        if not isinstance(message, bytes):
            raise CallNotLoaded("the message is not a call: executors are used by reactord_client.Executor alone")
        call = unpack_call(message)
    except CallNotLoaded as error:
        print(f"reactord: {error}", file=sys.stderr)
        _give(pack_failure(error))
        return 2
    del message
    try:
        value = call.function(*call.args, **call.kwargs)
        results = pack_value(value)
    # Also what asks to end the program: the caller is to know of it.
    except BaseException as error:
        traceback.print_exc()
        _give(pack_failure(_without_runner(error)))
        return 1
    _give(results)
    return 0


def _give(results: List[bytes]) -> None:
    sys.stdout.flush()
    try:
        for result in results:
            send_bytes_result(result)
    except ReactordError as error:
        # It is too large, most likely; there is room for saying so.
        complaint = NotKept(f"the service does not keep what the call gave back: {error}")
        send_bytes_result(pack_failure(complaint)[0])
        raise complaint from error


def _without_runner(error: BaseException) -> BaseException:
    """The traceback begins with the function, not with this program."""
    trace = error.__traceback__
    return error.with_traceback(trace.tb_next if trace is not None and trace.tb_next is not None else trace)


if __name__ == "__main__":
    sys.exit(main())
