//! Builds a NIC in a DIMM: the buffer device, and the path of drivers to it.

use super::{all, PartBuilder};
use crate::build::nic_functions::queues;
use crate::build::SocketBuilder;
use hostnet_model::dimm::{Dimm, DimmWiring, PacketBuffers};
use hostnet_model::line::memory_of;
use hostnet_model::os::{AllocCache, DimmPath};
use hostnet_model::params::DimmParams;
use hostnet_model::PartKind;

pub(super) const DIMM: PartBuilder =
    PartBuilder::new(PartKind::Dimm, |params| params.dimm.is_some().into(), |socket| all(dimm(socket)));

/// Number of the memory node of the DIMM: that of a second socket. Servers with such a DIMM have one socket.
const NODE: u8 = 1;

/// Returns the number of rows of the DIMM, and of those that the driver of one core allocates from: one of each
/// sub-array.
fn rows(params: &DimmParams) -> [u32; 2] {
    let dram = &params.memory.dram;
    let banks = dram.ranks * dram.bank_groups * dram.banks_per_group;
    [banks * dram.rows, banks * params.clone.subarrays]
}

/// Builds the buffer device of the DIMM that the NIC sits in, if it sits in one.
fn dimm(socket: &SocketBuilder) -> Option<Dimm> {
    let params = socket.params.dimm.as_deref()?;
    let nic = socket.params.nic.as_ref()?;
    let id = socket.layout.of(PartKind::Dimm).first();
    let attachment = socket.server.attachment.as_ref();
    let serving = attachment.zip(socket.server.params.stack.as_ref()).map(|(at, stack)| at.cores(stack));
    let serving = serving.unwrap_or_default();
    let serving_count = serving.len() as u32;
    let buffers = queues(socket.server, nic, &serving).iter().map(|queue| PacketBuffers {
        line: queue.pool() / 64,
        lines: nic.pool_bytes / 64,
        step: u64::from(nic.descriptor_bytes) / 64,
    });
    let [all, own] = rows(params);
    // Rows for packets are taken from the end of the memory, one set per driver.
    let first = all - own * (nic.queues.max(serving_count));
    let wiring = DimmWiring {
        cloned_from: memory_of(NODE) / 64 + u64::from(first) * u64::from(params.memory.dram.lines_per_row),
        cha: socket.layout.home(),
        nic: socket.server.layout.nic(),
        channel: socket.layout.of(PartKind::Channel).get(params.channel),
        link: nic.pcie.clone(),
        to_cha_ps: socket.params.cha.from_mc_ps,
        to_core_ps: socket.params.core.from_cha_ps,
        buffers: buffers.collect(),
    };
    Some(Dimm::new(params, id, wiring, socket.server.component_rng(id), socket.server.classes))
}

/// Returns the path of the driver of a queue to the DIMM, if the NIC sits in one.
pub(crate) fn dimm_path(socket: &SocketBuilder, queue: u16) -> Option<DimmPath> {
    let params = socket.params.dimm.as_deref()?;
    let [all, own] = rows(params);
    Some(DimmPath {
        dimm: socket.layout.of(PartKind::Dimm).first(),
        to_dimm_ps: socket.params.core.to_cha_ps + socket.params.cha.core_write_to_mc_ps,
        driver: params.driver,
        lines_per_row: params.memory.dram.lines_per_row,
        packet_rows: socket.params.nic.as_ref()?.descriptor_bytes / 64 / params.memory.dram.lines_per_row,
        queue,
        rows: AllocCache::new(all - own * (u32::from(queue) + 1), own),
    })
}
