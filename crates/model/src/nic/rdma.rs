//! RDMA: the ends of RoCE flows, which live in the NIC.

use super::Common;
use crate::ether::Egress;
use crate::flow::Application;
use crate::line::{Content, Ecn, Packet, PacketId};
use crate::part::{Context, Payload};
use crate::transport::roce::{Roce, RoceConnection};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// One end of a RoCE flow at a NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RdmaEnd {
    /// Id of the flow.
    pub flow: u32,
    /// Host of this end, and host of the remote end.
    pub hosts: [u16; 2],
    /// Priority of the packets.
    pub priority: u8,
    /// Virtual address of the memory region, a multiple of 4096. The region takes as much memory as
    /// [`crate::params::rdma_memory_bytes`] says.
    pub base: u64,
    /// Size of the region in bytes, a multiple of 64. Offsets beyond its end wrap around to its start.
    pub region_bytes: u64,
    /// Time at which the flow begins, in ps.
    pub start_ps: u64,
    /// True if this end issues the requests and the remote end answers.
    pub initiator: bool,
    /// State of the RoCE transport.
    pub connection: RoceConnection,
    /// Rank of a job that uses the flow, if any.
    pub rank: Option<RankEnd>,
}

impl RdmaEnd {
    /// Returns true if this end issues requests without a rank, from the start of the flow until it is stopped.
    fn is_source(&self) -> bool {
        self.initiator && self.rank.is_none()
    }
}

/// Link between an end of a RoCE flow and a rank of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankEnd {
    /// Core that runs the rank.
    pub core: ComponentId,
    /// Application state that carries the messages of the rank.
    pub application: Application,
    /// True while the rank waits for posted bytes to be accepted.
    pub waits: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct EndState {
    own: RdmaEnd,
    begun: bool,
    /// True while the end is listed in `sendable` of [`Rdma`].
    sendable: bool,
    generation: u32,
    timer_at: Option<Time>,
    /// Pending event that an earlier deadline has replaced, and its generation. Events cannot be cancelled, so a
    /// deadline later than this event is scheduled only when this event fires.
    replaced: Option<(Time, u32)>,
}

/// Ends of RoCE flows at a NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rdma {
    ends: Vec<EndState>,
    /// Index of the end, by flow, if the flow has one here.
    by_flow: Vec<Option<u32>>,
    /// Ends that may have a packet to send, in round-robin order.
    sendable: VecDeque<u32>,
    stopped: bool,
}

impl Rdma {
    pub(super) fn new(ends: Vec<RdmaEnd>, flows: usize) -> Self {
        let mut by_flow = vec![None; flows];
        for (index, end) in (0..).zip(&ends) {
            by_flow[end.flow as usize] = Some(index);
        }
        let end = |own| EndState { own, begun: false, sendable: false, generation: 0, timer_at: None, replaced: None };
        Self {
            sendable: VecDeque::with_capacity(ends.len()),
            ends: ends.into_iter().map(end).collect(),
            by_flow,
            stopped: false,
        }
    }

    pub(super) fn ends(&self) -> impl Iterator<Item = &RdmaEnd> {
        self.ends.iter().map(|end| &end.own)
    }

    /// Starts a new measurement window.
    pub(super) fn reset(&mut self) {
        self.ends.iter_mut().for_each(|end| end.own.connection.reset());
    }

    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Begins a flow.
    pub(super) fn begin(&mut self, index: u32) {
        self.ends[index as usize].begun = true;
        self.mark_sendable(index);
    }

    fn mark_sendable(&mut self, index: u32) {
        let end = &mut self.ends[index as usize];
        // After the end of the run only ranks go on, to end their jobs.
        let silenced = self.stopped && end.own.is_source();
        if !end.sendable && !silenced && (end.begun || !end.own.is_source()) {
            end.sendable = true;
            self.sendable.push_back(index);
        }
    }

    /// Passes a packet at the head of the receive buffer to the transport. Returns the virtual address for its data
    /// if the transport accepts the data.
    pub(super) fn receive(&mut self, packet: &Packet, roce: &Roce, context: &mut Context) -> Option<u64> {
        let index = self.by_flow[packet.flow as usize]?;
        let connection = &mut self.ends[index as usize].own.connection;
        let placed = connection.on_packet(context.now(), roce, packet.ecn == Ecn::Marked);
        self.hand_over(index, 0, context);
        // The packet may have opened the window, or asked for an acknowledgement.
        self.mark_sendable(index);
        placed.map(|placed| self.address(index, placed.offset))
    }

    /// Returns true if a rank waits for the data of a flow.
    pub(super) fn has_rank(&self, flow: u32) -> bool {
        self.by_flow[flow as usize].is_some_and(|index| self.ends[index as usize].own.rank.is_some())
    }

    /// Posts bytes of a rank to a flow.
    pub(super) fn post(&mut self, flow: u32, bytes: u64, context: &mut Context) {
        let Some(index) = self.by_flow[flow as usize] else { return };
        let Some(rank) = &mut self.ends[index as usize].own.rank else { return };
        rank.application.post(bytes);
        rank.waits = true;
        self.hand_over(index, 0, context);
        self.mark_sendable(index);
    }

