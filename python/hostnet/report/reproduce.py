"""How to run it again, with the whole configuration, and what had no influence."""

from __future__ import annotations

import json
import shlex

from hostnet.notes import without_effect
from hostnet.report.html import Html, details, element, facts, section
from hostnet.report.load import RunFiles
from hostnet.report.over_time import step_ns
from hostnet.report.words import engine_of, text_or_none

COMPLETE = "complete.json"
"""The name under which the page proposes to save the complete configuration."""


def notes_section(run: RunFiles) -> Html | None:
    """What had no influence, and what the model does not know."""
    ignored = [str(text) for text in run.summary.get("ignored") or []]
    unvalidated = [str(run.summary["unvalidated"])] if run.summary.get("unvalidated") else []
    notes = [*unvalidated, *ignored, *without_effect(run.summary, most=None)]
    return section("Notes", element("ul", *(element("li", note) for note in notes), class_="notes")) if notes else None


def reproduce_section(run: RunFiles) -> Html | None:
    """The command, the configuration in full, and the hashes to compare with."""
    effective = run.manifest.get("config")
    if run.config is None and not effective:
        return None
    complete = json.dumps(effective, indent=2, ensure_ascii=False) if effective else None
    return section(
        "How to run it again",
        *(as_written(run, run.config_file, run.config) if run.config_file and run.config is not None else ()),
        *(as_resolved(run, complete) if complete else ()),
        facts(
            (
                ("Hash of the configuration", text_or_none(run.summary.get("config_hash"))),
                ("Hash of the results", text_or_none(run.manifest.get("result_hash"))),
                ("Version", text_or_none(run.manifest.get("version"))),
                ("Made on", machine(run)),
            )
        ),
        note="Equal configuration, seed and version give equal results, bit for bit, on any machine.",
    )


def as_written(run: RunFiles, file: str, text: str) -> list[Html]:
    """How to run it again with the user's file."""
    return [
        element("h3", "With the configuration as it was written"),
        block(command(run, file)),
        element(
            "p", "In the folder of this page. Files that the configuration names must lie beside it.", class_="sub"
        ),
        details("Configuration, as written", block(text)),
    ]


def as_resolved(run: RunFiles, text: str) -> list[Html]:
    """How to run it again with everything spelled out."""
    advice = (
        f"Save the text below as {COMPLETE}. The tables come out equal; the hash of the results also covers which of "
        "the given keys had no effect, and here more are given."
    )
    return [
        element("h3", "With the complete configuration, which needs no other file"),
        block(command(run, COMPLETE)),
        element("p", advice, class_="sub"),
        details("Configuration, complete, with the preset's values", block(text)),
    ]


def block(text: str) -> Html:
    """Text that can be copied."""
    return element("div", element("pre", text, tabindex="0"), class_="block")


def command(run: RunFiles, file: str) -> str:
    """The command that does the same again."""
    engine = "predict" if engine_of(run) == "predict" else "run"
    words = ["hostnet", engine, file]
    if file != COMPLETE:
        for assignment in run.manifest.get("overrides") or []:
            words += ["--set", str(assignment)]
        if run.summary.get("seed") is not None and engine == "run":
            words += ["--seed", str(run.summary["seed"])]
    step = step_ns(run)
    if step is not None:
        words += ["--series", time_argument(step)]
    return shlex.join(words)


def time_argument(value_ns: float) -> str:
    """A time as the command line takes it, in the largest unit in which it is whole."""
    size, unit = next(
        (size, unit) for size, unit in ((1e6, "ms"), (1e3, "us"), (1.0, "ns")) if value_ns % size == 0 or size == 1
    )
    return f"{value_ns / size:.12g}{unit}"


def machine(run: RunFiles) -> str | None:
    """The computer that made the results."""
    known = run.manifest.get("machine") or {}
    parts = [str(known[key]) for key in ("processor", "system", "release") if known.get(key)]
    return ", ".join(parts) or None
