//! Energy meters of cores with managed frequencies and sleep.

use hostnet_kernel::Time;
use hostnet_model::core::{Core, EngineKind};
use hostnet_model::os::NetStack;
use hostnet_model::power::{CoreMeter, PowerManager};
use hostnet_model::Machine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Meter of a core, settled at some time.
pub(crate) struct MeteredCore<'a> {
    /// Number of the core, counted over all sockets.
    pub(crate) core: usize,
    pub(crate) meter: CoreMeter,
    /// Entries into each C-state, and wake-ups; `None` for a core without network traffic.
    pub(crate) slept: Option<(&'a [u64], u64)>,
}

/// Returns the meter of every core of a server whose frequencies are managed.
pub(crate) fn metered_cores<'a>(
    machine: &'a Machine,
    manager: &'a PowerManager,
    now: Time,
) -> impl Iterator<Item = MeteredCore<'a>> {
    let others: BTreeMap<usize, &CoreMeter> = manager.meters().collect();
    machine.each::<Core>().enumerate().filter_map(move |(core, own)| {
        let told = own.engines().iter().find_map(NetStack::of).and_then(NetStack::power);
        // A network stack does not see other work on its core, so the meter of the manager takes precedence.
        let (meter, slept) = match (others.get(&core), told) {
            (Some(&meter), _) => (meter, None),
            (None, Some((meter, entries, wakes))) => (meter, Some((entries, wakes))),
            (None, None) => return None,
        };
        let mut meter = meter.clone();
        meter.settle(now);
        Some(MeteredCore { core, meter, slept })
    })
}

/// Totals over all cores of a server since the start of the window, up to some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PowerTotals {
    pub(crate) cores: u64,
    pub(crate) attojoules: u128,
    pub(crate) running_ps: u64,
    pub(crate) polling_ps: u64,
    pub(crate) asleep_ps: u64,
    /// Frequency times time, in kHz x ps.
    pub(crate) khz_ps: u128,
    /// Entries into C-states.
    pub(crate) sleeps: u64,
}

impl PowerTotals {
    /// Returns the totals of a server up to `now`, or `None` if its cores have no managed frequencies.
    pub(crate) fn of(machine: &Machine, now: Time) -> Option<Self> {
        let manager = machine.first::<PowerManager>()?;
        let mut all = Self::default();
        for MeteredCore { meter, slept, .. } in metered_cores(machine, manager, now) {
            let residency = meter.residency_ps();
            all.cores += 1;
            all.attojoules += meter.attojoules();
            all.running_ps += residency.running_ps;
            all.polling_ps += residency.polling_ps;
            all.asleep_ps += residency.asleep_ps.iter().sum::<u64>();
            let pstates = manager.params().pstates.iter().zip(meter.at_frequency_ps());
            all.khz_ps += pstates.map(|(pstate, &ps)| u128::from(pstate.khz) * u128::from(ps)).sum::<u128>();
            all.sleeps += slept.map_or(0, |(entries, _)| entries.iter().sum());
        }
        Some(all)
    }
}
