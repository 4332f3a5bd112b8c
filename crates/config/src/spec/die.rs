//! The die of a socket: where its parts lie on a mesh.

use super::values::{Frequency, Size};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The mesh that joins the parts of a socket. Without this table all are at a mean distance, and the ways between them
/// carry whatever comes. All sockets of a server have the same die.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DieSpec {
    /// The map of the die: one that comes with the program, or a CSV file with the columns part, column and row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) die: Option<String>,
    /// The map in place of its name: the column and row of every part, such as core0, cha0, imc0 and iio0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) map: Option<BTreeMap<String, PlaceSpec>>,
    /// Clock of the mesh (frequency).
    #[serde(default = "clock")]
    #[schemars(extend("x-min" = "100 MHz", "x-max" = "10 GHz"))]
    pub(crate) clock: Frequency,
    /// Cycles from a stop to the next of its column.
    #[serde(default = "vertical")]
    #[schemars(range(min = 0, max = 16))]
    pub(crate) vertical: u32,
    /// Cycles from a stop to the next of its row.
    #[serde(default = "horizontal")]
    #[schemars(range(min = 0, max = 16))]
    pub(crate) horizontal: u32,
    /// Bytes of a line that a link carries in a cycle and direction (size).
    #[serde(default = "link")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub(crate) link: Size,
    /// Parts of the die whose memory is at home there alone (sub-NUMA clustering): 1 = none, 2 or 4.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4))]
    pub(crate) clusters: u8,
    /// The stop that the NIC hangs off, such as "iio1"; the first when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nic: Option<String>,
    /// The stop that the drives hang off, or a list of stops that they take in turn; all stops in turn when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) drives: Option<StopsSpec>,
}

/// The column and row of a stop, counted from the north-west.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct PlaceSpec(pub(crate) [u8; 2]);

fn clock() -> Frequency {
    Frequency(2_400_000_000)
}

fn vertical() -> u32 {
    1
}

fn horizontal() -> u32 {
    2
}

fn link() -> Size {
    Size(32)
}

fn one() -> u8 {
    1
}

/// A stop, or several in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum StopsSpec {
    One(String),
    Several(Vec<String>),
}

impl StopsSpec {
    /// The stops.
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Self::One(stop) => std::slice::from_ref(stop),
            Self::Several(stops) => stops,
        }
    }
}

impl JsonSchema for StopsSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StopsSpec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let stop = json_schema!({ "type": "string", "examples": ["iio0"] });
        json_schema!({
            "anyOf": [stop, { "type": "array", "items": stop, "minItems": 1, "maxItems": 64 }]
        })
    }
}
