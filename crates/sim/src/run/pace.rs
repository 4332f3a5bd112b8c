//! Chooses how often a run is checked. A network of packets needs milliseconds for what lines show within
//! microseconds.

use crate::forward;
use hostnet_config::{Length, Plan, WarmUp};
use std::ops::RangeInclusive;

/// Number of batches of a measurement of fixed length.
const BATCHES: u64 = 128;
const BATCH_MIN_PS: u64 = 1_000_000;
/// Checks per batch for the end of all jobs. A check takes less time than the end of a batch.
const JOBS_CHECKS_PER_BATCH: u64 = 8;
/// Checks per batch if repetitions may be skipped. The measurement then covers few, from the check after the end of one
/// to the check after the end of the last.
const FORWARD_CHECKS_PER_BATCH: u64 = 64;
/// Length of the first batches of a run that ends when its jobs have finished, in ps. Batches become longer as the
/// run goes on.
const JOBS_BATCH_PS: u64 = JOBS_CHECKS_PER_BATCH * 1_000_000;
/// Maximum number of batches kept. At this number, two batches become one.
const BATCHES_MAX: usize = 4096;
/// Maximum number of batches of a run that ends when its jobs have finished. Such a run ends after its jobs by at
/// most an eighth of its length, divided by half of this number.
const JOBS_BATCHES_MAX: usize = 64;
/// Minimum length of an epoch, in ps.
pub const EPOCH_PS: u64 = 10_000_000;
/// Approximate maximum number of epochs of a run of a server, as each is kept.
const EPOCHS_OF_SERVERS: u64 = 100_000;
/// Approximate number of epochs of a run of a network, as its state is large.
const EPOCHS_OF_NETWORKS: u64 = 100;
/// Approximate number of epochs of a run of a very large network.
const EPOCHS_MIN: u64 = 10;
/// Approximate number of hosts and flows that are hashed in all epochs of a run together. A small network has more
/// epochs for this reason.
const STATES_HASHED: u64 = 25_600;

/// Intervals at which a run is checked.
#[derive(Debug)]
pub(crate) struct RunPace {
    /// Length of a throughput slice by which an automatic warm-up is judged, in ps.
    pub(crate) slice_ps: u64,
    /// Minimum and maximum number of slices, without frequency governors.
    slices: RangeInclusive<usize>,
    /// Maximum number of slices while caches still fill.
    pub(crate) slices_filling: usize,
    /// Length of a batch of a measurement that runs to a precision, in ps.
    precision_batch_ps: u64,
    /// Simulated time without any progress after which a run is stuck, in ps.
    pub(crate) stuck_ps: u64,
    /// Events between two progress reports, if the stops of the run allow it.
    pub(crate) status_events: u64,
}

/// Intervals of a single server without a network.
const LINES: RunPace = RunPace {
    slice_ps: 2_000_000,
    slices: 20..=150,
    slices_filling: 1500,
    precision_batch_ps: 10_000_000,
    stuck_ps: 500_000_000,
    status_events: 1 << 17,
};

/// Intervals of hosts on a network. Retransmission timeouts double up to minutes. If nothing has moved for `stuck_ps`
/// although packets or lines are in flight, nothing ever will.
const PACKETS: RunPace = RunPace {
    slice_ps: 250_000_000,
    slices: 8..=80,
    slices_filling: 80,
    precision_batch_ps: 250_000_000,
    stuck_ps: 20_000_000_000,
    status_events: 0,
};

/// Minimum length of an automatic warm-up, in sampling periods of a governor. The first sample has no history, and
/// the second changes the frequencies from their initial values.
const GOVERNOR_LOOKS: u64 = 3;

