//! Keys of the topology of a network.

use super::values::{Bandwidth, Time};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Maximum number of switches along one dimension.
const SIZE_MAX: u32 = 4096;

/// Topology of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TopologySpec {
    /// Every host is cabled to one switch, named "tor".
    Star,
    /// Two switches, "left" and "right", with one cable between them.
    Dumbbell,
    /// Two hosts and one cable.
    Direct,
    /// Leaf switches with hosts, each with one cable to the switch "root".
    TwoTier,
    /// Leaf switches with hosts, each with a cable to every spine switch.
    LeafSpine,
    /// Three levels of switches of k ports each (Al-Fares et al., SIGCOMM 2008).
    FatTree,
    /// Switches with hosts, in a ring.
    Ring,
    /// Switches with hosts, in rows and columns.
    Mesh,
    /// A mesh of two or three dimensions with wraparound cables.
    Torus,
    /// Groups of switches, with cables between all switches of a group and between all groups (Kim et al., ISCA 2008).
    Dragonfly,
    /// Servers of several accelerators with a scale-up fabric in each; switches join those with the same number in all
    /// servers (a rail), and spine switches join the rails.
    RailOptimised,
    /// The same without spine switches: accelerators forward packets from the scale-up fabric to their rail (Wang et
    /// al., Hot Interconnects 2024).
    RailOnly,
}

/// Scale-up fabric inside each server of a topology of rails.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScaleUpSpec {
    /// Shape of the fabric.
    #[serde(default)]
    pub fabric: ScaleUpFabricSpec,
    /// Rate of each cable of the fabric in each direction (bandwidth); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub rate: Option<Bandwidth>,
    /// Propagation delay of each cable of the fabric (time); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub latency: Option<Time>,
}

/// Shape of a scale-up fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScaleUpFabricSpec {
    /// One switch per server, with a cable to each accelerator.
    #[default]
    Switch,
    /// A cable between every two accelerators of a server.
    Mesh,
}

/// Cables between some switches of a topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrunkSpec {
    /// Rate of each cable in each direction (bandwidth); that of other cables when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub rate: Option<Bandwidth>,
    /// Propagation delay of each cable (time); that of other cables when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub latency: Option<Time>,
}

/// Switches along each dimension: a count, or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<u32>);

#[derive(Deserialize)]
#[serde(untagged)]
enum SizesInput {
    One(u32),
    Many(Vec<u32>),
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => serializer.serialize_u32(*one),
            many => many.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match SizesInput::deserialize(deserializer)? {
            SizesInput::One(size) => vec![size],
            SizesInput::Many(sizes) => sizes,
        }))
    }
}

impl JsonSchema for Sizes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sizes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": SIZE_MAX },
                {
                    "type": "array",
                    "items": { "type": "integer", "minimum": 1, "maximum": SIZE_MAX },
                    "minItems": 1,
                    "maxItems": 3
                }
            ]
        })
    }
}
