//! Transitions between P-states (dynamic voltage and frequency scaling).

use crate::params::PowerParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

const PS_PER_US: u64 = 1_000_000;

/// Change of a frequency domain during a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DvfsChange {
    /// The voltage of this P-state takes effect: at the start of an upward ramp and at the end of a downward ramp, so
    /// that a ramp is accounted at its higher end.
    Voltage(usize),
    /// The cores halt until the frequency change that follows.
    Halt {
        /// Duration in ps. May be 0.
        ps: u64,
    },
    /// The cores run at the frequency of this P-state.
    Frequency(usize),
}

/// Next step of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum TransitionStep {
    Raise,
    Halt,
    Switch,
    Lower,
}

/// Clock and voltage of a frequency domain.
///
/// Upward, the voltage rises while the cores run at the old frequency, then they halt and switch. Downward, the cores
/// halt and switch, then the voltage falls while they run (NCAP thesis, section 2.2).
///
/// A transition that has begun runs to its end. The last target requested meanwhile is started then.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dvfs {
    /// Voltage of each P-state, in microvolts.
    uv: Vec<u32>,
    slew_uv_per_us: u64,
    relock_ps: u64,
    frequency: usize,
    voltage: usize,
    /// Target of the transition in progress.
    goal: usize,
    /// Last target requested.
    target: usize,
    next: Option<(TransitionStep, Time)>,
    changes: u64,
}

impl Dvfs {
    /// Creates a domain at rest at P-state `at`, or at the fastest if `at` does not exist.
    #[must_use]
    pub fn new(params: &PowerParams, at: usize) -> Self {
        let at = at.min(params.pstates.len() - 1);
        Self {
            uv: params.pstates.iter().map(|pstate| pstate.uv).collect(),
            slew_uv_per_us: params.slew_uv_per_us,
            relock_ps: params.relock_ps,
            frequency: at,
            voltage: at,
            goal: at,
            target: at,
            next: None,
            changes: 0,
        }
    }

    /// Requests P-state `target`, or the fastest if `target` does not exist. The transition starts at `now`, or when
    /// the one in progress ends. A later request replaces an earlier one.
    pub fn request_pstate(&mut self, now: Time, target: usize) {
        self.target = target.min(self.uv.len() - 1);
        // A transition that has taken no effect yet is replaced (docs/models/power.md, P-state transitions).
        if !self.under_way() {
            self.begin(now);
        }
    }

    /// Returns the time of the next change, if any.
    #[must_use]
    pub fn next_at(&self) -> Option<Time> {
        self.next.map(|(_, at)| at)
    }

    /// Applies and returns the next change due by `now`, if any. Call until `None` is returned. Each step is timed
    /// from the due time of the step before, not from the time of the call.
    pub fn advance(&mut self, now: Time) -> Option<DvfsChange> {
        let (step, due) = self.next.filter(|(_, due)| *due <= now)?;
        Some(match step {
            TransitionStep::Raise => {
                // Counted from the start of the ramp: a ramp counts at its higher end.
                self.voltage = self.goal;
                self.next = Some((TransitionStep::Halt, due.saturating_add(self.ramp_ps(self.frequency, self.goal))));
                DvfsChange::Voltage(self.goal)
            }
            TransitionStep::Halt => {
                self.next = Some((TransitionStep::Switch, due.saturating_add(self.relock_ps)));
                DvfsChange::Halt { ps: self.relock_ps }
            }
            TransitionStep::Switch => self.switch(due),
            TransitionStep::Lower => {
                self.voltage = self.goal;
                // The last request may name another P-state than this transition has reached.
                self.begin(due);
                DvfsChange::Voltage(self.voltage)
            }
        })
    }

    /// Returns the P-state of the current frequency.
    #[must_use]
    pub fn frequency_p_state(&self) -> usize {
        self.frequency
    }

    /// Returns the P-state of the voltage in effect.
    #[must_use]
    pub fn voltage_p_state(&self) -> usize {
        self.voltage
    }

    /// Returns the last target requested.
    #[must_use]
    pub fn target(&self) -> usize {
        self.target
    }

