"""The pages of the commands, made from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from hostnet.cli.app import COMMANDS, load

KINDS = {"int": "N", "float": "NUMBER", "path": "PATH"}
BAR = "\\|"
"""A bar within a cell of a table."""
HEAD = ["| option | value | meaning |", "|---|---|---|"]


def files() -> dict[str, str]:
    """Returns the pages of all commands and their list, by name."""
    found = {f"commands/{name}.md": page(name) for name in COMMANDS}
    rows = [f"| [`hostnet {name}`]({name}.md) | {summary} |" for name, (_, summary) in COMMANDS.items()]
    table = [
        "# Commands",
        "",
        "`hostnet COMMAND --help` shows the same on the screen.",
        "",
        "| command | |",
        "|---|---|",
    ]
    tree = ["", "```{toctree}", ":hidden:", "", *COMMANDS, "```", ""]
    return {**found, "commands/index.md": "\n".join([*table, *rows, *tree])}


def page(name: str) -> str:
    """Returns the page of a command."""
    command: Any = load(name)
    lines = [f"# hostnet {name}", ""]
    commands = getattr(command, "commands", None)
    if not commands:
        return "\n".join([*lines, *body(command, f"hostnet {name}")])
    for inner, found in commands.items():
        lines += [f"## {name} {inner}", "", *body(found, f"hostnet {name} {inner}")]
    return "\n".join(lines)


def body(command: Any, path: str) -> Iterator[str]:
    """Yields the lines about a command: its usage, its help and its options."""
    context = command.make_context(path, [], resilient_parsing=True)
    yield from ["```text", command.get_usage(context).removeprefix("Usage: "), "```", ""]
    yield from [re.sub(r"^Example: (.*)$", r"Example: `\1`", escaped(command.help or ""), flags=re.MULTILINE), ""]
    shown = [param for param in command.get_params(context) if not getattr(param, "hidden", False)]
    for panel, params in groupby(shown, lambda param: getattr(param, "rich_help_panel", None)):
        if panel:
            yield from [f"**{panel}**", ""]
        yield from [*HEAD, *(row_of(param) for param in params), ""]


def row_of(param: Any) -> str:
    """Returns the line of an option or an argument."""
    is_option = param.param_type_name == "option"
    names = ", ".join(f"`{name}`" for name in (param.opts if is_option else [param.metavar or param.name]))
    value = f"`{value_of(param)}`" if is_option and not param.is_flag else ""
    told = [escaped(param.help or "")]
    default = param.show_default if isinstance(param.show_default, str) else param.default
    if default not in (None, False, "") and not callable(default):
        told.append(f"Default: {escaped(str(default))}.")
    if param.required:
        told.append("Required.")
    return f"| {names} | {value.replace('|', BAR)} | {' '.join(told)} |"


def value_of(param: Any) -> str:
    """Returns the placeholder of an option's value."""
    return str(param.metavar or KINDS.get(param.type.name, "TEXT"))


def escaped(text: str) -> str:
    """Returns a text of the help in Markdown."""
    return text.replace("<", "&lt;").replace("|", BAR).replace("*", "\\*")
