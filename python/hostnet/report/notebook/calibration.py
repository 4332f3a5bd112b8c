"""Calibrations as the output of a cell."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from hostnet.report.notebook.block import block, headline, notes_list, small_table
from hostnet.report.numbers import MISSING, number, with_ci95
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]

PARAMETERS = ("parameter", "start", "value", "±", "bounds")
RESIDUALS = ("measured", "conditions", "from", "value", "model", "off by")


def calibration_block(title: str, content: Row) -> str:
    """Returns the output of a cell: the parameters, and the measurements beside the values of the model.

    `content` is that of `hostnet calibrate --json`.
    """
    undetermined = [
        f"{row['parameter']} is as before: {row['reason']}" for row in content["parameters"] if row["reason"]
    ]
    at_bound = [f"{row['parameter']} is at its bound" for row in content["parameters"] if row["at_bound"]]
    return block(
        headline(content["server"], title),
        small_table(PARAMETERS, [parameter_cells(row) for row in content["parameters"]]),
        small_table(RESIDUALS, [residual_cells(row) for row in content["residuals"]], texts=3),
        notes_list([*undetermined, *at_bound, *content["notes"]]),
    )


def parameter_cells(row: Row) -> list[str]:
    """Formats a parameter: start value, fitted value, uncertainty and bounds."""
    value = str(row["value"]) if row["determined"] else "as before"
    return [row["parameter"], str(row["start"]), value, row["sigma"] or MISSING, f"{row['low']} to {row['high']}"]


def residual_cells(row: Row) -> list[str]:
    """Formats a measurement beside the value of the model."""
    return [
        f"{row['quantity']} {row['unit']}",
        row["conditions"],
        f"{PurePath(row['file']).name}:{row['place']}",
        with_ci95(row["measured"], row["sigma"]),
        number(row["model"]),
        format_percent(row["residual_percent"] / 100, 1, sign="+"),
    ]
