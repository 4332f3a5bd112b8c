//! Builds memory channels.

use super::{all, PartBuilder};
use crate::build::burst_converter::{BurstConverter, LINE_BITS};
use crate::build::SocketBuilder;
use hostnet_model::memory::Channel;
use hostnet_model::params::{DramParams, MapParams, MemoryControllerParams, SocketParams};
use hostnet_model::PartKind;

pub(super) const CHANNELS: PartBuilder = PartBuilder::new(
    PartKind::Channel,
    |params| params.memory.map.channels * params.memory.dram.subchannels,
    |socket| all(channels(socket)),
)
.in_bursts(coarsen);

fn channels(socket: &SocketBuilder) -> Vec<Channel> {
    let (memory, cha) = (&socket.params.memory, &socket.params.cha);
    let channel = |number| {
        let (dram, controller) = (&memory.dram, &memory.controller);
        let to = socket.layout.home();
        let nearer_ps = socket.params.die.as_ref().map_or(0, |die| die.nearer_ps(&die.channels, &die.slices));
        let buffers = socket.params.mcn.as_ref().map(|_| socket.layout.of(PartKind::Mcn).first());
        let channel =
            Channel::new(dram, controller, to, cha.from_mc_ps, cha.write_ack_ps, socket.server.classes, number)
                .with_quicker_answers(nearer_ps)
                .with_buffer_devices(buffers);
        let has_jobs = socket.server.attachment.as_ref().is_some_and(|at| !at.cluster.jobs.is_empty());
        // The critical path of a job needs the busy times of its resources.
        let channel = if has_jobs { channel.watched() } else { channel };
        match socket.params.dimm.as_ref().filter(|dimm| dimm.channel == number) {
            Some(dimm) => channel.with_dimm(socket.layout.of(PartKind::Dimm).first(), dimm.command_ps),
            None => channel,
        }
    };
    (0..socket.layout.of(PartKind::Channel).len()).map(channel).collect()
}

/// Converts the parameters to bursts.
fn coarsen(grain: &BurstConverter, socket: &mut SocketParams) {
    let memory = &mut socket.memory;
    memory.map = coarse_map(grain, &memory.map);
    memory.dram = coarse_dram(grain, &memory.dram, &memory.map);
    memory.controller = coarse_controller(grain, &memory.controller);
    memory.pages.run_bytes = grain.bytes(memory.pages.run_bytes);
    memory.pages.memory_bytes = grain.bytes(memory.pages.memory_bytes);
}

/// Removes the address bits below a burst. Selectors keep their remaining bits.
fn coarse_map(grain: &BurstConverter, map: &MapParams) -> MapParams {
    let within = (1_u64 << LINE_BITS) - 1;
    // A hash that loses a bit still spreads lines; a selector without bits selects always 0.
    let masks = |masks: &[u64]| masks.iter().map(|mask| grain.size.shrink(*mask) & !within).collect();
    let bits = |bits: &[u8]| {
        bits.iter()
            .filter_map(|&bit| u32::from(bit).checked_sub(grain.size.shift()))
            .filter(|&bit| bit >= LINE_BITS)
            .map(|bit| bit as u8)
            .collect()
    };
    MapParams {
        channels: map.channels,
        channel: masks(&map.channel),
        channel_bytes: if map.channel_bytes > 0 { grain.lines_of(map.channel_bytes) } else { 0 },
        subchannel: masks(&map.subchannel),
        rank: masks(&map.rank),
        bank_group: masks(&map.bank_group),
        bank: masks(&map.bank),
        column: bits(&map.column),
        row: bits(&map.row),
    }
}

/// Extends the timing of a column access to those of a burst, back to back in alternating bank groups.
fn coarse_dram(grain: &BurstConverter, dram: &DramParams, map: &MapParams) -> DramParams {
    let mut timing = dram.timing;
    timing.burst = grain.size.expand(timing.burst);
    timing.ccd_s = grain.size.expand(timing.ccd_s);
    timing.ccd_l = timing.ccd_l.max(timing.ccd_s);
    timing.ccd_l_wr = timing.ccd_l_wr.max(timing.ccd_s);
    DramParams { lines_per_row: 1 << map.column.len(), timing, ..dram.clone() }
}

fn coarse_controller(grain: &BurstConverter, controller: &MemoryControllerParams) -> MemoryControllerParams {
    let some = |lines: u32| if lines > 0 { grain.count(lines) } else { 0 };
    let wpq_entries = grain.count(controller.wpq_entries);
    let write_high = grain.count(controller.write_high).min(wpq_entries);
    MemoryControllerParams {
        rpq_entries: grain.count(controller.rpq_entries),
        wpq_entries,
        wpq_full_threshold: grain.count(controller.wpq_full_threshold),
        rpq_full_threshold: grain.count(controller.rpq_full_threshold),
        row_hits: some(controller.row_hits),
        write_high,
        // Rounding must keep the low watermark below the high one.
        write_low: grain.round(controller.write_low).min(write_high - 1),
        reads_per_mode: some(controller.reads_per_mode),
        reads_few: grain.round(controller.reads_few),
        writes_per_mode: some(controller.writes_per_mode),
        idle_writes: grain.count(controller.idle_writes),
        idle_reads: grain.round(controller.idle_reads),
        idle_hits: grain.round(controller.idle_hits),
        spare_writes: grain.count(controller.spare_writes),
        spare_clocks: grain.size.expand(controller.spare_clocks),
        ..controller.clone()
    }
}
