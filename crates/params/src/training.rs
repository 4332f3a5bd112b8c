//! Keys of the computation of ranks that train a model.

use super::values::Time;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Computation of a rank in an iteration: its time before the exchange, or its parts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ComputeSpec {
    /// Time before the exchange.
    Before(Time),
    /// Parts before and after the exchange.
    Parts(ComputePartsSpec),
}

/// Longest time of a part.
const MOST: &str = "1000 s";

/// Computation of a rank in an iteration of training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputePartsSpec {
    /// Forward pass, on the rank's accelerator (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = MOST))]
    pub forward: Option<Time>,
    /// Backward pass, on the rank's accelerator, during which the vector is produced at a constant rate (time); none
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = MOST))]
    pub backward: Option<Time>,
    /// Copy of the vector from the accelerator by the rank, before the exchange (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = MOST))]
    pub copy: Option<Time>,
    /// Application of the sum by the rank, after the exchange (time); with "aggregator" only by the rank that sums up,
    /// before it sends; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = MOST))]
    pub update: Option<Time>,
}

impl JsonSchema for ComputeSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ComputeSpec".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut time = Time::json_schema(generator);
        time.insert("x-max".to_owned(), MOST.into());
        json_schema!({ "anyOf": [time, generator.subschema_for::<ComputePartsSpec>()] })
    }
}
