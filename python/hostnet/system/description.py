"""What the dataclasses of this package have in common."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from inspect import get_annotations
from typing import Any


class Description:
    """A part of a configuration."""

    def __repr__(self) -> str:
        """What is set, as Python would write it."""
        told = ((field.name, getattr(self, field.name)) for field in fields_of(type(self)) if _is_set(self, field))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in told)})"


def fields_of(kind: Any) -> list[Field[Any]]:
    """The fields of a class, those that it adds before what it inherits: a preset before the parts of a server."""
    own = get_annotations(kind)
    return sorted(fields(kind), key=lambda field: field.name not in own)


def _is_set(description: Description, field: Field[Any]) -> bool:
    """Whether a field is not as it is when nothing is said."""
    value = getattr(description, field.name)
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return value is not default and (default is None or value != default)
