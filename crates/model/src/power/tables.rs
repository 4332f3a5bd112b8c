//! Tables and helpers of the tests.

use crate::params::{CState, GovernorParams, IdleGovernorParams, PState, PowerDomain, PowerParams};
use hostnet_kernel::checkpoint;
use serde::de::DeserializeOwned;
use serde::Serialize;

/// Returns five P-states: 1.0, 1.5, 2.0, 2.5 and 3.0 GHz at 0.6, 0.7, 0.8, 0.9 and 1.0 V.
pub(crate) fn pstates() -> Vec<PState> {
    (0..5)
        .map(|at| PState {
            khz: 1_000_000 + 500_000 * at,
            uv: 600_000 + 100_000 * at,
            static_uw: 1_000_000 + 500_000 * u64::from(at),
            dynamic_uw: 2_000_000 + 2_000_000 * u64::from(at),
        })
        .collect()
}

/// Returns C1, C3 and C6 of the NCAP thesis, table 2.1: exit in 2, 10 and 22 us, target residency 10, 40 and 150 us.
pub(crate) fn cstates() -> Vec<CState> {
    [("C1", 2, 10, None), ("C3", 10, 40, Some(1_640_000)), ("C6", 22, 150, Some(0))]
        .map(|(name, exit_us, residency_us, power_uw)| CState {
            name: name.to_owned(),
            exit_ps: exit_us * 1_000_000,
            residency_ps: residency_us * 1_000_000,
            power_uw,
        })
        .to_vec()
}

/// Returns both tables as parameters. Voltages move by 10 mV per us, and a relock takes 5 us.
pub(crate) fn params() -> PowerParams {
    PowerParams {
        pstates: pstates(),
        reference_khz: 3_000_000,
        domain: PowerDomain::Chip,
        slew_uv_per_us: 10_000,
        relock_ps: 5_000_000,
        cstates: cstates(),
        poll_ppm: 250_000,
        governor: GovernorParams::Performance,
        period_ps: 10_000_000_000,
        governor_ps: 0,
        idle: IdleGovernorParams::Menu,
        qos_ps: None,
        tick_ps: 0,
        tick_work_ps: 0,
        tickless: true,
    }
}

/// Returns `state` after a round trip through a checkpoint.
pub(crate) fn round_trip_checkpoint<T: Serialize + DeserializeOwned>(state: &T) -> T {
    let bytes = checkpoint::write("", state).expect("it can be written");
    checkpoint::read("", &bytes).expect("it has been written")
}
