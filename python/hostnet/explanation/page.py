"""Builds an explanation from a run directory, a configuration or a file of counters."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.cluster_view import reason_text
from hostnet.explanation import notes as texts
from hostnet.explanation.aggressors import name_aggressors, predicted_without, simulated_without
from hostnet.explanation.counter_server import resolve_server
from hostnet.explanation.doubts import CONFIGURATION, CORES_ALONE, RUN, add_doubt
from hostnet.explanation.drives import DistantDrives, find_distant_drives
from hostnet.explanation.formula import counters_json
from hostnet.explanation.guests import needed_guest
from hostnet.explanation.hosts import explained_server, fidelity, server_of_results
from hostnet.explanation.keys import with_keys
from hostnet.explanation.mesh import MeshEffects, mesh_effects
from hostnet.explanation.placements import NonuniformDma, find_nonuniform_dma
from hostnet.explanation.reduced import SideNotSimulatedError
from hostnet.explanation.run_files import check_keys, read_json
from hostnet.explanation.sides import OF_COUNTERS, TOO_LONG, JointRun, simulate_sides
from hostnet.explanation.steps import Steps, cap_by_offered_load, find_remedies, predicted, resolve_complete, simulated
from hostnet.explanation.text import PARTS, page_text
from hostnet.explanation.trials import apply_simulated_limits, not_predicted, run_trials, with_confirmed_limit
from hostnet.multi_run import reject_multi_run
from hostnet.notes import STOPPED, forward_notes
from hostnet.regimes import regime_headline
from hostnet.running.results import server_config

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from hostnet._core import Plan
    from hostnet.explanation.aggressors import Without
    from hostnet.explanation.steps import Engine, Progress
    from hostnet.running.results import Results
    from hostnet.running.simulate import AnyConfig

Explanation = dict[str, Any]


@dataclass(frozen=True, repr=False)
class Page:
    """An explanation with remedies and notes. As text, it is what `hostnet explain` prints."""

    name: str
    server: str
    explanation: Explanation
    steps: Steps | None = None
    notes: tuple[str, ...] = ()
    config: dict[str, Any] | None = None
    base_dir: str = "."
    host: str | None = None
    nonuniform: NonuniformDma | DistantDrives | None = None
    """Flows of a host that cross sockets to its NIC, or storage whose data cross sockets."""
    mesh: MeshEffects | None = None
    """Effects of the mesh of a die."""
    events: Mapping[str, str] = field(default_factory=dict)
    """Events of counters that a file lacks, by quantity."""
    together: JointRun | None = None
    """Measurements of both sides together; None for counters."""

    def __str__(self) -> str:
        """Returns the page as text."""
        return page_text(self)

    def __repr__(self) -> str:
        """Returns the regime in one line."""
        return f"<Explanation {self.name} on {self.server}: {regime_headline(self.explanation['regime'])}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: bottlenecks, sources of latency, and what would help."""
        from hostnet.explanation.html_page import notebook_output

        return notebook_output(self)

    def report(self, out: str | PathLike[str] = "explanation.html") -> Path:
        """Writes the page of the explanation to the file `out` and returns its path; opens nothing."""
        from hostnet.explanation.html_page import write_explanation_page

        write_explanation_page(Path(out), self)
        return Path(out)

    def as_dict(self) -> dict[str, Any]:
        """Returns the page, ready for JSON."""
        steps = self.steps
        return {
            "name": self.name,
            "server": self.server,
            **self.explanation,
            "parts": dict(PARTS),
            "steps": None
            if steps is None
            else {
                "engine": steps.engine,
                "workload": steps.workload,
                "steps": [step.as_dict() for step in steps.steps],
            },
            "nonuniform_dma": None if self.nonuniform is None else self.nonuniform.as_dict(),
            "mesh": None if self.mesh is None else self.mesh.as_dict(),
            "notes": list(self.notes),
        }

    def with_steps(
        self,
        *,
        confirm: bool = False,
        try_limits: bool = False,
        engine: Engine = predicted,
        progress: Progress | None = None,
    ) -> Page:
        """Adds the remedies. With `confirm`, they are also simulated, as is each side without the other.

        A simulated limit replaces a predicted one that the simulations refute or that is uncertain. With `try_limits`,
        limits are raised in short simulations if predictions do not cover the server or are far from the measurement,
        and each workload gets the limit that these confirm.

        Raises:
            SimulationError: One of the simulations failed.
            KeyboardInterrupt: The progress callback stopped them.
        """
        page = self.separate_sides(limited=False, progress=progress) if confirm else self
        if confirm and page.mesh is not None and page.config is not None:
            page = replace(page, mesh=page.mesh.simulate_alternatives(page.config, page.base_dir, progress))
        suffers, config = page.explanation["suffers"], page.config
        if suffers is None or config is None:
            return page
        if page.host is not None:
            return page._with_placements(confirm, progress)
        if page.nonuniform is not None:
            page = page._with_placements(confirm, progress)
        if guest := needed_guest(config):
            return replace(page, notes=(*page.notes, texts.NOT_TRIED_WITH_GUEST.format(what=guest)))
        rows = page.explanation["workloads"]
        offered = {row["workload"]: row["offered_gb_per_s"] for row in rows if row["offered_gb_per_s"]}
        unpredicted = not_predicted(config)
        if try_limits and not confirm and (unpredicted or any(row["doubtful"] for row in rows)):
            return page._with_trials(config, suffers, offered, progress)
        if engine is predicted and unpredicted:
            if not confirm:
                return replace(page, notes=(*page.notes, texts.NOT_PREDICTED.format(what=unpredicted)))
            confirm, engine = False, simulated
        steps = find_remedies(
            config, suffers, offered=offered, base_dir=page.base_dir, confirm=confirm, engine=engine, progress=progress
        )
        steps = cap_by_offered_load(steps, rows) if steps.engine == "predict" else steps
        return replace(page, steps=steps, explanation=apply_simulated_limits(page.explanation, steps))

    def _with_trials(
        self, config: dict[str, Any], suffers: str, offered: Mapping[str, float], progress: Progress | None
    ) -> Page:
        """Adds the gains of limits that are raised in simulations, and the limits that these confirm."""
        rows = self.explanation["workloads"]
        trials = run_trials(config, rows, suffers, offered=offered, base_dir=self.base_dir, progress=progress)
        explanation = {**self.explanation, "workloads": [with_confirmed_limit(row, trials) for row in rows]}
        names = ", ".join(dict.fromkeys(step.what for step in trials.untried))
        notes = (*self.notes, texts.NOT_RAISED.format(what=names)) if names else self.notes
        return replace(self, explanation=explanation, steps=trials.steps, notes=notes)

    def _with_placements(self, confirm: bool, progress: Progress | None) -> Page:
        """Returns the page of a host with the results of alternative placements."""
        if self.nonuniform is None or self.config is None:
            return replace(self, notes=(*self.notes, texts.NOT_OF_HOSTS))
        if not confirm:
            return replace(self, notes=(*self.notes, texts.NOT_TRIED))
        return replace(self, nonuniform=self.nonuniform.simulate_alternatives(self.config, self.base_dir, progress))

    def separate_sides(self, *, limited: bool = True, progress: Progress | None = None) -> Page:
        """Determines the regime from simulations of each side without the other.

        `limited` simulations run only if the regime is not known without them and if they take about a second.

        Raises:
            KeyboardInterrupt: The progress callback stopped them.
        """
        if self.config is None or self.together is None or needed_guest(self.config):
            return self
        engines = {} if self.host else {"predicted": predicted_without(self.config, self.base_dir)}
        if limited and not self.explanation["regime"]["estimated"]:
            return self._with_parties(engines)
        rows = self.explanation["workloads"]
        given: Any = {"base_dir": self.base_dir, "limited": limited, "progress": progress}
        try:
            apart = simulate_sides(self.config, self.host, rows, self.together, **given)
        except SideNotSimulatedError as error:
            return replace(self._with_parties(engines), notes=(*self.notes, str(error)))
        plan = resolve_complete(self.config, self.base_dir)
        explanation = _explain(plan, self.explanation["counters"], facts=apart.rows, host=self.host)
        page = replace(
            self, explanation=explanation, notes=tuple(note for note in self.notes if not note.startswith(TOO_LONG))
        )
        measured = simulated_without(self.config, self.host, self.together, apart.run, **given)
        return page._with_parties({**engines, "measured": measured})

    def _with_parties(self, engines: Mapping[str, Without]) -> Page:
        """Names only those workloads of a side that slow down another one."""
        regime = name_aggressors(self.explanation["regime"], self.explanation["workloads"], engines)
        return replace(self, explanation={**self.explanation, "regime": regime})


