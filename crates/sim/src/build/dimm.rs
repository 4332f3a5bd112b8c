//! Builds a NIC in a DIMM: the buffer device, and the path of drivers to it.

use super::SocketBuilder;
use hostnet_model::dimm::{Dimm, DimmWiring, PacketBuffers};
use hostnet_model::line::memory_of;
use hostnet_model::os::{AllocCache, DimmPath};
use hostnet_model::params::DimmParams;
use hostnet_model::PartKind;

/// Number of the memory node of the DIMM: that of a second socket. Servers with such a DIMM have one socket.
const NODE: u8 = 1;

/// Returns the number of rows of the DIMM, and of those that the driver of one core allocates from: one of each
/// sub-array.
fn rows(params: &DimmParams) -> [u32; 2] {
    let dram = &params.memory.dram;
    let banks = dram.ranks * dram.bank_groups * dram.banks_per_group;
    [banks * dram.rows, banks * params.clone.subarrays]
}

impl SocketBuilder<'_> {
    /// Builds the buffer device of the DIMM that the NIC sits in, if it sits in one.
    pub(super) fn dimm(&self) -> Option<Dimm> {
        let params = self.params.dimm.as_deref()?;
        let nic = self.params.nic.as_ref()?;
        let id = self.layout.of(PartKind::Dimm).first();
        let attachment = self.server.attachment.as_ref();
        let serving = attachment.zip(self.server.params.stack.as_ref()).map(|(at, stack)| at.cores(stack));
        let serving = serving.unwrap_or_default();
        let serving_count = serving.len() as u32;
        let buffers = self.server.queues(nic, &serving).iter().map(|queue| PacketBuffers {
            line: queue.pool() / 64,
            lines: nic.pool_bytes / 64,
            step: u64::from(nic.descriptor_bytes) / 64,
        });
        let [all, own] = rows(params);
        let first = all - own * (nic.queues.max(serving_count));
        let wiring = DimmWiring {
            cloned_from: memory_of(NODE) / 64 + u64::from(first) * u64::from(params.memory.dram.lines_per_row),
            cha: self.layout.home(),
            nic: self.server.layout.nic(),
            channel: self.layout.of(PartKind::Channel).get(params.channel),
            link: nic.pcie.clone(),
            to_cha_ps: self.params.cha.from_mc_ps,
            to_core_ps: self.params.core.from_cha_ps,
            buffers: buffers.collect(),
        };
        Some(Dimm::new(params, id, wiring, self.server.component_rng(id), self.server.classes))
    }

    /// Returns the path of the driver of a queue to the DIMM, if the NIC sits in one.
    pub(super) fn dimm_way(&self, queue: u16) -> Option<DimmPath> {
        let params = self.params.dimm.as_deref()?;
        let [all, own] = rows(params);
        Some(DimmPath {
            dimm: self.layout.of(PartKind::Dimm).first(),
            to_dimm_ps: self.params.core.to_cha_ps + self.params.cha.core_write_to_mc_ps,
            driver: params.driver,
            lines_per_row: params.memory.dram.lines_per_row,
            packet_rows: self.params.nic.as_ref()?.descriptor_bytes / 64 / params.memory.dram.lines_per_row,
            queue,
            rows: AllocCache::new(all - own * (u32::from(queue) + 1), own),
        })
    }
}
