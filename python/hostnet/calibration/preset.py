"""Writes the server file with the fitted values, each with a comment on its origin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.items import InlineTable

from hostnet import _core
from hostnet.presets import PROBE, ServerFile
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet.calibration.curves import JudgedCurve
    from hostnet.calibration.fit import FittedParameter
    from hostnet.calibration.parameters import Parameter

BANDWIDTH_KEYS = ("read_bandwidth", "write_bandwidth")
"""The keys that `ssd.bandwidth` stands for."""


def preset_text(
    server: ServerFile,
    parameters: Sequence[Parameter],
    fitted: Sequence[FittedParameter],
    files: Sequence[str],
    path: Path,
    curves: Sequence[JudgedCurve] = (),
) -> str:
    """Returns the text of the new server file.

    It is based on the existing file or, for a preset, a short file that extends the preset.

    Args:
        server: The server that was calibrated.
        parameters: The fitted parameters.
        fitted: Their outcomes, in the same order.
        files: The measurement files.
        path: Where the file will be saved.
        curves: Errors by the measured curves, for the comment at the end.

    Raises:
        ConfigError: The file would not be valid there.
    """
    document = _document(server)
    for parameter, result in zip(parameters, fitted, strict=True):
        if result.is_fitted:
            _set_value(document, parameter, result, comment_of(parameter, result, files))
    text = tomlkit.dumps(document) + "".join(f"# {line}\n" for line in curve_lines(curves, files))
    has_workload = "workload" in document
    _core.resolve(
        text,
        file=str(path),
        base_dir=str(path.parent),
        overrides=[] if has_workload else [PROBE],
    )
    return text


def comment_of(parameter: Parameter, result: FittedParameter, files: Sequence[str]) -> str:
    """Returns the comment on the origin of a value."""
    assert result.sigma is not None
    value, sigma = parameter.text(result.value), parameter.text(result.sigma, like=result.value)
    bound = f"; at its {'lower' if result.at_bound == 'low' else 'upper'} bound" if result.at_bound else ""
    names = ", ".join(" ".join(Path(name).name.split()) for name in files)
    return f"calibrated against {names}, {value} ± {sigma}{bound}"


def curve_lines(curves: Sequence[JudgedCurve], files: Sequence[str]) -> list[str]:
    """Returns the errors by measured curve as lines: the curves that were fitted, and those that only judge."""
    if not curves:
        return []
    lines = [f"Errors beside the curves of {', '.join(' '.join(Path(name).name.split()) for name in files)}:"]
    for curve in curves:
        parts = (("idle latency", curve.after.idle, "+"), ("maximum bandwidth", curve.after.most, "+"),
                 ("latency under load", curve.after.latency, ""))  # fmt: skip
        known = [f"{name} {format_percent(error, 1, sign)}" for name, error, sign in parts if error is not None]
        lines.append(f"{100 * curve.reads:.3g} % reads, {curve.role}: {', '.join(known)}")
    return lines


def _document(server: ServerFile) -> tomlkit.TOMLDocument:
    if server.text is not None:
        return tomlkit.parse(server.text)
    document = tomlkit.document()
    if server.is_preset:
        document.add(tomlkit.comment(f"{server.name}, calibrated: what is not here is as in the preset."))
        document.add(tomlkit.nl())
    for name, table in _plain(server.tree).items():
        document.add(name, tomlkit.item(table))
    return document


def _plain(tree: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(tree))
    return plain


def _set_value(document: tomlkit.TOMLDocument, parameter: Parameter, result: FittedParameter, comment: str) -> None:
    *tables, key = parameter.path.split(".")
    table: Any = document
    inline: InlineTable | None = None  # only the outermost table can have a trailing comment
    for name in tables:
        if name not in table:
            table.add(name, tomlkit.table() if inline is None else tomlkit.inline_table())
        table = table[name]
        if inline is None and isinstance(table, InlineTable):
            inline = table
    if parameter.path in ("ssd.read_bandwidth", "ssd.write_bandwidth") and "bandwidth" in table:
        for other in BANDWIDTH_KEYS:
            if other not in table:
                table.add(other, table["bandwidth"].unwrap())
        table.remove("bandwidth")
    column = _comment_column(table[key]) if key in table else 0
    table[key] = parameter.to_config(result.value)
    if inline is not None:
        before = f"{inline.trivia.comment.removeprefix('#').strip()}; " if inline.trivia.comment else ""
        inline.comment(f"{before}{key} {comment}")
        return
    item = table[key]
    item.comment(comment)
    item.trivia.comment_ws = " " * max(column - len(item.as_string()), 1)


def _comment_column(item: Any) -> int:
    """Returns the column of the trailing comment, relative to the start of the value; 0 without one."""
    return len(item.as_string()) + len(item.trivia.comment_ws) if item.trivia.comment else 0