def explain_results(results: Results, host: str | None = None) -> Page:
    """Explains the server `host` of a run, by default the only one that can be explained.

    Raises:
        ConfigError: There is no such server, the choice is ambiguous, or the server is not simulated line by line.
    """
    name = server_of_results(results, host)
    config, base_dir = json.loads(results.plan.effective_json()), results.source.base_dir
    return _of_summary(results.summary, results.plan, config, base_dir, name or None)


def explain_run(folder: str | PathLike[str], host: str | None = None) -> Page:
    """Explains a run directory.

    Raises:
        ConfigError: The folder is no run directory, its files are damaged, or there is no such server.
        OSError: A file cannot be read.
    """
    place = Path(folder)
    reject_multi_run(place)
    summary, manifest = read_json(place, "summary.json"), read_json(place, "manifest.json")
    check_keys(place / "summary.json", summary, "name")
    check_keys(place / "manifest.json", manifest, "config")
    config = manifest["config"]
    plan = _core.resolve(json.dumps(config), format="json", file=str(place / "manifest.json"))
    name = explained_server(plan, host) or None
    check_keys(place / "summary.json", summary, *(("servers",) if name else OF_A_SERVER))
    _check_lines(config, name)
    try:
        return _of_summary(summary, plan, config, ".", name)
    except ConfigError as error:
        raise ConfigError("malformed-file", f"{place / 'summary.json'}: is damaged: {error}") from None


