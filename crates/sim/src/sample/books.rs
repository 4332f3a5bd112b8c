//! The books of a machine: brought up to a moment, or begun anew.

use hostnet_kernel::Time;
use hostnet_measure::Domain;
use hostnet_model::cha::Cha;
use hostnet_model::{Component, Machine};

/// Settles every domain and level at `now`, so that areas and means speak of this moment.
pub fn settle(machine: &mut Machine, now: Time) {
    for_each_domain(machine, |domain| domain.settle_all(now));
    for_each_cha(machine, |cha| cha.settle(now));
    for component in machine.components_mut() {
        match component {
            Component::Nic(nic) => nic.settle(now),
            Component::Control(control) => control.settle(now),
            _ => {}
        }
    }
    if let Some(memory) = machine.fluid_mut() {
        memory.settle(now);
    }
}

/// Starts a new measuring window at `now`.
pub fn reset(machine: &mut Machine, now: Time) {
    for_each_domain(machine, |domain| domain.reset(now));
    for_each_cha(machine, |cha| cha.reset(now));
    for component in machine.components_mut() {
        match component {
            Component::Channel(channel) => channel.controller_mut().reset_counters(now),
            Component::Ssd(ssd) => ssd.reset_services(),
            Component::CachedCore(core) => core.reset_operations(),
            Component::NetCore(core) => core.reset(now),
            Component::Nic(nic) => nic.reset(now),
            Component::Control(control) => control.reset(now),
            _ => {}
        }
    }
    if let Some(caches) = machine.caches_mut() {
        caches.reset_counts();
    }
    if let Some(memory) = machine.fluid_mut() {
        memory.reset(now);
    }
}

fn for_each_cha(machine: &mut Machine, mut action: impl FnMut(&mut Cha)) {
    for component in machine.components_mut() {
        if let Component::Cha(cha) = component {
            action(cha);
        }
    }
}

/// Every domain but those of the CHAs, which depend on each other.
fn for_each_domain(machine: &mut Machine, mut action: impl FnMut(&mut Domain)) {
    for component in machine.components_mut() {
        match component {
            Component::Core(core) => core.domains_mut().into_iter().for_each(&mut action),
            Component::CachedCore(core) => core.domains_mut().into_iter().for_each(&mut action),
            Component::NetCore(core) => core.domains_mut().into_iter().for_each(&mut action),
            Component::Cha(_) => {}
            Component::Channel(channel) => channel.controller_mut().domains_mut().into_iter().for_each(&mut action),
            Component::Iio(iio) => iio.domains_mut().into_iter().for_each(&mut action),
            Component::Ssd(ssd) => ssd.domains_mut().into_iter().for_each(&mut action),
            Component::Nic(nic) => nic.domains_mut().into_iter().for_each(&mut action),
            Component::Upi(upi) => upi.domains_mut().into_iter().for_each(&mut action),
            Component::Control(_) | Component::Fluid => {}
            Component::Probe(probe) => probe.domains_mut().into_iter().for_each(&mut action),
        }
    }
}
