"""The native module of hostnet, which checks and runs configurations."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, Self, TypedDict, final, overload, type_check_only

from hostnet.errors import CheckpointError as CheckpointError
from hostnet.errors import ConfigError as ConfigError
from hostnet.errors import SimulationError as SimulationError

__all__ = [
    "STOPPED",
    "CheckpointError",
    "ChipPlan",
    "ChipRunResult",
    "CodecFeedback",
    "CommandCheck",
    "ConfigError",
    "Glossary",
    "Look",
    "MemoryPlan",
    "MemoryRunResult",
    "NocPlan",
    "NocRunResult",
    "Pages",
    "Plan",
    "RunResult",
    "ServerReport",
    "Signals",
    "SimulationError",
    "access_formats",
    "app_template",
    "apps",
    "candidates",
    "cha_admission",
    "chakra_traces",
    "check_commands",
    "check_syntax",
    "chip_plan",
    "chip_schema",
    "chip_template",
    "chips",
    "cluster_schema",
    "cluster_template",
    "cluster_templates",
    "codec_bytes_max",
    "codec_compress",
    "codec_decompress",
    "codec_header",
    "codec_round",
    "codec_sizes",
    "counters",
    "describe_added_latency",
    "devices",
    "dies",
    "draw_explanation",
    "drift_note",
    "energy_profiles",
    "error_table",
    "explain",
    "explanation_text",
    "filter_trace",
    "find_remedies",
    "first_deviation",
    "first_divergence",
    "flow_sizes",
    "forecast",
    "format_number",
    "format_percent",
    "format_rate",
    "format_share",
    "format_si",
    "format_time_ns",
    "formula",
    "formula_constants",
    "has_assertions",
    "heat",
    "inner_raises",
    "interval",
    "is_chip",
    "is_cluster",
    "job_profiles",
    "keep_point",
    "kept_point",
    "latency_parts",
    "limits",
    "link_bytes_per_s",
    "link_line",
    "memory_plan",
    "memory_schema",
    "missing_instructions",
    "noc_plan",
    "noc_schema",
    "packet_sizes",
    "power_profiles",
    "predict",
    "presets",
    "profiles",
    "raise_path",
    "raise_value",
    "regime_headline",
    "resolve",
    "restore_plan",
    "run",
    "run_chip",
    "run_many",
    "run_memory",
    "run_noc",
    "schema",
    "server_sockets",
    "server_table_kinds",
    "server_tables",
    "share_text",
    "shares",
    "short_definition",
    "stream_and_drives_template",
    "table_info",
    "template",
    "transports",
    "unit_table",
    "version",
    "with_ci95",
    "with_directions",
    "without_negative_zero",
    "wrap_text",
]

def error_table() -> list[tuple[str, str, str]]:
    """Returns the codes of all errors, each with its meaning and remedy."""

@final
class Plan:
    """A checked and resolved configuration."""

    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def ignored(self) -> list[str]: ...
    @property
    def unvalidated(self) -> str | None: ...
    @property
    def is_cluster(self) -> bool: ...
    @property
    def hosts(self) -> list[str]: ...
    @property
    def servers(self) -> list[str]: ...
    @property
    def forwards(self) -> bool: ...
    def effective_json(self) -> str: ...
    def check_predictable(self) -> None: ...
    def check_series(self, series_ps: int) -> None: ...
    def with_seed(self, seed: int) -> Plan: ...
    def latest_end_ps(self) -> int: ...
    def raises(self, factor: float) -> list[tuple[str, str, str, float, Plan]]: ...
    def __reduce__(
        self,
    ) -> tuple[Callable[[str, str, list[str], list[str]], Plan], tuple[str, str, list[str], list[str]]]: ...

@final
class Signals:
    """Signals that a controller of host congestion gets at each sample."""

    @property
    def time_ns(self) -> float: ...
    @property
    def sampled(self) -> Literal["occupancy", "bandwidth"]: ...
    @property
    def occupancy(self) -> float: ...
    @property
    def occupancy_smoothed(self) -> float: ...
    @property
    def bandwidth_gbps(self) -> float: ...
    @property
    def bandwidth_smoothed_gbps(self) -> float: ...
    @property
    def level(self) -> int: ...

@final
class Pages:
    """Pages that a tiering policy gets at each decision."""

    @property
    def time_ns(self) -> float: ...
    @property
    def nodes(self) -> list[int]: ...
    @property
    def samples(self) -> list[int]: ...
    @property
    def latency_ns(self) -> tuple[float | None, float | None]: ...
    @property
    def local_free(self) -> int: ...
    @property
    def waiting(self) -> int: ...

@final
class Look:
    """Sample of a frequency domain that a governor gets."""

    @property
    def time_ns(self) -> float: ...
    @property
    def window_ns(self) -> float: ...
    @property
    def domain(self) -> int: ...
    @property
    def pstate(self) -> int: ...
    @property
    def ghz(self) -> list[float]: ...
    @property
    def busy(self) -> list[float]: ...
    @property
    def waiting(self) -> list[float]: ...
    @property
    def util(self) -> list[float]: ...
    def at_least(self, /, ghz: float) -> int: ...

@final
class RunResult:
    """Results of a run."""

    @property
    def table_names(self) -> list[str]: ...
    @property
    def summary_json(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def events(self) -> int: ...
    @property
    def simulated_ps(self) -> int: ...
    @property
    def pending_max(self) -> int: ...
    @property
    def result_hash(self) -> str: ...
    @property
    def checkpoint(self) -> bytes | None: ...
    @property
    def units_json(self) -> str | None: ...
    @property
    def trace(self) -> bytes | None: ...
    def table(self, name: str) -> dict[str, list[Any]]: ...
    def column_types(self, name: str) -> dict[str, str]: ...
    def parquet(self, name: str) -> bytes: ...

@final
class ChipPlan:
    """A checked and resolved configuration of a chip."""

    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def chips(self) -> int: ...
    def effective_json(self) -> str: ...

@final
class ChipRunResult:
    """Results of a run of a chip."""

    @property
    def summary_json(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def cycles(self) -> int: ...
    @property
    def simulated_ps(self) -> int: ...
    @property
    def result_hash(self) -> str: ...

@final
class MemoryPlan:
    """A checked and resolved configuration of the memory alone."""

    @property
    def hash(self) -> str: ...
    @property
    def trace(self) -> Path | None: ...
    def effective_json(self) -> str: ...

@final
class MemoryRunResult:
    """Results of a run of the memory alone."""

    @property
    def summary_json(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def requests(self) -> int: ...
    @property
    def simulated_ps(self) -> int: ...
    @property
    def result_hash(self) -> str: ...

@final
class NocPlan:
    """A checked and resolved configuration of the network on a chip alone."""

    @property
    def hash(self) -> str: ...
    @property
    def trace(self) -> Path | None: ...
    def effective_json(self) -> str: ...

@final
class NocRunResult:
    """Results of a run of the network on a chip alone."""

    @property
    def summary_json(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def simulated_ps(self) -> int: ...
    @property
    def result_hash(self) -> str: ...

@final
class CommandCheck:
    """Result of the check of a command file."""

    @property
    def clean(self) -> bool: ...
    @property
    def commands(self) -> int: ...
    @property
    def end_clock(self) -> int: ...
    @property
    def line(self) -> int | None: ...
    @property
    def rule(self) -> str | None: ...
    @property
    def missing_clocks(self) -> int | None: ...
    @property
    def message(self) -> str | None: ...
    @property
    def pair(self) -> tuple[str, str] | None: ...
    @property
    def counts(self) -> list[tuple[str, int]]: ...

@type_check_only
class TableInfo(TypedDict):
    """Columns of a table of a run, by role."""

    keys: list[str]
    given: list[str]
    results: bool

def version() -> str: ...
def has_assertions() -> bool: ...
def missing_instructions() -> list[str]: ...
def kept_point(key: str) -> bytes | None:
    """The bytes that the user's cache keeps for an operating point; None if it has none or is off."""

