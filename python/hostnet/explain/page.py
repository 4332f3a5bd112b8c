"""What an explanation is made of, and where it comes from: a run directory, a configuration or a file of counters."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.explain.steps import Steps, latency_alone, predictor, simulated, what_helps
from hostnet.published import counters_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from hostnet._core import Plan
    from hostnet.explain.steps import Engine, Progress
    from hostnet.results import Results

Explanation = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """An explanation, what would help, and what to keep in mind."""

    name: str
    server: str
    explanation: Explanation
    steps: Steps | None = None
    notes: tuple[str, ...] = ()
    config: dict[str, Any] | None = None
    base_dir: str = "."

    def as_dict(self) -> dict[str, Any]:
        """The page as JSON."""
        steps = self.steps
        return {
            "name": self.name,
            "server": self.server,
            **self.explanation,
            "steps": None
            if steps is None
            else {
                "engine": steps.engine,
                "workload": steps.workload,
                "steps": [step.as_dict() for step in steps.steps],
            },
            "notes": list(self.notes),
        }

    def with_steps(
        self, *, confirm: bool = False, engine: Engine | None = None, progress: Progress | None = None
    ) -> Page:
        """The page with what would help, and the regime by the latency of the cores alone where only that decides.

        Raises:
            SimulationError: One of the simulations could not go on.
            KeyboardInterrupt: The progress callback stopped them.
        """
        page = self._with_regime(engine, progress) if self.explanation["regime"]["estimated"] else self
        suffers, config = page.explanation["suffers"], page.config
        if suffers is None or config is None:
            return page
        rows = page.explanation["workloads"]
        offered = {row["workload"]: row["offered_gb_per_s"] for row in rows if row["offered_gb_per_s"]}
        base_dir = page.base_dir
        steps = what_helps(
            config, suffers, offered=offered, base_dir=base_dir, confirm=confirm, engine=engine, progress=progress
        )
        return replace(page, steps=steps)

    def _with_regime(self, engine: Engine | None, progress: Progress | None) -> Page:
        if self.config is None:
            return self
        tell = engine or predictor()
        alone = latency_alone(self.config, self.base_dir, tell or simulated, progress)
        basis = "predicted" if tell else "measured"
        rows = [
            {**row, "isolated": {"ns": alone[row["workload"]], "basis": basis}} if row["workload"] in alone else row
            for row in self.explanation["workloads"]
        ]
        counters = self.explanation["counters"]
        plan = _core.resolve(json.dumps(self.config), format="json", base_dir=self.base_dir)
        return replace(self, explanation=_explain(plan, counters, facts=rows))


def explain_results(results: Results) -> Page:
    """Explains a run."""
    return _of_summary(
        results.summary, results.plan, json.loads(results.plan.effective_json()), results.source.base_dir
    )


def explain_run(folder: str | PathLike[str]) -> Page:
    """Explains a run directory.

    Raises:
        ConfigError: It is no directory of a run, or its files are damaged.
        OSError: They cannot be read.
    """
    place = Path(folder)
    summary, manifest = _read_json(place, "summary.json"), _read_json(place, "manifest.json")
    if summary.get("kind") == "study" or "seeds" in summary:
        raise ConfigError(f"{place}: holds several runs; name the directory of one")
    for name, content, keys in (
        ("summary.json", summary, ("name", "workloads", "counters", "binding", "regime")),
        ("manifest.json", manifest, ("config",)),
    ):
        missing = [key for key in keys if content.get(key) is None]
        if missing:
            raise ConfigError(f"{place / name}: has no {missing[0]}; it is not of a run of this version of hostnet")
    config = manifest["config"]
    plan = _core.resolve(json.dumps(config), format="json", file=str(place / "manifest.json"))
    try:
        return _of_summary(summary, plan, config, ".")
    except ConfigError as error:
        raise ConfigError(f"{place / 'summary.json'}: is damaged: {error}") from None


def explain_file(
    file: str | PathLike[str], *, progress: Progress | None = None, overrides: tuple[str, ...] = ()
) -> Page:
    """Runs a configuration and explains it.

    Raises:
        ConfigError: The configuration is wrong.
        SimulationError: The run could not go on.
        KeyboardInterrupt: The progress callback stopped it.
        OSError: The file cannot be read.
    """
    from hostnet import simulate

    source = simulate.source_of(file, overrides)
    results = simulate.run_plan(simulate.resolve(source), source, progress=progress)
    if not results.complete:
        raise KeyboardInterrupt
    return explain_results(results)


def explain_counters(
    file: str | PathLike[str], server: str | PathLike[str] | None = None, *, cores: int | None = None
) -> Page:
    """Explains a file of counters of a server: the name of a preset, or the path of a configuration.

    Raises:
        ConfigError: The file or the server is wrong.
        OSError: A file cannot be read.
    """
    try:
        counters: Any = import_module("hostnet.counters")
    except ModuleNotFoundError:
        raise ConfigError(f"{file}: this hostnet cannot read files of counters") from None
    if server is None:
        raise ConfigError("--server: name the preset or the configuration of the server that the counters come from")
    found = counters.read(file, server=server)
    plan, known = plan_of_server(str(server))
    page = explain_window(found.total, plan, name=Path(file).name, cores=cores, known=known)
    notes = (*page.notes, *found.warnings, *(str(missing) for missing in found.missing))
    return replace(page, notes=notes)


def explain_window(
    counters: Mapping[str, Any], plan: Plan, *, name: str, cores: int | None = None, known: bool = True
) -> Page:
    """Explains what counters tell about one window on the server of a plan.

    `cores` is the number of busy cores. Unless the workloads of the plan are `known` to be those that were measured,
    it is told from the entries in use where it is not given.

    Raises:
        ConfigError: A counter is unknown or no number.
    """
    config = json.loads(plan.effective_json())
    notes = []
    if cores is None and not known:
        entries = config["core"]["lfb"]["entries"]
        in_use = (counters.get("lfb") or {}).get("occupancy") or 0.0
        cores = max(1, math.ceil(in_use / entries - 0.01))
        notes.append(f"{cores} busy cores are assumed, by the LFB entries in use; --cores tells them")
    explanation = _explain(plan, counters, cores=cores)
    notes.append("counters tell mean occupancies; how often a pool is full is estimated from them")
    if not known:
        notes.append("what would help needs the workloads: give a configuration file to --server")
    return Page(name, _server(config), explanation, notes=tuple(notes), config=config if known else None)


def plan_of_server(server: str) -> tuple[Plan, bool]:
    """The plan of a preset or of a configuration file, and whether it has the workloads that were measured.

    Raises:
        ConfigError: There is no such preset, or the configuration is wrong.
        OSError: The file cannot be read.
    """
    from hostnet import simulate

    if "/" in server or "\\" in server or server.endswith((".toml", ".json")):
        return simulate.resolve(simulate.source_of(server)), True
    config = {"server": {"preset": server}, "workload": {"C2M": {"kind": "stream", "cores": "0"}}}
    return _core.resolve(json.dumps(config), format="json", file="--server"), False


def _of_summary(summary: Mapping[str, Any], plan: Plan, config: dict[str, Any], base_dir: str) -> Page:
    regime = summary["regime"]
    explanation = _explain(plan, summary["counters"], facts=summary["binding"], regime=regime)
    notes = [] if summary.get("complete", True) else ["the run was stopped before its end"]
    if summary.get("unvalidated"):
        notes.append(str(summary["unvalidated"]))
    return Page(
        str(summary["name"]), _server(config), explanation, notes=tuple(notes), config=config, base_dir=base_dir
    )


def _server(config: Mapping[str, Any]) -> str:
    server = config["server"]
    return str(server.get("preset") or server.get("description") or "own server")


def _explain(
    plan: Plan, counters: Mapping[str, Any], *, facts: object = None, regime: object = None, cores: int | None = None
) -> Explanation:
    found = _core.explain(
        plan,
        counters_json(counters),
        facts=None if facts is None else json.dumps(facts),
        regime=None if regime is None else json.dumps(regime),
        cores=cores,
    )
    explanation: Explanation = json.loads(found)
    explanation["counters"] = dict(counters)
    return explanation


def _read_json(place: Path, name: str) -> dict[str, Any]:
    file = place / name
    if not file.is_file():
        raise ConfigError(f"{place}: is no run directory: it has no {name}")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{file}: is damaged: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{file}: is damaged: it holds no object")
    return content
