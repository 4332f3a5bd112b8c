//! Batch means, and the end of the warm-up.

use std::f64::consts::FRAC_PI_2;

/// Fewest groups of batches that a confidence interval needs.
const GROUPS_MIN: usize = 8;
/// One-sided 95% quantile of the normal distribution. Means of successive groups with a higher correlation are not
/// independent.
const LAG_LIMIT: f64 = 1.645;
/// Largest correlation of successive groups that a wider interval corrects for.
const LAG_MAX: f64 = 0.9;
/// Least number of effectively independent values for Student's t.
const EFFECTIVE_MIN: usize = 4;
/// Significance level of the drift test: probability of so steep a slope in a steady run. The level is low because a
/// report runs several tests.
const DRIFT_CHANCE: f64 = 0.001;
/// Least change over the window that counts as drift, as a share of the mean.
const DRIFT_MIN: f64 = 0.01;

/// Mean of batches of equal length, with the half-width of its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean of the batches.
    pub mean: f64,
    /// Half the width of the 95% confidence interval, widened by the size of the drift if the run drifts; infinite with
    /// fewer than two batches.
    pub half_width: f64,
    /// Significant change of the values from first to last, if any.
    pub drift: Option<f64>,
}

/// Estimates the mean of `values` and its 95% confidence interval by batch means: the values are divided into about
/// `groups` batches of equal size, which are merged in pairs until their means show no significant autocorrelation, or
/// too few are left to merge.
#[must_use]
pub fn estimate(values: &[f64], groups: usize) -> Estimate {
    // Fewer values than groups: each value is a group of its own.
    let size = (values.len() / groups.max(1)).max(1);
    let drift = drift(values, size).filter(|change| change.abs() >= DRIFT_MIN * mean(values).abs());
    // The slope of a drifting run is no noise; the interval is taken from the residuals and widened by the drift.
    let rest = |means: &[f64]| if drift.is_some() { fit_line(means).1 } else { means.to_vec() };
    let (means, correlation) = independent(values, size, rest);
    // The mean of a drifting run is off by up to the drift, whatever the noise.
    let half_width = correlated_interval(&rest(&means), correlation) + drift.map_or(0.0, f64::abs);
    Estimate { mean: mean(values), half_width, drift }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the means of batches of `size` values, and the correlation left in them. Batches are merged in pairs until
/// the noise in their means, as computed by `noise`, shows no significant autocorrelation, or too few are left to
/// merge.
fn independent(values: &[f64], size: usize, noise: impl Fn(&[f64]) -> Vec<f64>) -> (Vec<f64>, f64) {
    let grouped = |size| -> Vec<f64> { values.chunks_exact(size).map(mean).collect() };
    // Relative to their own mean, n independent values have a correlation of -1/n.
    let correlation = |means: &[f64]| lag1_correlation(&noise(means)) + 1.0 / means.len() as f64;
    let mut means = grouped(size);
    if means.len() < GROUPS_MIN || correlation(&means) <= LAG_LIMIT / (means.len() as f64).sqrt() {
        return (means, 0.0);
    }
    // The values are now known to be correlated, so that any correlation left counts, however small.
    let mut size = size;
    while means.len() >= 2 * GROUPS_MIN && correlation(&means) > 0.0 {
        size *= 2;
        means = grouped(size);
    }
    // Negative correlation would narrow the interval; near 1 the correction has a pole.
    let left = correlation(&means).clamp(0.0, LAG_MAX);
    (means, left)
}

/// Returns the lag-1 autocorrelation of values.
fn lag1_correlation(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre) * (value - centre)).sum();
    // The residuals of constants are rounding errors.
    if squares <= f64::EPSILON * centre * centre * values.len() as f64 {
        return 0.0;
    }
    values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum::<f64>() / squares
}

