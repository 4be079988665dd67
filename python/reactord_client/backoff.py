"""How long to wait before something is tried again."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime
from typing import Iterator, Mapping, Optional


def pauses(first: float = 0.2, longest: float = 10.0) -> Iterator[float]:
    """Seconds, twice as many each time and never twice the same, so that many clients do not come back together."""
    wait = first
    while True:
        yield wait * random.uniform(0.5, 1.0)
        wait = min(wait * 2, longest)


def retry_after(headers: Mapping[str, str]) -> Optional[float]:
    """The seconds that the service asks for: a number, or a date."""
    given = headers.get("retry-after")
    if given is None:
        return None
    try:
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
