//! Ends of flows whose applications run on a core: TCP sockets and ends of datagrams.
//!
//! Both kinds share one numbering, sockets first, and one queue each for the turns of applications and for output.

pub(in crate::os) mod buffer;
pub(in crate::os) mod datagram;
pub(in crate::os) mod migration;
pub(in crate::os) mod output;
pub(in crate::os) mod socket;

use crate::line::{Content, Packet};
use crate::params::StackParams;
use crate::part::Payload;
use crate::transport::stage_times::Stage;
use datagram::DatagramEnds;
use hostnet_kernel::Time;
use migration::{MigratedFlow, Migration};
use output::Output;
use serde::{Deserialize, Serialize};
use socket::{NetSocketParams, Socket};
use std::collections::VecDeque;

/// Ends of flows at a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::os) struct FlowEnds {
    pub(in crate::os) sockets: Vec<Socket>,
    pub(in crate::os) datagrams: DatagramEnds,
    /// Flow and number of each end, in ascending order of flows.
    by_flow: Vec<(u32, u32)>,
    pub(in crate::os) output: Output,
    /// Ends whose application may have something to do, in the order of their turns.
    pub(in crate::os) ready: VecDeque<u32>,
    pub(in crate::os) migration: Migration,
    /// True while the host marks data that leaves (congestion signals of a host controller).
    pub(in crate::os) mark_outgoing: bool,
}

impl FlowEnds {
    /// Creates the ends of `sockets`; `elsewhere` are flows of the host that end at other cores, in ascending order.
    ///
    /// # Panics
    /// Panics if two sockets belong to one flow.
    pub(in crate::os) fn new(output: Output, sockets: Vec<NetSocketParams>, elsewhere: Vec<MigratedFlow>) -> Self {
        let mut ends = Self {
            by_flow: (0..).zip(&sockets).map(|(index, socket)| (socket.flow, index)).collect(),
            ready: VecDeque::with_capacity(sockets.len()),
            datagrams: DatagramEnds::default(),
            sockets: (0..).zip(sockets).map(|(index, params)| Socket::new(params, output.buffer(index))).collect(),
            output,
            migration: Migration::new(elsewhere),
            mark_outgoing: false,
        };
        ends.sort_flows();
        ends
    }

    /// Adds flows and numbers of ends of datagrams to the index.
    fn add_flows(&mut self, flows: impl Iterator<Item = (u32, u32)>) {
        self.by_flow.extend(flows);
        self.sort_flows();
    }

    fn sort_flows(&mut self) {
        self.by_flow.sort_unstable();
        assert!(self.by_flow.windows(2).all(|pair| pair[0].0 < pair[1].0), "a flow has one end at a core");
    }

