//! Interface of a tiering policy: what it sees of the pages, and which of them move.

use serde::de::Deserializer;
use serde::ser::{Error, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Page, as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageState {
    /// Node of the page: 0 for the memory of the socket, 1 for memory behind the link.
    pub node: u8,
    /// Sampled accesses since the last decision.
    pub samples: u32,
    /// True while the page is being moved.
    pub moving: bool,
}

/// View of the pages and of their latencies that a policy decides by.
#[derive(Clone, Copy, Debug)]
pub struct TieringView<'a> {
    /// Time, in ps.
    pub now_ps: u64,
    /// Pages by number.
    pub pages: &'a [PageState],
    /// Mean latency of the sampled accesses to each node since the last decision, in ns; `None` without any.
    pub latency_ns: [Option<f64>; 2],
    /// Pages for which the memory of the socket still has room.
    pub local_free: u32,
    /// Pages that are being moved, or wait for a core that copies them.
    pub waiting: u32,
}

/// Page, and the node that it is to move to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMove {
    /// Number of the page.
    pub page: u32,
    /// Node: 0 for the memory of the socket, 1 for memory behind the link.
    pub node: u8,
}

/// Copies of boxed policies; every policy that is `Clone` has this trait.
pub trait ClonePolicy {
    /// Returns a boxed copy.
    fn clone_box(&self) -> Box<dyn TieringPolicy>;
}

impl<T: TieringPolicy + Clone + 'static> ClonePolicy for T {
    fn clone_box(&self) -> Box<dyn TieringPolicy> {
        Box::new(self.clone())
    }
}

/// Policy that decides which pages move. It may depend only on what it is shown and its own state, otherwise runs are
/// not reproducible.
pub trait TieringPolicy: ClonePolicy + Debug + Send + Sync {
    /// Returns the moves to make, in their order. A move that is not possible when its turn comes is left out: of a
    /// page that is there already or being moved, or to a socket without room.
    fn decide(&mut self, view: &TieringView) -> Vec<PageMove>;

    /// Returns the whole state of the policy for a checkpoint, or `None` if it cannot be restored from one.
    fn state(&self) -> Option<Vec<u8>> {
        None
    }

    /// Restores the state that [`TieringPolicy::state`] returned.
    ///
    /// # Errors
    /// Returns the reason why the state cannot be restored.
    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let _ = state;
        Err("this policy cannot be continued".to_owned())
    }
}

/// Place for a policy from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct PolicySlot {
    policy: Option<Box<dyn TieringPolicy>>,
    /// State from a checkpoint, until the policy is attached.
    state: Option<Vec<u8>>,
}

impl Clone for Box<dyn TieringPolicy> {
    fn clone(&self) -> Self {
        // Clones the policy in the box: the box itself is no policy.
        (**self).clone_box()
    }
}

const STATELESS: &str = "the tiering policy does not give its state, so that it cannot be part of a checkpoint";

impl Serialize for PolicySlot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = match &self.policy {
            None => self.state.clone(),
            Some(policy) => match policy.state() {
                // Checkpoints are binary and need the state. Readable formats, which states are compared by, do
                // without.
                None if !serializer.is_human_readable() => return Err(S::Error::custom(STATELESS)),
                state => state,
            },
        };
        state.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PolicySlot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { policy: None, state: Deserialize::deserialize(deserializer)? })
    }
}

impl PolicySlot {
    /// Returns true if there is no policy.
    pub(super) fn is_empty(&self) -> bool {
        self.policy.is_none()
    }

    /// Attaches a policy, with its state from a checkpoint if there is one.
    pub(super) fn attach(&mut self, mut policy: Box<dyn TieringPolicy>) -> Result<(), String> {
        if let Some(state) = self.state.take() {
            policy.restore(&state).map_err(|why| format!("the tiering policy: {why}"))?;
        }
        self.policy = Some(policy);
        Ok(())
    }

    /// Checks that the policy can be part of a checkpoint.
    pub(super) fn check_state(&self) -> Result<(), String> {
        match &self.policy {
            Some(policy) if policy.state().is_none() => Err(STATELESS.to_owned()),
            _ => Ok(()),
        }
    }

    /// Returns the moves of the policy; none without one.
    pub(super) fn decide(&mut self, view: &TieringView) -> Vec<PageMove> {
        self.policy.as_mut().map_or_else(Vec::new, |policy| policy.decide(view))
    }
}