impl RunPace {
    /// Returns the minimum and maximum number of slices of an automatic warm-up. With hosts on a network, the warm-up
    /// outlasts the first samples of their governors.
    pub(crate) fn slices_of(&self, plan: &Plan) -> RangeInclusive<usize> {
        let (fewest, most) = (*self.slices.start(), *self.slices.end());
        let governors =
            plan.servers().filter(|_| plan.server().is_none()).filter_map(|(_, server)| server.power.as_ref());
        let periods = governors.filter(|power| power.governor.samples()).map(|power| power.period_ps);
        let looks_ps = periods.max().unwrap_or(0).saturating_mul(GOVERNOR_LOOKS);
        let looks = usize::try_from(looks_ps.div_ceil(self.slice_ps)).unwrap_or(usize::MAX);
        // The maximum grows too, or a slow governor would make the range empty.
        fewest.max(looks)..=most.max(looks)
    }

    pub(crate) fn of(plan: &Plan) -> Self {
        if plan.server().is_some() {
            return LINES;
        }
        // Windows grow once per round trip, so in a shorter slice slow start looks like traffic that comes and goes.
        let slice_ps = PACKETS.slice_ps.max(plan.cluster.round_trip_ps());
        Self { slice_ps, ..PACKETS }
    }

    /// Returns the length of a batch, in ps.
    pub(crate) fn batch_ps(&self, plan: &Plan) -> u64 {
        match plan.run.length {
            Length::Duration { .. } if forward::is_allowed(plan) => forward::batch_ps(plan, self.precision_batch_ps),
            Length::Duration { ps } => (ps / BATCHES).max(BATCH_MIN_PS),
            Length::Precision { .. } => self.precision_batch_ps,
            Length::Jobs => JOBS_BATCH_PS,
        }
    }
}

/// Returns the number of checks per batch for the end of all jobs, and of repetitions if any may be skipped.
pub(crate) fn jobs_checks_per_batch(skips: bool) -> u64 {
    if skips {
        FORWARD_CHECKS_PER_BATCH
    } else {
        JOBS_CHECKS_PER_BATCH
    }
}

/// Returns the maximum number of batches that are kept of a run; always even.
pub(crate) fn batches_max(length: Length) -> usize {
    if length == Length::Jobs {
        JOBS_BATCHES_MAX
    } else {
        BATCHES_MAX
    }
}

/// Returns the latest simulated time at which a run of a plan can end, in ps.
#[must_use]
pub fn latest_end_ps(plan: &Plan) -> u64 {
    let pace = RunPace::of(plan);
    let warm_up_ps = match plan.run.warm_up {
        WarmUp::Fixed { ps } => ps,
        WarmUp::Auto => pace.slice_ps.saturating_mul(pace.slices_filling.max(*pace.slices_of(plan).end()) as u64),
    };
    let measured_ps = match plan.run.length {
        Length::Duration { ps } => ps.min(plan.run.duration_max_ps),
        Length::Precision { .. } | Length::Jobs => plan.run.duration_max_ps,
    };
    warm_up_ps.saturating_add(measured_ps)
}

/// Returns the length of an epoch of a run, in ps, a multiple of [`EPOCH_PS`]. It depends on the longer of the warm-up
/// and the measurement window, so that neither has many epochs.
#[must_use]
pub fn epoch_ps(plan: &Plan) -> u64 {
    let measured_ps = match plan.run.length {
        Length::Duration { ps } => ps,
        Length::Precision { .. } | Length::Jobs => plan.run.duration_max_ps,
    };
    let warm_up_ps = match plan.run.warm_up {
        WarmUp::Fixed { ps } => ps,
        // The length of an automatic warm-up is not known before the run.
        WarmUp::Auto => 0,
    };
    let epochs = match plan.server() {
        Some(_) => EPOCHS_OF_SERVERS,
        None => epochs_of_network(plan.cluster.hosts.len() + plan.cluster.flows.len()),
    };
    (measured_ps.max(warm_up_ps) / epochs).next_multiple_of(EPOCH_PS).max(EPOCH_PS)
}