OF_A_SERVER = ("workloads", "counters", "binding", "regime")
"""Keys of the summary of a server that an explanation requires."""


def explain_file(
    file: AnyConfig,
    *,
    progress: Progress | None = None,
    overrides: tuple[str, ...] = (),
    host: str | None = None,
) -> Page:
    """Runs a configuration and explains it. If the progress callback stops the run, its results so far are explained.

    Raises:
        ConfigError: The configuration is invalid.
        SimulationError: The run failed.
        OSError: The file cannot be read.
    """
    from hostnet.running import simulate

    source = simulate.source_of(file, overrides)
    plan = simulate.resolve(source)
    explained_server(plan, host)
    return explain_results(simulate.run_plan(plan, source, progress=progress), host)


def explain_counters(
    file: str | PathLike[str], server: str | PathLike[str] | None = None, *, cores: int | None = None
) -> Page:
    """Explains a file of counters of a server, which is a preset or the path of a configuration.

    Raises:
        ConfigError: The file or the server is invalid.
        OSError: A file cannot be read.
    """
    try:
        counters: Any = import_module("hostnet.counters")
    except ModuleNotFoundError:
        raise ConfigError("missing-package", f"{file}: this hostnet cannot read files of counters") from None
    if server is None:
        raise ConfigError(
            "missing-key", "--server: name the preset or the configuration of the server that the counters come from"
        )
    found = counters.read(file, server=server)
    total = {**found.total, "lfb_full_cores": found.lfb_full_cores}
    plan, known = resolve_server(str(server), total, cores)
    page = explain_window(total, plan, name=Path(file).name, known=known, cores_given=cores is not None)
    events = {missing.quantity: ", ".join(missing.events) for missing in found.missing}
    notes = (*page.notes, *found.crossing, *found.warnings, *(str(missing) for missing in found.missing))
    return replace(page, notes=notes, events=events)


