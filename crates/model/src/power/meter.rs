//! Power of a core, and the time that it spends in each state.

use crate::params::PowerParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

const MILLION: u128 = 1_000_000;

/// Activity of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoreActivity {
    /// The core executes work.
    Running,
    /// The core waits for work without sleeping.
    Polling,
    /// The core sleeps in this C-state.
    Asleep(usize),
    /// The core leaves a C-state.
    Waking,
    /// The core halts while its clock changes.
    Halted,
}

/// Returns the power of a core, in microwatts.
///
/// A running core draws the static power at its voltage, plus the dynamic power at that voltage in proportion to the
/// frequency. A polling core draws the static power and `poll_ppm` millionths of the dynamic power. A sleeping core
/// draws the power of its C-state, or the static power if none is given. A waking or halted core is not clocked and
/// draws the static power.
///
/// # Panics
/// Panics if a P-state or C-state does not exist.
#[must_use]
pub fn core_power_uw(
    params: &PowerParams,
    frequency_p_state: usize,
    voltage_p_state: usize,
    activity: CoreActivity,
) -> u64 {
    let (clock, supply) = (params.pstates[frequency_p_state], params.pstates[voltage_p_state]);
    // The P-state of the voltage gives the dynamic power at its own frequency.
    let dynamic_uw = u128::from(supply.dynamic_uw) * u128::from(clock.khz) / u128::from(supply.khz.max(1));
    let beyond_uw = match activity {
        CoreActivity::Running => dynamic_uw,
        CoreActivity::Polling => dynamic_uw * u128::from(params.poll_ppm) / MILLION,
        CoreActivity::Asleep(at) => return params.cstates[at].power_uw.unwrap_or(supply.static_uw),
        CoreActivity::Waking | CoreActivity::Halted => 0,
    };
    supply.static_uw.saturating_add(u64::try_from(beyond_uw).unwrap_or(u64::MAX))
}

/// Time that a core has spent in each state, in ps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// Time executing work, in ps.
    pub running_ps: u64,
    /// Time polling, in ps.
    pub polling_ps: u64,
    /// Time asleep, in ps, by C-state.
    pub asleep_ps: Vec<u64>,
    /// Time leaving C-states, in ps.
    pub waking_ps: u64,
    /// Time halted, in ps.
    pub halted_ps: u64,
}

impl Residency {
    /// Returns the time in all states, in ps.
    #[must_use]
    pub fn total_ps(&self) -> u64 {
        let asleep_ps: u64 = self.asleep_ps.iter().sum();
        self.running_ps + self.polling_ps + asleep_ps + self.waking_ps + self.halted_ps
    }

    fn of(&mut self, activity: CoreActivity) -> &mut u64 {
        match activity {
            CoreActivity::Running => &mut self.running_ps,
            CoreActivity::Polling => &mut self.polling_ps,
            CoreActivity::Asleep(at) => &mut self.asleep_ps[at],
            CoreActivity::Waking => &mut self.waking_ps,
            CoreActivity::Halted => &mut self.halted_ps,
        }
    }
}

/// Meter of a core: exact integrals of energy and time since the start of the window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CoreMeter {
    opened: Time,
    settled: Time,
    activity: CoreActivity,
    power_uw: u64,
    frequency: usize,
    /// Energy in microwatts times picoseconds, which are attojoules.
    attojoules: u128,
    residency: Residency,
    at_frequency_ps: Vec<u64>,
}

impl CoreMeter {
    /// Starts the meter of a core at `now` that polls at P-state `frequency` and takes `power_uw`.
    #[must_use]
    pub fn new(params: &PowerParams, now: Time, frequency: usize, power_uw: u64) -> Self {
        Self {
            opened: now,
            settled: now,
            activity: CoreActivity::Polling,
            power_uw,
            frequency,
            attojoules: 0,
            residency: Residency { asleep_ps: vec![0; params.cstates.len()], ..Residency::default() },
            at_frequency_ps: vec![0; params.pstates.len()],
        }
    }