/// Fits a straight line to values. Returns the rise per value and the residuals.
fn fit_line(values: &[f64]) -> (f64, Vec<f64>) {
    let centre = mean(values);
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let at = |index: usize| index as f64 - middle;
    let squares: f64 = (0..values.len()).map(|index| at(index) * at(index)).sum();
    let slope = values.iter().enumerate().map(|(index, value)| at(index) * (value - centre)).sum::<f64>() / squares;
    (slope, values.iter().enumerate().map(|(index, value)| value - centre - slope * at(index)).collect())
}

/// Returns the change of the values over their length, if significant. The change is the slope of a line through the
/// means of groups with independent residuals.
fn drift(values: &[f64], size: usize) -> Option<f64> {
    let (means, correlation) = independent(values, size, |means| fit_line(means).1);
    if means.len() < GROUPS_MIN {
        return None;
    }
    let count = means.len() as f64;
    let (slope, rest) = fit_line(&means);
    // Variance inflation of a mean of first-order autoregressive values.
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    // Two degrees of freedom go to the slope and the mean of the line.
    let variance = rest.iter().map(|value| value * value).sum::<f64>() / (count - 2.0) * inflation;
    // Sum of the squared distances of 0..count from their middle.
    let squares = count * (count * count - 1.0) / 12.0;
    let error = (variance / squares).sqrt();
    // Constants have neither a slope nor an error.
    let certain =
        slope.abs() > f64::EPSILON * mean(values).abs() && chance(slope / error, means.len() - 2) < DRIFT_CHANCE;
    certain.then_some(slope * count)
}

/// Returns the probability that Student's t with `freedom` degrees of freedom exceeds `t` in magnitude.
fn chance(t: f64, freedom: usize) -> f64 {
    // With t = sqrt(n) tan(a) the density of t becomes that of cos(a)^(n - 1).
    let power = freedom as i32 - 1;
    let area = |from: f64, to: f64| {
        const STEPS: i32 = 256;
        let step = (to - from) / f64::from(STEPS);
        // Simpson's rule: weights 1, 4, 2, 4, ..., 1.
        let weight = |index| if index == 0 || index == STEPS { 1.0 } else { f64::from(2 + index % 2 * 2) };
        // Rounding may make the cosine of pi / 2 slightly negative.
        let height = |index| (from + f64::from(index) * step).cos().max(0.0).powi(power);
        (0..=STEPS).map(|index| weight(index) * height(index)).sum::<f64>() * step / 3.0
    };
    area((t.abs() / (freedom as f64).sqrt()).atan(), FRAC_PI_2) / area(0.0, FRAC_PI_2)
}

/// Returns half the width of the 95% confidence interval of the mean of independent values; infinite for fewer than
/// two.
#[must_use]
pub fn interval(values: &[f64]) -> f64 {
    correlated_interval(values, 0.0)
}

/// Returns half the width of the interval for successive values with a correlation, which lowers their effective
/// number.
fn correlated_interval(values: &[f64], correlation: f64) -> f64 {
    if values.len() < 2 {
        return f64::INFINITY;
    }
    let centre = mean(values);
    let count = values.len() as f64;
    let effective_count = count * (1.0 - correlation) / (1.0 + correlation);
    let variance = values.iter().map(|value| (value - centre) * (value - centre)).sum::<f64>() / (count - 1.0);
    // The correlation of a few groups is itself uncertain, and its estimate may be too high.
    student_t_975((effective_count as usize).max(EFFECTIVE_MIN.min(values.len())) - 1)
        * (variance / effective_count).sqrt()
}

/// Returns the 97.5% quantile of Student's t with `freedom` degrees of freedom (tabulated up to 30, then
/// Cornish-Fisher).
fn student_t_975(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    if freedom == 0 {
        return f64::INFINITY;
    }
    let z = 1.959_964;
    TABLE.get(freedom - 1).copied().unwrap_or_else(|| z + (z * z * z + z) / (4.0 * freedom as f64))
}