def explain_window(
    counters: Mapping[str, Any], plan: Plan, *, name: str, known: bool = True, cores_given: bool = False
) -> Page:
    """Explains the counters of one window on the server of a plan.

    `known` is True if the workloads of the plan are those that were measured, not only their cores; `cores_given` is
    True if the user gave the number of busy cores.

    Raises:
        ConfigError: A counter is unknown or not a number.
    """
    config = json.loads(plan.effective_json())
    pools = "an IIO buffer" if counters.get("lfb_full_cores") is not None else "a pool"
    notes = [f"counters tell mean occupancies; how often {pools} is full is estimated from them"]
    if not known:
        if not cores_given:
            cores = config["workload"][texts.CORES]["cores"]
            notes.append(f"cores {cores} are taken to be busy; --cores says how many are")
        notes.append("what would help needs the workloads: give a configuration file to --server")
    explanation = _explain(plan, counters, words=CONFIGURATION if known else CORES_ALONE)
    if explanation["regime"]["open"]:
        notes.append(OF_COUNTERS)
    return Page(name, _server(config), explanation, notes=tuple(notes), config=config if known else None)


def _check_lines(config: Mapping[str, Any], host: str | None) -> None:
    """Raises ConfigError unless the server is simulated line by line."""
    if host is not None and fidelity(config, host) != "line":
        raise ConfigError(
            "needs-line-fidelity",
            f'host.{host}.fidelity: only servers that are simulated line by line ("line") are explained',
        )


def _of_summary(
    summary: Mapping[str, Any], plan: Plan, config: dict[str, Any], base_dir: str, host: str | None
) -> Page:
    """Explains a server from the summary of a run."""
    part, server = summary, config
    if host is not None:
        _check_lines(config, host)
        part, server = summary["servers"][host], server_config(config, host)
    # Older versions blamed workloads without running the other side alone, so their regime is judged again.
    old = isinstance(part["regime"], dict) and "slowed" not in part["regime"]
    regime = None if old else part["regime"]
    explanation = _explain(plan, part["counters"], facts=part["binding"], regime=regime, host=host)
    if host is None:
        explanation["workloads"] = with_keys(explanation["workloads"], config, base_dir)
    notes = [] if summary.get("complete", True) else [STOPPED]
    if summary.get("unvalidated"):
        notes.append(str(summary["unvalidated"]))
    notes += forward_notes(summary)
    if host is not None:
        told_already = {row["workload"] for row in explanation["workloads"]}
        limits = [row for row in summary.get("limits", ()) if row["class"] not in told_already]
        # The place is the host, or a link with the host at one end.
        here = [row for row in limits if host in str(row["place"]).split(" to ")]
        notes.extend(reason_text(row["class"], row["limit"], row["why"]) for row in here)
    if server.get("pool", {}).get("lent", "0 B") != "0 B":
        notes.append(texts.LENT)
    if any(workload.get("kind") == "remote" for workload in server.get("workload", {}).values()):
        notes.append(texts.OF_OTHER_SOCKETS)
    name = str(summary["name"]) if host is None else f"{summary['name']}, {host}"
    page = Page(
        name,
        _server(server),
        explanation,
        notes=tuple(notes),
        config=config,
        base_dir=base_dir,
        host=host,
        together=JointRun.of(summary, part),
    ).separate_sides()
    far = find_distant_drives(config, summary) if host is None else find_nonuniform_dma(config, host, summary)
    page = replace(page, nonuniform=far, mesh=mesh_effects(summary, host))
    speaks_of_drives = host is not None and "drives" in re.findall(r"\w+", page_text(page))
    return replace(page, notes=(texts.DEVICES, *page.notes)) if speaks_of_drives else page


def _server(config: Mapping[str, Any]) -> str:
    """Returns the name of a server."""
    server = config["server"]
    return str(server.get("preset") or server.get("description") or "own server")


def _explain(
    plan: Plan,
    counters: Mapping[str, Any],
    *,
    facts: object = None,
    regime: object = None,
    host: str | None = None,
    words: str = RUN,
) -> Explanation:
    """Explains counters with the Rust core."""
    found = _core.explain(
        plan,
        counters_json(counters),
        facts=None if facts is None else json.dumps(facts),
        regime=None if regime is None else json.dumps(regime),
        host=host,
    )
    explanation: Explanation = json.loads(found)
    explanation["workloads"] = [add_doubt(row, words) for row in explanation["workloads"]]
    explanation["counters"] = dict(counters)
    return explanation