    /// Sets the activity and the power of the core from `now` on.
    ///
    /// # Panics
    /// Panics if `now` is before the last update.
    pub fn turn(&mut self, now: Time, activity: CoreActivity, power_uw: u64) {
        self.settle(now);
        (self.activity, self.power_uw) = (activity, power_uw);
    }

    /// Sets the frequency of the core to that of P-state `frequency` from `now` on. [`CoreMeter::turn`] sets the
    /// power.
    ///
    /// # Panics
    /// Panics if `now` is before the last update.
    pub fn clock(&mut self, now: Time, frequency: usize) {
        self.settle(now);
        self.frequency = frequency;
    }

    /// Accumulates time and energy up to `now`.
    ///
    /// # Panics
    /// Panics if `now` is before the last update.
    pub fn settle(&mut self, now: Time) {
        let ps = now.since(self.settled);
        self.attojoules += u128::from(self.power_uw) * u128::from(ps);
        *self.residency.of(self.activity) += ps;
        self.at_frequency_ps[self.frequency] += ps;
        self.settled = now;
    }

    /// Starts a new window at `now`. The core continues its activity.
    ///
    /// # Panics
    /// Panics if `now` is before the last update.
    pub fn reset(&mut self, now: Time) {
        self.settle(now);
        self.opened = now;
        self.attojoules = 0;
        self.at_frequency_ps.fill(0);
        self.residency.asleep_ps.fill(0);
        let asleep_ps = std::mem::take(&mut self.residency.asleep_ps);
        self.residency = Residency { asleep_ps, ..Residency::default() };
    }

    /// Returns the current activity.
    #[must_use]
    pub fn activity(&self) -> CoreActivity {
        self.activity
    }

    /// Returns the current power, in microwatts.
    #[must_use]
    pub fn power_uw(&self) -> u64 {
        self.power_uw
    }

    /// Returns the length of the window up to the last update, in ps.
    #[must_use]
    pub fn window_ps(&self) -> u64 {
        self.settled.since(self.opened)
    }

    /// Returns the energy of the window, in attojoules (10^-18 J).
    #[must_use]
    pub fn attojoules(&self) -> u128 {
        self.attojoules
    }

    /// Returns the time in each state. The times sum to the length of the window exactly.
    #[must_use]
    pub fn residency_ps(&self) -> &Residency {
        &self.residency
    }

