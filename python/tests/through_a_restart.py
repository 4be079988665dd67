"""Calls that are out while the service is killed and started again. The test of the server does that."""

from __future__ import annotations

import os
import sys
import time

from reactord_client import Client, Executor


def nap(number: int) -> int:
    time.sleep(1)
    return number


def main() -> None:
    # Nothing is tried again below the executor: it has to do that itself.
    client = Client.from_environment(retries=0)
    with Executor(client, image=os.environ["TEST_EXECUTOR_IMAGE"], num_workers=2) as executor:
        mapped = executor.map(nap, range(4), timeout=120)
        while not mapped.responses[0].running():
            time.sleep(0.05)
        print("they are out", flush=True)
        sys.stdin.readline()
        # What is sent now arrives as well.
        late = executor.submit(nap, 4)
        assert [*mapped, late.result(120)] == list(range(5))


main()
