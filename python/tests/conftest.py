"""Where the service of these tests is, and what they share. The test of the server starts both."""

from __future__ import annotations

import os
from typing import Iterator

import pytest

from reactord_client import Client, Executor


@pytest.fixture(scope="session")
def client() -> Client:
    return Client.from_environment()


@pytest.fixture(scope="session")
def executor_image() -> str:
    return os.environ["TEST_EXECUTOR_IMAGE"]


@pytest.fixture(scope="session")
def program_image() -> str:
    """Has the package, and its containers run the program in their variable RUN."""
    return os.environ["TEST_PROGRAM_IMAGE"]


@pytest.fixture(scope="module")
def executor(client: Client, executor_image: str) -> Iterator[Executor]:
    with Executor(client, image=executor_image, num_workers=4) as made:
        yield made
