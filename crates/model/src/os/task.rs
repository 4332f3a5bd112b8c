//! Pieces of work of a network core.

use super::books::Spent;
use super::gro::Joined;
use crate::line::{Packet, PacketId};
use crate::part::Chore;
use serde::{Deserialize, Serialize};

/// A piece of work of the core that nothing interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Task {
    /// The driver's and IP's work on a packet.
    Packet(PacketId),
    /// TCP's work on a segment.
    Segment(Joined),
    /// A segment goes out.
    Output {
        /// The core's own number of the connection.
        socket: u32,
        /// The segment as a packet.
        packet: Packet,
    },
    /// The part of a system call before its copy.
    Call,
    /// Lines of a copy.
    Copy,
    /// Lines of the kernel.
    Lines,
    /// The driver of rings.
    Ring,
    /// Instructions that flush lines for a NIC in a DIMM.
    Flush,
    /// Instructions that invalidate lines of a packet that has come by one.
    Invalidate(PacketId),
    /// Work for a request.
    Serve(Chore),
    /// What the kernel does beside packets.
    Kernel,
    /// The handler of an interrupt waits for the cause register.
    Cause,
}

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    /// A piece of work, its time in ps, and what for.
    Work(Task, u64, Spent),
    /// Nothing until a line is there.
    Wait(Spent),
    /// Nothing.
    Nothing,
}

impl Task {
    /// Returns true if its time is work that the clock stretches, and not that of lines or registers.
    pub(super) fn is_work(&self) -> bool {
        !matches!(self, Self::Copy | Self::Lines | Self::Cause)
    }
}
