"""What the service answers with, as dictionaries whose members are attributes too."""

from __future__ import annotations

from typing import Any, Dict, List, Union


class Record(Dict[str, Any]):
    """A JSON object. ``record["statusMessage"]``, ``record.statusMessage`` and ``record.status_message`` are the same."""

    def __getattr__(self, name: str) -> Any:
        # Only asked for names that the class does not have.
        if name.startswith("__"):
            raise AttributeError(name)
        for spelling in (name, camel_case(name)):
            if spelling in self:
                return self[spelling]
        raise AttributeError(f"the record has no {name}; it has {', '.join(self) or 'nothing'}")

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self]


def camel_case(name: str) -> str:
    """``status_message`` as the service spells it. A leading underscore stays."""
    lead = len(name) - len(name.lstrip("_"))
    first, *rest = name[lead:].split("_")
    return name[:lead] + first + "".join(word[:1].upper() + word[1:] for word in rest)


def record_hook(value: Dict[str, Any]) -> Record:
    """For ``json.loads``: each object of the document is a record."""
    return Record(value)


JsonValue = Union[None, bool, int, float, str, List[Any], Dict[str, Any]]
