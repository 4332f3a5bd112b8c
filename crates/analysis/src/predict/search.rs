//! Root finding and max-min fair shares.

/// Largest number of steps of a search.
const STEPS_MAX: usize = 40;
/// Largest absolute value of the function at a root.
const TOLERANCE: f64 = 1e-4;
/// Largest argument at which a function is evaluated.
const LAST: f64 = 1.0 - 1e-6;
/// Least slope of a step. The functions decrease except for rounding.
const SLOPE_MIN: f64 = 1e-3;
/// Steps of a search from a nearby root in one direction before it is given up.
const AWAY: usize = 3;

/// A group of `count` requesters with a demand of `rate` each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateDemand {
    pub(super) count: f64,
    pub(super) rate: f64,
}

/// Sorts the groups by rate, the smallest first.
pub(super) fn sort_by_rate(asked: impl Iterator<Item = RateDemand>) -> Vec<RateDemand> {
    let mut asked: Vec<RateDemand> = asked.collect();
    asked.sort_unstable_by(|a, b| a.rate.total_cmp(&b.rate));
    asked
}

/// Computes the max-min fair share of `total`: requesters that demand less get all of it, the others share the rest
/// evenly. `asked` must be sorted by rate. Returns infinity if all requests fit.
pub(super) fn max_min_share(total: f64, asked: &[RateDemand]) -> f64 {
    let mut left = total;
    let mut many: f64 = asked.iter().map(|asked| asked.count).sum();
    for asked in asked {
        // Progressive filling: with the smallest demands first, one pass is enough.
        let share = left / many;
        if asked.rate > share {
            return share;
        }
        left -= asked.count * asked.rate;
        many -= asked.count;
    }
    f64::INFINITY
}

/// Maps a share of 0 to 1 to a wait (in ns or lines) of 0 to infinity.
pub(super) fn wait_from_share(share: f64) -> f64 {
    // The factor puts a wait of 100 in the middle of the range.
    share / (1.0 - share) * 100.0
}

/// Root that the last search of its kind found, where the next search begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SearchStart(Option<Root>);

#[derive(Clone, Copy, Debug)]
struct Root {
    share: f64,
    slope: f64,
}

/// An argument at which the function was evaluated, with its value.
#[derive(Clone, Copy, Debug)]
struct Place {
    share: f64,
    value: f64,
}

impl Place {
    fn of(share: f64, f: &mut impl FnMut(f64) -> f64) -> Self {
        Self { share, value: f(share) }
    }

    /// Slope of the function between this point and another, at most -[`SLOPE_MIN`].
    fn slope(self, other: Self) -> f64 {
        ((other.value - self.value) / (other.share - self.share)).min(-SLOPE_MIN)
    }

    fn is_root(self) -> bool {
        self.value.abs() < TOLERANCE
    }
}

/// Finds the root of a function that decreases on 0 to 1, and evaluates it there last. Returns true if the function
/// falls to zero.
///
/// The tolerance shrinks towards 1, because [`wait_from_share`] grows fast there.
pub(super) fn root(near: &mut SearchStart, mut f: impl FnMut(f64) -> f64) -> bool {
    if let Some(start) = near.0.take() {
        near.0 = root_from(start, &mut f);
        if near.0.is_some() {
            return true;
        }
    }
    let low = Place::of(0.0, &mut f);
    // Even without any wait the function is not positive: the root is at 0.
    if low.value <= 0.0 {
        return true;
    }
    let high = Place::of(LAST, &mut f);
    if high.value >= 0.0 {
        return false;
    }
    near.0 = Some(between(low, high, &mut f));
    true
}

/// Searches around an earlier root by secant steps that grow each time. Returns `None` if no root is found nearby.
fn root_from(start: Root, f: &mut impl FnMut(f64) -> f64) -> Option<Root> {
    let mut last = Place::of(start.share, f);
    if last.is_root() {
        return Some(start);
    }
    let mut step = -last.value / start.slope;
    for _ in 0..AWAY {
        let share = last.share + step;
        if !(0.0..=LAST).contains(&share) {
            return None;
        }
        let next = Place::of(share, f);
        let slope = last.slope(next);
        if next.is_root() {
            return Some(Root { share, slope });
        }
        if (next.value > 0.0) != (last.value > 0.0) {
            let (low, high) = if next.value > 0.0 { (next, last) } else { (last, next) };
            return Some(between(low, high, f));
        }
        // Doubled steps bracket the root in a few evaluations even where the slope has changed.
        step = 2.0 * step.signum() * (next.value / slope).abs().max(step.abs());
        last = next;
    }
    None
}

/// Narrows the interval between a positive and a non-positive point (regula falsi, Illinois algorithm).
fn between(mut low: Place, mut high: Place, f: &mut impl FnMut(f64) -> f64) -> Root {
    let mut root = Root { share: low.share, slope: low.slope(high) };
    let mut side = 0;
    for _ in 0..STEPS_MAX {
        let guess = (low.share * high.value - high.share * low.value) / (high.value - low.value);
        // Rounding may put the secant outside of the bracket, or infinite values leave none: bisect then.
        let inside = guess.is_finite() && guess > low.share && guess < high.share;
        let middle = Place::of(if inside { guess } else { (low.share + high.share) / 2.0 }, f);
        let nearer = if middle.value > 0.0 { high } else { low };
        root = Root { share: middle.share, slope: middle.slope(nearer) };
        if middle.is_root() || high.share - low.share < TOLERANCE * (1.0 - high.share) {
            break;
        }
        if middle.value > 0.0 {
            low = middle;
            // Illinois: an end that stays twice has its value halved, or the search would converge from one side only.
            high.value = if side > 0 { high.value / 2.0 } else { high.value };
            side = 1;
        } else {
            high = middle;
            low.value = if side < 0 { low.value / 2.0 } else { low.value };
            side = -1;
        }
    }
    root
}
