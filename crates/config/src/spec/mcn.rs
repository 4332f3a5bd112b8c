//! DIMMs with processors of their own in the memory slots of a host.

use super::values::{Bandwidth, Size, Time};
use hostnet_model::mcn::largest_packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a host and the DIMMs with processors in its slots talk (memory channel network). A level stands for single keys,
/// each of which may be given as well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct McnSpec {
    /// What is done to be quick; "mcn0" when absent. Each level has what those before have, and stands for single keys,
    /// each of which may be given as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) level: Option<McnLevelSpec>,
    /// Period in which the host's driver looks at the poll words of its DIMMs (time); "5 us" when absent. Without
    /// `alert`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "10 ns", "x-max" = "10 ms"))]
    pub(crate) poll: Option<Time>,
    /// Whether DIMMs interrupt the host (ALERT_N); true from level "mcn1" on. Those of a channel share the signal, so
    /// that the driver looks at all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) alert: Option<bool>,
    /// Whether checksums are computed; false from level "mcn2" on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checksum: Option<bool>,
    /// The largest packet on a ring, and the MTU of flows that have none and go over rings alone (size); "1500 B" when
    /// absent, "9000 B" from level "mcn3" on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "576 B", "x-max" = "65535 B"))]
    pub(crate) mtu: Option<Size>,
    /// Whether a segment of TCP goes as one packet, however long, if a ring holds it; true from level "mcn4" on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tso: Option<bool>,
    /// The largest packet with `tso` (size); half a ring when absent, so that one is written while another is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "576 B", "x-max" = "1 MiB"))]
    pub(crate) gso: Option<Size>,
    /// Whether engines move the lines, one on each DIMM and one per channel of the host, and not cores; true from level
    /// "mcn5" on. With `alert` and without `checksum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dma: Option<bool>,
    /// Lines that an engine has on their way at a time; 16 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) dma_lines: Option<u32>,
    /// Each of the two rings in the SRAM of a DIMM (size), whole lines of 64 B; "47 KiB" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "1 MiB"))]
    pub(crate) rings: Option<Size>,
    /// Whether the pointer of a message waits until the DIMM has all of the message; true when absent. Without that
    /// the channel may send the pointer first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fence: Option<bool>,
    /// Clocks of a core per line of 64 B that it moves from or to a ring, beyond what the line takes to come; 8 when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10000))]
    pub(crate) copy_clocks: Option<u32>,
    /// Clocks of the checksum per line, at either side; 8 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10000))]
    pub(crate) checksum_clocks: Option<u32>,
    /// Clocks that it takes to drop a line of a ring from the caches after it was read; 4 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10000))]
    pub(crate) drop_clocks: Option<u32>,
    /// From ALERT_N, or the interrupt line to the processor of a DIMM, to the driver (time); "1 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub(crate) interrupt: Option<Time>,
    /// Work of an interrupt or timer and its tasklet, before the driver reads the poll words (time); "0.5 us" when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) poll_work: Option<Time>,
    /// Between the SRAM and the memory controller of the DIMM's processor, in one direction (time); "10 ns" when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "10 us"))]
    pub(crate) cross: Option<Time>,
    /// What that way carries in either direction (bandwidth); "25.6 GB/s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "100 MB/s", "x-max" = "10 TB/s"))]
    pub(crate) bandwidth: Option<Bandwidth>,
    /// Packets of the host itself that wait for a ring at most, others are dropped; as many from other DIMMs, others
    /// stay in their rings. 1000 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) queue: Option<u32>,
    /// DIMMs in a channel at most; 4 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub(crate) slots: Option<u32>,
    /// The core of the host that the driver reads rings on; the last one when absent. On a DIMM it is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1023))]
    pub(crate) core: Option<u32>,
    /// Whether the driver hands packets to the cores of their applications as they are (receive packet steering); false
    /// when absent: the kernel works on them on the core that reads rings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) steer: Option<bool>,
}

/// What is done to be quick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum McnLevelSpec {
    /// The host looks at the poll words from time to time.
    #[default]
    Mcn0,
    /// DIMMs interrupt the host.
    Mcn1,
    /// Nobody computes checksums.
    Mcn2,
    /// Packets of 9000 B.
    Mcn3,
    /// Segments are not cut.
    Mcn4,
    /// Engines move the lines.
    Mcn5,
}

/// The keys of an [`McnSpec`] with what levels and defaults say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct McnKeys {
    pub(crate) poll_ps: u64,
    pub(crate) alert: bool,
    pub(crate) checksum: bool,
    pub(crate) mtu_bytes: u32,
    pub(crate) tso: bool,
    pub(crate) gso_bytes: u32,
    pub(crate) dma_lines: Option<u32>,
    pub(crate) ring_bytes: u32,
    pub(crate) fence: bool,
    pub(crate) copy_clocks: u32,
    pub(crate) checksum_clocks: u32,
    pub(crate) drop_clocks: u32,
    pub(crate) interrupt_ps: u64,
    pub(crate) poll_work_ps: u64,
    pub(crate) cross_ps: u64,
    pub(crate) bytes_per_s: u64,
    pub(crate) queue_packets: u32,
    pub(crate) slots: u32,
    pub(crate) steer: bool,
}

impl McnSpec {
    /// Every key, with what the level or the default says where none is given.
    pub(crate) fn keys(&self) -> McnKeys {
        let from = |level| self.level.unwrap_or_default() >= level;
        let time = |given: Option<Time>, ps| given.map_or(ps, |Time(ps)| ps);
        let mtu = if from(McnLevelSpec::Mcn3) { 9000 } else { 1500 };
        let mtu_bytes = self.mtu.map_or(mtu, |Size(bytes)| bytes as u32);
        let ring_bytes = self.rings.map_or(47 << 10, |Size(bytes)| bytes as u32);
        let gso = largest_packet(ring_bytes / 2).max(mtu_bytes);
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
            copy_clocks: self.copy_clocks.unwrap_or(8),
            checksum_clocks: self.checksum_clocks.unwrap_or(8),
            drop_clocks: self.drop_clocks.unwrap_or(4),
            interrupt_ps: time(self.interrupt, 1_000_000),
            poll_work_ps: time(self.poll_work, 500_000),
            cross_ps: time(self.cross, 10_000),
            bytes_per_s: self.bandwidth.map_or(25_600_000_000, |Bandwidth(bytes)| bytes),
            queue_packets: self.queue.unwrap_or(1000),
            slots: self.slots.unwrap_or(4),
            steer: self.steer.unwrap_or(false),
        }
    }

    /// The same with every value written out, for a host with so many cores.
    pub(crate) fn complete(&self, cores: u32) -> Self {
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
