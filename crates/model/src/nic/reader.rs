//! State of the DMA reads of one function, and the fragments that other functions lend it.

use super::gather::{Fragment, PacketOwner};
use super::Common;
use crate::link::PcieEndpoint;
use crate::part::Context;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packet whose data is being requested from memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Cut {
    pub(super) owner: PacketOwner,
    /// Next line of virtual memory to request.
    pub(super) line: u64,
    /// Lines that are not yet requested.
    pub(super) lines: u32,
    pub(super) class: u8,
    /// True if the descriptor may name the function that reads a fragment.
    pub(super) hinted: bool,
}

/// Purpose of a read request, applied when its last line arrives.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum ReadPurpose {
    /// Descriptor of the next segment of a send queue.
    Descriptor(u16),
    /// Descriptors of a receive queue.
    Free(u16),
    /// Part of a fragment lent by another function, but not the last part.
    Part,
    /// Last part of a lent fragment, or any part of a packet that this function cuts.
    Fragment(PacketOwner),
}

/// Outstanding read request.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ReadRequest {
    /// Lines that have not arrived.
    pub(super) lines: u32,
    pub(super) purpose: ReadPurpose,
}

/// State of the DMA reads of one function.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DmaReader {
    pub(super) function: usize,
    /// Send queue that goes first in the round robin.
    pub(super) turn: usize,
    /// True if RDMA goes before the send queues. RDMA uses the first function.
    pub(super) rdma_turn: bool,
    pub(super) cut: Option<Cut>,
    /// Fragments of packets that other functions cut.
    pub(super) lent: VecDeque<Fragment>,
    /// True if a lent fragment goes next.
    pub(super) lent_turn: bool,
    /// Outstanding read requests, oldest first.
    pub(super) reads: VecDeque<ReadRequest>,
}

impl DmaReader {
    pub(super) fn new(function: usize) -> Self {
        Self { function, ..Self::default() }
    }

    /// Records a read request for descriptors of a receive queue.
    pub(super) fn expect(&mut self, queue: u16, lines: u32) {
        self.reads.push_back(ReadRequest { lines, purpose: ReadPurpose::Free(queue) });
    }

    /// Accepts a fragment of a packet that another function cuts.
    pub(super) fn borrow(&mut self, fragment: Fragment) {
        self.lent.push_back(fragment);
    }

    /// Returns true if the next part of a lent fragment can be requested.
    pub(super) fn may_ask_lent(&self, endpoint: &PcieEndpoint) -> bool {
        self.lent.front().is_some_and(|fragment| endpoint.may_read(endpoint.read_lines(fragment.lines)))
    }

    /// Requests the next part of the oldest lent fragment. Returns true if a request was sent.
    pub(super) fn ask_lent(&mut self, endpoint: &mut PcieEndpoint, common: &mut Common, context: &mut Context) -> bool {
        if !self.may_ask_lent(endpoint) {
            return false;
        }
        let Some(fragment) = self.lent.front_mut() else { return false };
        let Fragment { owner, line, class, .. } = *fragment;
        let lines = endpoint.read_lines(fragment.lines);
        fragment.line += u64::from(lines);
        fragment.lines -= lines;
        let ends = fragment.lines == 0;
        if ends {
            self.lent.pop_front();
        }
        // Only the last part of a fragment ends the read that the owner counts.
        let purpose = if ends { ReadPurpose::Fragment(owner) } else { ReadPurpose::Part };
        self.send(line, lines, class, purpose, endpoint, common, context);
        true
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn send(
        &mut self,
        line: u64,
        lines: u32,
        class: u8,
        purpose: ReadPurpose,
        endpoint: &mut PcieEndpoint,
        common: &mut Common,
        context: &mut Context,
    ) {
        endpoint.read(common.pages.physical(line * 64) / 64, lines, class, context);
        common.counters.read_bytes += u64::from(lines) * common.params.line_size.bytes();
        self.reads.push_back(ReadRequest { lines, purpose });
    }
}
