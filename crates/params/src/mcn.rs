//! Keys and parameters of a memory channel network.

use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of a line of the rings of a memory channel network. Messages begin at a line boundary, because a DDR burst
/// writes a whole line.
pub const RING_LINE_BYTES: u32 = 64;
/// Bytes of the length field before the frame of a message.
const RING_LENGTH_BYTES: u32 = 4;
/// Bytes of a frame before the IP packet: the Ethernet header, which begins with the receiver's address.
const RING_ETHERNET_BYTES: u32 = 14;

/// Returns the lines of the message that carries an IP packet of `ip_bytes` bytes.
#[must_use]
pub fn ring_lines(ip_bytes: u32) -> u32 {
    (RING_LENGTH_BYTES + RING_ETHERNET_BYTES + ip_bytes).div_ceil(RING_LINE_BYTES)
}

/// Returns the bytes of the largest IP packet that a ring of `ring_bytes` bytes holds.
#[must_use]
pub fn largest_ring_packet(ring_bytes: u32) -> u32 {
    // The ring keeps one line free, so that full and empty differ.
    let lines_bytes = (ring_bytes / RING_LINE_BYTES).saturating_sub(1) * RING_LINE_BYTES;
    lines_bytes.saturating_sub(RING_LENGTH_BYTES + RING_ETHERNET_BYTES)
}

/// Memory channel network between a host and the DIMMs with processors in its slots. A level sets the defaults of
/// single keys, each of which may also be given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McnSpec {
    /// Optimisation level; "mcn0" when absent. Each level includes those before it and sets the defaults of single
    /// keys, each of which may also be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<McnLevelSpec>,
    /// Period at which the driver of the host reads the poll words of its DIMMs (time); "5 us" when absent. Without
    /// `alert`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "10 ns", "x-max" = "10 ms"))]
    pub poll: Option<Time>,
    /// True if DIMMs interrupt the host (ALERT_N); true from level "mcn1" on. The DIMMs of a channel share the signal,
    /// so the driver polls all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<bool>,
    /// True if checksums are computed; false from level "mcn2" on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<bool>,
    /// Largest packet on a ring, and MTU of flows that set none and cross rings only (size); "1500 B" when absent,
    /// "9000 B" from level "mcn3" on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "576 B", "x-max" = "65535 B"))]
    pub mtu: Option<Size>,
    /// True if a TCP segment of any length crosses a ring as one packet, provided that the ring can hold it; true from
    /// level "mcn4" on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tso: Option<bool>,
    /// Largest packet with `tso` (size); half a ring when absent, so that one packet is written while another is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "576 B", "x-max" = "1 MiB"))]
    pub gso: Option<Size>,
    /// True if DMA engines move the lines instead of cores, one engine on each DIMM and one per channel of the host;
    /// true from level "mcn5" on. With `alert` and without `checksum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma: Option<bool>,
    /// Lines that a DMA engine has in flight; 16 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub dma_lines: Option<u32>,
    /// Size of each of the two rings in the SRAM of a DIMM (size), a multiple of 64 B; "47 KiB" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "1 MiB"))]
    pub rings: Option<Size>,
    /// True if the pointer of a message is written only after the DIMM has the whole message; true when absent.
    /// Otherwise the channel may deliver the pointer first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<bool>,
    /// Clocks of a core per line of 64 B that it moves from or to a ring, beyond the wait for the line; 8 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10000))]
    pub copy_clocks: Option<u32>,
    /// Clocks of a core per line for the checksum, at either end; 8 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10000))]
    pub checksum_clocks: Option<u32>,
    /// Clocks of a core to invalidate a line of a ring in the caches after it was read; 4 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10000))]
    pub drop_clocks: Option<u32>,
    /// Latency from ALERT_N, or from the interrupt line of the processor of a DIMM, to the driver (time); "1 us" when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub interrupt: Option<Time>,
    /// Work of an interrupt or timer and its tasklet, before the driver reads the poll words (time); "0.5 us" when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub poll_work: Option<Time>,
    /// Latency between the SRAM and the memory controller of the DIMM's processor in one direction (time); "10 ns" when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "10 us"))]
    pub cross: Option<Time>,
    /// Bandwidth between the SRAM and that memory controller in each direction (bandwidth); "25.6 GB/s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "100 MB/s", "x-max" = "10 TB/s"))]
    pub bandwidth: Option<Bandwidth>,
    /// Maximum number of packets of the host that wait for a ring; further packets are dropped. As many packets from
    /// other DIMMs may wait; further ones stay in their rings. 1000 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub queue: Option<u32>,
    /// Maximum number of DIMMs in a channel; 4 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub slots: Option<u32>,
    /// Core of the host on which the driver reads the rings; the last one when absent. On a DIMM it is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1023))]
    pub core: Option<u32>,
    /// True if the driver steers packets unprocessed to the cores of their applications (receive packet steering);
    /// false when absent. Otherwise the kernel processes them on the core that reads the rings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steer: Option<bool>,
}

/// Optimisation level of a memory channel network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum McnLevelSpec {
    /// The host polls the DIMMs periodically.
    #[default]
    Mcn0,
    /// DIMMs interrupt the host.
    Mcn1,
    /// No checksums are computed.
    Mcn2,
    /// MTU of 9000 B.
    Mcn3,
    /// TCP segments are not split into packets.
    Mcn4,
    /// DMA engines move the lines.
    Mcn5,
}