    /// Returns the number of frequency changes.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    fn switch(&mut self, due: Time) -> DvfsChange {
        let before = std::mem::replace(&mut self.frequency, self.goal);
        self.changes += 1;
        // Upward, the voltage has risen before the switch, so the transition ends here.
        if self.voltage == self.goal {
            self.begin(due);
        } else {
            self.next = Some((TransitionStep::Lower, due.saturating_add(self.ramp_ps(before, self.goal))));
        }
        DvfsChange::Frequency(self.frequency)
    }

    /// Returns true if the transition has begun and must run to its end.
    fn under_way(&self) -> bool {
        match self.next {
            // Until the voltage rises nothing has changed.
            None | Some((TransitionStep::Raise, _)) => false,
            // Downward the halt is the first step, so before it nothing has changed.
            Some((TransitionStep::Halt, _)) => self.goal > self.frequency,
            Some((TransitionStep::Switch | TransitionStep::Lower, _)) => true,
        }
    }

    /// Starts a transition to the last target, if the frequency differs.
    fn begin(&mut self, now: Time) {
        self.goal = self.target;
        // Upward the voltage must rise first; downward the cores halt first.
        let step = if self.goal > self.frequency { TransitionStep::Raise } else { TransitionStep::Halt };
        self.next = (self.goal != self.frequency).then_some((step, now));
    }

    /// Returns the duration of a voltage ramp in ps, rounded up.
    fn ramp_ps(&self, from: usize, to: usize) -> u64 {
        let microvolts = u64::from(self.uv[from].abs_diff(self.uv[to]));
        match self.slew_uv_per_us {
            // A slew rate of 0 stands for ramps that take no time.
            0 => 0,
            slew => (microvolts * PS_PER_US).div_ceil(slew),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DvfsChange::{Frequency, Halt, Voltage};
    use super::*;
    use crate::power::tables::params;
    use proptest::prelude::*;

    const US: u64 = 1_000_000;

    fn at_us(us: u64) -> Time {
        Time::from_ps(us * US)
    }

    /// Runs all changes until `until`. Returns each with its time in us.
    fn run(dvfs: &mut Dvfs, until: Time) -> Vec<(u64, DvfsChange)> {
        let mut seen = Vec::new();
        while let Some(at) = dvfs.next_at().filter(|at| *at <= until) {
            seen.push((at.ps() / US, dvfs.advance(at).expect("it is due")));
            assert!(seen.len() < 200, "no end of changes");
        }
        seen
    }

    #[test]
    fn on_the_way_up_the_voltage_is_there_before_the_frequency() {
        let mut dvfs = Dvfs::new(&params(), 0);
        dvfs.request_pstate(at_us(100), 4);
        assert_eq!(dvfs.next_at(), Some(at_us(100)));
        assert_eq!(dvfs.advance(Time::from_ps(100 * US - 1)), None, "not before it is due");
        let seen = run(&mut dvfs, at_us(1000));
        // The ramp of 0.4 V at 10 mV per us takes 40 us, and the relock 5 us.
        assert_eq!(seen, [(100, Voltage(4)), (140, Halt { ps: 5 * US }), (145, Frequency(4))]);
        assert_eq!((dvfs.frequency_p_state(), dvfs.voltage_p_state(), dvfs.target(), dvfs.changes()), (4, 4, 4, 1));
        assert_eq!(dvfs.next_at(), None);
    }

    #[test]
    fn on_the_way_down_the_voltage_falls_behind_the_frequency() {
        let mut dvfs = Dvfs::new(&params(), 4);
        dvfs.request_pstate(at_us(0), 1);
        assert_eq!(run(&mut dvfs, at_us(5)), [(0, Halt { ps: 5 * US }), (5, Frequency(1))]);
        assert_eq!((dvfs.frequency_p_state(), dvfs.voltage_p_state()), (1, 4), "the ramp is counted at its higher end");
        assert_eq!(run(&mut dvfs, at_us(1000)), [(35, Voltage(1))]);
        assert_eq!((dvfs.voltage_p_state(), dvfs.changes()), (1, 1));
    }

    #[test]
    fn the_last_wish_amid_a_transition_begins_when_it_is_over() {
        let mut dvfs = Dvfs::new(&params(), 0);
        dvfs.request_pstate(at_us(0), 2);
        run(&mut dvfs, at_us(10));
        dvfs.request_pstate(at_us(10), 4);
        dvfs.request_pstate(at_us(11), 1);
        assert_eq!((dvfs.target(), dvfs.frequency_p_state()), (1, 0));
        let seen = run(&mut dvfs, at_us(1000));
        let up = [(20, Halt { ps: 5 * US }), (25, Frequency(2))];
        let down = [(25, Halt { ps: 5 * US }), (30, Frequency(1)), (40, Voltage(1))];
        assert_eq!(seen, [&up[..], &down[..]].concat());
    }

    #[test]
    fn a_wish_while_the_voltage_falls_waits_for_its_end() {
        let mut dvfs = Dvfs::new(&params(), 2);
        dvfs.request_pstate(at_us(0), 1);
        run(&mut dvfs, at_us(5));
        dvfs.request_pstate(at_us(6), 2);
        assert_eq!(dvfs.next_at(), Some(at_us(15)));
        let seen = run(&mut dvfs, at_us(1000));
        assert_eq!(seen, [(15, Voltage(1)), (15, Voltage(2)), (25, Halt { ps: 5 * US }), (30, Frequency(2))]);
    }

    #[test]
    fn a_wish_for_what_is_there_does_nothing() {
        let mut dvfs = Dvfs::new(&params(), 3);
        assert_eq!((dvfs.frequency_p_state(), dvfs.voltage_p_state(), dvfs.target()), (3, 3, 3));
        assert_eq!(Dvfs::new(&params(), 9).frequency_p_state(), 4, "the fastest in the place of one that is not there");
        dvfs.request_pstate(at_us(7), 3);
        assert_eq!((dvfs.next_at(), dvfs.advance(Time::MAX), dvfs.changes()), (None, None, 0));
        // A request withdrawn during the transition: the domain goes to the target and back.
        dvfs.request_pstate(at_us(7), 4);
        run(&mut dvfs, at_us(7));
        dvfs.request_pstate(at_us(8), 3);
        run(&mut dvfs, Time::MAX);
        assert_eq!((dvfs.frequency_p_state(), dvfs.changes()), (3, 2));
    }

    #[test]
    fn a_wish_of_which_nothing_has_happened_is_forgotten() {
        for (start, first) in [(1, 4), (4, 0)] {
            let mut dvfs = Dvfs::new(&params(), start);
            dvfs.request_pstate(at_us(1), first);
            dvfs.request_pstate(at_us(1), start);
            assert_eq!(dvfs.next_at(), None);
            dvfs.request_pstate(at_us(1), first);
            dvfs.request_pstate(at_us(2), 2);
            assert_eq!(dvfs.next_at(), Some(at_us(2)));
            run(&mut dvfs, Time::MAX);
            assert_eq!((dvfs.frequency_p_state(), dvfs.changes()), (2, 1));
        }
        // Upward, the voltage has already risen when the halt is due, so the transition cannot be dropped any more.
        let mut dvfs = Dvfs::new(&params(), 0);
        dvfs.request_pstate(at_us(0), 1);
        dvfs.advance(at_us(0));
        dvfs.request_pstate(at_us(1), 0);
        assert_eq!(dvfs.next_at(), Some(at_us(10)));
    }

    #[test]
    fn without_slew_and_relock_a_transition_takes_no_time_and_still_halts() {
        let params = PowerParams { slew_uv_per_us: 0, relock_ps: 0, ..params() };
        let mut dvfs = Dvfs::new(&params, 0);
        dvfs.request_pstate(at_us(3), 9);
        assert_eq!(run(&mut dvfs, at_us(3)), [(3, Voltage(4)), (3, Halt { ps: 0 }), (3, Frequency(4))]);
    }

    #[test]
    fn a_ramp_is_no_shorter_than_the_slew_allows() {
        let params = PowerParams { slew_uv_per_us: 30_000, ..params() };
        let mut dvfs = Dvfs::new(&params, 0);
        dvfs.request_pstate(Time::ZERO, 1);
        dvfs.advance(Time::ZERO);
        // 100 mV at 30 mV per us take 3.33 us.
        assert_eq!(dvfs.next_at(), Some(Time::from_ps(3_333_334)));
    }

    proptest! {
        #[test]
        fn any_wishes_keep_the_order_and_end_at_the_last(
            wishes in prop::collection::vec((0u64..60, 0usize..5), 1..40),
            start in 0usize..5,
        ) {
            let mut dvfs = Dvfs::new(&params(), start);
            let (mut now, mut seen) = (0, Vec::new());
            for (after, target) in &wishes {
                now += after;
                seen.extend(run(&mut dvfs, at_us(now)));
                dvfs.request_pstate(at_us(now), *target);
            }
            seen.extend(run(&mut dvfs, Time::MAX));
            let (mut frequency, mut voltage, mut halted, mut changes) = (start, start, None, 0);
            for (at, change) in seen {
                match change {
                    Voltage(to) => {
                        prop_assert!(halted.is_none() && to >= frequency && to != voltage);
                        voltage = to;
                    }
                    Halt { ps } => {
                        prop_assert!(halted.is_none());
                        halted = Some(at + ps / US);
                    }
                    Frequency(to) => {
                        prop_assert_eq!(halted.take(), Some(at), "one halt before each change, of its length");
                        prop_assert!(to <= voltage && to != frequency);
                        (frequency, changes) = (to, changes + 1);
                    }
                }
            }
            let last = wishes[wishes.len() - 1].1;
            prop_assert_eq!((frequency, voltage, halted, changes), (last, last, None, dvfs.changes()));
        }

        #[test]
        fn whoever_asks_late_gets_the_same_changes(late in 0u64..1000, from in 0usize..5, to in 0usize..5) {
            let (mut prompt, mut tardy) = (Dvfs::new(&params(), from), Dvfs::new(&params(), from));
            prompt.request_pstate(Time::ZERO, to);
            tardy.request_pstate(Time::ZERO, to);
            let all = run(&mut prompt, at_us(late)).into_iter();
            let expected: Vec<DvfsChange> = all.map(|(_, change)| change).collect();
            let got: Vec<DvfsChange> = std::iter::from_fn(|| tardy.advance(at_us(late))).collect();
            prop_assert_eq!(got, expected);
            prop_assert_eq!(tardy.next_at(), prompt.next_at());
        }
    }
}
