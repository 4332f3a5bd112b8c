//! Formats of numbers, which are the same on every page and on the screen.

use serde_json::Value;
use std::fmt::Write as _;

/// Text of a table for a value that is missing.
pub const MISSING: &str = "–";

/// Numbers below this one are written with an exponent.
const SMALL: f64 = 1e-4;

/// Significant digits of [`format_number`].
const DIGITS: usize = 3;

/// A value to format. A count is written with all its digits, a measured value with a few significant ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// No value, or one that is no number.
    Missing,
    /// A whole number.
    Count(f64),
    /// A real number.
    Measured(f64),
}

impl Quantity {
    /// Returns the value unless it is missing or infinite.
    fn finite(self) -> Option<f64> {
        match self {
            Self::Missing => None,
            Self::Count(value) | Self::Measured(value) => Some(value).filter(|value| value.is_finite()),
        }
    }
}

impl From<f64> for Quantity {
    fn from(value: f64) -> Self {
        Self::Measured(value)
    }
}

impl From<usize> for Quantity {
    fn from(count: usize) -> Self {
        Self::Count(count as f64)
    }
}

impl From<&Value> for Quantity {
    fn from(value: &Value) -> Self {
        match value.as_f64() {
            Some(number) if value.is_f64() => Self::Measured(number),
            Some(number) => Self::Count(number),
            None => Self::Missing,
        }
    }
}

