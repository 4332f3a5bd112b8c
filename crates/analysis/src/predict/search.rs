//! Searches and fair shares.

/// Most steps of a search, and how near it has to come.
const STEPS_MAX: usize = 40;
const TOLERANCE: f64 = 1e-4;

/// Rates with the least first.
pub(super) fn sorted(rates: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut rates: Vec<f64> = rates.collect();
    rates.sort_unstable_by(f64::total_cmp);
    rates
}

/// The fair share of `total`: who asks for less gets it all, the others share the rest evenly. `asked` has the least
/// first.
pub(super) fn level(total: f64, asked: &[f64]) -> f64 {
    let mut left = total;
    for (index, &rate) in asked.iter().enumerate() {
        let share = left / (asked.len() - index) as f64;
        if rate > share {
            return share;
        }
        left -= rate;
    }
    f64::INFINITY
}

/// A wait in ns or in lines as a share of the way from none to any.
pub(super) fn wait(share: f64) -> f64 {
    share / (1.0 - share) * 100.0
}

/// Finds where a function that falls from positive to negative on 0 to 1 crosses zero, and calls it there last
/// (regula falsi, Illinois). The nearer to 1, the closer it comes: near there, what a [`wait`] is changes fast. Returns
/// whether it falls so far.
pub(super) fn root(mut f: impl FnMut(f64) -> f64) -> bool {
    let (mut low, mut high) = (0.0_f64, 1.0 - 1e-6);
    let (mut at_low, mut at_high) = (f(low), f(high));
    if at_low <= 0.0 {
        f(low);
        return true;
    }
    if at_high >= 0.0 {
        return false;
    }
    let mut side = 0;
    for _ in 0..STEPS_MAX {
        let guess = (low * at_high - high * at_low) / (at_high - at_low);
        let middle = if guess.is_finite() && guess > low && guess < high { guess } else { (low + high) / 2.0 };
        let found = f(middle);
        if found.abs() < TOLERANCE || high - low < TOLERANCE * (1.0 - high) {
            return true;
        }
        if found > 0.0 {
            (low, at_low) = (middle, found);
            at_high = if side > 0 { at_high / 2.0 } else { at_high };
            side = 1;
        } else {
            (high, at_high) = (middle, found);
            at_low = if side < 0 { at_low / 2.0 } else { at_low };
            side = -1;
        }
    }
    true
}
