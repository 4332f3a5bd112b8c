//! A world at one moment, and its books up to then.

use super::ends::machines;
use crate::sample;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::control::Signals;
use hostnet_model::ether::World;
use hostnet_model::iio::Iio;
use hostnet_model::nic::Nic;
use hostnet_model::os::NetCore;
use hostnet_model::Machine;
use serde::{Deserialize, Serialize};

/// A server at one moment: running totals, and levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HostMoment {
    /// P2M-Write: credits times ps, and lines, since the start of the window.
    pub(super) occupancy_area: u64,
    pub(super) inserted_lines: u64,
    /// Bytes in the receive buffer of the NIC.
    pub(super) buffer_bytes: u64,
    /// Packets that the NIC received and dropped since the start of the run.
    pub(super) received: u64,
    pub(super) dropped: u64,
    /// Bytes that applications here read since the start of the run.
    pub(super) read_bytes: u64,
    /// Of what watches the host: its level, and its smoothed signals.
    pub(super) control: Option<(u8, Signals)>,
}

/// A world at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Moment {
    pub(super) at: Time,
    /// Of each server, in the order of the partitions.
    pub(super) hosts: Vec<HostMoment>,
}

impl Moment {
    pub(super) fn read(simulation: &mut Simulation<World>, now: Time) -> Self {
        simulation.parts_mut().iter_mut().for_each(|part| settle(&mut part.0, now));
        Self { at: now, hosts: machines(simulation).map(|machine| host_moment(machine, now)).collect() }
    }
}

fn host_moment(machine: &Machine, now: Time) -> HostMoment {
    let mut moment = HostMoment::default();
    if let Some(memory) = machine.fluid() {
        let counts = memory.counts(now);
        moment.occupancy_area = u64::try_from(counts.area[0]).unwrap_or(u64::MAX);
        moment.inserted_lines = counts.lines[0];
    }
    if let Some(iio) = machine.first::<Iio>() {
        moment.occupancy_area = iio.write().area_ps();
        moment.inserted_lines = iio.write().classes().iter().map(|usage| usage.acquired()).sum();
    }
    if let Some(nic) = machine.first::<Nic>() {
        moment.buffer_bytes = nic.counters().buffer.value();
        moment.received = nic.flows().iter().map(|flow| flow.received.packets).sum();
        moment.dropped = nic.flows().iter().map(|flow| flow.dropped_in_all().packets).sum();
    }
    let sockets = machine.each::<NetCore>().flat_map(NetCore::sockets);
    moment.read_bytes = sockets.map(|(_, _, _, application)| application.received_bytes()).sum();
    moment.control = machine.control().map(|control| (control.level(), *control.signals()));
    moment
}

/// Starts a new measuring window.
pub(super) fn reset(world: &mut World, now: Time) {
    match world {
        World::Server(machine) => sample::reset(machine, now),
        World::Fabric(fabric) => fabric.reset(now),
    }
}

/// Brings every domain and level up to `now`.
pub(super) fn settle(world: &mut World, now: Time) {
    match world {
        World::Server(machine) => sample::settle(machine, now),
        World::Fabric(fabric) => fabric.settle(now),
    }
}
