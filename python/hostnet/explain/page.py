"""What an explanation is made of, and where it comes from: a run directory, a configuration or a file of counters."""

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
from hostnet.explain import notes as texts
from hostnet.explain.counted import plan_of_server
from hostnet.explain.doubts import CONFIGURATION, CORES_ALONE, RUN, with_doubt
from hostnet.explain.drives import DistantDrives, distant
from hostnet.explain.formula import counters_json
from hostnet.explain.hosts import explained_server, fidelity
from hostnet.explain.keys import with_keys
from hostnet.explain.mesh import OnMesh, on_mesh
from hostnet.explain.parties import predicted_without, simulated_without, with_parties
from hostnet.explain.placements import NonuniformDma, nonuniform
from hostnet.explain.reduced import NotPartedError
from hostnet.explain.run_files import need, read_json
from hostnet.explain.sides import OF_COUNTERS, TOO_LONG, Together, sides_apart
from hostnet.explain.steps import Steps, plan_of, predicted, simulated, what_helps, within_offer
from hostnet.explain.text import PARTS, page_text
from hostnet.explain.trials import by_simulation, confirmed, not_predicted, tried
from hostnet.notes import STOPPED
from hostnet.running.results import server_config
from hostnet.several import refuse_several

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from hostnet._core import Plan
    from hostnet.explain.parties import Without
    from hostnet.explain.steps import Engine, Progress
    from hostnet.running.results import Results

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
    host: str | None = None
    nonuniform: NonuniformDma | DistantDrives | None = None
    """Flows of a host that cross sockets to its NIC, or storage whose data cross sockets."""
    mesh: OnMesh | None = None
    """What the mesh of a die does."""
    events: Mapping[str, str] = field(default_factory=dict)
    """The events of counters that a file has not, by what they tell."""
    together: Together | None = None
    """Measurements of both sides together; None for counters."""

    def as_dict(self) -> dict[str, Any]:
        """The page as JSON."""
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
        """Adds what would help. With `confirm`, it is simulated too, and so is each side without the other.

        A simulated limit replaces a predicted one that the simulations refute, and one that is not sure.

        With `try_limits`, limits are raised in short simulations if predictions do not cover the server or are far
        from the measurement, and each workload gets the limit that these confirm.

        Raises:
            SimulationError: One of the simulations could not go on.
            KeyboardInterrupt: The progress callback stopped them.
        """
        page = self.with_sides(limited=False, progress=progress) if confirm else self
        if confirm and page.mesh is not None and page.config is not None:
            page = replace(page, mesh=page.mesh.tried(page.config, page.base_dir, progress))
        suffers, config = page.explanation["suffers"], page.config
        if suffers is None or config is None:
            return page
        if page.host is not None:
            return page._with_placements(confirm, progress)
        if page.nonuniform is not None:
            page = page._with_placements(confirm, progress)
        rows = page.explanation["workloads"]
        offered = {row["workload"]: row["offered_gb_per_s"] for row in rows if row["offered_gb_per_s"]}
        unpredicted = not_predicted(config)
        if try_limits and not confirm and (unpredicted or any(row["doubtful"] for row in rows)):
            return page._with_trials(config, suffers, offered, progress)
        if engine is predicted and unpredicted:
            if not confirm:
                return replace(page, notes=(*page.notes, texts.NOT_PREDICTED.format(what=unpredicted)))
            confirm, engine = False, simulated
        base_dir = page.base_dir
        steps = what_helps(
            config, suffers, offered=offered, base_dir=base_dir, confirm=confirm, engine=engine, progress=progress
        )
        steps = within_offer(steps, rows) if steps.engine == "predict" else steps
        return replace(page, steps=steps, explanation=by_simulation(page.explanation, steps))

    def _with_trials(
        self, config: dict[str, Any], suffers: str, offered: Mapping[str, float], progress: Progress | None
    ) -> Page:
        """Adds the gains of limits that are raised in simulations, and the limits that these confirm."""
        rows = self.explanation["workloads"]
        trials = tried(config, rows, suffers, offered=offered, base_dir=self.base_dir, progress=progress)
        explanation = {**self.explanation, "workloads": [confirmed(row, trials) for row in rows]}
        names = ", ".join(dict.fromkeys(step.what for step in trials.untried))
        left = (texts.NOT_RAISED.format(what=names),) if names else ()
        return replace(self, explanation=explanation, steps=trials.steps, notes=(*self.notes, *left))

    def _with_placements(self, confirm: bool, progress: Progress | None) -> Page:
        """The page of a host with what other placements would give."""
        if self.nonuniform is None or self.config is None:
            return replace(self, notes=(*self.notes, texts.NOT_OF_HOSTS))
        if not confirm:
            return replace(self, notes=(*self.notes, texts.NOT_TRIED))
        return replace(self, nonuniform=self.nonuniform.tried(self.config, self.base_dir, progress))

    def with_sides(self, *, limited: bool = True, progress: Progress | None = None) -> Page:
        """Determines the regime from simulations of each side without the other.

        `limited` simulations run only if the regime is not known without them and if they take about a second.

        Raises:
            KeyboardInterrupt: The progress callback stopped them.
        """
        if self.config is None or self.together is None:
            return self
        engines = {} if self.host else {"predicted": predicted_without(self.config, self.base_dir)}
        if limited and not self.explanation["regime"]["estimated"]:
            return self._with_parties(engines)
        rows = self.explanation["workloads"]
        given: Any = {"base_dir": self.base_dir, "limited": limited, "progress": progress}
        try:
            apart = sides_apart(self.config, self.host, rows, self.together, **given)
        except NotPartedError as error:
            return replace(self._with_parties(engines), notes=(*self.notes, str(error)))
        plan = plan_of(self.config, self.base_dir)
        explanation = _explain(plan, self.explanation["counters"], facts=apart.rows, host=self.host)
        page = replace(
            self, explanation=explanation, notes=tuple(note for note in self.notes if not note.startswith(TOO_LONG))
        )
        measured = simulated_without(self.config, self.host, self.together, apart.run, **given)
        return page._with_parties({**engines, "measured": measured})

    def _with_parties(self, engines: Mapping[str, Without]) -> Page:
        """Names only those workloads of a side that slow down another one."""
        regime = with_parties(self.explanation["regime"], self.explanation["workloads"], engines)
        return replace(self, explanation={**self.explanation, "regime": regime})


