//! The first events.

use hostnet_kernel::{ComponentId, Scheduler};
use hostnet_model::{Component, Machine, Payload};

/// The first events: LFB entries become free one after the other, jobs submit their commands.
pub(super) fn start(machine: &mut Machine, scheduler: &mut Scheduler<Payload>) {
    let layout = machine.layout();
    for (index, component) in machine.components_mut().iter_mut().enumerate() {
        let id = ComponentId(layout.core + index as u32);
        match component {
            Component::Core(core) if core.is_busy() => {
                for entry in 0..core.lfb().capacity() {
                    scheduler.send(id, id, 1 + u64::from(entry) * 1000 + index as u64 * 137, Payload::Refill);
                }
            }
            Component::CachedCore(core) if core.is_busy() => {
                scheduler.send(id, id, 1 + index as u64 * 137, Payload::Step);
            }
            Component::Channel(channel) => {
                if let Some((delay, wake)) = channel.first_wake() {
                    scheduler.send(id, id, delay, wake);
                }
            }
            Component::Ssd(ssd) => {
                for (job, commands) in ssd.initial_commands() {
                    for command in 0..commands {
                        let delay = 1 + u64::from(command) * 500_000 + index as u64 * 17_389;
                        scheduler.send(id, id, delay, Payload::Submit { job });
                    }
                }
            }
            Component::NetCore(core) => {
                for (delay, payload) in core.starts() {
                    scheduler.send(id, id, delay, payload);
                }
            }
            Component::Nic(nic) => {
                for (delay, payload) in nic.starts() {
                    scheduler.send(id, id, delay, payload);
                }
            }
            Component::Probe(_) => scheduler.send(id, id, 1 + index as u64 * 137, Payload::Step),
            Component::Control(control) => {
                for (delay, payload) in control.first_reads() {
                    scheduler.send(id, ComponentId(layout.iio), delay, payload);
                }
            }
            _ => {}
        }
    }
}
