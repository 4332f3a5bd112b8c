"""Commands whose options are the fields of a dataclass, and options that several commands have."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import DataclassInstance

    Options = TypeVar("Options", bound=DataclassInstance)

ConfigurationFile = Annotated[Path, typer.Argument(help="Configuration, TOML or JSON.")]
"""Configuration to read."""

Engine = Annotated[str, typer.Option(metavar="run|predict", help="Simulate or predict.")]
"""Engine that computes the results."""

ParallelRuns = Annotated[
    int | None,
    typer.Option("--threads", "-j", help="Number of parallel runs; does not affect the results.", show_default="all"),
]
"""Number of runs at a time."""

RowsOver = Annotated[
    tuple[str, ...],
    typer.Option(metavar="PATH=VALUES", help="Run for every value and print a row for each. Repeatable."),
]
"""Keys with several values, for tables with a row for each."""


def set_option(what: str, panel: str | None = None) -> Any:
    """Declares the repeatable option `--set`."""
    return typer.Option("--set", metavar="PATH=VALUE", help=f"Override {what}. Repeatable.", rich_help_panel=panel)


def json_option(what: str = "Print everything as JSON.", panel: str | None = None) -> Any:
    """Declares the flag `--json`."""
    return typer.Option("--json", help=what, rich_help_panel=panel)


def html_option(what: str) -> Any:
    """Declares the option `--html`, for commands that do not write a directory, whose page is `report.html`."""
    return typer.Option("--html", metavar="FILE", help=f"Write a page {what}.")


def command_of(options: type[Options], handle: Callable[[Options], int]) -> Any:
    """Returns a command with an option for each field of `options`; its help is the docstring of `handle`.

    A field is declared as `Annotated[TYPE, typer.Option(...)]` and may have a default. A tuple is a repeatable option.
    A field whose type is a dataclass has the options of that class, whose parameters are named `<field>_<name>`.
    """

    def call(**given: Any) -> int:
        return handle(_read_options(options, given, ""))

    command: Any = wraps(handle)(call)
    command.__signature__ = Signature(list(_parameters(options, "")), return_annotation=int)
    return command


def _parameters(options: type[DataclassInstance], prefix: str) -> Iterator[Parameter]:
    """Yields a parameter for each option, in the order of the fields."""
    hints = get_type_hints(options, include_extras=True)
    for field in fields(options):
        hint, name = hints[field.name], f"{prefix}{field.name}"
        if isinstance(hint, type) and is_dataclass(hint):
            yield from _parameters(hint, f"{name}_")
            continue
        default = Parameter.empty if field.default is MISSING else field.default
        if _is_repeatable(hint):
            # Typer knows only lists as repeatable options, and shows no default for None.
            hint, default = Annotated[list[str] | None, *hint.__metadata__], None
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _read_options(options: type[Options], given: dict[str, Any], prefix: str) -> Options:
    """Creates the dataclass from the arguments of a command."""
    hints = get_type_hints(options, include_extras=True)
    values = {field.name: _read_value(hints[field.name], given, f"{prefix}{field.name}") for field in fields(options)}
    return options(**values)


def _read_value(hint: Any, given: dict[str, Any], name: str) -> Any:
    """Returns the value of a field from the arguments of a command."""
    if isinstance(hint, type) and is_dataclass(hint):
        return _read_options(hint, given, f"{name}_")
    return tuple(given[name] or ()) if _is_repeatable(hint) else given[name]


def _is_repeatable(hint: Any) -> bool:
    """Returns True if the type of a field is a tuple."""
    return get_origin(get_args(hint)[0]) is tuple
