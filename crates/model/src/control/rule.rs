//! The rule of a host: one of hostnet's own, or a guest.

use super::controller::Controller;
use super::rules::{Fixed, HostCc, Watch};
use crate::params::ControlRule;
use serde::de::Deserializer;
use serde::ser::{Error, Serializer};
use serde::{Deserialize, Serialize};

/// A controller from outside.
#[derive(Clone, Debug)]
pub struct ExternalController {
    name: String,
    controller: Option<Box<dyn Controller>>,
    /// What a checkpoint had of it, until it is there.
    state: Option<Vec<u8>>,
}

impl Clone for Box<dyn Controller> {
    fn clone(&self) -> Self {
        // Of what is in the box: the box is no controller.
        (**self).clone_box()
    }
}

impl Serialize for ExternalController {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = match &self.controller {
            None => self.state.clone(),
            Some(controller) => match controller.state() {
                // Checkpoints are binary; what people read, and what states are compared by, does without.
                None if !serializer.is_human_readable() => return Err(S::Error::custom(stateless(&self.name))),
                state => state,
            },
        };
        (&self.name, state).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ExternalController {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, state) = Deserialize::deserialize(deserializer)?;
        Ok(Self { name, controller: None, state })
    }
}

fn stateless(name: &str) -> String {
    format!("the controller {name:?} does not give its state, so that it cannot be part of a checkpoint")
}

/// Who decides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Rule {
    /// Nobody.
    Watch(Watch),
    /// hostCC.
    HostCc(HostCc),
    /// One level for ever.
    Fixed(Fixed),
    /// A controller from outside.
    ExternalController(ExternalController),
}

impl Rule {
    /// The rule that parameters name. One from outside has to be attached.
    pub(super) fn new(rule: &ControlRule) -> Self {
        match rule {
            ControlRule::Watch => Self::Watch(Watch),
            ControlRule::HostCc(params) => Self::HostCc(HostCc::new(params.clone())),
            ControlRule::Fixed(level) => Self::Fixed(Fixed(*level)),
            ControlRule::User(name) => {
                Self::ExternalController(ExternalController { name: name.clone(), controller: None, state: None })
            }
        }
    }

    /// Lets a controller from outside decide from now on, going on from what a checkpoint had of it.
    ///
    /// # Errors
    /// If the checkpoint's state cannot be continued, or the rule is none from outside.
    pub(super) fn attach(&mut self, mut controller: Box<dyn Controller>) -> Result<(), String> {
        let Self::ExternalController(guest) = self else {
            return Err("the rule of this host is not one from outside".to_owned());
        };
        if let Some(state) = guest.state.take() {
            controller.restore(&state).map_err(|why| format!("the controller {:?}: {why}", guest.name))?;
        }
        guest.controller = Some(controller);
        Ok(())
    }

    /// The name of a controller from outside that is not there yet.
    pub(super) fn missing(&self) -> Option<&str> {
        match self {
            Self::ExternalController(guest) if guest.controller.is_none() => Some(&guest.name),
            _ => None,
        }
    }

    /// Whether it can be part of a checkpoint.
    pub(super) fn check_state(&self) -> Result<(), String> {
        match self {
            Self::ExternalController(ExternalController { name, controller: Some(controller), .. })
                if controller.state().is_none() =>
            {
                Err(stateless(name))
            }
            _ => Ok(()),
        }
    }

    /// Who decides, if anybody is there.
    pub(super) fn controller(&self) -> &dyn Controller {
        match self {
            Self::HostCc(rule) => rule,
            Self::Fixed(rule) => rule,
            Self::ExternalController(ExternalController { controller: Some(controller), .. }) => &**controller,
            Self::Watch(_) | Self::ExternalController(_) => &Watch,
        }
    }

    /// As [`Rule::controller`], to ask it.
    pub(super) fn controller_mut(&mut self) -> Option<&mut dyn Controller> {
        match self {
            Self::HostCc(rule) => Some(rule),
            Self::Fixed(rule) => Some(rule),
            Self::ExternalController(ExternalController { controller: Some(controller), .. }) => {
                Some(&mut **controller)
            }
            Self::Watch(_) | Self::ExternalController(_) => None,
        }
    }
}