    /// Returns the events that flows begin with: the delay from the start of the run in ps, at least 1, and the event.
    pub(in crate::os) fn starts(&self) -> impl Iterator<Item = (u64, Payload)> + '_ {
        let here = (0..).zip(&self.sockets).filter(|(_, socket)| socket.params.here);
        let streams = here.flat_map(|(connection, socket)| {
            let begin = (socket.params.start_ps.max(1), Payload::Begin { connection });
            let hop = socket.next_migration().map(|hop| (hop.at_ps.max(1), Payload::Move { connection }));
            std::iter::once(begin).chain(hop)
        });
        let datagrams = (self.sockets.len() as u32..).zip(self.datagrams.iter());
        streams.chain(datagrams.map(|(connection, end)| (end.params.start_ps.max(1), Payload::Begin { connection })))
    }

    /// Returns the index of the socket of `flow`, if the socket is present.
    pub(in crate::os) fn socket_of(&self, flow: u32) -> Option<usize> {
        self.end_of(flow).filter(|&index| index < self.sockets.len())
    }

    /// Returns the number of the end of `flow`, a socket or an end of datagrams, if the end is present.
    pub(in crate::os) fn end_of(&self, flow: u32) -> Option<usize> {
        let index = self.number_of(flow)?;
        // The placeholder of a migrated socket does not count.
        self.sockets.get(index).is_none_or(|socket| socket.present).then_some(index)
    }

    /// Returns the number reserved for the end of `flow`, present or not.
    fn number_of(&self, flow: u32) -> Option<usize> {
        let at = self.by_flow.binary_search_by_key(&flow, |&(flow, _)| flow).ok()?;
        Some(self.by_flow[at].1 as usize)
    }

    /// Returns the traffic class of the lines of an end.
    pub(in crate::os) fn class_of(&self, index: usize) -> u8 {
        let socket = self.sockets.get(index).map(|socket| socket.params.class);
        socket.unwrap_or_else(|| self.datagrams.of_index(index).params.class)
    }

    /// Returns the class of a flow that ends at this core or has migrated from it.
    pub(in crate::os) fn class_of_flow(&self, flow: u32) -> Option<u8> {
        let here = self.end_of(flow).map(|index| self.class_of(index));
        here.or_else(|| Some(self.migration.find(flow)?.class))
    }

    /// Returns the number of packets that have arrived at all ends and that TCP or the UDP socket has not processed.
    pub(in crate::os) fn undelivered_packets(&self) -> u64 {
        let counts = self.sockets.iter().map(|socket| &socket.counts);
        let counts = counts.chain(self.datagrams.iter().map(|end| &end.counts));
        counts.map(|counts| counts.packets - counts.delivered).sum()
    }

    /// Counts a packet of `flow` that has arrived.
    pub(in crate::os) fn count_arrival(&mut self, flow: u32) {
        let Some(index) = self.end_of(flow) else { return };
        if let Some(socket) = self.sockets.get_mut(index) {
            socket.counts.packets += 1;
        } else if let Some(end) = self.datagrams.get_mut(index) {
            end.counts.packets += 1;
        }
    }

    /// Begins the flow of an end, or wakes its application by its own timer.
    pub(in crate::os) fn begin(&mut self, index: usize, now: Time) {
        let Some(socket) = self.sockets.get_mut(index) else {
            return self.datagrams.begin(index, now, &mut self.ready);
        };
        socket.begun |= now.ps() >= socket.params.start_ps;
        if socket.wake_at.is_some_and(|at| at <= now) {
            socket.wake_at = None;
        }
        self.queue_turn(index);
    }

    /// Queues `bytes` that the rank of the core sends by a flow.
    pub(in crate::os) fn post(&mut self, flow: u32, bytes: u64) {
        let Some(index) = self.socket_of(flow) else { return };
        self.sockets[index].application.post(bytes);
        self.queue_turn(index);
    }

    /// Queues a turn for the application of a socket, unless one is queued.
    pub(in crate::os) fn queue_turn(&mut self, index: usize) {
        let socket = &mut self.sockets[index];
        if socket.begun && socket.present && !socket.ready {
            socket.ready = true;
            self.ready.push_back(index as u32);
        }
    }

    /// Returns the work on the socket buffer of a packet whose data is copied at this core, in ps, 0 if there is none.
    ///
    /// `index` is the end of its flow. Forwarded packets, files and data `in_place` (a NIC in a DIMM) have no socket
    /// buffer; pure acknowledgements have none, either.
    pub(in crate::os) fn allocation_ps(
        &self,
        index: Option<usize>,
        content: &Content,
        stack: &StackParams,
        in_place: bool,
    ) -> u64 {
        let copied = match content {
            _ if stack.allocate_ps == 0 => false,
            // Buffers of pure acknowledgements are part of `ack_ps` (docs/models/os.md, Datagrams).
            Content::Tcp(segment) => segment.bytes > 0 && !self.sends_a_file(index),
            Content::Udp(_) => !in_place && !index.is_some_and(|index| self.datagrams.is_forwarded(index)),
            Content::Roce(_) | Content::Pool(_) | Content::Raw => false,
        };
        if copied {
            stack.allocate_ps
        } else {
            0
        }
    }

    /// Returns true if an end is a socket that sends a file without a copy.
    fn sends_a_file(&self, index: Option<usize>) -> bool {
        index.and_then(|index| self.sockets.get(index)).is_some_and(|socket| socket.params.file.is_some())
    }

    /// Starts a new measurement window of the applications.
    pub(in crate::os) fn reset(&mut self) {
        self.sockets.iter_mut().for_each(|socket| socket.application.reset());
        self.datagrams.iter_mut().for_each(|end| end.application.reset());
    }

    /// Stops the applications: they begin nothing new, but what they have written is sent and what arrives is read.
    pub(in crate::os) fn stop(&mut self) {
        self.sockets.iter_mut().for_each(|socket| socket.application.stop());
        self.datagrams.iter_mut().for_each(|end| end.application.stop());
    }
}

/// Ends the driver's stage of a packet now and, `ps` later, the stage of the copy that its socket buffer belongs to.
pub(in crate::os) fn end_allocation(packet: &mut Packet, driver: Stage, copy: Stage, ps: u64, now: Time) {
    if ps > 0 {
        packet.end(driver, now);
        packet.end(copy, now + ps);
    }
}
