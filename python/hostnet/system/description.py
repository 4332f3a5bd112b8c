"""Base class of the dataclasses of this package."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from inspect import get_annotations
from typing import Any, Self

from hostnet.errors import ConfigError


class FieldError(ConfigError, TypeError):
    """Raised if an object is created with a field that its class lacks.

    It is a `TypeError` too, as for any other call with a wrong argument.
    """


class Description:
    """A part of a configuration."""

    def __new__(cls, *_positional: Any, **named: Any) -> Self:
        """Creates an object whose fields are set afterwards.

        Raises:
            FieldError: There is no such field; names the nearest one.
        """
        known: list[str] = list(getattr(cls, "__dataclass_fields__", {}))
        for name in named:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f'did you mean "{near[0]}"?' if near else f"its fields are {', '.join(known)}"
                raise FieldError("unknown-key", f'{cls.__name__} has no field "{name}"; {hint}')
        return super().__new__(cls)

    def __repr__(self) -> str:
        """Returns the call that creates the object, with the fields that are set."""
        told = ((field.name, getattr(self, field.name)) for field in fields_of(type(self)) if _is_set(self, field))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in told)})"


def fields_of(kind: Any) -> list[Field[Any]]:
    """Returns the fields of a class, those that it adds before those that it inherits."""
    own = get_annotations(kind)
    return sorted(fields(kind), key=lambda field: field.name not in own)


def _is_set(description: Description, field: Field[Any]) -> bool:
    """Returns True if a field differs from its default."""
    value = getattr(description, field.name)
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return value is not default and (default is None or value != default)
