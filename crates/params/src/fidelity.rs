//! Level of detail of a server.

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
