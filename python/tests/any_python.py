"""What must work with any Python that the package supports; without pytest, which those may not have."""

from __future__ import annotations

import operator
import os
import subprocess
import sys

from reactord_client import CallNotLoaded, Client, Executor, RemoteTraceback, get_context


def cube(number: int) -> int:
    return number**3


def main() -> None:
    assert get_context({"MSG": "hi", "_svc_attempt": "1"}).attempt == 1
    client = Client.from_environment()
    # The image has Debian's.
    debian = subprocess.check_output(["/usr/bin/python3", "-c", "import sys; print(*sys.version_info[:2])"])
    same = debian.decode().split() == [str(part) for part in sys.version_info[:2]]
    with Executor(client, image=os.environ["TEST_EXECUTOR_IMAGE"], num_workers=2) as executor:
        # What the image has by itself has no version.
        assert list(executor.map(operator.add, [1, 2], [10, 20])) == [11, 22]
        try:
            executor.call(operator.truediv, 1, 0)
            raise AssertionError("nothing was raised")
        except ZeroDivisionError as error:
            assert isinstance(error.__cause__, RemoteTraceback)
        try:
            assert executor.call(cube, 3) == 27 and same
        except CallNotLoaded as error:
            assert not same and "bytecode of one version does not run in another" in str(error), error
    print(sys.version.split()[0], "works;", "its functions run" if same else "its own functions are refused")


main()
