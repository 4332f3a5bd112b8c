//! An energy meter: computes the energy that a server consumed from the activity of its parts.
//!
//! Power is in microwatts and time in picoseconds, so their product is in attojoules. All sums are exact.

use hostnet_model::params::{EnergyParams, SwitchEnergyParams};

/// Attojoules per femtojoule.
const AJ_PER_FJ: u128 = 1000;

/// Activity of the parts of a server in one window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Length of the window, in ps.
    pub window_ps: u64,
    /// Number of cores.
    pub cores: u64,
    /// Time that the cores were active, in ps, summed over all of them.
    pub active_ps: u64,
    /// Number of sockets.
    pub sockets: u64,
    /// Lookups in the LLC by cores and devices.
    pub llc_lookups: u64,
    /// Number of DRAM ranks.
    pub ranks: u64,
    /// Row activations.
    pub activations: u64,
    /// Lines read from DRAM; reads served from a queued write do not count.
    pub reads: u64,
    /// Lines written to DRAM; writes merged in a queue do not count.
    pub writes: u64,
    /// Rank refreshes.
    pub refreshes: u64,
    /// Bytes between devices and the processor, and over the links of expanders.
    pub io_bytes: u64,
    /// Number of NICs.
    pub nics: u64,
    /// Bytes through the NICs.
    pub nic_bytes: u64,
}

/// Energy that one part consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartEnergy {
    /// Name of the part and of its activity.
    pub part: &'static str,
    /// Number of events; `None` for a part that consumes power as long as it is on.
    pub events: Option<u64>,
    /// Energy in attojoules.
    pub attojoules: u128,
}

/// Returns the energy that each part of a server consumed in a window.
///
/// # Panics
/// Panics if the cores were active for longer than the window.
#[must_use]
pub fn meter(params: &EnergyParams, activity: &Activity) -> Vec<PartEnergy> {
    let Activity { window_ps, cores, active_ps, sockets, ranks, nics, .. } = *activity;
    let all_ps = cores * window_ps;
    let idle_ps = all_ps.checked_sub(active_ps).expect("cores work while they are there");
    vec![
        constant_power_energy("cores active", params.core_active_uw, active_ps),
        constant_power_energy("cores idle", params.core_idle_uw, idle_ps),
        constant_power_energy("uncore", params.uncore_uw, sockets * window_ps),
        per_event_energy("LLC lookups", params.llc_lookup_fj, activity.llc_lookups),
        constant_power_energy("DRAM background", params.dram_background_uw, ranks * window_ps),
        per_event_energy("DRAM activate", params.dram_activate_fj, activity.activations),
        per_event_energy("DRAM read", params.dram_read_fj, activity.reads),
        per_event_energy("DRAM write", params.dram_write_fj, activity.writes),
        per_event_energy("DRAM refresh", params.dram_refresh_fj, activity.refreshes),
        per_event_energy("IO bytes", params.io_byte_fj, activity.io_bytes),
        constant_power_energy("NIC", params.nic_uw, nics * window_ps),
        per_event_energy("NIC bytes", params.nic_byte_fj, activity.nic_bytes),
    ]
}

/// Returns the energy that a switch consumed in a window in which its `ports` ports sent `bytes` bytes in total.
#[must_use]
pub fn measure_switch_energy(params: &SwitchEnergyParams, window_ps: u64, ports: u64, bytes: u64) -> Vec<PartEnergy> {
    vec![
        constant_power_energy("switch", params.on_uw, window_ps),
        constant_power_energy("switch ports", params.port_uw, ports * window_ps),
        per_event_energy("switch bytes", params.byte_fj, bytes),
    ]
}

/// Energy of a part with constant power: `uw` microwatts for `ps` picoseconds.
fn constant_power_energy(part: &'static str, uw: u64, ps: u64) -> PartEnergy {
    // 1 uW x 1 ps = 10^-18 J. A u64 would overflow at 100 W after 0.18 s of simulated time.
    PartEnergy { part, events: None, attojoules: u128::from(uw) * u128::from(ps) }
}

/// Energy of a part that consumes `fj` femtojoules per event.
fn per_event_energy(part: &'static str, fj: u64, events: u64) -> PartEnergy {
    PartEnergy { part, events: Some(events), attojoules: u128::from(fj) * u128::from(events) * AJ_PER_FJ }
}

/// Sums the energy of all parts, in attojoules.
#[must_use]
pub fn total_attojoules(consumed: &[PartEnergy]) -> u128 {
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
        assert_eq!(total_attojoules(&meter(&params, &activity)), 10_u128.pow(18));
        let params = EnergyParams { dram_read_fj: 1_000_000, ..nothing() };
        let activity = Activity { reads: 1_000_000_000, ..Activity::default() };
        assert_eq!(total_attojoules(&meter(&params, &activity)), 10_u128.pow(18));
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

    /// Activity of three cores, two sockets, four ranks and a NIC.
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

    /// Sums the activity of two consecutive windows of the same server.
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
            let consumed = |activity: &Activity| total_attojoules(&meter(&params, activity));
            prop_assert_eq!(consumed(&first) + consumed(&second), consumed(&both(&first, &second)));
        }
    }
}
