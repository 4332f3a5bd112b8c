//! Who decides on frequencies: one of hostnet's own governors, or a guest.

use super::governor::{self, Governor};
use crate::params::{GovernorParams, PowerParams};
use serde::de::Deserializer;
use serde::ser::{Error, Serializer};
use serde::{Deserialize, Serialize};

/// A governor, and what a checkpoint has of it.
#[derive(Clone, Debug)]
pub struct Rule {
    params: PowerParams,
    governor: Option<Box<dyn Governor>>,
    /// What a checkpoint had of a guest, until it is there.
    state: Option<Vec<u8>>,
}

impl Rule {
    /// The governor that parameters name; one from outside has to be attached.
    pub(super) fn new(params: &PowerParams) -> Self {
        Self { params: params.clone(), governor: governor::of(params), state: None }
    }

    /// The governor, if it is there.
    pub(super) fn governor_mut(&mut self) -> Option<&mut dyn Governor> {
        Some(&mut **self.governor.as_mut()?)
    }

    /// The name of the governor from outside, if it is one.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.params.governor {
            GovernorParams::User(name) => Some(name),
            _ => None,
        }
    }

    /// Lets a governor from outside decide from now on, going on from what a checkpoint had of it.
    ///
    /// # Errors
    /// If the state of the checkpoint cannot be continued, or the governor is none from outside.
    pub(super) fn attach(&mut self, mut governor: Box<dyn Governor>) -> Result<(), String> {
        let Some(name) = self.name() else {
            return Err("the governor of this host is not one from outside".to_owned());
        };
        if let Some(state) = &self.state {
            governor.restore(state).map_err(|why| format!("the governor {name:?}: {why}"))?;
        }
        self.governor = Some(governor);
        Ok(())
    }

    /// The name of a governor from outside that is not there yet.
    pub(super) fn missing(&self) -> Option<&str> {
        self.name().filter(|_| self.governor.is_none())
    }

    /// Whether it can be part of a checkpoint.
    pub(super) fn check_state(&self) -> Result<(), String> {
        match (self.name(), &self.governor) {
            (Some(name), Some(governor)) if governor.state().is_none() => Err(stateless(name)),
            _ => Ok(()),
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = match &self.governor {
            None => self.state.clone(),
            Some(governor) => governor.state(),
        };
        if let (Some(name), None, Some(_), false) =
            (self.name(), &state, &self.governor, serializer.is_human_readable())
        {
            return Err(S::Error::custom(stateless(name)));
        }
        (&self.params, state).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (params, state): (PowerParams, Option<Vec<u8>>) = Deserialize::deserialize(deserializer)?;
        let mut rule = Self { state, ..Self::new(&params) };
        if let (Some(governor), Some(state)) = (&mut rule.governor, rule.state.take()) {
            governor.restore(&state).map_err(serde::de::Error::custom)?;
        }
        Ok(rule)
    }
}

fn stateless(name: &str) -> String {
    format!("the governor {name:?} does not give its state, so that it cannot be part of a checkpoint")
}
