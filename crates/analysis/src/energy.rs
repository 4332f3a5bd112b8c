//! An energy meter: what a server consumed, from what its parts did and for how long.
//!
//! Power is in microwatts, time in picoseconds: their product is attojoules. All sums are exact.

use hostnet_model::params::{EnergyParams, SwitchEnergyParams};

/// Attojoules of a femtojoule.
const AJ_PER_FJ: u128 = 1000;

/// What the parts of a server did in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Length of the window, in ps.
    pub window_ps: u64,
    /// Cores, and the time that they were at work, all together.
    pub cores: u64,
    /// See `cores`, in ps.
    pub active_ps: u64,
    /// Sockets.
    pub sockets: u64,
    /// Looks into the LLC, of cores and devices.
    pub llc_lookups: u64,
    /// Ranks of DRAM.
    pub ranks: u64,
    /// Rows opened.
    pub activations: u64,
    /// Lines read from DRAM, not from a queued write.
    pub reads: u64,
    /// Lines written to DRAM, not merged in a queue.
    pub writes: u64,
    /// Refreshes of a rank.
    pub refreshes: u64,
    /// Bytes between devices and the processor, and over the links of expanders.
    pub io_bytes: u64,
    /// NICs.
    pub nics: u64,
    /// Bytes through them.
    pub nic_bytes: u64,
}

/// What a part consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consumed {
    /// The part and what it did.
    pub part: &'static str,
    /// How often; nothing for what takes power as long as it is on.
    pub events: Option<u64>,
    /// In attojoules.
    pub attojoules: u128,
}

/// What each part consumed in a window.
///
/// # Panics
/// If cores were at work for longer than they were there.
#[must_use]
pub fn meter(params: &EnergyParams, activity: &Activity) -> Vec<Consumed> {
    let Activity { window_ps, cores, active_ps, sockets, ranks, nics, .. } = *activity;
    let all_ps = cores * window_ps;
    let idle_ps = all_ps.checked_sub(active_ps).expect("cores work while they are there");
    vec![
        on("cores active", params.core_active_uw, active_ps),
        on("cores idle", params.core_idle_uw, idle_ps),
        on("uncore", params.uncore_uw, sockets * window_ps),
        each("LLC lookups", params.llc_lookup_fj, activity.llc_lookups),
        on("DRAM background", params.dram_background_uw, ranks * window_ps),
        each("DRAM activate", params.dram_activate_fj, activity.activations),
        each("DRAM read", params.dram_read_fj, activity.reads),
        each("DRAM write", params.dram_write_fj, activity.writes),
        each("DRAM refresh", params.dram_refresh_fj, activity.refreshes),
        each("IO bytes", params.io_byte_fj, activity.io_bytes),
        on("NIC", params.nic_uw, nics * window_ps),
        each("NIC bytes", params.nic_byte_fj, activity.nic_bytes),
    ]
}

/// What a switch consumed in a window in which its `ports` sent `bytes` together.
#[must_use]
pub fn meter_switch(params: &SwitchEnergyParams, window_ps: u64, ports: u64, bytes: u64) -> Vec<Consumed> {
    vec![
        on("switch", params.on_uw, window_ps),
        on("switch ports", params.port_uw, ports * window_ps),
        each("switch bytes", params.byte_fj, bytes),
    ]
}

/// What is on for so long takes power.
fn on(part: &'static str, uw: u64, ps: u64) -> Consumed {
    Consumed { part, events: None, attojoules: u128::from(uw) * u128::from(ps) }
}

/// What happens takes energy each time.
fn each(part: &'static str, fj: u64, events: u64) -> Consumed {
    Consumed { part, events: Some(events), attojoules: u128::from(fj) * u128::from(events) * AJ_PER_FJ }
}

/// What all parts consumed, in attojoules.
#[must_use]
pub fn in_all(consumed: &[Consumed]) -> u128 {
    consumed.iter().map(|own| own.attojoules).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nothing() -> EnergyParams {
        any_params([0; 12])
    }

    #[test]
    fn a_watt_for_a_second_is_a_joule() {
        let params = EnergyParams { core_active_uw: 1_000_000, ..nothing() };
        let second = 1_000_000_000_000;
        let activity = Activity { window_ps: second, cores: 2, active_ps: second, ..Activity::default() };
        assert_eq!(in_all(&meter(&params, &activity)), 10_u128.pow(18));
        let params = EnergyParams { dram_read_fj: 1_000_000, ..nothing() };
        let activity = Activity { reads: 1_000_000_000, ..Activity::default() };
        assert_eq!(in_all(&meter(&params, &activity)), 10_u128.pow(18));
    }

    fn any_params(values: [u64; 12]) -> EnergyParams {
        EnergyParams {
            core_active_uw: values[0],
            core_idle_uw: values[1],
            uncore_uw: values[2],
            llc_lookup_fj: values[3],
            dram_background_uw: values[4],
            dram_activate_fj: values[5],
            dram_read_fj: values[6],
            dram_write_fj: values[7],
            dram_refresh_fj: values[8],
            io_byte_fj: values[9],
            nic_uw: values[10],
            nic_byte_fj: values[11],
            band_ppm: 0,
        }
    }

    /// What three cores, two sockets, four ranks and a NIC did.
    fn any_activity(counts: [u64; 8]) -> Activity {
        let window_ps = counts[0];
        Activity {
            window_ps,
            cores: 3,
            active_ps: window_ps + counts[1].min(window_ps),
            sockets: 2,
            llc_lookups: counts[2],
            ranks: 4,
            activations: counts[3],
            reads: counts[4],
            writes: counts[5],
            refreshes: counts[6],
            io_bytes: counts[7],
            nics: 1,
            nic_bytes: counts[1],
        }
    }

    /// Two windows of the same server, one after the other.
    fn both(one: &Activity, other: &Activity) -> Activity {
        Activity {
            window_ps: one.window_ps + other.window_ps,
            active_ps: one.active_ps + other.active_ps,
            llc_lookups: one.llc_lookups + other.llc_lookups,
            activations: one.activations + other.activations,
            reads: one.reads + other.reads,
            writes: one.writes + other.writes,
            refreshes: one.refreshes + other.refreshes,
            io_bytes: one.io_bytes + other.io_bytes,
            nic_bytes: one.nic_bytes + other.nic_bytes,
            ..*one
        }
    }

    proptest! {
        #[test]
        fn windows_add_up_to_the_attojoule(
            values in prop::array::uniform12(0_u64..1 << 40),
            first in prop::array::uniform8(0_u64..1 << 30),
            second in prop::array::uniform8(0_u64..1 << 30),
        ) {
            let params = any_params(values);
            let [first, second] = [first, second].map(any_activity);
            let consumed = |activity: &Activity| in_all(&meter(&params, activity));
            prop_assert_eq!(consumed(&first) + consumed(&second), consumed(&both(&first, &second)));
        }
    }
}
