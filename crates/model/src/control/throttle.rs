//! Effect of the levels on the cores of a host.

use super::controller::LEVEL_MAX;
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Cores that a host throttles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Throttled {
    /// Cores of each remote socket. Level k of 1 to 3 throttles the first k sockets as far as MBA can, level 3 all of
    /// them.
    Sockets(Vec<Vec<ComponentId>>),
    /// Cores of this socket. Level k of 1 to 3 throttles them by k thirds of the most that MBA can.
    Local(Vec<ComponentId>),
}

/// Change from one level to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LevelStep {
    /// A signal stops the processes, or lets them continue.
    Signal { on: bool },
    /// Registers are written, one per socket; afterwards every read of `cores` waits `ps`.
    Write { registers: u64, cores: Vec<ComponentId>, ps: u32 },
}

/// Steps between levels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LevelSteps {
    throttled: Throttled,
    mba_ps: u32,
}

impl LevelSteps {
    pub(super) fn new(throttled: Throttled, mba_ps: u64) -> Self {
        Self { throttled, mba_ps: u32::try_from(mba_ps).unwrap_or(u32::MAX) }
    }

    /// Returns every core that is throttled.
    pub(super) fn throttled_cores(&self) -> impl Iterator<Item = ComponentId> + '_ {
        let groups = match &self.throttled {
            Throttled::Sockets(sockets) => &sockets[..],
            Throttled::Local(cores) => std::slice::from_ref(cores),
        };
        groups.iter().flatten().copied()
    }

    /// Returns the step from a level to the next higher or lower one.
    pub(super) fn step_between(&self, from: u8, to: u8) -> LevelStep {
        let (upper, up) = (from.max(to), to > from);
        // The highest level has no register: a signal stops the processes.
        if upper == LEVEL_MAX {
            return LevelStep::Signal { on: up };
        }
        match &self.throttled {
            Throttled::Sockets(sockets) => {
                let first = sockets.len().min(usize::from(upper) - 1);
                // Level 3 throttles all sockets that are left (docs/models/control.md, Levels).
                let last = if upper + 1 == LEVEL_MAX { sockets.len() } else { sockets.len().min(first + 1) };
                let changed = &sockets[first..last];
                let ps = if up { self.mba_ps } else { 0 };
                LevelStep::Write { registers: changed.len() as u64, cores: changed.concat(), ps }
            }
            Throttled::Local(cores) => {
                // By thirds (assumed: it is not published how levels throttle the own socket).
                let ps = u64::from(self.mba_ps) * u64::from(to) / u64::from(LEVEL_MAX - 1);
                LevelStep::Write { registers: u64::from(!cores.is_empty()), cores: cores.clone(), ps: ps as u32 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(range: std::ops::Range<u32>) -> Vec<ComponentId> {
        range.map(ComponentId).collect()
    }

    #[test]
    fn sockets_are_throttled_one_after_the_other() {
        let steps = LevelSteps::new(Throttled::Sockets(vec![ids(0..2), ids(2..3), ids(3..4)]), 500);
        for (from, to, cores, ps) in
            [(0, 1, 0..2, 500), (1, 2, 2..3, 500), (2, 3, 3..4, 500), (3, 2, 3..4, 0), (2, 1, 2..3, 0), (1, 0, 0..2, 0)]
        {
            assert_eq!(
                steps.step_between(from, to),
                LevelStep::Write { registers: 1, cores: ids(cores), ps },
                "{from} to {to}"
            );
        }
        assert_eq!(steps.step_between(3, 4), LevelStep::Signal { on: true });
        assert_eq!(steps.step_between(4, 3), LevelStep::Signal { on: false });
        assert_eq!(steps.throttled_cores().collect::<Vec<_>>(), ids(0..4));
    }

    #[test]
    fn a_level_without_a_socket_of_its_own_changes_nothing() {
        let none = |ps| LevelStep::Write { registers: 0, cores: Vec::new(), ps };
        let steps = LevelSteps::new(Throttled::Sockets(vec![ids(0..1)]), 500);
        assert_eq!(
            (steps.step_between(1, 2), steps.step_between(2, 3), steps.step_between(3, 2)),
            (none(500), none(500), none(0))
        );
        let steps = LevelSteps::new(Throttled::Local(Vec::new()), 500);
        assert_eq!(steps.step_between(2, 3), none(500));
    }

    #[test]
    fn the_third_level_means_every_other_socket() {
        let steps = LevelSteps::new(Throttled::Sockets((0..5).map(|socket| ids(socket..socket + 1)).collect()), 9);
        assert_eq!(steps.step_between(2, 3), LevelStep::Write { registers: 3, cores: ids(2..5), ps: 9 });
    }

    #[test]
    fn cores_of_this_socket_are_throttled_by_thirds() {
        let steps = LevelSteps::new(Throttled::Local(ids(4..6)), 1000);
        for (from, to, ps) in [(0, 1, 333), (1, 2, 666), (2, 3, 1000), (3, 2, 666), (1, 0, 0)] {
            assert_eq!(
                steps.step_between(from, to),
                LevelStep::Write { registers: 1, cores: ids(4..6), ps },
                "{from} to {to}"
            );
        }
    }
}
