//! Builds memory channels.

use super::{all, PartBuilder};
use crate::build::SocketBuilder;
use hostnet_model::memory::Channel;
use hostnet_model::PartKind;

pub(super) const CHANNELS: PartBuilder = PartBuilder::new(
    PartKind::Channel,
    |params| params.memory.map.channels * params.memory.dram.subchannels,
    |socket| all(channels(socket)),
);

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
