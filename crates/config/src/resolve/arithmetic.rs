//! Shares as integers, and a logarithm and an exponential function that are identical on every machine.

/// Converts a share from 0 to 1 to units of 2^-32.
pub(super) fn share(share: f64) -> u64 {
    (share * (1u64 << 32) as f64).round() as u64
}

/// Returns the natural logarithm of a number above 0 and up to 1, from sums, products and quotients only. The result
/// is identical on every machine, while libraries differ in the last digit.
pub(super) fn ln(value: f64) -> f64 {
    let (mut mantissa, mut halvings) = (value, 0.0);
    while mantissa < 0.75 {
        mantissa *= 2.0;
        halvings += 1.0;
    }
    // From 0.75 to 1.5 the ratio is at most 1/5: the 20 terms end at 0.2^39 / 39, below the precision of `f64`.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let (mut power, mut sum) = (ratio, 0.0);
    for odd in (1..40).step_by(2) {
        sum += power / f64::from(odd);
        power *= ratio * ratio;
    }
    2.0 * sum - halvings * std::f64::consts::LN_2
}

/// Returns the exponential function, from sums and products only. The result is identical on every machine.
pub(super) fn exp(value: f64) -> f64 {
    let mut halvings = 0;
    let mut small = value;
    while small.abs() > 0.25 {
        small /= 2.0;
        halvings += 1;
    }
    // 0.25^19 / 19! is below 1e-28, so that 19 terms reach the precision of `f64`.
    let (mut term, mut sum) = (1.0, 1.0);
    for number in 1..20 {
        term *= small / f64::from(number);
        sum += term;
    }
    (0..halvings).fold(sum, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_the_library() {
        for value in [1.0, 0.999, 0.75, 0.7499, 0.5, 0.1, 1e-9, 1.1e-16] {
            assert!((ln(value) - f64::ln(value)).abs() < 1e-13 * (1.0 - f64::ln(value)), "{value}");
        }
    }

    #[test]
    fn the_exponential_function_is_that_of_the_library() {
        for value in [-40.0, -6.0, -0.3, 0.0, 0.1, 1.0, 6.0, 30.0_f64] {
            assert!((exp(value) / value.exp() - 1.0).abs() < 1e-12, "{value}");
        }
    }
}
