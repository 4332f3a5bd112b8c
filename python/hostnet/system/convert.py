"""Between the dataclasses and the nested dicts of a configuration file."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from hostnet.system.description import fields_of
from hostnet.system.workload import KINDS

T = TypeVar("T")


def to_dict(value: Any) -> Any:
    """Turns dataclasses into dicts without what is None or empty, and sequences into lists."""
    if is_dataclass(value):
        items = ((key_of(field.name), to_dict(getattr(value, field.name))) for field in fields_of(type(value)))
        content = {name: item for name, item in items if item is not None and item != {}}
        kind = KINDS.get(type(value))
        return content if kind is None else {"kind": kind, **content}
    if isinstance(value, Mapping):
        return {key: to_dict(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_dict(item) for item in value]
    return value


def key_of(name: str) -> str:
    """The key in files of a field: `from_` is the key `from`, which Python does not allow as a name."""
    return name.removesuffix("_")


def from_dict(kind: type[T], content: Mapping[str, Any]) -> T:
    """Makes a dataclass of a dict whose keys and values were checked before."""
    named = {key_of(name): (name, hint) for name, hint in get_type_hints(kind).items()}
    items = ((*named[key], item) for key, item in content.items() if key in named or key != "kind")
    return kind(**{name: _build(hint, item) for name, hint, item in items})


def _build(hint: Any, value: Any) -> Any:
    """Makes what a field of type `hint` holds: dataclasses for dicts, tuples for lists."""
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if isinstance(value, Mapping):
        return _build_mapping(options, value)
    if isinstance(value, list):
        element = next(get_args(option)[0] for option in options if get_origin(option) in (Sequence, tuple))
        return tuple(_build(element, item) for item in value)
    return value


def _build_mapping(options: Sequence[Any], value: Mapping[str, Any]) -> Any:
    named = [option for option in options if get_origin(option) is Mapping]
    if named:
        element = get_args(named[0])[1]
        return {key: _build(element, item) for key, item in value.items()}
    classes: list[Any] = [option for option in options if is_dataclass(option)]
    chosen = [option for option in classes if KINDS.get(option) == value.get("kind")]
    return from_dict((chosen or classes)[0], value)
