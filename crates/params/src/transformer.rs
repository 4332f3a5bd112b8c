//! Keys of the training of a transformer model.

use super::values::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Transformer model, and how its training is divided among ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransformerSpec {
    /// Number of layers; a multiple of `pp`.
    #[schemars(range(min = 1, max = 4096))]
    pub layers: u32,
    /// Width of the model: numbers of a token between two layers; a multiple of `tp`.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub width: u32,
    /// Numbers of a token between the two matrices of a feed-forward network; a multiple of `tp`; four times `width`
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_194_304))]
    pub feed_forward: Option<u32>,
    /// Tokens of a sequence.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub sequence: u32,
    /// Sequences of an iteration, of all ranks together; a multiple of `dp` times `microbatch`.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub batch: u32,
    /// Sequences that a rank processes at a time; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub microbatch: Option<u32>,
    /// Data parallelism: replicas of the model, which share the batch; as many as there are ranks for when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub dp: Option<u32>,
    /// Tensor parallelism: ranks that share each matrix; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub tp: Option<u32>,
    /// Pipeline parallelism: stages of consecutive layers; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub pp: Option<u32>,
    /// Expert parallelism: replicas of the model that share the experts of a layer; a divisor of `dp` and of
    /// `experts`; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub ep: Option<u32>,
    /// Order of the passes of a pipeline; "1f1b" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<PipelineScheduleSpec>,
    /// Stage of ZeRO: what the replicas share instead of each having it, 0 (nothing), 1 (the state of the optimizer), 2
    /// (also gradients) or 3 (also parameters); 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3))]
    pub zero: Option<u32>,
    /// Experts of each layer (mixture of experts), each a feed-forward network; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 16384))]
    pub experts: Option<u32>,
    /// Experts that the router chooses for each token; 2 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub experts_per_token: Option<u32>,
    /// Skew of the router: expert n, counted from 1, gets tokens in proportion to n to the power of minus this (Zipf);
    /// 0, the same for all, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 10.0))]
    pub skew: Option<f64>,
    /// Size of a number: a parameter, a gradient or an activation (size); "2 B" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "8 B"))]
    pub number: Option<Size>,
}

/// Order of the forward and backward passes of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PipelineScheduleSpec {
    /// After a warm-up, one forward and one backward pass in turn.
    #[default]
    #[serde(rename = "1f1b")]
    OneForwardOneBackward,
    /// All forward passes, then all backward passes.
    #[serde(rename = "gpipe")]
    Gpipe,
}
