//! Whether a network took what it was offered, from how much more waits at the end than at the beginning.

/// Above this share of the offered flits, a growing backlog is no fluctuation.
const GROWS: f64 = 0.05;
/// Below this share it is none that matters.
const HOLDS: f64 = 0.01;
/// Standard deviations of the number of packets that chance may add.
const CHANCE: f64 = 4.0;

/// Whether the network is saturated; none when the run was too short, or the load too near to where it is, to tell.
///
/// `before` and `after` are flits in queues and on their way when the measurement began and ended, `flits` what was
/// offered in between in `packets`.
pub(super) fn saturated(before: u64, after: u64, packets: u64, flits: f64) -> Option<bool> {
    if packets == 0 {
        return None;
    }
    let growth = after as f64 - before as f64;
    let chance = CHANCE * (packets as f64).sqrt() * flits / packets as f64;
    if growth <= HOLDS * flits && chance <= GROWS * flits {
        Some(false)
    } else if growth > GROWS * flits && growth > chance {
        Some(true)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::saturated;

    #[test]
    fn a_backlog_that_grows_is_saturation_and_one_that_holds_is_none() {
        assert_eq!(saturated(100, 100_100, 500_000, 500_000.0), Some(true));
        assert_eq!(saturated(100, 300, 500_000, 500_000.0), Some(false));
        assert_eq!(saturated(100, 10, 500_000, 500_000.0), Some(false));
    }

    #[test]
    fn what_cannot_be_told_is_not_said() {
        assert_eq!(saturated(0, 0, 0, 0.0), None);
        assert_eq!(saturated(0, 10, 100, 100.0), None, "few packets");
        assert_eq!(saturated(100, 15_100, 500_000, 500_000.0), None, "a little growth");
    }
}
