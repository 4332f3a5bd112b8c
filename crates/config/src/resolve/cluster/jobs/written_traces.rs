//! Execution traces of all ranks of a job, and their limits.

use crate::code::Code;
use crate::error::Fault;
use hostnet_traffic::chakra::NODES_MAX;
use std::collections::BTreeMap;

/// Maximum number of nodes of all ranks.
const NODES_OF_ALL_MAX: u64 = 1 << 22;

/// Traces of a job, rank by rank.
#[derive(Debug, Default)]
pub struct WrittenTraces {
    /// Contents of the files.
    pub traces: Vec<Vec<u8>>,
    /// Ranks of each group, by its name.
    pub groups: BTreeMap<String, Vec<u32>>,
    /// Number of nodes of all ranks.
    pub(super) nodes: u64,
}

/// Checks the number of nodes of a rank, after each block and before the traces of many iterations fill the memory.
pub(super) fn check_count(path: &str, nodes: u64, others: u64) -> Result<(), Fault> {
    if nodes <= NODES_MAX as u64 && others + nodes <= NODES_OF_ALL_MAX {
        return Ok(());
    }
    let message = format!(
        "{path}.iterations: more than {NODES_MAX} nodes of a rank, or {NODES_OF_ALL_MAX} of all; fewer iterations are \
         wanted"
    );
    Err(Fault::new(Code::TooMany, message))
}