/// Returns the number of epochs of a run of a network with `states` hosts and flows. Larger networks have fewer, so
/// that hashing takes about the same time.
fn epochs_of_network(states: usize) -> u64 {
    (STATES_HASHED / states.max(1) as u64).clamp(EPOCHS_MIN, EPOCHS_OF_NETWORKS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostnet_config::{resolve, Format, Input};
    use std::path::Path;

    #[test]
    fn the_number_of_epochs_is_bounded_for_any_warm_up() {
        let cluster = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n\
                       [flow.f]\nfrom = \"a\"\nto = \"b\"\nkind = \"bulk\"\n";
        let server = "[server]\npreset = \"cascade-lake-6234\"\n\
                      [workload.w]\nkind = \"stream\"\ncores = \"0\"\n";
        for (text, most) in [(cluster, EPOCHS_OF_NETWORKS), (server, EPOCHS_OF_SERVERS)] {
            for (warm_up, duration) in [("0 ns", "200 us"), ("20 s", "200 us"), ("1 ms", "20 s")] {
                let overrides = [format!("run.warmup={warm_up}"), format!("run.duration={duration}")];
                let plan = plan(text, &overrides);
                let (WarmUp::Fixed { ps: before }, Length::Duration { ps }) = (plan.run.warm_up, plan.run.length)
                else {
                    panic!("both are fixed");
                };
                assert!((before + ps) / epoch_ps(&plan) <= 2 * most, "{warm_up} and {duration}");
            }
        }
    }

    fn plan(text: &str, overrides: &[String]) -> Plan {
        let input = Input { text, format: Format::Toml, file: "test", base_dir: Path::new("."), overrides };
        resolve(&input).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_warm_up_outlasts_the_first_governor_samples() {
        let text = "[host.a]\npreset = \"cascade-lake-hostcc\"\n[host.b]\nkind = \"endpoint\"\n\
                    [flow.f]\nfrom = \"b\"\nto = \"a\"\nkind = \"bulk\"\n";
        let slices = |governor: &str| {
            let overrides = format!("host.a.power.governor={governor}");
            PACKETS.slices_of(&plan(text, if governor.is_empty() { &[] } else { std::slice::from_ref(&overrides) }))
        };
        let with_period =
            |governor: &str, period: &str| slices(&format!("{{ kind = \"{governor}\", period = \"{period}\" }}"));
        for governor in ["", "performance", "powersave"] {
            assert_eq!(slices(governor), PACKETS.slices, "{governor}");
        }
        for governor in ["ondemand", "conservative", "schedutil"] {
            assert_eq!(with_period(governor, "10 ms"), 120..=120, "{governor}");
            assert_eq!(with_period(governor, "2 ms"), 24..=80, "{governor}");
            assert_eq!(with_period(governor, "100 us"), PACKETS.slices, "{governor}");
        }
    }

    #[test]
    fn slices_last_for_a_round_trip_at_least() {
        let text = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n\
                    [flow.f]\nfrom = \"a\"\nto = \"b\"\nkind = \"bulk\"\n";
        let slice_us =
            |latency: &str| RunPace::of(&plan(text, &[format!("network.latency={latency}")])).slice_ps / 1_000_000;
        assert_eq!(slice_us("5 us"), 250);
        assert_eq!(slice_us("62.5 us"), 250, "a round trip over two cables");
        assert_eq!(slice_us("10 ms"), 40_000);
    }

    #[test]
    fn hashing_a_large_network_takes_no_longer_than_a_small_one() {
        assert_eq!(epochs_of_network(6), EPOCHS_OF_NETWORKS);
        assert_eq!(epochs_of_network(1 << 20), EPOCHS_MIN);
        for states in 1..5000 {
            let hashed = epochs_of_network(states) * states as u64;
            assert!(hashed <= STATES_HASHED.max(EPOCHS_MIN * states as u64), "{states}: {hashed}");
        }
    }
}
