"""The command `hostnet`: which commands there are. Each is loaded when it is named, for loading all takes its time."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from hostnet.terminal.screen import say

COMMANDS = {
    "run": ("run_app", "Run a configuration and say what limits it."),
    "validate": ("validate_app", "Recompute published results and compare them row by row."),
    "plot": ("small_app", "Draw the plots of a run, of a sweep or of curves and print their paths."),
    "list": (
        "small_app",
        "List presets, DRAM devices, profiles of memory controllers, chips, dies, workloads, apps, studies, counters.",
    ),
    "schema": ("small_app", "Print the JSON Schema of configurations, for editors."),
    "new": (
        "small_app",
        "Write a commented configuration to start from: a stream, an application, a cluster or a chip (NAME.toml).",
    ),
    "demo": ("small_app", 'Run the four quadrants of "Understanding the Host Network" and write a report.'),
    "predict": (
        "predict_app",
        "Predict what a run would show, from the configuration alone, in less than a millisecond.",
    ),
    "explain": (
        "explain_app",
        "Say why a run is as fast as it is: what binds it, where its latency comes from, and what would help.",
    ),
    "sweep": ("sweep_app", "Compute a configuration under every combination of some values."),
    "compare": ("compare_app", "Show what differs between two runs: configuration, results, and the first event."),
    "calibrate": ("calibrate_app", "Fit parameters of a server to measurements, and write a server file with them."),
    "curve": ("curve_app", "Measure latency under load: bandwidth against read latency, as Intel MLC shows it."),
    "whatif": (
        "whatif_app",
        "Tell what would change if the NIC sat elsewhere: at PCIe, on the die, in a DIMM, at CXL.",
    ),
    "cut": (
        "cut_app",
        "Tell how a configuration is shared out among processes: partitions, servers, load, and how often they meet.",
    ),
    "chakra": ("chakra_app", "Write what the ranks of a job do as execution traces of MLCommons Chakra."),
    "import": (
        "import_app",
        "Draft a server file from a machine: its topology, as hwloc's lstopo writes it, and what Linux says of cores.",
    ),
    "filter": ("filter_app", "Run a trace of a processor through caches, and keep what reaches memory."),
    "memory": ("memory_app", "Simulate the memory system on its own; check DRAM commands."),
    "noc": ("noc_app", "Simulate the network on a chip on its own: latency and accepted rate under load."),
    "codec": ("codec_app", "Compress gradients as a NIC can: how much is left of them, and what error that makes."),
    "counters": ("counters_app", "Hardware counters: which to record, and what a file of them tells."),
}
"""Every command: the module that registers it, and what `hostnet --help` says of it."""


COMPLETES = "_HOSTNET_COMPLETE"
"""The variable with which a shell requests completion."""


class Commands(TyperGroup):
    """The commands by name and summary only; the one that is named is loaded."""

    def __init__(self, **settings: Any) -> None:
        """With what Typer found out about the group itself."""
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, short_help=summary) for name, (_, summary) in COMMANDS.items()}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without any word the help is shown."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Finds the command that is named, and puts the real one in its place."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest


def load(name: str) -> Any:
    """The command of that name, with its options."""
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


def _unwrapped(text: str) -> str:
    """Paragraphs of a docstring, each on a line, for the help to wrap."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


app = typer.Typer(
    name="hostnet",
    help="Simulate the network inside a server: what limits its throughput, and why.",
    cls=Commands,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from hostnet._core import has_assertions, version

        say(f"hostnet {version()}")
        if has_assertions():
            say("Built with assertions, as `make test` does: runs take longer. `make` builds it without.")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Simulate the network inside a server: what limits its throughput, and why."""