/// Values of the keys of an [`McnSpec`]: those given, and else those of its level or the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McnKeys {
    /// Interval between two reads of the poll words, in ps.
    pub poll_ps: u64,
    /// True if the buffer device interrupts the host (ALERT_N).
    pub alert: bool,
    /// True if the network stack computes checksums.
    pub checksum: bool,
    /// MTU of the interfaces, in bytes.
    pub mtu_bytes: u32,
    /// True if large segments cross the interface uncut.
    pub tso: bool,
    /// Largest segment that the stack hands to the driver, in bytes.
    pub gso_bytes: u32,
    /// Lines that a copy engine has in flight; `None` = the cores copy.
    pub dma_lines: Option<u32>,
    /// Bytes of a ring.
    pub ring_bytes: u32,
    /// True if the driver orders its writes with a fence.
    pub fence: bool,
    /// Clocks of a core to copy a line.
    pub copy_clocks: u32,
    /// Clocks of a core to add a line to a checksum.
    pub checksum_clocks: u32,
    /// Clocks of a core to invalidate a line after it was read.
    pub drop_clocks: u32,
    /// Latency from the interrupt to the driver, in ps.
    pub interrupt_ps: u64,
    /// Work of an interrupt or a timer before the driver reads the poll words, in ps.
    pub poll_work_ps: u64,
    /// Latency between the SRAM and the memory controller of the DIMM's processor in one direction, in ps.
    pub cross_ps: u64,
    /// Bandwidth of the SRAM and of this link in each direction, in bytes per second.
    pub bytes_per_s: u64,
    /// Maximum number of packets of the host that wait for a ring.
    pub queue_packets: u32,
    /// Maximum number of DIMMs in a channel.
    pub slots: u32,
    /// True if the driver steers packets to the cores of their applications.
    pub steer: bool,
}

impl McnSpec {
    /// Returns the values of all keys: those given, and else those of the level or the defaults.
    pub fn keys(&self) -> McnKeys {
        let from = |level| self.level.unwrap_or_default() >= level;
        let time = |given: Option<Time>, ps| given.map_or(ps, |Time(ps)| ps);
        let mtu = if from(McnLevelSpec::Mcn3) { 9000 } else { 1500 };
        let mtu_bytes = self.mtu.map_or(mtu, |Size(bytes)| bytes as u32);
        // Two rings of 47 KiB share 96 KB of SRAM (M. Alian, thesis, 4.3.1); that both are alike is assumed.
        let ring_bytes = self.rings.map_or(47 << 10, |Size(bytes)| bytes as u32);
        // Half a ring for a segment is assumed (docs/models/mcn.md, Sources).
        let gso = largest_ring_packet(ring_bytes / 2).max(mtu_bytes);
        let dma = self.dma.unwrap_or(from(McnLevelSpec::Mcn5));
        McnKeys {
            poll_ps: time(self.poll, 5_000_000),
            alert: self.alert.unwrap_or(from(McnLevelSpec::Mcn1)),
            checksum: self.checksum.unwrap_or(!from(McnLevelSpec::Mcn2)),
            mtu_bytes,
            tso: self.tso.unwrap_or(from(McnLevelSpec::Mcn4)),
            gso_bytes: self.gso.map_or(gso, |Size(bytes)| bytes as u32),
            dma_lines: dma.then(|| self.dma_lines.unwrap_or(16)),
            ring_bytes,
            fence: self.fence.unwrap_or(true),
            // Eight words of 8 B, one per clock, are assumed (docs/models/mcn.md, Sources).
            copy_clocks: self.copy_clocks.unwrap_or(8),
            checksum_clocks: self.checksum_clocks.unwrap_or(8),
            drop_clocks: self.drop_clocks.unwrap_or(4),
            interrupt_ps: time(self.interrupt, 1_000_000),
            poll_work_ps: time(self.poll_work, 500_000),
            // An on-chip interconnect as fast as a channel of DDR4-3200 is assumed (docs/models/mcn.md, Sources).
            cross_ps: time(self.cross, 10_000),
            bytes_per_s: self.bandwidth.map_or(25_600_000_000, |Bandwidth(bytes)| bytes),
            queue_packets: self.queue.unwrap_or(1000),
            slots: self.slots.unwrap_or(4),
            steer: self.steer.unwrap_or(false),
        }
    }

    /// Returns a copy with every value written out, for a host with `cores` cores.
    pub fn complete(&self, cores: u32) -> Self {
        let keys = self.keys();
        Self {
            level: Some(self.level.unwrap_or_default()),
            poll: Some(Time(keys.poll_ps)),
            alert: Some(keys.alert),
            checksum: Some(keys.checksum),
            mtu: Some(Size(keys.mtu_bytes.into())),
            tso: Some(keys.tso),
            gso: Some(Size(keys.gso_bytes.into())),
            dma: Some(keys.dma_lines.is_some()),
            dma_lines: Some(self.dma_lines.unwrap_or(16)),
            rings: Some(Size(keys.ring_bytes.into())),
            fence: Some(keys.fence),
            copy_clocks: Some(keys.copy_clocks),
            checksum_clocks: Some(keys.checksum_clocks),
            drop_clocks: Some(keys.drop_clocks),
            interrupt: Some(Time(keys.interrupt_ps)),
            poll_work: Some(Time(keys.poll_work_ps)),
            cross: Some(Time(keys.cross_ps)),
            bandwidth: Some(Bandwidth(keys.bytes_per_s)),
            queue: Some(keys.queue_packets),
            slots: Some(keys.slots),
            core: Some(self.core.unwrap_or(cores.saturating_sub(1))),
            steer: Some(keys.steer),
        }
    }
}

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