def explain_results(results: Results, host: str | None = None) -> Page:
    """Explains a run: its server, the one of that name, or the only one that can be explained.

    Raises:
        ConfigError: There is no such server, none is named and there are several, or its lines are not simulated.
    """
    name = explained_server(results.plan, host)
    config = json.loads(results.plan.effective_json())
    return _of_summary(results.summary, results.plan, config, results.source.base_dir, name or None)


def explain_run(folder: str | PathLike[str], host: str | None = None) -> Page:
    """Explains a run directory.

    Raises:
        ConfigError: It is no directory of a run, its files are damaged, or there is no such server.
        OSError: They cannot be read.
    """
    place = Path(folder)
    refuse_several(place)
    summary, manifest = read_json(place, "summary.json"), read_json(place, "manifest.json")
    need(place / "summary.json", summary, "name")
    need(place / "manifest.json", manifest, "config")
    config = manifest["config"]
    plan = _core.resolve(json.dumps(config), format="json", file=str(place / "manifest.json"))
    name = explained_server(plan, host) or None
    need(place / "summary.json", summary, *(("servers",) if name else OF_A_SERVER))
    _check_lines(config, name)
    try:
        return _of_summary(summary, plan, config, ".", name)
    except ConfigError as error:
        raise ConfigError("malformed-file", f"{place / 'summary.json'}: is damaged: {error}") from None


OF_A_SERVER = ("workloads", "counters", "binding", "regime")
"""What a summary says of a server that an explanation needs."""


def explain_file(
    file: str | PathLike[str],
    *,
    progress: Progress | None = None,
    overrides: tuple[str, ...] = (),
    host: str | None = None,
) -> Page:
    """Runs a configuration and explains it; a run that the progress callback stopped as far as it came.

    Raises:
        ConfigError: The configuration is wrong.
        SimulationError: The run could not go on.
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
    """Explains a file of counters of a server: the name of a preset, or the path of a configuration.

    Raises:
        ConfigError: The file or the server is wrong.
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
    plan, known = plan_of_server(str(server), total, cores)
    page = explain_window(total, plan, name=Path(file).name, known=known, cores_given=cores is not None)
    events = {missing.quantity: ", ".join(missing.events) for missing in found.missing}
    notes = (*page.notes, *found.crossing, *found.warnings, *(str(missing) for missing in found.missing))
    return replace(page, notes=notes, events=events)


def explain_window(
    counters: Mapping[str, Any], plan: Plan, *, name: str, known: bool = True, cores_given: bool = False
) -> Page:
    """Explains what counters tell about one window on the server of a plan.

    `known` says whether the workloads of the plan are those that were measured, not only their cores; `cores_given`
    whether the user said how many cores were busy.

    Raises:
        ConfigError: A counter is unknown or no number.
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
    if host is not None and fidelity(config, host) != "line":
        raise ConfigError(
            "needs-line-fidelity",
            f'host.{host}.fidelity: only servers that are simulated line by line ("line") are explained',
        )


def _of_summary(
    summary: Mapping[str, Any], plan: Plan, config: dict[str, Any], base_dir: str, host: str | None
) -> Page:
    server = config
    told = summary
    if host is not None:
        _check_lines(config, host)
        told, server = summary["servers"][host], server_config(config, host)
    # Older versions blamed workloads without running the other side alone: judge such a regime again.
    old = isinstance(told["regime"], dict) and "slowed" not in told["regime"]
    regime = None if old else told["regime"]
    explanation = _explain(plan, told["counters"], facts=told["binding"], regime=regime, host=host)
    if host is None:
        explanation["workloads"] = with_keys(explanation["workloads"], config, base_dir)
    notes = [] if summary.get("complete", True) else [STOPPED]
    if summary.get("unvalidated"):
        notes.append(str(summary["unvalidated"]))
    if host is not None:
        told_already = {row["workload"] for row in explanation["workloads"]}
        limits = [row for row in summary.get("limits", ()) if row["class"] not in told_already]
        # Its own place, or an end of it.
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
        together=Together.of(summary, told),
    ).with_sides()
    nonuniform_dma = distant(config, summary) if host is None else nonuniform(config, host, summary)
    page = replace(page, nonuniform=nonuniform_dma, mesh=on_mesh(summary, host))
    speaks_of_drives = host is not None and "drives" in re.findall(r"\w+", page_text(page))
    return replace(page, notes=(texts.DEVICES, *page.notes)) if speaks_of_drives else page


def _server(config: Mapping[str, Any]) -> str:
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
    found = _core.explain(
        plan,
        counters_json(counters),
        facts=None if facts is None else json.dumps(facts),
        regime=None if regime is None else json.dumps(regime),
        host=host,
    )
    explanation: Explanation = json.loads(found)
    explanation["workloads"] = [with_doubt(row, words) for row in explanation["workloads"]]
    explanation["counters"] = dict(counters)
    return explanation
