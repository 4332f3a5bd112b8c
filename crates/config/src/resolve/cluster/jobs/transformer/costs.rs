//! Operations, memory traffic and messages of a layer on one rank.
//!
//! Multiplying matrices of a x b and b x c takes 2 a b c operations. A layer with width h and h x f feed-forward
//! matrices takes 8 h^2 + 4 s h + 4 h f per token of a sequence of s: queries, keys, values and output, then scores and
//! their use, then two matrices (Narayanan et al., SC 2021, appendix; there f = 4 h). A backward pass takes twice as
//! many. Memory traffic is that of each matrix and of what goes in and out of it; scores stay on the chip.

use super::router::tokens_of_ranks;
use super::shape::Model;
use crate::code::Code;
use crate::error::Issue;
use hostnet_traffic::chakra::BYTES_MAX;

/// Bytes of the state of Adam that an update reads and writes per parameter: a master copy, momentum and variance of
/// four bytes each.
const OPTIMIZER_BYTES: u128 = 24;

/// Computation of a forward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) ops: u64,
    pub(super) bytes: u64,
}

impl Work {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { ops: self.ops + other.ops, bytes: self.bytes + other.bytes }
    }

    /// Returns the work of `times` forward passes.
    pub(super) fn times(self, times: u64) -> Self {
        Self { ops: self.ops * times, bytes: self.bytes * times }
    }
}

/// Costs of a layer on one rank. Sizes are in bytes.
#[derive(Clone, Debug)]
pub(super) struct Costs {
    pub(super) attention: Work,
    /// Feed-forward network; without operations if there are experts.
    pub(super) feed_forward: Work,
    /// Experts of each rank of a group with experts.
    pub(super) experts: Vec<Work>,
    /// Activations of a microbatch between two layers.
    pub(super) activations: u64,
    /// Tokens that a rank sends to each rank of its group with experts.
    pub(super) sent_tokens: Vec<u64>,
    /// Size of a token.
    pub(super) token: u64,
    /// Parameters of a layer that all replicas have, and of the experts.
    pub(super) dense: u64,
    pub(super) of_experts: u64,
    /// Memory traffic of the update of a stage.
    pub(super) update: u64,
}

impl Costs {
    /// Computes the costs.
    ///
    /// # Errors
    /// Returns an error if a number is too large.
    pub(super) fn new(path: &str, model: &Model) -> Result<Self, Issue> {
        let wide = |number: u32| u128::from(number);
        let (h, f, s, tp) = (wide(model.width), wide(model.feed_forward), wide(model.sequence), wide(model.tp));
        let (t, number) = (u128::from(model.tokens()), u128::from(model.number_bytes));
        let limit = |ops: u128, bytes: u128| limited(path, ops, bytes);
        let (of_attention, of_network) = (4 * h * h / tp, 2 * h * f / tp);
        let attention = limit((8 * h * h + 4 * s * h) * t / tp, number * (of_attention + t * (2 * h + 4 * h / tp)))?;
        let network = |tokens: u128, networks: u128| {
            limit(4 * h * f * tokens / tp, number * (networks * of_network + 2 * tokens * (h + f / tp)))
        };
        let sent_tokens = tokens_of_ranks(model);
        let of_rank = model.experts.map_or(0, |(experts, _)| wide(experts / model.ep));
        let all = |tokens: &u64| network(u128::from(*tokens) * wide(model.ep), of_rank);
        let experts = sent_tokens.iter().map(all).collect::<Result<_, _>>()?;
        let feed_forward = if of_rank == 0 { network(t, 1)? } else { Work::default() };
        let dense = of_attention + if of_rank == 0 { of_network } else { 0 };
        let of_experts = of_rank * of_network;
        let shared = |parameters: u128, replicas: u32| match model.zero {
            0 => parameters,
            _ => parameters.div_ceil(wide(replicas)),
        };
        let updated = shared(dense, model.dp) + shared(of_experts, model.dp / model.ep);
        let size = |bytes| limit(0, bytes).map(|work| work.bytes);
        let each = model.experts.map_or(1, |(_, each)| wide(each));
        // What a rank sends to all experts together must be a size as well.
        size(number * t * h * each)?;
        Ok(Self {
            attention,
            feed_forward,
            experts,
            activations: size(number * t * h)?,
            sent_tokens,
            token: size(number * h)?,
            dense: size(number * dense)?,
            of_experts: size(number * of_experts)?,
            update: size(wide(model.layers) * updated * (OPTIMIZER_BYTES + 2 * number))?,
        })
    }

    /// Returns the bytes that a rank sends to all ranks of its group with experts.
    pub(super) fn dispatched(&self) -> u64 {
        self.sent_tokens.iter().sum::<u64>() * self.token
    }
}

/// Returns a work whose numbers are not too large to be doubled.
fn limited(path: &str, ops: u128, bytes: u128) -> Result<Work, Issue> {
    match (u64::try_from(ops), u64::try_from(bytes)) {
        (Ok(ops), Ok(bytes)) if ops <= u64::MAX / 4 && bytes <= BYTES_MAX / 4 => Ok(Work { ops, bytes }),
        _ => {
            let message = format!(
                "a layer takes {ops} operations and {bytes} bytes on a rank; at most {} and {} are possible",
                u64::MAX / 4,
                BYTES_MAX / 4
            );
            let keys = ["width", "sequence", "microbatch"].map(|key| format!("{path}.{key}"));
            Err(Issue::between(Code::OutOfRange, &[&keys[0], &keys[1], &keys[2]], message))
        }
    }
}
