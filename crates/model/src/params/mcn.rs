//! A memory channel network: DIMMs with processors of their own in the memory slots of a host.

use serde::{Deserialize, Serialize};

/// What a machine has of a memory channel network: a host the interfaces to its DIMMs, a DIMM the one to its host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McnParams {
    /// The interfaces, one per machine at the other side of a buffer device.
    pub interfaces: Vec<McnInterface>,
    /// Whether this is the machine on the DIMM.
    pub on_dimm: bool,
    /// Bytes of the ring that this machine writes, and of the one that it reads: multiples of 64, at least 128.
    pub ring_bytes: [u32; 2],
    /// What crosses from one side of the buffer device to the other takes so long, in ps; at least 1.
    pub cross_ps: u64,
    /// On the DIMM: from its memory controller to the SRAM and back, in ps, at least 1; and bytes per second.
    pub sram_ps: u64,
    /// See `sram_ps`.
    pub sram_bytes_per_s: u64,
    /// How the driver hears of messages.
    pub wake: McnWake,
    /// What an interrupt or timer costs the core of the driver before it reads the poll words, in ps.
    pub poll_ps: u64,
    /// Whether the pointer of a message waits until its data has been written.
    pub fence: bool,
    /// From the last write of a message to the core that waits for it, in ps; at least 1.
    pub fence_ps: u64,
    /// What a core does per line that it moves, beyond what the line takes to come, in ps.
    pub copy_line_ps: u64,
    /// What the checksum costs per line of a message on this machine, in ps; 0 = nobody computes it.
    pub checksum_line_ps: u64,
    /// What it takes to drop a line of a ring from the caches, in ps.
    pub drop_line_ps: u64,
    /// Packets of this machine that wait for a ring at most, others are dropped; as many of other DIMMs, others stay in
    /// their rings.
    pub queue_packets: u32,
    /// The core that the driver reads rings on.
    pub core: u32,
    /// Whether the driver hands packets to the cores of their applications as they are; else the stack works on them on
    /// the core of the driver first.
    pub steer: bool,
    /// Lines that an engine has on their way at a time; none = the cores copy.
    pub dma_lines: Option<u32>,
}

impl McnParams {
    /// The signal by which the driver hears of messages of an interface: the DIMMs of a channel share its ALERT_N. A
    /// timer is one for all, and so are engines, which interrupt when a message is in memory.
    #[must_use]
    pub fn signal(&self, interface: &McnInterface) -> u16 {
        match self.wake {
            McnWake::Interrupt(_) if self.dma_lines.is_none() => interface.channel as u16,
            _ => 0,
        }
    }

    /// How many signals there are.
    #[must_use]
    pub fn signals(&self) -> u16 {
        self.interfaces.iter().map(|interface| self.signal(interface) + 1).max().unwrap_or(1)
    }
}

/// The way to one machine at the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McnInterface {
    /// Its number among the hosts.
    pub host: u16,
    /// The number of its interface to this machine.
    pub port: u16,
    /// At a host: the channel whose slot the DIMM is in.
    pub channel: u32,
}

/// How a driver hears of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum McnWake {
    /// It looks by itself every so many ps, at least 1.
    Timer(u64),
    /// An interrupt, which takes so many ps, at least 1.
    Interrupt(u64),
}
