//! Decides if a network accepted all of the offered load, from the growth of the backlog during the measurement.

/// Share of the offered flits above which a growing backlog is no fluctuation.
const GROWS: f64 = 0.05;
/// Share of the offered flits below which a growing backlog is negligible.
const HOLDS: f64 = 0.01;
/// Standard deviations of the number of packets that chance may add.
const CHANCE: f64 = 4.0;

/// Returns true if the network is saturated, and `None` if the run was too short, or the load too close to
/// saturation, to decide.
///
/// `before` and `after` are the flits that were queued or in flight at the start and the end of the measurement;
/// `flits` is the load offered in between, in `packets` packets.
pub(super) fn saturated(before: u64, after: u64, packets: u64, flits: f64) -> Option<bool> {
    if packets == 0 {
        return None;
    }
    let growth = after as f64 - before as f64;
    // Packets are offered at random: the deviation of their number, in flits of a mean packet.
    let chance = CHANCE * (packets as f64).sqrt() * flits / packets as f64;
    // Between the limits the answer stays open (noc.md, Saturation).
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
    fn an_unclear_saturation_is_not_reported() {
        assert_eq!(saturated(0, 0, 0, 0.0), None);
        assert_eq!(saturated(0, 10, 100, 100.0), None, "few packets");
        assert_eq!(saturated(100, 15_100, 500_000, 500_000.0), None, "a little growth");
    }
}
