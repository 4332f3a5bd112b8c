//! Levels of detail of servers and of the network between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Level of detail at which a server is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fidelity {
    /// Every line.
    Line,
    /// Several lines at a time, as many as a TLP carries.
    Burst,
    /// Packets, over a memory system of rates.
    Fluid,
}

/// Level of detail at which the network between hosts is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkFidelity {
    /// Every packet.
    #[default]
    Packet,
    /// Every message of a job, as a flow of bytes that shares cables with others.
    Flow,
}

impl NetworkFidelity {
    /// Returns true if every packet is simulated.
    #[must_use]
    pub fn is_packet(&self) -> bool {
        *self == Self::Packet
    }
}