def keep_point(key: str, content: bytes) -> None:
    """Keeps bytes for an operating point, unless the cache is off or cannot be written."""

def unit_table() -> list[tuple[str, str, int, int]]:
    """The units of configurations: name, dimension, and numerator and denominator of the size in base units."""

def table_info() -> dict[str, TableInfo]: ...
def resolve(
    text: str,
    *,
    format: str = "toml",
    file: str = "<text>",
    base_dir: str = ".",
    overrides: list[str] = ...,
) -> Plan: ...
def check_syntax(text: str, format: str, file: str) -> None: ...
def restore_plan(effective: str, name: str, ignored: list[str], given: list[str]) -> Plan: ...
@overload
def run(
    plan: Plan,
    *,
    threads: int = 1,
    series_ps: int = 0,
    counters_ps: int = 0,
    checkpoint_at_ps: int = 0,
    checkpoint_every_ps: int = 0,
    trace_ps: int = 0,
    host: str | None = None,
    checkpoint: bytes | None = None,
    records: list[bytes] = ...,
    on_checkpoint: Callable[[str | None, int, bytes], None] | None = None,
    controllers: list[tuple[str, Any]] = ...,
    governors: list[tuple[str, Any]] = ...,
    capture: tuple[str, str, int] | None = None,
    processes: None = None,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> RunResult: ...
@overload
def run(
    plan: Plan,
    *,
    threads: int = 1,
    series_ps: int = 0,
    counters_ps: int = 0,
    checkpoint_at_ps: int = 0,
    checkpoint_every_ps: int = 0,
    trace_ps: int = 0,
    host: str | None = None,
    checkpoint: bytes | None = None,
    records: list[bytes] = ...,
    on_checkpoint: Callable[[str | None, int, bytes], None] | None = None,
    controllers: list[tuple[str, Any]] = ...,
    governors: list[tuple[str, Any]] = ...,
    capture: tuple[str, str, int] | None = None,
    processes: Any,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> RunResult | None: ...
def shares(plan: Plan, ranks: int, threads: int = 1) -> tuple[list[tuple[str | None, int, int]], int | None]: ...
def forecast(
    plan: Plan,
    ranks: int,
    threads: int,
    seconds: float,
    *,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> tuple[int, int, int, int, int, float]: ...
def predict(plan: Plan) -> RunResult: ...
def is_cluster(text: str, *, format: str = "toml") -> bool: ...
def chakra_traces(
    plan: Plan, job: str | None = None, *, messages: bool = False, astra_sim: bool = False
) -> tuple[list[bytes], dict[str, list[int]]]: ...
def cluster_schema() -> str: ...
def cluster_template(name: str) -> str: ...
def cluster_templates() -> list[str]: ...
def first_divergence(
    a: Plan,
    b: Plan,
    *,
    from_ps: int = 0,
    context: int = 5,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> str: ...
def first_deviation(
    plan: Plan,
    records: list[list[tuple[int, int]]],
    *,
    context: int = 5,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> str: ...
def run_many(
    plans: list[Plan],
    *,
    threads: int = 0,
    series_ps: int = 0,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> list[RunResult]: ...
def explain(
    plan: Plan,
    counters: str,
    *,
    facts: str | None = None,
    regime: str | None = None,
    host: str | None = None,
) -> str: ...

STOPPED: Final[str]
"""Note on a run that did not finish."""

@final
class Glossary:
    """Definitions of the terms and columns that pages name."""

    def __new__(cls, text: str) -> Self:
        """Reads a glossary from JSON."""

    def heading_definition(self, heading: str) -> str | None:
        """Returns the definition of a heading that no result table has."""

    def with_definitions(self, markup: str) -> str:
        """Marks the first occurrence of each term in every section of a page."""

def short_definition(definition: str) -> str:
    """Shortens a definition to its first sentences or clauses."""

@final
class ServerReport:
    """The report of a run of one server. Its sections are HTML; those of which the run has nothing are None."""

    def __new__(cls, run: str, glossary: Glossary) -> Self:
        """Reads a run from JSON: an object with its summary, its manifest, the rows of its table domains and so on."""

    @property
    def description(self) -> str:
        """Duration, server and workloads of the run in one sentence."""

    @property
    def results(self) -> str:
        """Throughput and limit of each workload, DRAM, and the regime."""

    @property
    def picture(self) -> str | None:
        """The picture of the host and a card for each domain."""

    @property
    def host(self) -> str | None:
        """The picture of the host without a section, or those of its sockets and links."""

    @property
    def regime(self) -> str | None:
        """The regime alone."""

    @property
    def why(self) -> str | None:
        """The explanation of the results."""

    def sections(self, cache_charts: str) -> list[tuple[str, str]]:
        """Returns the sections of the page in their order, each with its name.

        `cache_charts` is the markup of the charts of caches over time, which may be empty.
        """

    def die(self, title: str) -> str | None:
        """Returns the maps of the dies and the table of their routes, under a title."""

def draw_explanation(why: str, glossary: Glossary) -> str | None:
    """Draws an explanation as HTML: a card per workload and the table of remedies. None if it cannot be read."""

def explanation_text(why: str, details: str) -> str:
    """Returns an explanation as a page of plain text."""

def describe_added_latency(row: str, latency: str, events: str) -> str | None:
    """Describes the main cause of what load adds to the latency of a workload; None if load adds little."""

def wrap_text(text: str, indent: int = 0, hang: int | None = None) -> list[str]:
    """Wraps a text to pages of plain text, with its first line indented by `indent` columns and others by `hang`."""

def latency_parts() -> list[tuple[str, str]]:
    """Returns the parts of a latency and their names."""

def server_table_kinds() -> str:
    """Returns every table of a server without its rows, as JSON: its title, source and columns."""

def server_tables(group: str, summary: str) -> str:
    """Returns the tables of a group of the summary of a server with their rows, as JSON."""

def link_line(
    start: tuple[float, float],
    end: tuple[float, float],
    share: float | None,
    text: str,
    *,
    gap: float,
    bow: float,
    thick: float,
) -> str:
    """Draws one direction of a link on a chip as SVG, coloured by its busy share."""

def heat(share: float | None) -> str:
    """Returns the colour of a busy share."""

def regime_headline(regime: str) -> str:
    """Returns a sentence that says which workloads slow which others down, by how much, and what is unknown."""

def drift_note(name: str, mean: float, change: float, unit: str) -> str:
    """Describes the drift of a rate with this mean over the window."""

def with_directions(text: str) -> str:
    """Rewrites places between sockets in a sentence about a limit as "socket 0 to 1"."""

def server_sockets(config: str) -> list[tuple[str, list[tuple[str, int, int]]]]:
    """Returns the configuration of each socket as JSON, and the first and last but one number of its parts by kind."""

def format_number(value: object, digits: int = 3) -> str:
    """Formats a number with `digits` significant digits, and an exponent only if it is tiny; a dash if missing."""

def format_share(share: object, digits: int = 1) -> str:
    """Formats a fraction in percent; a dash if missing."""

def with_ci95(value: object, ci95: object) -> str:
    """Formats a value with the half-width of its confidence interval."""

def format_time_ns(value: object) -> str:
    """Formats a time given in ns with a suitable unit; a dash if missing."""

def format_percent(share: float, digits: int = 0, sign: str = "") -> str:
    """Formats a fraction in percent, for example "95 %", or "+25 %" with "+" as `sign`; zero has no sign."""

def format_rate(value: float, unit: str, half_width: float | None = None) -> str:
    """Formats a rate given in Gbps or GB/s with a suitable prefix, for example "1.00 Mbps" or "1.00 ±0.02 Mbps"."""

def format_si(value: float, unit: str) -> str:
    """Formats a quantity with three digits and an SI prefix, for example "8.06 µJ"."""

def share_text(share: float) -> str:
    """Formats a fraction for a sentence; a small one is "below 1 %" instead of "0 %"."""

def without_negative_zero(text: str) -> str:
    """Removes the sign of a formatted number that was rounded to zero."""

def formula(counters: str, constants: str, *, domain: str = "read", form: str = "adj") -> str: ...
def formula_constants(plan: Plan, *, host: str | None = None) -> str: ...
def limits() -> str: ...
def candidates(config: str, offered: str, *, base_dir: str = ".") -> str: ...
def inner_raises(plan: Plan, config: str) -> list[tuple[str, Plan]]: ...
def find_remedies(plan: Plan, workload: str, offered: str, *, base_dir: str = ".") -> str: ...
def raise_path(config: str, path: str, along: list[str], scale: str, factor: float) -> tuple[str, str, str] | None: ...
def raise_value(value: str, scale: str, factor: float) -> str | None: ...
def cha_admission(counters: str, *, domain: str, way_ns: float) -> float: ...
def schema() -> str: ...
def template() -> str: ...
def stream_and_drives_template() -> str: ...
def presets() -> list[tuple[str, str, str | None]]: ...
def apps() -> list[tuple[str, str]]: ...
def app_template(app: str, *, alone: bool = False) -> str: ...
def counters() -> list[tuple[str, str]]: ...
def devices() -> list[str]: ...
def link_bytes_per_s(generation: int, lanes: int) -> int: ...
def transports() -> list[str]: ...
def energy_profiles() -> list[str]: ...
def power_profiles() -> list[str]: ...
def flow_sizes() -> list[str]: ...
def packet_sizes() -> list[str]: ...
def job_profiles() -> list[str]: ...
def chip_plan(
    text: str,
    *,
    format: str = "toml",
    file: str = "<text>",
    base_dir: str = ".",
    overrides: list[str] = ...,
) -> ChipPlan: ...
def chip_schema() -> str: ...
def chip_template(preset: str | None = None) -> str: ...
def chips() -> list[str]: ...
def dies() -> list[str]: ...
def interval(values: list[float]) -> float:
    """Returns half the width of the 95 % confidence interval of the mean; inf for fewer than two independent values."""

def is_chip(text: str, format: str) -> bool: ...
def run_chip(
    plan: ChipPlan,
    *,
    threads: int = 1,
    processes: Any = None,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> ChipRunResult | None: ...
def memory_plan(
    text: str = "",
    *,
    format: str = "toml",
    file: str = "<text>",
    base_dir: str = ".",
    overrides: list[str] = ...,
) -> MemoryPlan: ...
def memory_schema() -> str: ...
def profiles() -> list[str]: ...
def run_memory(
    plan: MemoryPlan,
    *,
    commands: str | PathLike[str] | None = None,
    compression: str = "none",
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> MemoryRunResult: ...
def noc_plan(
    text: str = "",
    *,
    format: str = "toml",
    file: str = "<text>",
    base_dir: str = ".",
    overrides: list[str] = ...,
) -> NocPlan: ...
def noc_schema() -> str: ...
def run_noc(
    plan: NocPlan,
    *,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> NocRunResult: ...
def access_formats() -> list[str]: ...
def filter_trace(
    path: str | PathLike[str],
    levels: list[tuple[int, int, str]],
    *,
    format: str | None = None,
    output: str | PathLike[str] | None = None,
    output_format: str = "ramulator",
    compression: str = "none",
    keep_addresses: bool = False,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> str: ...
def check_commands(
    path: str | PathLike[str],
    plan: MemoryPlan,
    *,
    all: bool = False,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> CommandCheck: ...
def codec_bytes_max(floats: int) -> int: ...
def codec_compress(values: Any, out: Any, bound: int, mode: str) -> int: ...
def codec_decompress(stream: bytes | bytearray, out: Any) -> None: ...
def codec_header(stream: bytes | bytearray) -> tuple[Literal["thesis", "bounded", "nearest"], int, int]: ...
def codec_sizes(values: Any, bound: int, mode: str) -> tuple[list[int], int]: ...
def codec_round(values: Any, bound: int, mode: str) -> float: ...

@final
class CodecFeedback:
    def __new__(cls, floats: int, bound: int, mode: str) -> CodecFeedback: ...
    def compress(self, gradient: Any) -> bytes: ...
    def residual(self) -> bytearray: ...