    /// Returns the time at each P-state's frequency in ps, halted and asleep included. The times sum to the length of
    /// the window exactly.
    #[must_use]
    pub fn at_frequency_ps(&self) -> &[u64] {
        &self.at_frequency_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::tables::params;
    use proptest::prelude::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn power_is_static_by_voltage_and_dynamic_by_voltage_and_frequency() {
        let params = params();
        // At 1.0 V: 3 W static, and 10 W dynamic at 3 GHz.
        assert_eq!(core_power_uw(&params, 4, 4, CoreActivity::Running), 13_000_000);
        assert_eq!(
            core_power_uw(&params, 1, 4, CoreActivity::Running),
            8_000_000,
            "1.5 of 3 GHz: half of the dynamic part"
        );
        assert_eq!(core_power_uw(&params, 0, 0, CoreActivity::Running), 3_000_000);
        assert_eq!(core_power_uw(&params, 1, 4, CoreActivity::Polling), 4_250_000, "a quarter of that half");
        assert_eq!(core_power_uw(&params, 4, 4, CoreActivity::Asleep(0)), 3_000_000, "C1 keeps its voltage");
        assert_eq!(core_power_uw(&params, 0, 2, CoreActivity::Asleep(0)), 2_000_000);
        assert_eq!(core_power_uw(&params, 4, 4, CoreActivity::Asleep(1)), 1_640_000);
        assert_eq!(core_power_uw(&params, 4, 4, CoreActivity::Asleep(2)), 0);
        assert_eq!(core_power_uw(&params, 0, 3, CoreActivity::Waking), 2_500_000);
        assert_eq!(core_power_uw(&params, 0, 3, CoreActivity::Halted), 2_500_000);
    }

    #[test]
    fn the_meter_accumulates_time_and_energy() {
        let mut meter = CoreMeter::new(&params(), at(100), 1, 7);
        meter.turn(at(110), CoreActivity::Running, 1000);
        meter.turn(at(140), CoreActivity::Halted, 3);
        meter.clock(at(145), 4);
        meter.turn(at(145), CoreActivity::Asleep(2), 0);
        meter.turn(at(245), CoreActivity::Waking, 5);
        meter.settle(at(249));
        let asleep_ps = vec![0, 0, 100];
        let expected = Residency { running_ps: 30, polling_ps: 10, asleep_ps, waking_ps: 4, halted_ps: 5 };
        assert_eq!(meter.residency_ps(), &expected);
        assert_eq!(meter.residency_ps().total_ps(), 149);
        assert_eq!(meter.window_ps(), 149);
        assert_eq!(meter.attojoules(), 10 * 7 + 30 * 1000 + 5 * 3 + 4 * 5);
        assert_eq!(meter.at_frequency_ps(), [0, 45, 0, 0, 104]);
        assert_eq!((meter.activity(), meter.power_uw()), (CoreActivity::Waking, 5));
    }

    #[test]
    fn a_reset_starts_a_window_and_keeps_the_activity() {
        let mut meter = CoreMeter::new(&params(), at(0), 2, 7);
        meter.turn(at(10), CoreActivity::Asleep(1), 11);
        meter.reset(at(30));
        assert_eq!((meter.window_ps(), meter.attojoules(), meter.residency_ps().total_ps()), (0, 0, 0));
        assert_eq!(meter.at_frequency_ps(), [0; 5]);
        meter.settle(at(33));
        assert_eq!(meter.residency_ps().asleep_ps, [0, 3, 0]);
        assert_eq!((meter.window_ps(), meter.attojoules(), meter.at_frequency_ps()[2]), (3, 33, 3));
    }

    #[test]
    fn the_energy_of_the_longest_run_at_the_highest_power_fits() {
        let mut meter = CoreMeter::new(&params(), at(0), 0, u64::MAX);
        meter.settle(Time::MAX);
        assert_eq!(meter.attojoules(), u128::from(u64::MAX).pow(2));
    }

    fn any_being() -> impl Strategy<Value = CoreActivity> {
        let asleep = (0usize..3).prop_map(CoreActivity::Asleep);
        prop_oneof![
            Just(CoreActivity::Running),
            Just(CoreActivity::Polling),
            asleep,
            Just(CoreActivity::Waking),
            Just(CoreActivity::Halted)
        ]
    }

    proptest! {
        #[test]
        fn times_sum_to_the_window_and_energy_to_the_integral(
            turns in prop::collection::vec((0u64..1 << 40, any_being(), any::<u64>(), 0usize..5), 1..50),
            reset in 0usize..50,
        ) {
            let mut meter = CoreMeter::new(&params(), at(0), 0, 0);
            let (mut now, mut begin, mut energy, mut last_uw) = (0, 0, 0u128, 0);
            for (turn, (ps, activity, power_uw, frequency)) in turns.into_iter().enumerate() {
                now += ps;
                energy += u128::from(ps) * u128::from(last_uw);
                meter.turn(at(now), activity, power_uw);
                meter.clock(at(now), frequency);
                last_uw = power_uw;
                if turn == reset {
                    meter.reset(at(now));
                    (begin, energy) = (now, 0);
                }
                prop_assert_eq!(meter.window_ps(), now - begin);
                prop_assert_eq!(meter.residency_ps().total_ps(), now - begin);
                prop_assert_eq!(meter.at_frequency_ps().iter().sum::<u64>(), now - begin);
                prop_assert_eq!(meter.attojoules(), energy);
            }
        }
    }
}
