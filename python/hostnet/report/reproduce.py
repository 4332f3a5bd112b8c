"""Section on how to reproduce a run, with its complete configuration, and notes."""

from __future__ import annotations

import json
import shlex
from typing import Any

from hostnet.notes import forward_notes, no_effect_notes
from hostnet.report.html import Html, details, element, fact_list, section
from hostnet.report.load import RunFiles
from hostnet.report.over_time import step_ns

COMPLETE = "complete.json"
"""File name that the page proposes for the complete configuration."""


def notes_section(run: RunFiles) -> Html | None:
    """Creates the notes on keys without effect and on limits of the model."""
    ignored = [str(text) for text in run.summary.get("ignored") or []]
    unvalidated = [str(run.summary["unvalidated"])] if run.summary.get("unvalidated") else []
    notes = [*unvalidated, *forward_notes(run.summary), *ignored, *no_effect_notes(run.summary, most=None)]
    return section("Notes", element("ul", *(element("li", note) for note in notes), class_="notes")) if notes else None


def reproduce_section(run: RunFiles) -> Html | None:
    """Creates the section with the command, the complete configuration, and the hashes."""
    effective = run.manifest.get("config")
    if run.config is None and not effective:
        return None
    complete = json.dumps(effective, indent=2, ensure_ascii=False) if effective else None
    return section(
        "How to run it again",
        *(original_config(run, run.config_file, run.config) if run.config_file and run.config is not None else ()),
        *(resolved_config(run, complete) if complete else ()),
        fact_list(
            (
                ("Hash of the configuration", text_or_none(run.summary.get("config_hash"))),
                ("Hash of the results", text_or_none(run.manifest.get("result_hash"))),
                ("Version", text_or_none(run.manifest.get("version"))),
                ("Made on", machine(run)),
            )
        ),
        note="The same configuration, seed and version give the same results, bit for bit, on any machine.",
    )


def original_config(run: RunFiles, file: str, text: str) -> list[Html]:
    """Explains how to reproduce the run with the user's file."""
    return [
        element("h3", "With the configuration as it was written"),
        block(command(run, file)),
        element("p", "Run it in the folder of this page, with all files that the configuration names.", class_="sub"),
        details("Configuration, as written", block(text)),
    ]


def resolved_config(run: RunFiles, text: str) -> list[Html]:
    """Explains how to reproduce the run with the complete configuration."""
    advice = (
        f"Save the text below as {COMPLETE}. The tables will be the same. The hash of the results may differ: it "
        "also covers which of the given keys had no effect, and this file gives every key."
    )
    return [
        element("h3", "With the complete configuration, which needs no other file"),
        block(command(run, COMPLETE)),
        element("p", advice, class_="sub"),
        details("Configuration, complete, with the preset's values", block(text)),
    ]


def block(text: str) -> Html:
    """Creates text that can be copied."""
    return element("div", element("pre", text, tabindex="0"), class_="block")


def command(run: RunFiles, file: str) -> str:
    """Returns the command that reproduces the run."""
    engine = "predict" if run.summary.get("engine") == "predict" else "run"
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
    """Formats a time for the command line, in the largest unit in which it is whole."""
    size, unit = next(
        (size, unit) for size, unit in ((1e6, "ms"), (1e3, "us"), (1.0, "ns")) if value_ns % size == 0 or size == 1
    )
    return f"{value_ns / size:.12g}{unit}"


def machine(run: RunFiles) -> str | None:
    """Describes the computer that executed the run."""
    known = run.manifest.get("machine") or {}
    parts = [str(known[key]) for key in ("processor", "system", "release") if known.get(key)]
    return ", ".join(parts) or None


def text_or_none(value: Any) -> str | None:
    """Returns a value as text; None if it is absent."""
    return None if value is None or value == "" else str(value)