/// Finds the end of the warm-up by the marginal standard error rule (MSER): the cut that minimises the standard error
/// of the mean of the rest. Returns the number of leading batches to drop. Returns `None` if the best cut lies in the
/// second half, because the run has not reached a steady state then.
#[must_use]
pub fn warm_up(values: &[f64]) -> Option<usize> {
    let count = values.len();
    // The last batch alone has no spread, so it is no candidate.
    let best = (0..count.saturating_sub(1))
        .min_by(|&a, &b| marginal_error(&values[a..]).total_cmp(&marginal_error(&values[b..])))?;
    // A minimum in the second half comes from the few values left, not from a steady state.
    (best * 2 <= count).then_some(best)
}

fn marginal_error(values: &[f64]) -> f64 {
    let centre = mean(values);
    let count = values.len() as f64;
    // The square of MSER: variance over count, which has its minimum at the same cut.
    values.iter().map(|value| (value - centre) * (value - centre)).sum::<f64>() / (count * count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transient_is_cut_and_a_drift_is_refused() {
        let mut values = vec![10.0, 6.0, 3.0, 1.5];
        values.extend((0..20).map(|index| 1.0 + f64::from(index % 3) * 0.01));
        assert_eq!(warm_up(&values), Some(4));
        let drifting: Vec<f64> = (0..24).map(f64::from).collect();
        assert_eq!(warm_up(&drifting), None);
    }

    #[test]
    fn intervals_cover_the_mean() {
        let values: Vec<f64> = (0..40).map(|index| f64::from(index % 5)).collect();
        let found = estimate(&values, 8);
        assert!((found.mean - 2.0).abs() < 1e-12);
        assert!(found.half_width < 1e-9, "every group of five has the same mean");
        assert!(estimate(&[1.0], 8).half_width.is_infinite());
        let spread = estimate(&[1.0, 3.0], 8);
        assert!((spread.half_width - 12.706).abs() < 1e-9);
        assert!([&[1.0][..], &[]].iter().all(|values| interval(values).is_infinite()));
    }

    /// Returns `count` values around 100 with a correlation of `kept` between successive ones, rising by `rise` in
    /// all.
    fn series(count: usize, seed: u64, kept: f64, rise: f64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut level = 0.0;
        let value = |index: usize| {
            level = kept * level + (0..12).map(|_| draw()).sum::<f64>();
            100.0 + level + rise * index as f64 / count as f64
        };
        (0..count).map(value).collect()
    }

    #[test]
    fn intervals_cover_the_mean_of_correlated_values_as_often_as_they_say() {
        for (kept, least) in [(0.0, 930), (0.8, 930), (0.95, 880)] {
            let covers = |&seed: &u64| {
                let found = estimate(&series(128, seed, kept, 0.0)[..], 32);
                (found.mean - 100.0).abs() <= found.half_width
            };
            let covered = (0..1000).filter(covers).count();
            assert!(covered >= least, "{kept}: {covered} of 1000");
        }
    }

    #[test]
    fn a_drift_is_found_where_there_is_one_and_widens_the_interval() {
        let found = |kept, rise| {
            let drifts = |seed| estimate(&series(128, seed, kept, rise), 32).drift;
            (0..1000).filter_map(drifts).collect::<Vec<f64>>()
        };
        for kept in [0.0, 0.8] {
            assert!(found(kept, 0.0).len() <= 10, "steady with {kept}: {}", found(kept, 0.0).len());
        }
        let rises = found(0.5, 8.0);
        assert!(rises.len() >= 900 && rises.iter().all(|rise| (rise - 8.0).abs() < 4.0), "{}", rises.len());
        let drifting = estimate(&series(128, 1, 0.5, 20.0), 32);
        assert!(drifting.half_width > 16.0 && drifting.half_width < 30.0, "{drifting:?}");
        assert_eq!(estimate(&[5.0; 128], 32).drift, None);
        assert!(estimate(&[0.1; 128], 32).half_width < 1e-12);
    }

    #[test]
    fn the_tails_of_student_s_t_are_those_of_its_table() {
        for freedom in [1, 2, 6, 14, 30, 100] {
            let found = chance(student_t_975(freedom), freedom);
            assert!((found - 0.05).abs() < 2e-4, "{freedom}: {found}");
        }
        assert!((chance(5.959, 6) - 0.001).abs() < 1e-5);
    }
}
