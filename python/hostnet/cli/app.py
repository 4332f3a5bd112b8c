"""The commands of `hostnet`. The module of a command is imported only when the command is used."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from hostnet.terminal.screen import echo

COMMANDS = {
    "run": ("run_app", "Run a configuration and report its bottlenecks."),
    "validate": ("validate_app", "Reproduce published results and compare them row by row."),
    "paper": ("paper_app", "Reproduce a paper: run its studies, print the tables and draw the figures."),
    "plot": ("small_app", "Plot a run, a sweep or latency curves, and print the paths of the plots."),
    "list": (
        "small_app",
        "List presets, devices, workloads and other names that configurations and commands know.",
    ),
    "schema": ("small_app", "Print the JSON Schema of configurations, for use in editors."),
    "new": (
        "small_app",
        "Write a commented configuration: a server, an application, a cluster or a chip.",
    ),
    "demo": ("small_app", 'Run the four quadrants of "Understanding the Host Network" and write a report.'),
    "predict": (
        "predict_app",
        "Predict the results of a run in less than a millisecond, without simulating.",
    ),
    "explain": (
        "explain_app",
        "Explain the performance of a run: bottlenecks, sources of latency, and remedies.",
    ),
    "explain-term": ("terms_app", "Define a term, a limit, a column, a heading or a key."),
    "sweep": ("sweep_app", "Run a configuration for every combination of parameter values."),
    "compare": ("compare_app", "Compare two runs: configuration, results, and the first event that differs."),
    "calibrate": ("calibrate_app", "Fit parameters of a server to measurements, and write a server file."),
    "curve": ("curve_app", "Measure read latency over memory bandwidth, like Intel MLC."),
    "whatif": (
        "whatif_app",
        "Compare attachments of the NIC: PCIe, on the die, in a DIMM, or CXL.",
    ),
    "cut": (
        "cut_app",
        "Show how a run is partitioned over processes, and estimate the speed-up.",
    ),
    "chakra": ("chakra_app", "Write the operations of a job's ranks as MLCommons Chakra execution traces."),
    "import": (
        "import_app",
        "Draft a server file from the hwloc topology and the sysfs of a machine.",
    ),
    "filter": ("filter_app", "Filter a memory trace through caches, and keep the accesses that reach memory."),
    "memory": ("memory_app", "Simulate a memory system without a server, or check a stream of DRAM commands."),
    "noc": ("noc_app", "Simulate a network on a chip without a server."),
    "codec": ("codec_app", "Compress a file of gradients, and show the compression ratio and the error."),
    "counters": ("counters_app", "List hardware counters to record, or evaluate a file of them."),
    "completion": ("small_app", "Print the script that completes commands, options and values in a shell."),
}
"""Modules that register the commands, and the summaries that `hostnet --help` shows."""


COMPLETES = "_HOSTNET_COMPLETE"
"""Environment variable with which a shell requests completion."""


class Commands(TyperGroup):
    """Command group that knows names and summaries, and loads a command when it is used."""

    def __init__(self, **settings: Any) -> None:
        """Creates the group with a placeholder for each command."""
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, short_help=summary) for name, (_, summary) in COMMANDS.items()}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments; without any, shows the help."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Finds the command and loads it."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None:
            command = load(name)
            for found in (command, *getattr(command, "commands", {}).values()):
                hide_types_of_flags([*found.params, found.get_help_option(ctx)])
        return name, command, rest


def load(name: str) -> Any:
    """Loads a command with its options."""
    module = import_module(f"hostnet.cli.{COMMANDS[name][0]}")
    one = typer.Typer(add_completion=False, callback=lambda: None)
    module.register(one)
    command: Any = get_group(one).commands[name]
    both = (command, *getattr(command, "commands", {}).values())
    for found in both:
        found.help = _unwrapped(found.help or "")
    if COMPLETES in os.environ:
        from hostnet.cli.complete import attach

        for found in both:
            attach(name, found.params)
    return command


def hide_types_of_flags(parameters: list[Any]) -> None:
    """Makes the help show flags without a type, because they take no value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""


def _unwrapped(text: str) -> str:
    """Joins each paragraph of a docstring to one line, so that the help can wrap it."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


app = typer.Typer(
    name="hostnet",
    help="Simulate the network inside servers, and explain what limits their throughput.",
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    """Prints the version and exits."""
    if wanted:
        from hostnet._core import has_assertions, version

        echo(f"hostnet {version()}")
        if has_assertions():
            echo("Built with assertions, as `make test` does: runs take longer. `make` builds it without.")
        raise typer.Exit


if COMPLETES in os.environ:
    # Typer registers its shells only with its own options for completion, which `hostnet completion` replaces.
    from typer._completion_classes import completion_init

    completion_init()


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Simulate the network inside servers, and explain what limits their throughput."""
