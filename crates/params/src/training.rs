//! What ranks that train a model do around an exchange.

use super::values::Time;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What a rank computes in an iteration: some time before the exchange, or parts of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ComputeSpec {
    /// Before the exchange.
    Before(Time),
    /// Around it.
    Parts(ComputePartsSpec),
}

/// The longest time of a part.
const MOST: &str = "1000 s";

/// What a rank computes in an iteration of training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputePartsSpec {
    /// Of the rank's accelerator: the forward pass (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = MOST))]
    pub forward: Option<Time>,
    /// Of the rank's accelerator: the backward pass, in which the vector comes about evenly (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = MOST))]
    pub backward: Option<Time>,
    /// Of the rank: the vector is copied from the accelerator before it is exchanged (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = MOST))]
    pub copy: Option<Time>,
    /// Of the rank, after the exchange: the sum is put to use (time); with "aggregator" only of the rank that sums up,
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
