//! Hosts that send packets on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is read of a packet before it is sent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FunctionSpec {
    /// Its first line, where its headers are: forwarding by address.
    #[default]
    L3f,
    /// All of it: deep packet inspection.
    Dpi,
}
