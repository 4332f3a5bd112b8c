//! State of servers at one time, for time series.

use super::ends::machines;
use super::meters::PowerTotals;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::control::Signals;
use hostnet_model::iio::Iio;
use hostnet_model::nic::Nic;
use hostnet_model::os::NetStack;
use hostnet_model::Machine;
use hostnet_model::World;
use serde::{Deserialize, Serialize};

/// State of a server at one time: running totals and levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostState {
    /// P2M-Write: credits times ps, and lines, since the start of the window.
    pub(crate) occupancy_area: u64,
    pub(crate) inserted_lines: u64,
    /// Bytes in the receive buffer of the NIC.
    pub(crate) buffer_bytes: u64,
    /// Packets that the NIC received and dropped since the start of the run.
    pub(crate) received: u64,
    pub(crate) dropped: u64,
    /// Bytes of the packets that the NIC received and sent since the start of the run.
    pub(crate) taken_bytes: u64,
    pub(crate) sent_bytes: u64,
    /// Bytes that applications on the server read since the start of the run.
    pub(crate) read_bytes: u64,
    /// Level and smoothed signals of the host congestion control, if there is one.
    pub(crate) control: Option<(u8, Signals)>,
    /// Totals of the cores, if their frequencies are managed.
    pub(crate) power: Option<PowerTotals>,
}

/// Returns the state of every server that this process simulates, with its number. The statistics of the world must
/// have been settled.
pub(crate) fn host_states(simulation: &Simulation<World>, now: Time) -> Vec<(usize, HostState)> {
    machines(simulation).map(|(number, machine)| (number, read_host_state(machine, now))).collect()
}

fn read_host_state(machine: &Machine, now: Time) -> HostState {
    let mut host_state = HostState::default();
    // A server has either a fluid memory or IIOs, so one of the two sums is 0.
    if let Some(memory) = machine.fluids().next() {
        let counts = memory.counts(now);
        host_state.occupancy_area = u64::try_from(counts.area[0]).unwrap_or(u64::MAX);
        host_state.inserted_lines = counts.lines[0];
    }
    for write in machine.each::<Iio>().map(Iio::write) {
        host_state.occupancy_area += write.area_ps();
        host_state.inserted_lines += write.classes().iter().map(|usage| usage.acquired()).sum::<u64>();
    }
    if let Some(nic) = machine.first::<Nic>() {
        host_state.buffer_bytes = nic.counters().buffer.value();
        host_state.received = nic.flows().iter().map(|flow| flow.received.packets).sum();
        host_state.dropped = nic.flows().iter().map(|flow| flow.dropped_in_all().packets).sum();
        host_state.taken_bytes = nic.flows().iter().map(|flow| flow.received.bytes).sum();
        host_state.sent_bytes = nic.flows().iter().map(|flow| flow.sent.bytes).sum();
    }
    let sockets = machine.engines::<NetStack>().flat_map(NetStack::sockets);
    host_state.read_bytes = sockets.map(|(_, _, _, application)| application.received_bytes()).sum();
    host_state.control = machine.control().map(|control| (control.level(), *control.signals()));
    host_state.power = PowerTotals::of(machine, now);
    host_state
}
