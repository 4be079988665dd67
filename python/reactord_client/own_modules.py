"""Which modules a container does not have, so that what is from them must be sent along."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from types import ModuleType
from typing import Any, Callable, Iterator, List, Optional, Sequence, Set

# cloudpickle keeps one list for the whole program.
_lock = threading.RLock()


@contextlib.contextmanager
def by_value(function: Callable[..., Any], modules: Sequence[ModuleType]) -> Iterator[None]:
    """
    While it holds, cloudpickle sends these modules' functions and classes as they are, and those of the function's own
    package unless that is an installed one. (It would send their names alone.)
    """
    import cloudpickle

    own = _own_module(function)
    wanted = [*modules, *([] if own is None else [own])]
    with _lock:
        known = cloudpickle.list_registry_pickle_by_value()
        added: List[ModuleType] = []
        try:
            for module in wanted:
                if module.__name__ not in known and module not in added:
                    cloudpickle.register_pickle_by_value(module)
                    added.append(module)
            yield
        finally:
            for module in added:
                cloudpickle.unregister_pickle_by_value(module)


def _own_module(function: Callable[..., Any]) -> Optional[ModuleType]:
    named = getattr(function, "__module__", None) or getattr(type(function), "__module__", None)
    module = sys.modules.get(named) if isinstance(named, str) else None
    # What is in __main__ is always sent as it is.
    if module is None or named == "__main__" or str(named).split(".")[0] == __package__:
        return None
    file = getattr(module, "__file__", None)
    if file is None or _is_installed(file):
        return None
    # Of a package all of it: its modules use each other.
    return sys.modules.get(str(named).split(".")[0], module)


def _is_installed(file: str) -> bool:
    import site
    import sysconfig

    places: Set[Optional[str]] = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    places.update(site.getsitepackages() if hasattr(site, "getsitepackages") else [])
    places.add(site.getusersitepackages() if hasattr(site, "getusersitepackages") else None)
    path = os.path.realpath(file)
    inside = any(path.startswith(os.path.realpath(place) + os.sep) for place in places if place)
    return inside or f"{os.sep}dist-packages{os.sep}" in path or f"{os.sep}site-packages{os.sep}" in path
