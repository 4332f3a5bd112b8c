//! Batch means and the end of the warm-up.

/// Mean of equally long batches with the half-width of its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the 95% confidence interval; infinite with fewer than two batches.
    pub half_width: f64,
}

/// The mean of `values` and its 95% confidence interval by batch means: the values are grouped into at most
/// `groups` groups, whose means are taken as independent.
#[must_use]
pub fn estimate(values: &[f64], groups: usize) -> Estimate {
    let size = (values.len() / groups.max(1)).max(1);
    let means: Vec<f64> = values.chunks_exact(size).map(mean).collect();
    let half_width = if means.len() < 2 { f64::INFINITY } else { interval(&means) };
    Estimate { mean: mean(values), half_width }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn interval(means: &[f64]) -> f64 {
    let centre = mean(means);
    let count = means.len() as f64;
    let variance = means.iter().map(|value| (value - centre) * (value - centre)).sum::<f64>() / (count - 1.0);
    student_t_975(means.len() - 1) * (variance / count).sqrt()
}

/// The 97.5% quantile of Student's t with `freedom` degrees of freedom (tabulated up to 30, then Cornish-Fisher).
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

/// Where the warm-up ends, by the marginal standard error rule (MSER): the cut that makes the mean of the rest most
/// certain. Returns the number of leading batches to drop, or none when the best cut lies in the second half, which
/// means that the run is still moving.
#[must_use]
pub fn warm_up(values: &[f64]) -> Option<usize> {
    let count = values.len();
    let best = (0..count.saturating_sub(1))
        .min_by(|&a, &b| marginal_error(&values[a..]).total_cmp(&marginal_error(&values[b..])))?;
    (best * 2 <= count).then_some(best)
}

fn marginal_error(values: &[f64]) -> f64 {
    let centre = mean(values);
    let count = values.len() as f64;
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
    }
}
