"""The published formula on simulated counters, evaluated as the publication evaluated it on measured ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, latency, p2m_latency

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostnet.explanation.formula import Inflation
    from hostnet.ledger.panels import Series

NOTHING = Estimate(math.nan, None)
"""Estimate if the run lacks what the formula needs."""

CORES = "LFB"
"""Domain of a series about cores; any other is about devices."""

PARTS = ("switching", "write_hol", "read_hol", "top_of_queue")
"""Components of the formula."""


def formula_error(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns how far the formula underestimates the measured latency, in %, which is the error of its throughput."""
    inflation = inflation_of(series, run)
    if inflation is None:
        return NOTHING
    measured = held(series, run)
    explained = series.constant + inflation.total_ns
    if series.admission:
        explained += admission_delay(series, run, None).value
    error = 100 * (measured.value - explained) / measured.value
    return Estimate(error, None if measured.ci95 is None else 100 * measured.ci95 * explained / measured.value**2)


def formula_part(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the latency that some components of the formula add, in ns."""
    inflation = inflation_of(series, run)
    if inflation is None:
        return NOTHING
    value = sum(getattr(inflation, f"{part}_ns") for part in series.parts or PARTS)
    return Estimate(value, None).with_relative(run.throughput(series.workload).relative)


def admission_delay(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the time outside of the CHA minus the constant that the publication subtracts, in ns."""
    inside = "CHA->DRAM read" if series.domain == CORES else "CHA->MC write"
    whole = held(series, run)
    stay = run.domain(inside, series.workload)["latency_mean_ns"]
    if stay is None:
        return NOTHING
    return Estimate(whole.value - stay - series.way, whole.ci95)


def held(series: Series, run: Outcome) -> Estimate:
    """Returns the measured latency of a domain: that of LFB entries, or from occupancy and rate of the IIO."""
    measure: Callable[[Series, Outcome, Outcome | None], Estimate] = latency if series.domain == CORES else p2m_latency
    return measure(series, run, None)


def inflation_of(series: Series, run: Outcome) -> Inflation | None:
    """Returns the components of the formula; None if the counters do not suffice."""
    from hostnet.explanation.formula import FormulaConstants, formula

    counters: Any = run.summary.get("counters")
    if counters is None:
        return None
    constants = FormulaConstants(**series.timings)
    domain: Any = "read" if series.domain == CORES else "write"
    form: Any = series.form
    try:
        return formula(counters, constants, domain=domain, form=form)
    except ConfigError:
        return None


FORMULA_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function for function in (formula_error, formula_part, admission_delay)
}
"""Quantities of the formula that `study.toml` can name."""
