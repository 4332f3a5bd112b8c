//! Rule of a host: one of hostnet's own, or an external controller.

use super::controller::Controller;
use super::rules::{Fixed, HostCc, Watch};
use crate::params::ControlRule;
use serde::de::Deserializer;
use serde::ser::{Error, Serializer};
use serde::{Deserialize, Serialize};

/// Controller from outside of hostnet.
#[derive(Clone, Debug)]
pub struct ExternalController {
    name: String,
    controller: Option<Box<dyn Controller>>,
    /// State from a checkpoint, until the controller is attached.
    state: Option<Vec<u8>>,
}

impl Clone for Box<dyn Controller> {
    fn clone(&self) -> Self {
        // Clones the controller in the box: the box itself is no controller.
        (**self).clone_box()
    }
}

impl Serialize for ExternalController {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = match &self.controller {
            None => self.state.clone(),
            Some(controller) => match controller.state() {
                // Checkpoints are binary and need the state. Readable formats, which states are compared by, do
                // without.
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

/// Rule that decides on actions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Rule {
    /// No action: the host is only watched.
    Watch(Watch),
    /// hostCC.
    HostCc(HostCc),
    /// Constant level.
    Fixed(Fixed),
    /// External controller.
    ExternalController(ExternalController),
}

impl Rule {
    /// Creates the rule that parameters name. An external controller must be attached later.
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

    /// Attaches an external controller, which decides from now on, with its state from a checkpoint if there is one.
    ///
    /// # Errors
    /// Returns an error if that state cannot be restored, or the rule is not an external one.
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

    /// Returns the name of an external controller that has not been attached.
    pub(super) fn missing(&self) -> Option<&str> {
        match self {
            Self::ExternalController(guest) if guest.controller.is_none() => Some(&guest.name),
            _ => None,
        }
    }

    /// Checks that the rule can be part of a checkpoint.
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

    /// Returns the controller that decides; one that does nothing while an external one is not attached.
    pub(super) fn controller(&self) -> &dyn Controller {
        match self {
            Self::HostCc(rule) => rule,
            Self::Fixed(rule) => rule,
            Self::ExternalController(ExternalController { controller: Some(controller), .. }) => &**controller,
            Self::Watch(_) | Self::ExternalController(_) => &Watch,
        }
    }

    /// Returns the controller to pass samples to, if there is one that acts.
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
