//! Governor of a frequency domain: one of Linux's, or a user-defined one.

use super::{built, Governor, Look};
use crate::params::GovernorParams;
use serde::de::{Deserializer, Error as _};
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};

/// Governor of a frequency domain, as part of a checkpoint. A user-defined governor must be attached, also after a
/// checkpoint has been read.
#[derive(Clone, Debug)]
pub struct GovernorSlot {
    params: GovernorParams,
    governor: Option<Box<dyn Governor>>,
    /// State of a user-defined governor from a checkpoint, until the governor is attached.
    state: Option<Vec<u8>>,
}

impl Serialize for GovernorSlot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = match &self.governor {
            None => self.state.clone(),
            Some(governor) => match governor.state() {
                // Only binary checkpoints need the state. JSON, which is for reading and comparing, does without it.
                None if !serializer.is_human_readable() => return Err(S::Error::custom(self.stateless())),
                state => state,
            },
        };
        (&self.params, state).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for GovernorSlot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (params, state): (GovernorParams, Option<Vec<u8>>) = Deserialize::deserialize(deserializer)?;
        let mut governor_slot = Self::new(&params);
        match (&mut governor_slot.governor, state) {
            (Some(governor), Some(state)) => governor.restore(&state).map_err(D::Error::custom)?,
            (_, state) => governor_slot.state = state,
        }
        Ok(governor_slot)
    }
}

impl GovernorSlot {
    /// Creates the governor that the parameters name. A user-defined one must be attached.
    #[must_use]
    pub fn new(params: &GovernorParams) -> Self {
        Self { params: params.clone(), governor: built(params), state: None }
    }

    /// Attaches a user-defined governor, which continues from the state of the checkpoint, if any.
    ///
    /// # Errors
    /// Returns an error if the governor rejects the state, or if the parameters do not name a user-defined governor.
    pub fn attach(&mut self, mut governor: Box<dyn Governor>) -> Result<(), String> {
        let GovernorParams::User(name) = &self.params else {
            return Err("the governor of these cores is not one from outside".to_owned());
        };
        if let Some(state) = self.state.take() {
            governor.restore(&state).map_err(|why| format!("the governor {name:?}: {why}"))?;
        }
        self.governor = Some(governor);
        Ok(())
    }

    /// Returns the name of a user-defined governor that has not been attached.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        match &self.params {
            GovernorParams::User(name) if self.governor.is_none() => Some(name),
            _ => None,
        }
    }

    /// Checks that the governor can be part of a checkpoint.
    ///
    /// # Errors
    /// Returns an error if the governor does not give its state.
    pub fn check_state(&self) -> Result<(), String> {
        match &self.governor {
            Some(governor) if governor.state().is_none() => Err(self.stateless()),
            _ => Ok(()),
        }
    }

    /// Returns the P-state to switch to, which always exists: the current one if no governor is attached, and the
    /// fastest if the governor names one beyond the table.
    #[must_use]
    pub fn decide(&mut self, look: &Look) -> usize {
        let decision = self.governor.as_mut().map_or(look.at, |governor| governor.decide(look));
        decision.min(look.fastest())
    }

    fn stateless(&self) -> String {
        let name = match &self.params {
            GovernorParams::User(name) => name,
            _ => "",
        };
        format!("the governor {name:?} does not give its state, so that it cannot be part of a checkpoint")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::governor::Load;
    use crate::power::tables::{self, round_trip_checkpoint};
    use hostnet_kernel::checkpoint;

    /// Governor that selects the next P-state at each decision.
    #[derive(Clone, Debug)]
    struct Round {
        next: u8,
        tells: bool,
    }

    impl Governor for Round {
        fn decide(&mut self, _look: &Look) -> usize {
            self.next += 1;
            usize::from(self.next)
        }

        fn state(&self) -> Option<Vec<u8>> {
            self.tells.then(|| vec![self.next])
        }

        fn restore(&mut self, state: &[u8]) -> Result<(), String> {
            self.next = *state.first().ok_or("no state")?;
            Ok(())
        }
    }

    fn decide(governor_slot: &mut GovernorSlot, at: usize) -> usize {
        let (pstates, loads) = (tables::pstates(), [Load { busy_ps: 90, ..Load::default() }]);
        governor_slot.decide(&Look { now_ps: 0, window_ps: 100, domain: 0, at, loads: &loads, pstates: &pstates })
    }

    #[test]
    fn a_governor_of_linux_goes_on_from_a_checkpoint() {
        let mut governor_slot =
            GovernorSlot::new(&GovernorParams::Conservative { up_threshold: 80, down_threshold: 20, step: 10 });
        assert_eq!(decide(&mut governor_slot, 2), 2, "it wants 2.3 GHz");
        assert_eq!((governor_slot.missing(), governor_slot.check_state()), (None, Ok(())));
        assert_eq!(decide(&mut round_trip_checkpoint(&governor_slot), 2), 3, "2.6 GHz");
        let other = checkpoint::write("", &(GovernorParams::Performance, Some(vec![1u8]))).expect("it is plain data");
        assert!(checkpoint::read::<GovernorSlot>("", &other).is_err(), "a state of something else");
    }

    #[test]
    fn a_guest_sits_down_and_goes_on_from_a_checkpoint() {
        let mut governor_slot = GovernorSlot::new(&GovernorParams::User("round".to_owned()));
        assert_eq!(governor_slot.missing(), Some("round"));
        assert_eq!(decide(&mut governor_slot, 3), 3, "as it was");
        governor_slot.attach(Box::new(Round { next: 0, tells: true })).expect("there is a seat");
        assert_eq!(governor_slot.missing(), None);
        assert_eq!([decide(&mut governor_slot, 3), decide(&mut governor_slot, 3)], [1, 2]);
        let mut other = round_trip_checkpoint(&round_trip_checkpoint(&governor_slot));
        assert_eq!(other.missing(), Some("round"));
        other.attach(Box::new(Round { next: 0, tells: true })).expect("there is a seat");
        assert_eq!([decide(&mut other, 0), decide(&mut other, 0), decide(&mut other, 0)], [3, 4, 4]);
        other.attach(Box::new(Round { next: 0, tells: true })).expect("the seat can change hands");
        assert_eq!(decide(&mut other, 0), 1, "the state was for the first one");
    }

    #[test]
    fn a_guest_that_does_not_tell_its_state_is_no_part_of_a_checkpoint() {
        let mut governor_slot = GovernorSlot::new(&GovernorParams::User("round".to_owned()));
        governor_slot.attach(Box::new(Round { next: 0, tells: false })).expect("there is a seat");
        let why = governor_slot.check_state().expect_err("it does not tell");
        assert!(why.contains("\"round\""), "{why}");
        assert!(checkpoint::write("", &governor_slot).is_err());
        assert!(serde_json::to_string(&governor_slot).is_ok(), "people may read it all the same");
    }

    #[test]
    fn nobody_takes_the_seat_of_another() {
        let mut governor_slot = GovernorSlot::new(&GovernorParams::Powersave);
        assert!(governor_slot.attach(Box::new(Round { next: 0, tells: true })).is_err());
        assert_eq!(decide(&mut governor_slot, 3), 0);
    }
}
