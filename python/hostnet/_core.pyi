"""The native part of hostnet: it checks configurations and runs them."""

from collections.abc import Callable
from typing import Any, final

__all__ = [
    "CheckpointError",
    "ConfigError",
    "Plan",
    "RunResult",
    "SimulationError",
    "devices",
    "presets",
    "resolve",
    "run",
    "run_many",
    "schema",
    "template",
    "version",
]

class ConfigError(ValueError):
    """The configuration is wrong; the message says where, what and what would be right."""

class SimulationError(RuntimeError):
    """The run could not go on; the message names the domain that is stuck."""

class CheckpointError(ValueError):
    """The checkpoint is damaged or belongs to another configuration."""

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
    def effective_json(self) -> str: ...
    def with_seed(self, seed: int) -> Plan: ...

@final
class RunResult:
    """What a run measured."""

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
    def table(self, name: str) -> dict[str, list[Any]]: ...
    def column_types(self, name: str) -> dict[str, str]: ...

def version() -> str: ...
def resolve(
    text: str,
    *,
    format: str = "toml",
    file: str = "<text>",
    base_dir: str = ".",
    overrides: list[str] = ...,
) -> Plan: ...
def run(
    plan: Plan,
    *,
    threads: int = 1,
    series_ps: int = 0,
    checkpoint_at_ps: int = 0,
    checkpoint: bytes | None = None,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> RunResult: ...
def run_many(
    plans: list[Plan],
    *,
    threads: int = 0,
    series_ps: int = 0,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> list[RunResult]: ...
def schema() -> str: ...
def template() -> str: ...
def presets() -> list[tuple[str, str, str | None]]: ...
def devices() -> list[str]: ...