impl<T: Into<Quantity>> From<Option<T>> for Quantity {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

/// Formats a number with three significant digits; a dash if it is missing.
#[must_use]
pub fn format_number(value: impl Into<Quantity>) -> String {
    format_significant(value, DIGITS)
}

/// Formats a number with `digits` significant digits, and an exponent only if it is tiny; a dash if it is missing.
#[must_use]
pub fn format_significant(value: impl Into<Quantity>, digits: usize) -> String {
    let value = value.into();
    let Some(number) = value.finite() else { return MISSING.to_owned() };
    let (rounded, exponent) = round_to_digits(number, digits);
    let is_count = matches!(value, Quantity::Count(_));
    if is_count || rounded == 0.0 || exponent >= digits as i32 - 1 {
        return format_whole(number);
    }
    if rounded.abs() < SMALL {
        return with_two_exponent_digits(&format!("{number:.1e}"));
    }
    format!("{number:.*}", (digits as i32 - 1 - exponent) as usize)
}

/// Rounds a number to significant digits and returns its decimal exponent, too.
fn round_to_digits(value: f64, digits: usize) -> (f64, i32) {
    let text = format!("{value:.*e}", digits - 1);
    let exponent = text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    (text.parse().unwrap_or(value), exponent)
}

/// Formats a number rounded to a whole one, with thousands separators.
#[must_use]
pub fn format_whole(value: f64) -> String {
    let text = without_negative_zero(format!("{value:.0}"));
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let mut grouped = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a number with at most `digits` significant digits, without trailing zeros. Very large and very small numbers
/// get an exponent, as `%g` of C does it.
#[must_use]
pub fn format_general(value: f64, digits: usize) -> String {
    trim_zeros(&format_fixed_digits(value, digits))
}

/// Formats a number as [`format_general`] does, but keeps trailing zeros.
fn format_fixed_digits(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let digits = digits.max(1);
    let (_, exponent) = round_to_digits(value, digits);
    if (-4..digits as i32).contains(&exponent) {
        format!("{value:.*}", (digits as i32 - 1 - exponent) as usize)
    } else {
        with_two_exponent_digits(&format!("{value:.*e}", digits - 1))
    }
}

/// Drops zeros at the end of the fraction of a formatted number.
fn trim_zeros(text: &str) -> String {
    let (mantissa, exponent) = text.find('e').map_or((text, ""), |at| text.split_at(at));
    let kept = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{kept}{exponent}")
}

/// Writes an exponent with its sign and at least two digits.
fn with_two_exponent_digits(text: &str) -> String {
    let Some((mantissa, exponent)) = text.split_once('e') else { return text.to_owned() };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// Formats a number with all its digits, and an exponent only if it is very large or very small.
#[must_use]
pub fn format_exactly(value: f64) -> String {
    let shortest = format!("{value:?}");
    let (mantissa, exponent) = shortest.split_once('e').map_or((shortest.as_str(), None), |(m, e)| (m, Some(e)));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let rounded = if exponent.is_some() { format!("{value:.decimals$e}") } else { format!("{value:.decimals$}") };
    // Of two shortest texts that are equally near, files have the one that ends in an even digit.
    let is_exact = rounded.parse() == Ok(value);
    with_two_exponent_digits(if is_exact { &rounded } else { &shortest })
}

/// Removes the sign of a formatted number that was rounded to zero.
#[must_use]
pub fn without_negative_zero(text: String) -> String {
    if text.trim_matches(|letter| matches!(letter, '+' | '-' | '0' | '.')).is_empty() {
        text.trim_start_matches(['+', '-']).to_owned()
    } else {
        text
    }
}

/// Formats a fraction in percent with `digits` decimals, for example "95 %". Zero has no sign.
#[must_use]
pub fn format_percent(share: f64, digits: usize) -> String {
    format!("{} %", without_negative_zero(format!("{:.digits$}", 100.0 * share)))
}

/// Formats a change in percent with its sign, for example "+25 %". Zero has no sign.
#[must_use]
pub fn format_change(share: f64, digits: usize) -> String {
    format!("{} %", without_negative_zero(format!("{:+.digits$}", 100.0 * share)))
}

/// Formats a fraction in percent with one decimal; a dash if it is missing.
#[must_use]
pub fn format_share(share: impl Into<Quantity>) -> String {
    format_share_rounded(share, 1)
}

/// Formats a fraction in percent with `digits` decimals; a dash if it is missing.
#[must_use]
pub fn format_share_rounded(share: impl Into<Quantity>, digits: usize) -> String {
    share.into().finite().map_or_else(|| MISSING.to_owned(), |share| format_percent(share, digits))
}

/// Formats a fraction for a sentence; a small one is "below 1 %" instead of "0 %".
#[must_use]
pub fn describe_share(share: f64) -> String {
    let text = format_percent(share, 0);
    if share > 0.0 && text == format_percent(0.0, 0) {
        "below 1 %".to_owned()
    } else {
        text
    }
}

/// Formats a value with the half-width of its confidence interval, if it has one.
#[must_use]
pub fn with_ci95(value: impl Into<Quantity>, ci95: impl Into<Quantity>) -> String {
    let mut text = format_number(value);
    let ci95 = ci95.into();
    if ci95 != Quantity::Missing {
        let _ = write!(text, " ± {}", format_significant(ci95, 2));
    }
    text
}

/// Formats a time given in ns with a suitable unit; a dash if it is missing.
#[must_use]
pub fn format_time_ns(value: impl Into<Quantity>) -> String {
    let Some(ns) = value.into().finite() else { return MISSING.to_owned() };
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (size, unit) = units.into_iter().find(|(size, _)| ns.abs() >= *size).unwrap_or((1.0, "ns"));
    format!("{} {unit}", without_negative_zero(format_general(ns / size, 4)))
}

/// Unit of rates of lines.
pub const GB_PER_S: &str = "GB/s";

/// Smallest rate that is shown in its own unit; smaller ones get another prefix so that no digits are lost.
const RATE_MIN: f64 = 0.1;

/// SI prefixes with their sizes.
const PREFIXES: [(&str, f64); 9] =
    [("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9), ("p", 1e-12), ("f", 1e-15)];

/// Returns true if a rate given in giga needs a smaller prefix.
#[must_use]
pub fn is_small_rate(value: f64) -> bool {
    value != 0.0 && value.abs() < RATE_MIN
}

/// Formats a quantity with three digits and an SI prefix, for example "8.06 µJ".
#[must_use]
pub fn format_si(value: f64, unit: &str) -> String {
    if value == 0.0 {
        return format!("0 {unit}");
    }
    let scaled = |size| format_fixed_digits(value / size, DIGITS);
    let is_large = |text: &str| text.parse::<f64>().is_ok_and(|number| number.abs() >= 1.0);
    let found = PREFIXES.iter().map(|(prefix, size)| (*prefix, scaled(size))).find(|(_, text)| is_large(text));
    let (prefix, text) = found.unwrap_or_else(|| ("f", scaled(&1e-15)));
    let whole = || without_negative_zero(format!("{:.0}", text.parse().unwrap_or(value)));
    let text = if text.contains('e') { whole() } else { text };
    format!("{text} {prefix}{unit}")
}

/// Formats a rate given in Gbps or GB/s with a suitable prefix, for example "1.00 Mbps".
#[must_use]
pub fn format_rate(value: f64, unit: &str) -> String {
    if value == 0.0 {
        return format!("0 {unit}");
    }
    format_si(1e9 * value, unit.strip_prefix('G').unwrap_or(unit))
}

/// Formats a rate as [`format_rate`] does, with the half-width of its interval, for example "1.00 ±0.02 Mbps".
#[must_use]
pub fn format_rate_within(value: f64, unit: &str, half_width: f64) -> String {
    let text = format_rate(value, unit);
    let Some((number, prefixed)) = text.split_once(' ').filter(|_| value != 0.0) else { return text };
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let base = unit.strip_prefix('G').unwrap_or(unit);
    let prefix = prefixed.strip_suffix(base).unwrap_or_default();
    let size = PREFIXES.iter().find(|(name, _)| *name == prefix).map_or(1.0, |(_, size)| *size);
    format!("{number} ±{:.decimals$} {prefixed}", half_width * (1e9 / size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_three_digits_and_counts_have_all() {
        let cases = [
            (0.0, "0"),
            (302.94, "303"),
            (27.512, "27.5"),
            (7.4615, "7.46"),
            (0.4, "0.400"),
            (9.996, "10.0"),
            (0.001, "0.00100"),
            (0.00001, "1.0e-05"),
            (1234.5, "1,234"),
            (-0.4, "-0.400"),
            (-1e6, "-1,000,000"),
            (f64::NAN, MISSING),
        ];
        for (value, text) in cases {
            assert_eq!(format_number(value), text);
        }
        assert_eq!(format_number(8_123_456_usize), "8,123,456");
        assert_eq!(format_number(7_usize), "7");
        assert_eq!(format_number(None::<f64>), MISSING);
        assert_eq!(format_number(&Value::from("7")), MISSING);
    }

    #[test]
    fn shares_intervals_and_times_have_their_units() {
        assert_eq!(format_share(0.4583), "45.8 %");
        assert_eq!(format_share(None::<f64>), MISSING);
        assert_eq!(with_ci95(27.5, 0.14), "27.5 ± 0.14");
        assert_eq!(with_ci95(27.5, None::<f64>), "27.5");
        assert_eq!(format_time_ns(1e6), "1 ms");
        assert_eq!(format_time_ns(50_000_usize), "50 µs");
        assert_eq!(format_time_ns(None::<f64>), MISSING);
        assert_eq!(describe_share(0.004), "below 1 %");
        assert_eq!(describe_share(0.0), "0 %");
        assert_eq!(format_change(-0.004, 0), "0 %");
        assert_eq!(format_change(0.25, 0), "+25 %");
    }

    #[test]
    fn general_numbers_are_those_of_c() {
        let cases = [
            (0.0, 6, "0"),
            (2.0, 6, "2"),
            (105.333_333, 6, "105.333"),
            (12_345.0, 4, "1.234e+04"),
            (1e-5, 6, "1e-05"),
            (0.000_123, 3, "0.000123"),
            (999_999.5, 6, "1e+06"),
        ];
        for (value, digits, text) in cases {
            assert_eq!(format_general(value, digits), text);
        }
    }

    #[test]
    fn exact_numbers_are_those_of_files() {
        assert_eq!(format_exactly(2_311_557.0 / 32_768.0), "70.54312133789062");
        let cases = [(0.1 + 0.2, "0.30000000000000004"), (2.0, "2.0"), (1e-7, "1e-07"), (1.5e16, "1.5e+16")];
        for (value, text) in cases {
            assert_eq!(format_exactly(value), text);
        }
    }

    #[test]
    fn a_small_rate_has_a_prefix_that_suits_it() {
        let cases = [(0.001, "Gbps", "1.00 Mbps"), (0.0004, "GB/s", "400 kB/s"), (18.23, "Gbps", "18.2 Gbps")];
        for (value, unit, text) in cases {
            assert_eq!(format_rate(value, unit), text);
        }
        assert_eq!(format_rate(3e-9, GB_PER_S), "3.00 B/s");
        assert_eq!(format_rate(0.0, GB_PER_S), "0 GB/s");
        assert_eq!(format_rate_within(0.0004, GB_PER_S, 0.000_012_3), "400 ±12 kB/s");
        assert_eq!(format_rate_within(0.001_23, "Gbps", 0.000_02), "1.23 ±0.02 Mbps");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_number_rounded_to_zero_has_no_sign(value in -0.01..0.01_f64) {
            for text in [format_number(value), format_percent(value, 0), format_change(value, 0), format_share(value)] {
                let number = text.trim_end_matches(" %");
                prop_assert!(number.parse::<f64>().is_ok_and(|shown| shown != 0.0 || !number.starts_with(['-', '+'])));
            }
        }

        #[test]
        fn a_formatted_number_is_near_the_value(digits in 1.0..10.0_f64, exponent in -12..15_i32) {
            let value = digits * 10f64.powi(exponent);
            let shown: f64 = format_number(value).replace(',', "").parse().unwrap();
            prop_assert!((shown - value).abs() <= 0.051 * value.abs());
            let general: f64 = format_general(value, 6).parse().unwrap();
            prop_assert!((general - value).abs() <= 1e-5 * value.abs());
        }
    }
}
