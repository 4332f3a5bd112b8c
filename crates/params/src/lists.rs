//! Types of lists: numbers of cores, drives, channels and cache ways, and names of hosts.

use hostnet_units::cores::{format_cores, parse_cores, parse_list, CORE_MAX};
use hostnet_units::error::Fault;
use hostnet_units::ways::{format_ways, parse_ways, WAY_MAX};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Highest drive number that a list may contain.
pub const DRIVE_MAX: u32 = 63;

/// Highest channel number that a list may contain.
pub const CHANNEL_MAX: u32 = 255;

/// Numbers of cores, ascending and without repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreList(pub Vec<u32>);

/// Numbers of drives, ascending and without repetition; may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveList(pub Vec<u32>);

/// Numbers of memory channels, ascending and without repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelList(pub Vec<u32>);

/// Ways of a cache, bit 0 = way 0. Text must give a contiguous, non-empty range; a list of numbers may give any ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WayMask(pub u64);

#[derive(Deserialize)]
#[serde(untagged)]
enum ListInput {
    Text(String),
    List(Vec<u32>),
}

/// Reads a list, given as text for `parse` or as numbers.
fn read_list<'de, D: Deserializer<'de>>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<Vec<u32>, Fault>,
) -> Result<Vec<u32>, D::Error> {
    match ListInput::deserialize(deserializer)? {
        ListInput::Text(text) => parse(&text).map_err(D::Error::custom),
        ListInput::List(mut list) => {
            list.sort_unstable();
            list.dedup();
            Ok(list)
        }
    }
}

impl Serialize for CoreList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_cores(&self.0))
    }
}

impl<'de> Deserialize<'de> for CoreList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_list(deserializer, parse_cores).map(CoreList)
    }
}

impl Serialize for ChannelList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_cores(&self.0))
    }
}

impl<'de> Deserialize<'de> for ChannelList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_list(deserializer, |text| parse_list(text, "channel", CHANNEL_MAX)).map(ChannelList)
    }
}

impl Serialize for DriveList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.is_empty() {
            true => self.0.serialize(serializer),
            false => serializer.serialize_str(&format_cores(&self.0)),
        }
    }
}

impl<'de> Deserialize<'de> for DriveList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_list(deserializer, |text| parse_list(text, "drive", DRIVE_MAX)).map(DriveList)
    }
}

impl Serialize for WayMask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_ways(self.0))
    }
}

impl<'de> Deserialize<'de> for WayMask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match ListInput::deserialize(deserializer)? {
            ListInput::Text(text) => parse_ways(&text).map(WayMask).map_err(D::Error::custom),
            ListInput::List(list) => {
                let bit = |mask, way: &u32| Some(mask | 1u64.checked_shl(*way)?);
                list.iter().try_fold(0, bit).map(WayMask).ok_or_else(|| D::Error::custom("not a list of ways"))
            }
        }
    }
}

/// Returns the schema of a text of a form, or of a list of at least `least` numbers up to `most`.
fn list_schema(form: &str, examples: &[&str], least: u32, most: u32) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "string", "x-form": form, "examples": examples },
            {
                "type": "array",
                "items": { "type": "integer", "minimum": 0, "maximum": most },
                "minItems": least,
                "maxItems": most + 1,
                "uniqueItems": true
            }
        ]
    })
}

macro_rules! list_type {
    ($name:ident, $form:literal, $examples:expr, $least:expr, $most:expr) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                list_schema($form, &$examples, $least, $most)
            }
        }
    };
}

list_type!(CoreList, "cores", ["0-3", "0,2,4-5"], 1, CORE_MAX);

list_type!(ChannelList, "channels", ["0-1", "0,2"], 1, CHANNEL_MAX);

list_type!(DriveList, "drives", ["0-3", "0,2"], 0, DRIVE_MAX);

list_type!(WayMask, "ways", ["9-10", "0x600"], 1, WAY_MAX);

/// One name, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum NamesInput {
    One(String),
    Many(Vec<String>),
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => serializer.serialize_str(one),
            many => many.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Names(match NamesInput::deserialize(deserializer)? {
            NamesInput::One(name) => vec![name],
            NamesInput::Many(names) => names,
        }))
    }
}

impl JsonSchema for Names {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Names".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 4096, "uniqueItems": true }
            ]
        })
    }
}

/// Drives of a job: one number, or a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JobDrives {
    /// Number of the only drive.
    One(u32),
    /// Numbers of all drives, each with a job of its own.
    Each(DriveList),
}

impl JobDrives {
    /// Returns the numbers of the drives, ascending.
    pub fn numbers(&self) -> &[u32] {
        match self {
            JobDrives::One(drive) => std::slice::from_ref(drive),
            JobDrives::Each(DriveList(drives)) => drives,
        }
    }
}

impl JsonSchema for JobDrives {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "JobDrives".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = list_schema("drives", &["0-3", "0,2"], 1, DRIVE_MAX);
        let one = json_schema!({ "type": "integer", "minimum": 0, "maximum": DRIVE_MAX });
        if let Some(choices) = schema.get_mut("anyOf").and_then(|choices| choices.as_array_mut()) {
            choices.insert(0, one.to_value());
        }
        schema
    }
}

/// Ranks per host: the same number at every host, or one number for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RanksPerHost {
    /// Ranks at every host.
    All(u32),
    /// Ranks at each host, in the order of the hosts.
    Each(Vec<u32>),
}

impl JsonSchema for RanksPerHost {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RanksPerHost".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let ranks = json_schema!({ "type": "integer", "minimum": 1, "maximum": 1024 });
        json_schema!({
            "anyOf": [ranks, { "type": "array", "items": ranks, "minItems": 1, "maxItems": 4096 }]
        })
    }
}
