//! Where drives are.

use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The socket that all drives hang off, or that of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum DriveSockets {
    All(u8),
    Each(Vec<u8>),
}

impl JsonSchema for DriveSockets {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "DriveSockets".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let socket = json_schema!({ "type": "integer", "minimum": 0, "maximum": 7 });
        json_schema!({
            "anyOf": [socket, { "type": "array", "items": socket, "minItems": 1, "maxItems": 64 }]
        })
    }
}

/// Which ways drives have to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SsdModeSpec {
    /// By the socket that they hang off.
    #[default]
    Standard,
    /// A path to every socket.
    Octo,
}

impl SsdModeSpec {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
