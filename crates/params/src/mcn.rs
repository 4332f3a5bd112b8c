//! Parameters of a memory channel network (MCN): DIMMs with processors of their own in the memory slots of a host.

use serde::{Deserialize, Serialize};

/// Memory-channel-network interfaces of a machine: a host has one per DIMM, a DIMM has one to its host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McnParams {
    /// Interfaces, one per machine at the other side of a buffer device.
    pub interfaces: Vec<McnInterface>,
    /// True for the machine on the DIMM.
    pub on_dimm: bool,
    /// Bytes of the ring that this machine writes, and of the one that it reads: multiples of 64, at least 128.
    pub ring_bytes: [u32; 2],
    /// Latency across the buffer device, in ps; at least 1.
    pub cross_ps: u64,
    /// On the DIMM: round trip from its memory controller to the SRAM, in ps; at least 1.
    pub sram_ps: u64,
    /// On the DIMM: bandwidth of the SRAM, in bytes per second.
    pub sram_bytes_per_s: u64,
    /// Means by which the driver is notified of messages.
    pub wake: McnWake,
    /// Cost of an interrupt or timer on the driver's core before it reads the poll words, in ps.
    pub poll_ps: u64,
    /// True if the pointer of a message is written only after the data of the message.
    pub fence: bool,
    /// Time from the last write of a message until the waiting core goes on, in ps; at least 1.
    pub fence_ps: u64,
    /// Work of a core per line that it moves, beyond the wait for the line, in ps.
    pub copy_line_ps: u64,
    /// Work of the checksum per line of a message on this machine, in ps; 0 = no checksum.
    pub checksum_line_ps: u64,
    /// Time to drop a line of a ring from the caches, in ps.
    pub drop_line_ps: u64,
    /// Packets of this machine that may wait for a ring, beyond which packets are dropped; also packets of other DIMMs
    /// that may wait, beyond which packets stay in their rings.
    pub queue_packets: u32,
    /// Core that the driver reads the rings on.
    pub core: u32,
    /// True if the driver hands packets unprocessed to the cores of their applications; otherwise the stack processes
    /// them on the driver's core first.
    pub steer: bool,
    /// Lines that a DMA engine has in flight; `None` = the cores copy.
    pub dma_lines: Option<u32>,
}

impl McnParams {
    /// Returns the signal that notifies the driver of messages of an interface. DIMMs of a channel share its ALERT_N.
    /// A timer is shared by all interfaces, and so are DMA engines, which interrupt when a message is in memory.
    #[must_use]
    pub fn signal(&self, interface: &McnInterface) -> u16 {
        match self.wake {
            McnWake::Interrupt(_) if self.dma_lines.is_none() => interface.channel as u16,
            _ => 0,
        }
    }

    /// Returns the number of signals.
    #[must_use]
    pub fn signals(&self) -> u16 {
        self.interfaces.iter().map(|interface| self.signal(interface) + 1).max().unwrap_or(1)
    }
}

/// Interface to one machine at the other side of a buffer device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McnInterface {
    /// Index of that machine among the hosts.
    pub host: u16,
    /// Index of that machine's interface to this one.
    pub port: u16,
    /// At a host: memory channel of the DIMM's slot.
    pub channel: u32,
}

/// Means by which a driver is notified of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum McnWake {
    /// The driver polls every so many ps, at least 1.
    Timer(u64),
    /// An interrupt with a latency of so many ps, at least 1.
    Interrupt(u64),
}
