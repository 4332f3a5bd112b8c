//! Builds memory channels.

use super::SocketBuilder;
use hostnet_model::expander::Expander;
use hostnet_model::memory::Channel;
use hostnet_model::PartKind;

impl SocketBuilder<'_> {
    /// Builds the memory behind a CXL link, if there is any.
    pub(super) fn expander(&self) -> Option<Expander> {
        let id = self.layout.of(PartKind::Expander).first();
        let params = self.params.expander.as_deref()?;
        Some(Expander::new(params, id, self.layout.home(), self.server.classes))
    }

    pub(super) fn channels(&self) -> Vec<Channel> {
        let (memory, cha) = (&self.params.memory, &self.params.cha);
        let channel = |number| {
            let (dram, controller) = (&memory.dram, &memory.controller);
            let to = self.layout.home();
            let nearer_ps = self.params.die.as_ref().map_or(0, |die| die.nearer_ps(&die.channels, &die.slices));
            let buffers = self.params.mcn.as_ref().map(|_| self.layout.of(PartKind::Mcn).first());
            let channel =
                Channel::new(dram, controller, to, cha.from_mc_ps, cha.write_ack_ps, self.server.classes, number)
                    .with_quicker_answers(nearer_ps)
                    .with_buffer_devices(buffers);
            let has_jobs = self.server.attachment.as_ref().is_some_and(|at| !at.cluster.jobs.is_empty());
            // The critical path of a job needs the busy times of its resources.
            let channel = if has_jobs { channel.watched() } else { channel };
            match self.params.dimm.as_ref().filter(|dimm| dimm.channel == number) {
                Some(dimm) => channel.with_dimm(self.layout.of(PartKind::Dimm).first(), dimm.command_ps),
                None => channel,
            }
        };
        (0..self.layout.of(PartKind::Channel).len()).map(channel).collect()
    }
}
