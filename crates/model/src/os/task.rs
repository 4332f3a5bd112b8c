//! Pieces of work of a network core.

use super::counters::CoreTimeKind;
use super::gro::JoinedSegment;
use crate::line::{Packet, PacketId};
use crate::part::Chore;
use serde::{Deserialize, Serialize};

/// Piece of work of the core that nothing interrupts, except [`Task::Serve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Task {
    /// Work of the driver and IP on a packet.
    Packet(PacketId),
    /// Work of TCP on a segment.
    Segment(JoinedSegment),
    /// Transmission of a segment or datagram.
    Output {
        /// Number of the connection at the core.
        socket: u32,
        /// The segment or datagram as a packet.
        packet: Packet,
    },
    /// Part of a system call before its copy.
    Call,
    /// Lines of a copy.
    Copy,
    /// Lines of the kernel.
    Lines,
    /// Work of the driver of rings.
    Ring,
    /// Instructions that flush lines for a NIC in a DIMM.
    Flush,
    /// Instructions that invalidate lines of a packet received by a NIC in a DIMM.
    Invalidate(PacketId),
    /// Work for a request of a service.
    Serve(Chore),
    /// Work of the kernel besides packets.
    Kernel,
    /// Wait of the interrupt handler for the cause register.
    Cause,
}

/// Next work of a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NextWork {
    /// A piece of work, its duration in ps, and the activity that its time counts for.
    Work(Task, u64, CoreTimeKind),
    /// A wait, and the activity that its time counts for.
    Wait(CoreTimeKind),
    /// There is no work.
    Nothing,
}

impl Task {
    /// Returns true if the time of the task is work that depends on the clock, and not a wait for lines or registers.
    pub(super) fn is_work(&self) -> bool {
        !matches!(self, Self::Copy | Self::Lines | Self::Cause)
    }
}
