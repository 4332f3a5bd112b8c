"""Options of `hostnet run`, with their checks."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.running.ranges import SEEDS_MAX, check_range, check_seed
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet._core import ChipPlan, Plan

PROCESSES_MAX = 4096
"""Maximum number of processes of one run."""

THREADS_MAX = 1024
"""Maximum number of threads of one run."""

TRACE_WINDOW = "20 us"
"""Default length of a trace."""

COUNTER_FORMS = ("perf", "pcm", "pcm-numa")
"""Formats of counter files, as in `hostnet.counters.FORMATS`."""

COUNTERS_INTERVAL = "100us"
"""Default interval between two readings of the counters."""

CHECKPOINT_EVERY_PS_MIN = 10**6
"""Shortest simulated time between two checkpoints, in ps."""

COUNTERS_PS_MIN = 10**6
"""Shortest interval between two readings of the counters, in ps."""


@dataclass(frozen=True)
class CounterOptions:
    """Options of `hostnet run` about counter files, as given."""

    form: str | None = None
    interval: str | None = None
    out: Path | None = None
    per_socket: bool = False

    @property
    def interval_ps(self) -> int:
        """Interval between two readings, in ps; 0 if no counters are requested."""
        return 0 if self.form is None else parse_time_ps(self.interval or COUNTERS_INTERVAL, "--counters-interval")

    def check(self) -> None:
        """Rejects options that contradict each other or are out of range.

        Raises:
            ConfigError: There is such an option; the message suggests a remedy.
        """
        if self.form is None:
            given = {
                "--counters-interval": self.interval,
                "--counters-out": self.out,
                "--counters-per-socket": self.per_socket or None,
            }
            for option, value in given.items():
                if value is not None:
                    raise ConfigError(
                        "requires-key", f"{option}: say with --counters which file it is about: perf, pcm or pcm-numa"
                    )
            return
        if self.form not in COUNTER_FORMS:
            near = get_close_matches(self.form, COUNTER_FORMS, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise ConfigError("unknown-name", f'--counters "{self.form}": must be perf, pcm or pcm-numa{hint}')
        if self.form != "perf" and self.per_socket:
            tool = "pcm-raw" if self.form == "pcm" else self.form
            raise ConfigError("no-effect", f"--counters-per-socket: {tool} always tells the units apart")
        if self.interval_ps < COUNTERS_PS_MIN or self.interval_ps % 1000:
            raise ConfigError(
                "out-of-range", f'--counters-interval "{self.interval}": must be whole ns and at least 1 us'
            )
        if self.out is not None and (self.out.is_dir() or not self.out.parent.is_dir()):
            raise ConfigError("file-access", f"--counters-out {self.out}: name a file in a folder that exists")


@dataclass(frozen=True)
class PcapOptions:
    """Options of `hostnet run` about captures, as given."""

    file: Path | None = None
    host: str | None = None
    snaplen: int | None = None

    def check(self) -> None:
        """Rejects options that contradict each other.

        Raises:
            ConfigError: There is such an option; the message suggests a remedy.
        """
        if self.file is None:
            for option, value in {"--pcap-host": self.host, "--pcap-snaplen": self.snaplen}.items():
                if value is not None:
                    raise ConfigError("requires-key", f"{option}: is about a capture; give --pcap FILE too")
        elif self.file.is_dir() or not self.file.parent.is_dir():
            raise ConfigError("file-access", f"--pcap {self.file}: name a file in a folder that exists")


@dataclass(frozen=True)
class Request:
    """Options of `hostnet run`, as given."""

    file: Path
    overrides: tuple[str, ...] = ()
    seed: int | None = None
    seeds: int | None = None
    threads: int | None = None
    processes: int | None = None
    out: Path | None = None
    json: bool = False
    csv: bool = False
    quiet: bool = False
    brief: bool = False
    series: str | None = None
    trace: bool = False
    trace_window: str | None = None
    host: str | None = None
    checkpoint_at: str | None = None
    checkpoint_every: str | None = None
    checkpoint: Path | None = None
    from_checkpoint: Path | None = None
    counters: CounterOptions = CounterOptions()
    pcap: PcapOptions = PcapOptions()
    compare: str | None = None

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