    /// Passes bytes of a flow that are visible in memory to its rank.
    pub(super) fn came(&mut self, flow: u32, bytes: u32, context: &mut Context) {
        if let Some(index) = self.by_flow[flow as usize] {
            self.hand_over(index, bytes.into(), context);
        }
    }

    /// Posts as much of the rank's data as the transport has room for, and notifies the rank of arrivals and of the
    /// end of its writes.
    fn hand_over(&mut self, index: u32, came: u64, context: &mut Context) {
        let RdmaEnd { flow, connection, rank, .. } = &mut self.ends[index as usize].own;
        let (flow, Some(rank)) = (*flow, rank) else { return };
        let action = rank.application.poll(context.now(), came, connection.room());
        connection.post(context.now(), action.write);
        let bytes = rank.application.take_arrived();
        if bytes > 0 {
            context.send(rank.core, 1, Payload::Came { flow, bytes });
        }
        // Notified once per wait, not at every packet that finds nothing left to write.
        if rank.application.is_written() && std::mem::take(&mut rank.waits) {
            context.send(rank.core, 1, Payload::Written { flow });
        }
    }

    fn address(&self, index: u32, offset: u64) -> u64 {
        let own = &self.ends[index as usize].own;
        // The start of the line: packets that begin within a line read and write the whole line.
        own.base + offset % own.region_bytes / 64 * 64
    }

    /// Returns true if an end may have a packet to send and its priority is not paused.
    pub(super) fn may_send(&self, port: &Egress) -> bool {
        self.sendable.iter().any(|&index| !port.is_paused(self.ends[index as usize].own.priority))
    }

    /// Returns the next packet to send, round robin over the ends, and the virtual address of its data.
    pub(super) fn next(&mut self, port: &Egress, context: &mut Context) -> Option<(Packet, u64)> {
        let mut held = 0;
        while held < self.sendable.len() {
            let index = self.sendable.pop_front()?;
            let end = &mut self.ends[index as usize];
            // A paused end keeps its place behind the others; `held` ends the search after one round.
            if port.is_paused(end.own.priority) {
                self.sendable.push_back(index);
                held += 1;
                continue;
            }
            end.sendable = false;
            let next = end.own.connection.next(context.now());
            // After `next`, which starts timers for the packet and for pacing.
            self.set_timer(index, context);
            if let Some(roce) = next {
                // At the end of the list: one packet per turn (round robin).
                self.mark_sendable(index);
                let packet = packet(&self.ends[index as usize].own, roce);
                return Some((packet, self.address(index, roce.offset)));
            }
        }
        None
    }

    /// Schedules an event no later than the connection's timer. If the timer has moved to a later time when the event
    /// fires, the event is scheduled again.
    fn set_timer(&mut self, index: u32, context: &mut Context) {
        let now = context.now();
        let end = &mut self.ends[index as usize];
        let Some(at) = end.own.connection.timer(now).filter(|_| !(self.stopped && end.own.is_source())) else { return };
        // An event that fires early schedules itself again, so none is needed now.
        if end.timer_at.is_some_and(|pending| pending <= at) {
            return;
        }
        // Events cannot be cancelled: without this, every paced packet would leave a pending timeout event behind.
        end.replaced = end.replaced.or(end.timer_at.map(|at| (at, end.generation)));
        end.timer_at = Some(at);
        end.generation = end.generation.wrapping_add(1);
        if end.replaced.is_none_or(|(replaced, _)| replaced >= at) {
            self.send_timer(index, at, context);
        }
    }

    fn send_timer(&self, index: u32, at: Time, context: &mut Context) {
        let timer = Payload::Timer { connection: index, generation: self.ends[index as usize].generation };
        // A deadline may be over already; an event needs at least 1 ps.
        context.send(context.id, at.ps().saturating_sub(context.now().ps()).max(1), timer);
    }

    /// Handles a timer event.
    pub(super) fn on_timer(&mut self, index: u32, generation: u32, context: &mut Context) {
        let end = &mut self.ends[index as usize];
        if end.generation != generation {
            if let Some((replaced, _)) = end.replaced.take_if(|(_, of)| *of == generation) {
                if let Some(at) = end.timer_at.filter(|at| *at > replaced) {
                    self.send_timer(index, at, context);
                }
            }
            return;
        }
        end.timer_at = None;
        end.own.connection.on_timer(context.now());
        self.mark_sendable(index);
        self.set_timer(index, context);
    }
}

/// Wraps a RoCE packet into an IP packet.
fn packet(own: &RdmaEnd, roce: Roce) -> Packet {
    Packet {
        flow: own.flow,
        from: own.hosts[0],
        to: own.hosts[1],
        ip_bytes: roce.ip_bytes(),
        // DCQCN needs marks on all data, so RoCE packets are ECN-capable (Zhu et al., SIGCOMM 2015).
        ecn: Ecn::Capable,
        priority: own.priority,
        corrupt: false,
        copy: false,
        queue: 0,
        order: 0,
        line: 0,
        content: Content::Roce(roce),
        next: PacketId::NONE,
    }
}

impl Common {
    /// Returns the next RDMA packet for the port, and the virtual address of its data.
    pub(super) fn next_rdma(&mut self, context: &mut Context) -> Option<(Packet, u64)> {
        self.rdma.next(&self.port, context)
    }
}
