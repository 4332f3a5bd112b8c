//! Formats of numbers, which pages and the screen share.

use hostnet_report::numbers::{self, Quantity};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

/// Reads a count from an int and a measured value from a float. Everything else is a missing value.
fn quantity(value: Option<&Bound<'_, PyAny>>) -> Quantity {
    let number = |value: &Bound<'_, PyAny>| value.extract::<f64>().ok();
    match value {
        Some(value) if value.is_instance_of::<PyFloat>() => number(value).map_or(Quantity::Missing, Quantity::Measured),
        Some(value) if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() => {
            number(value).map_or(Quantity::Missing, Quantity::Count)
        }
        _ => Quantity::Missing,
    }
}

/// Formats a number with `digits` significant digits, and an exponent only if it is tiny; a dash if it is missing.
#[pyfunction]
#[pyo3(signature = (value, digits=3))]
pub(crate) fn format_number(value: &Bound<'_, PyAny>, digits: usize) -> String {
    numbers::format_significant(quantity(Some(value)), digits)
}

/// Formats a fraction in percent with `digits` decimals; a dash if it is missing.
#[pyfunction]
#[pyo3(signature = (share, digits=1))]
pub(crate) fn format_share(share: &Bound<'_, PyAny>, digits: usize) -> String {
    numbers::format_share_rounded(quantity(Some(share)), digits)
}

/// Formats a value with the half-width of its confidence interval, if it has one.
#[pyfunction]
pub(crate) fn with_ci95(value: &Bound<'_, PyAny>, ci95: &Bound<'_, PyAny>) -> String {
    numbers::with_ci95(quantity(Some(value)), quantity(Some(ci95)))
}

/// Formats a time given in ns with a suitable unit; a dash if it is missing.
#[pyfunction]
pub(crate) fn format_time_ns(value: &Bound<'_, PyAny>) -> String {
    numbers::format_time_ns(quantity(Some(value)))
}

/// Formats a fraction in percent, for example "95 %", or "+25 %" with "+" as `sign`; zero has no sign.
#[pyfunction]
#[pyo3(signature = (share, digits=0, sign=""))]
pub(crate) fn format_percent(share: f64, digits: usize, sign: &str) -> String {
    if sign == "+" {
        numbers::format_change(share, digits)
    } else {
        numbers::format_percent(share, digits)
    }
}

/// Formats a fraction for a sentence; a small one is "below 1 %" instead of "0 %".
#[pyfunction]
pub(crate) fn share_text(share: f64) -> String {
    numbers::describe_share(share)
}

/// Removes the sign of a formatted number that was rounded to zero.
#[pyfunction]
pub(crate) fn without_negative_zero(text: String) -> String {
    numbers::without_negative_zero(text)
}

/// Formats a quantity with three digits and an SI prefix, for example "8.06 µJ".
#[pyfunction]
pub(crate) fn format_si(value: f64, unit: &str) -> String {
    numbers::format_si(value, unit)
}

/// Formats a rate given in Gbps or GB/s with a suitable prefix, for example "1.00 Mbps" or "1.00 ±0.02 Mbps".
#[pyfunction]
#[pyo3(signature = (value, unit, half_width=None))]
pub(crate) fn format_rate(value: f64, unit: &str, half_width: Option<f64>) -> String {
    match half_width {
        Some(half_width) => numbers::format_rate_within(value, unit, half_width),
        None => numbers::format_rate(value, unit),
    }
}
