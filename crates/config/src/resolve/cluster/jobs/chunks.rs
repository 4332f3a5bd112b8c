//! Chunks of the messages of collectives, and the names of algorithms.

use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::AlgorithmSpec::{self, Auto, DoubleBinaryTree, Ring, TwoDimensionalRing};
use hostnet_params::JobKindSpec::{Allgather, Allreduce, Broadcast, Chakra, Reducescatter, Transformer};
use hostnet_params::{JobSpec, Size};

/// Maximum number of chunks of a message.
pub(super) const CHUNKS_MAX: u64 = 1 << 16;

/// Returns the name of an algorithm in configurations.
pub(super) fn algorithm_name(algorithm: AlgorithmSpec) -> String {
    serde_json::to_value(algorithm).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
}

/// Checks that the algorithm sends messages in chunks if their size is given.
pub(super) fn check_chunk(path: &str, spec: &JobSpec) -> Result<(), Issue> {
    if spec.chunk.is_none() {
        return Ok(());
    }
    let refused = |code: Code, other: &str, message: &str| {
        Err(Issue::between(code, &[&format!("{path}.chunk"), &format!("{path}.{other}")], message))
    };
    let of_sums = matches!(spec.algorithm, None | Some(Ring | DoubleBinaryTree | TwoDimensionalRing | Auto));
    let has_chunks = match spec.kind {
        Allreduce | Chakra | Transformer => of_sums,
        Allgather | Reducescatter => matches!(spec.algorithm, None | Some(Ring | Auto)),
        // A broadcast takes a tree unless told otherwise.
        Broadcast => matches!(spec.algorithm, Some(Ring | Auto)),
        _ => false,
    };
    if !has_chunks {
        return refused(
            Code::NoEffect,
            "algorithm",
            "has an effect only with \"ring\", and with \"double-binary-tree\" and \"2d-ring\" of \"allreduce\"",
        );
    }
    if spec.blocking == Some(true) && !matches!(spec.kind, Chakra | Transformer) {
        return refused(
            Code::ConflictingKeys,
            "blocking",
            "chunks are in flight at once; blocking calls wait for each",
        );
    }
    Ok(())
}

/// Checks the size of chunks of the messages of a collective, the largest of which has `most` bytes.
pub(super) fn check_chunk_size(path: &str, spec: &JobSpec, most: u64) -> Result<(), Issue> {
    let Some(Size(chunk)) = spec.chunk else { return Ok(()) };
    let keys = ["chunk", "bytes"].map(|key| format!("{path}.{key}"));
    let size = |bytes: u64| format(bytes, Dimension::Size);
    if chunk > most {
        let message = format!("{} is larger than the largest message of a rank, {}", size(chunk), size(most));
        return Err(Issue::between(Code::OutOfRange, &[&keys[0], &keys[1]], message));
    }
    if most.div_ceil(chunk) > CHUNKS_MAX {
        let message = format!("{} chunks of a message; there are {CHUNKS_MAX} at most", most.div_ceil(chunk));
        return Err(Issue::between(Code::TooMany, &[&keys[0], &keys[1]], message));
    }
    Ok(())
}

/// Returns the bytes of the largest message of a collective without chunks, for the algorithms that have chunks.
pub(super) fn message_bytes(spec: &JobSpec, bytes: u64, ranks: u32) -> u64 {
    match (spec.kind, spec.algorithm) {
        // The chosen algorithm may send the whole vector.
        (Allgather | Broadcast, _) | (_, Some(Auto)) => bytes,
        (_, Some(DoubleBinaryTree)) => bytes.div_ceil(2),
        (_, Some(TwoDimensionalRing)) => bytes.div_ceil(spec.group.unwrap_or(1).max(1).into()),
        _ => bytes.div_ceil(ranks.max(1).into()),
    }
}
