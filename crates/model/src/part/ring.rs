//! Messages about the rings of a memory channel network.

use crate::line::PacketId;
use serde::{Deserialize, Serialize};

/// Message between cores and the interfaces of a memory channel network. The documentation of each variant names the
/// receiver first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RingEvent {
    /// To a core, from the interfaces: the core may write a message to a ring.
    Write {
        /// Packet of the message.
        id: PacketId,
        /// Number of the interface.
        port: u16,
        /// Line of the ring at which the message begins.
        line: u16,
    },
    /// To a core, from the interfaces: the device has all lines of the message that the core writes.
    Fenced {
        /// Number of the interface.
        port: u16,
    },
    /// To the interfaces, from a core: how long the core waited for [`RingEvent::Fenced`].
    Waited {
        /// Number of the interface.
        port: u16,
        /// Time of the wait, in ps.
        ps: u32,
    },
    /// To the core of the driver, from the interfaces: it must look for messages; with the signal that woke it.
    Poll(u16),
    /// To the interfaces, from the core of the driver: it has read the poll word of the interface with this number.
    Looked(u16),
    /// To the interfaces, from the core of the driver: it has read all poll words.
    Polled,
    /// To the core of the driver, from the interfaces: it must read a message.
    Read {
        /// Packet of the message.
        id: PacketId,
        /// Number of the interface.
        port: u16,
        /// Line of the ring at which the message begins.
        line: u16,
    },
    /// To the interfaces, from the core of the driver: it has read a message.
    Done {
        /// Number of the interface.
        port: u16,
        /// Lines of the message.
        lines: u16,
    },
    /// To a core, from the interfaces: a packet has left the driver.
    Sent {
        /// Flow of the packet.
        flow: u32,
        /// Bytes of data.
        bytes: u32,
    },
    /// To the interfaces of a machine, from those of another: lines of a ring have been read.
    Freed {
        /// Interface of the receiver.
        port: u16,
        /// Number of lines.
        lines: u16,
    },
    /// To a core, from another: a packet for the receiving core has been read out of a ring.
    Received(PacketId),
}
