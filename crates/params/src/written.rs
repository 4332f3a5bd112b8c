//! Positions in vectors of the bytes that a rank writes to a connection.

use super::cluster::ClusterParams;
use super::flow::Traffic;
use super::ranks::JobParams;
use serde::{Deserialize, Serialize};

/// Pieces of vectors that are written repeatedly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RepeatedPieces {
    /// Bytes written before the first repetition.
    before: u64,
    /// Bytes of one repetition.
    bytes: u64,
    /// For each piece: bytes of the pieces before it, and its offset in a vector.
    pieces: Vec<(u64, u64)>,
}

/// Stream of bytes that a rank of a job writes to its connection with another rank, as positions in vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenStream(Vec<RepeatedPieces>);

impl WrittenStream {
    /// Creates the stream that rank `from` of a job writes to rank `to`.
    #[must_use]
    pub fn new(job: &JobParams, from: u32, to: u32) -> Self {
        let mut before = 0;
        let blocks = job.blocks.iter().filter_map(|block| {
            let (mut bytes, mut pieces) = (0, Vec::new());
            for step in job.steps_of(block, from) {
                if let Some(message) = step.send.filter(|message| message.rank == to) {
                    pieces.push((bytes, step.at));
                    bytes += message.bytes;
                }
            }
            let began = before;
            before += bytes * u64::from(block.times);
            (bytes > 0 && block.times > 0).then_some(RepeatedPieces { before: began, bytes, pieces })
        });
        Self(blocks.collect())
    }

    /// Returns the offset in a vector of a byte of the stream, in bytes; 0 for an empty stream.
    #[must_use]
    pub fn place(&self, byte: u64) -> u64 {
        let block = self.0.partition_point(|block| block.before <= byte);
        let Some(RepeatedPieces { before, bytes, pieces }) = block.checked_sub(1).map(|block| &self.0[block]) else {
            return 0;
        };
        let byte = (byte - before) % bytes;
        let (began, at) = pieces[pieces.partition_point(|&(began, _)| began <= byte) - 1];
        at + byte - began
    }
}

impl ClusterParams {
    /// Returns the flows whose packets the host compresses, each with the stream written to it if the engines know
    /// gradients, and the flows whose packets it decompresses, in ascending order.
    #[must_use]
    pub fn compressed(&self, host: u16) -> (Vec<(u32, WrittenStream)>, Vec<u32>) {
        let recorded = self.hosts[usize::from(host)].compress.as_ref().is_some_and(|engine| engine.gradients.is_some());
        let (mut out, mut into) = (Vec::new(), Vec::new());
        for (number, flow) in (0..).zip(&self.flows) {
            for (initiator, on) in [(true, flow.compress[0]), (false, flow.compress[1])] {
                let (from, to) = if initiator { (flow.from, flow.to) } else { (flow.to, flow.from) };
                if on && from == host {
                    let written = match flow.traffic {
                        Traffic::Messages(channel) if recorded => {
                            let (job, own, other) = channel.at(initiator);
                            WrittenStream::new(&self.jobs[job as usize], own, other)
                        }
                        _ => WrittenStream::default(),
                    };
                    out.push((number, written));
                }
                if on && to == host {
                    into.push(number);
                }
            }
        }
        (out, into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RankMessageParams, RankStepParams, StepBlockParams, StepPartParams};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn step(rank: u32, bytes: u64, at: u64) -> RankStepParams {
        let send = Some(RankMessageParams { rank, bytes });
        RankStepParams { send, at, ..RankStepParams::of(0) }
    }

    fn job(blocks: &[(u32, Vec<RankStepParams>)]) -> JobParams {
        let block = |(times, steps): &(u32, Vec<RankStepParams>)| StepBlockParams {
            times: *times,
            parts: vec![StepPartParams::Listed(vec![Arc::new(steps.clone())])],
            operations: Vec::new(),
        };
        JobParams {
            name: String::new(),
            kind: String::new(),
            hosts: vec![0],
            iterations: 1,
            launch_ps: 0,
            start_ps: 0,
            copy_bytes_per_s: 1,
            copy_ps: 0,
            socket_bytes_per_s: None,
            phases: vec![String::new()],
            blocks: blocks.iter().map(block).collect(),
            cores: Vec::new(),
            works: Vec::new(),
            reducers: Vec::new(),
            first_ready: false,
        }
    }

    proptest! {
        #[test]
        fn every_byte_is_where_the_program_says(
            blocks in proptest::collection::vec(
                (0_u32..4, proptest::collection::vec((1_u32..3, 1_u64..20, 0_u64..1000), 0..6)), 0..4,
            ),
        ) {
            let blocks: Vec<(u32, Vec<RankStepParams>)> = blocks
                .iter()
                .map(|(times, all)| (*times, all.iter().map(|&(rank, bytes, at)| step(rank, bytes, at)).collect()))
                .collect();
            let written = WrittenStream::new(&job(&blocks), 0, 1);
            let mut byte = 0;
            for (times, steps) in &blocks {
                for _ in 0..*times {
                    for step in steps {
                        let message = step.send.expect("all send");
                        for more in (0..message.bytes).filter(|_| message.rank == 1) {
                            prop_assert_eq!(written.place(byte), step.at + more);
                            byte += 1;
                        }
                    }
                }
            }
        }
    }
}
