"""Options of `hostnet run`, with their checks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hostnet._core import ConfigError
from hostnet.cli.declare import json_option, set_option
from hostnet.cli.page_file import refuse_input
from hostnet.cli.record_options import CounterOptions, PcapOptions, record_option
from hostnet.running.ranges import SEEDS_MAX, THREADS_MAX, check_range, check_seed
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from hostnet._core import ChipPlan, Plan

WHAT, OUTPUT = "What to run", "What to write and print"
"""Panels of the help."""

_what_option = partial(typer.Option, rich_help_panel=WHAT)
_how_option = partial(typer.Option, rich_help_panel="How to run it")
_output_option = partial(typer.Option, rich_help_panel=OUTPUT)
_checkpoint_option = partial(typer.Option, rich_help_panel="Checkpoints")

PROCESSES_MAX = 4096
"""Maximum number of processes of one run."""

TRACE_WINDOW = "20 us"
"""Default length of a trace."""

CHECKPOINT_EVERY_PS_MIN = 10**6
"""Shortest simulated time between two checkpoints, in ps."""


@dataclass(frozen=True)
class Request:
    """Options of `hostnet run`, as given."""

    file: Annotated[Path, typer.Argument(help="Configuration, TOML or JSON; `hostnet new` writes one.")]
    overrides: Annotated[tuple[str, ...], set_option("a value, e.g. memory.channels=4", WHAT)] = ()
    seed: Annotated[int | None, _what_option(help="Override the seed of the random streams.")] = None
    seeds: Annotated[
        int | None, _what_option(metavar="N", help="Run N seeds and print means with 95 % confidence intervals.")
    ] = None
    threads: Annotated[
        int | None,
        _how_option(help="Number of threads; does not affect the results.", show_default="1; all cores with --seeds"),
    ] = None
    processes: Annotated[
        int | None, _how_option(metavar="N", help="Distribute the run over N processes with mpirun.", show_default="1")
    ] = None
    out: Annotated[
        Path | None, _output_option(metavar="DIR", help="Run directory to write.", show_default="runs/<name>-<n>")
    ] = None
    json: Annotated[bool, json_option("Print the summary and the path of the run directory as JSON.", OUTPUT)] = False
    csv: Annotated[bool, _output_option("--csv", help="Also write the tables as CSV files.")] = False
    no_report: Annotated[
        bool, _output_option("--no-report", help="Write only data: no report.html and no explanation.")
    ] = False
    quiet: Annotated[bool, _output_option("--quiet", "-q", help="Print only the path of the run directory.")] = False
    brief: Annotated[
        bool, _output_option("--brief", help="Print only the throughput and the bottleneck of each workload.")
    ] = False
    series: Annotated[
        str | None, _output_option(metavar="TIME", help='Record time series with this step, e.g. "10us".')
    ] = None
    trace: Annotated[
        bool,
        _output_option("--trace", help="Write trace.pftrace, a timeline of every cache line, for ui.perfetto.dev."),
    ] = False
    trace_window: Annotated[
        str | None, _output_option(metavar="TIME", help="Length of the trace after the warm-up.", show_default="20us")
    ] = None
    host: Annotated[
        str | None,
        record_option(
            metavar="NAME", help="Server that --trace and --counters apply to.", show_default="the only server"
        ),
    ] = None
    checkpoint_at: Annotated[
        str | None, _checkpoint_option(metavar="TIME", help="Write a checkpoint at this simulated time.")
    ] = None
    checkpoint_every: Annotated[
        str | None,
        _checkpoint_option(
            metavar="TIME", help="Write a checkpoint every TIME of simulated time, and keep the last one."
        ),
    ] = None
    checkpoint: Annotated[
        Path | None,
        _checkpoint_option(
            metavar="PATH", help="Checkpoint to write.", show_default="checkpoints/<name> with --checkpoint-every"
        ),
    ] = None
    from_checkpoint: Annotated[
        Path | None, _checkpoint_option("--from", metavar="PATH", help="Continue from a checkpoint file or folder.")
    ] = None
    counters: CounterOptions = CounterOptions()
    compare: Annotated[
        str | None,
        _what_option(metavar="predict|alone", help="Compare the run with its prediction, or with each workload alone."),
    ] = None
    pcap: PcapOptions = PcapOptions()

    @property
    def series_ps(self) -> int:
        """Step of the time series, in ps; 0 for none."""
        return 0 if self.series is None else parse_time_ps(self.series, "--series")

    @property
    def trace_ps(self) -> int:
        """Length of the trace, in ps; 0 for none."""
        return parse_time_ps(self.trace_window or TRACE_WINDOW, "--trace-window") if self.trace else 0

    @property
    def checkpoint_at_ps(self) -> int:
        """Simulated time of the checkpoint, in ps; 0 for none."""
        return 0 if self.checkpoint_at is None else parse_time_ps(self.checkpoint_at, "--checkpoint-at")

    @property
    def checkpoint_every_ps(self) -> int:
        """Simulated time between two checkpoints, in ps; 0 for none."""
        return 0 if self.checkpoint_every is None else parse_time_ps(self.checkpoint_every, "--checkpoint-every")

    def shared_state(self, plan: Plan | ChipPlan) -> str:
        """Returns a text that must be equal in all processes of a run."""
        options = (self.threads, self.series, self.counters, self.host, self.checkpoint_at, self.checkpoint_every)
        return f"{plan.hash} {plan.seed} {options} {self.pcap.host} {self.from_checkpoint is not None}"

    def check(self) -> None:
        """Rejects options that contradict each other or are out of range.

        Raises:
            ConfigError: There is such an option; the message suggests a remedy.
        """
        check_range("--threads", self.threads, THREADS_MAX)
        check_range("--processes", self.processes, PROCESSES_MAX)
        check_range("--seeds", self.seeds, SEEDS_MAX)
        check_seed("--seed", self.seed)
        if self.json and self.quiet:
            raise ConfigError("conflicting-keys", "--json and --quiet: both say what to print; give one of them")
        if self.brief and (self.json or self.quiet or self.compare is not None):
            raise ConfigError("conflicting-keys", "--brief: cannot be combined with --json, --quiet or --compare")
        self._check_checkpoint()
        self._check_of_one_run()
        self.counters.check()
        self.pcap.check()
        outputs = {"--counters-out": self.counters.out, "--pcap": self.pcap.file, "--checkpoint": self.checkpoint}
        refuse_input(self.file, outputs)
        if self.host is not None and not self.trace and self.counters.form is None:
            raise ConfigError(
                "requires-key", "--host: says which server --trace and --counters are of; give one of them too"
            )
        if self.trace_window is not None and not self.trace:
            raise ConfigError("requires-key", "--trace-window: says how long a trace is; give --trace too")
        _ = self.series_ps, self.trace_ps, self.checkpoint_at_ps, self.checkpoint_every_ps

    def _check_checkpoint(self) -> None:
        """Checks the options about checkpoints."""
        if self.checkpoint_every is not None:
            if self.checkpoint_at is not None:
                raise ConfigError("conflicting-keys", "--checkpoint-at and --checkpoint-every: give one of them")
            if self.checkpoint_every_ps < CHECKPOINT_EVERY_PS_MIN:
                raise ConfigError(
                    "out-of-range", f'--checkpoint-every "{self.checkpoint_every}": must be at least 1 us'
                )
            return
        if (self.checkpoint is None) != (self.checkpoint_at is None):
            raise ConfigError(
                "requires-key", "--checkpoint and --checkpoint-at or --checkpoint-every: give both or neither"
            )
        if self.checkpoint is not None and (self.checkpoint.is_dir() or not self.checkpoint.parent.is_dir()):
            raise ConfigError("file-access", f"--checkpoint {self.checkpoint}: name a file in a folder that exists")
        if self.from_checkpoint is not None and self.checkpoint is not None:
            raise ConfigError("conflicting-keys", "--from and --checkpoint: give one of them")

    def _check_of_one_run(self) -> None:
        """Checks the options that require a single run."""
        if self.compare not in (None, "predict", "alone"):
            raise ConfigError("unknown-name", f'--compare {self.compare}: must be "predict" or "alone"')
        if self.compare is not None and (self.json or self.quiet or self.seeds is not None):
            shown = f"--compare {self.compare}: shows one run on the screen"
            raise ConfigError("conflicting-keys", f"{shown}; leave out --json, --quiet and --seeds")
        if self.seeds is None:
            return
        single = {
            "a checkpoint is": self.checkpoint or self.checkpoint_every or self.from_checkpoint,
            "counters are": self.counters.form,
            "a trace is": self.trace,
        }
        for what, given in single.items():
            if given:
                raise ConfigError("conflicting-keys", f"--seeds: {what} of one run; give --seed instead of --seeds")
