//! What a world has done so far, read off its parts.

use hostnet_kernel::{Simulation, Time};
use hostnet_model::control::Signals;
use hostnet_model::ether::{PausedPort, World};
use hostnet_model::flow::Application;
use hostnet_model::nic::DropReason;
use hostnet_model::params::{ClusterParams, End, Traffic};
use hostnet_model::transport::roce::RoceConnection;
use hostnet_model::transport::tcp::{Connection, Counters};
use hostnet_model::{Component, Machine};
use serde::{Deserialize, Serialize};

use crate::run::SimulationError;
use crate::sample::{self, Group};

/// What both ends of a flow and all that lies between them did since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FlowTotals {
    /// Bytes that applications read: at the end that was addressed, and at the one that began.
    pub(super) received_bytes: [u64; 2],
    /// Packets with data that were sent, those sent again among them.
    pub(super) sent_packets: u64,
    pub(super) retransmitted_packets: u64,
    pub(super) timeouts: u64,
    pub(super) probes: u64,
    /// Segments with data that came marked, and packets that a host marked.
    pub(super) marked_segments: u64,
    pub(super) marked_by_host: u64,
    /// Packets that came to NICs, and that NICs dropped because their buffer was full, for want of a descriptor, or damaged.
    pub(super) nic_received: u64,
    pub(super) nic_full: u64,
    pub(super) nic_ring: u64,
    pub(super) nic_other: u64,
    /// Packets that switches and cables dropped.
    pub(super) fabric_dropped: u64,
    /// Packets of any kind that ports of hosts sent, and that came to hosts.
    pub(super) host_sent: u64,
    pub(super) host_received: u64,
    /// RoCE: packets with data thrown away because of a hole before them, or because they had come before; notifications that
    /// DCQCN sent.
    pub(super) out_of_order: u64,
    pub(super) duplicates: u64,
    pub(super) notifications: u64,
    /// Segments that transports have seen, for progress.
    pub(super) seen: u64,
}

impl FlowTotals {
    fn add_end(&mut self, initiator: bool, connection: &Connection, application: &Application) {
        self.received_bytes[usize::from(initiator)] += application.received_bytes();
        let Counters {
            packets_sent,
            packets_retransmitted,
            timeouts,
            probes,
            segments_marked,
            segments_received,
            acks_received,
            ..
        } = *connection.counters();
        self.sent_packets += packets_sent + packets_retransmitted;
        self.retransmitted_packets += packets_retransmitted;
        self.timeouts += timeouts;
        self.probes += probes;
        self.marked_segments += segments_marked;
        self.seen += segments_received + acks_received;
    }

    fn add_rdma(&mut self, initiator: bool, connection: &RoceConnection) {
        let counts = connection.counters();
        self.received_bytes[usize::from(initiator)] += counts.bytes_received;
        self.sent_packets += counts.packets_sent + counts.packets_retransmitted;
        self.retransmitted_packets += counts.packets_retransmitted;
        self.timeouts += counts.timeouts;
        self.marked_segments += counts.packets_marked;
        self.out_of_order += counts.packets_out_of_order;
        self.duplicates += counts.packets_duplicate;
        self.notifications += counts.notifications_sent;
        self.seen += counts.packets_received + counts.packets_out_of_order + counts.packets_duplicate;
    }

    /// Packets that NICs dropped.
    pub(super) fn nic_dropped(&self) -> u64 {
        self.nic_full + self.nic_ring + self.nic_other
    }

    /// What was added since `before`.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            received_bytes: [0, 1].map(|end| self.received_bytes[end] - before.received_bytes[end]),
            sent_packets: self.sent_packets - before.sent_packets,
            retransmitted_packets: self.retransmitted_packets - before.retransmitted_packets,
            timeouts: self.timeouts - before.timeouts,
            probes: self.probes - before.probes,
            marked_segments: self.marked_segments - before.marked_segments,
            marked_by_host: self.marked_by_host - before.marked_by_host,
            nic_received: self.nic_received - before.nic_received,
            nic_full: self.nic_full - before.nic_full,
            nic_ring: self.nic_ring - before.nic_ring,
            nic_other: self.nic_other - before.nic_other,
            fabric_dropped: self.fabric_dropped - before.fabric_dropped,
            host_sent: self.host_sent - before.host_sent,
            host_received: self.host_received - before.host_received,
            out_of_order: self.out_of_order - before.out_of_order,
            duplicates: self.duplicates - before.duplicates,
            notifications: self.notifications - before.notifications,
            seen: self.seen - before.seen,
        }
    }

    /// Both together.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            received_bytes: [0, 1].map(|end| self.received_bytes[end] + other.received_bytes[end]),
            sent_packets: self.sent_packets + other.sent_packets,
            retransmitted_packets: self.retransmitted_packets + other.retransmitted_packets,
            timeouts: self.timeouts + other.timeouts,
            probes: self.probes + other.probes,
            marked_segments: self.marked_segments + other.marked_segments,
            marked_by_host: self.marked_by_host + other.marked_by_host,
            nic_received: self.nic_received + other.nic_received,
            nic_full: self.nic_full + other.nic_full,
            nic_ring: self.nic_ring + other.nic_ring,
            nic_other: self.nic_other + other.nic_other,
            fabric_dropped: self.fabric_dropped + other.fabric_dropped,
            host_sent: self.host_sent + other.host_sent,
            host_received: self.host_received + other.host_received,
            out_of_order: self.out_of_order + other.out_of_order,
            duplicates: self.duplicates + other.duplicates,
            notifications: self.notifications + other.notifications,
            seen: self.seen + other.seen,
        }
    }
}

/// The ends of TCP flows of a partition: flow, host, connection, application.
pub(super) fn ends(world: &World) -> Vec<(u32, u16, &Connection, &Application)> {
    match world {
        World::Server(machine) => {
            let cores = machine.components().iter().filter_map(|component| match component {
                Component::NetCore(core) => Some(core),
                _ => None,
            });
            let sockets = cores.flat_map(|core| core.sockets());
            sockets
                .map(|(params, _, connection, application)| (params.flow, params.host, connection, application))
                .collect()
        }
        World::Fabric(fabric) => {
            let ends = fabric.endpoints().flat_map(|endpoint| endpoint.ends());
            ends.filter_map(|end| {
                let stream = end.stream()?;
                Some((end.flow(), end.host(), stream.connection(), stream.application()))
            })
            .collect()
        }
    }
}

/// The ends of RoCE flows of a partition: flow, host, connection.
pub(super) fn rdma_ends(world: &World) -> Vec<(u32, u16, &RoceConnection)> {
    match world {
        World::Server(machine) => {
            let nics = machine.components().iter().filter_map(|component| match component {
                Component::Nic(nic) => Some(nic),
                _ => None,
            });
            nics.flat_map(|nic| nic.rdma()).map(|end| (end.flow, end.hosts[0], &end.connection)).collect()
        }
        World::Fabric(fabric) => {
            let ends = fabric.endpoints().flat_map(|endpoint| endpoint.ends());
            ends.filter_map(|end| Some((end.flow(), end.host(), end.memory()?))).collect()
        }
    }
}

/// Whether a flow's packets are those of a capture: they belong to no transport and end where they come in.
fn is_replay(cluster: &ClusterParams, flow: usize) -> bool {
    matches!(cluster.flows[flow].traffic, Traffic::Replay { .. })
}

/// The totals of all flows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Totals {
    pub(super) flows: Vec<FlowTotals>,
}

impl Totals {
    pub(super) fn read(simulation: &Simulation<World>, cluster: &ClusterParams) -> Self {
        let mut totals = Self { flows: vec![FlowTotals::default(); cluster.flows.len()] };
        for world in simulation.worlds() {
            for (flow, host, connection, application) in ends(world) {
                let initiator = cluster.flows[flow as usize].from == host;
                totals.flows[flow as usize].add_end(initiator, connection, application);
            }
            for (flow, host, connection) in rdma_ends(world) {
                let initiator = cluster.flows[flow as usize].from == host;
                totals.flows[flow as usize].add_rdma(initiator, connection);
            }
            totals.count(world, cluster);
        }
        totals
    }

    fn count(&mut self, world: &World, cluster: &ClusterParams) {
        match world {
            World::Server(machine) => {
                machine.components().iter().for_each(|component| self.count_part(component, cluster));
            }
            World::Fabric(fabric) => {
                let switches = fabric.switches().map(|switch| switch.drops());
                let endpoints = fabric.endpoints().map(|endpoint| endpoint.drops());
                for (flow, _, packets) in switches.chain(endpoints).flat_map(|drops| drops.flows()) {
                    self.flows[flow as usize].fabric_dropped += packets;
                }
                for end in fabric.endpoints().flat_map(|endpoint| endpoint.ends()) {
                    let totals = &mut self.flows[end.flow() as usize];
                    totals.host_sent += end.sent_packets();
                    totals.host_received += end.received_packets();
                    if is_replay(cluster, end.flow() as usize) {
                        totals.sent_packets += end.sent_packets();
                        totals.received_bytes[0] += end.received_bytes();
                    }
                }
            }
        }
    }

    fn count_part(&mut self, component: &Component, cluster: &ClusterParams) {
        match component {
            Component::Nic(nic) => {
                for (number, (totals, flow)) in self.flows.iter_mut().zip(nic.flows()).enumerate() {
                    let dropped = |reason| flow.dropped(reason).packets;
                    totals.host_sent += flow.sent.packets;
                    totals.host_received += flow.received.packets;
                    totals.fabric_dropped += flow.lost.packets;
                    totals.nic_received += flow.received.packets;
                    totals.nic_full += dropped(DropReason::BufferFull);
                    totals.nic_ring += dropped(DropReason::NoDescriptor);
                    totals.nic_other +=
                        dropped(DropReason::Corrupt) + dropped(DropReason::TooLong) + dropped(DropReason::NoQueue);
                    if is_replay(cluster, number) {
                        totals.received_bytes[0] += flow.delivered.bytes;
                    }
                }
            }
            Component::NetCore(core) => {
                for (params, counts, _, _) in core.sockets() {
                    self.flows[params.flow as usize].marked_by_host += counts.marked_by_host;
                }
            }
            _ => {}
        }
    }

    /// All that moves on while a world is not stuck.
    pub(super) fn moved(&self) -> u64 {
        self.flows.iter().map(|flow| flow.seen + flow.nic_received + flow.received_bytes.iter().sum::<u64>()).sum()
    }

    /// Bytes that applications of a class read, at either end.
    pub(super) fn received(&self, cluster: &ClusterParams, class: usize) -> u64 {
        let own = self.flows.iter().zip(&cluster.flows).filter(|(_, flow)| usize::from(flow.class) == class);
        own.map(|(totals, _)| totals.received_bytes.iter().sum::<u64>()).sum()
    }
}

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
        let hosts = simulation.worlds().filter_map(|world| match world {
            World::Server(machine) => Some(host_moment(machine, now)),
            World::Fabric(_) => None,
        });
        Self { at: now, hosts: hosts.collect() }
    }
}

fn host_moment(machine: &Machine, now: Time) -> HostMoment {
    let mut moment = HostMoment::default();
    if let Some(memory) = machine.fluid() {
        let counts = memory.counts(now);
        moment.occupancy_area = u64::try_from(counts.area[0]).unwrap_or(u64::MAX);
        moment.inserted_lines = counts.lines[0];
    }
    for component in machine.components() {
        match component {
            Component::Iio(iio) => {
                moment.occupancy_area = iio.write().area_ps();
                moment.inserted_lines = iio.write().classes().iter().map(|usage| usage.acquired()).sum();
            }
            Component::Nic(nic) => {
                moment.buffer_bytes = nic.counters().buffer.value();
                moment.received = nic.flows().iter().map(|flow| flow.received.packets).sum();
                moment.dropped = nic.flows().iter().map(|flow| flow.dropped_in_all().packets).sum();
            }
            Component::NetCore(core) => {
                moment.read_bytes +=
                    core.sockets().map(|(_, _, _, application)| application.received_bytes()).sum::<u64>();
            }
            Component::Control(control) => moment.control = Some((control.level(), *control.signals())),
            _ => {}
        }
    }
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

/// Lines that cores and devices of servers have begun since the window began: what moves on where no packet does.
pub(super) fn lines_moved(simulation: &Simulation<World>) -> u64 {
    let servers = simulation.worlds().filter_map(|world| match world {
        World::Server(machine) => Some(&**machine),
        World::Fabric(_) => None,
    });
    let groups = [Group::Lfb, Group::P2mWrite, Group::P2mRead];
    let begun = |machine: &Machine| -> u64 {
        let domains = groups.iter().flat_map(|&group| sample::domains(machine, group));
        domains.flat_map(|(_, domain)| domain.classes()).map(|usage| usage.acquired()).sum()
    };
    servers.map(begun).sum()
}

/// Whether lines or packets are on their way.
pub(super) fn is_busy(simulation: &Simulation<World>) -> bool {
    simulation.worlds().any(|world| match world {
        World::Server(machine) => !machine.requests().is_empty() || !machine.packets().is_empty(),
        World::Fabric(fabric) => !fabric.packets().is_empty(),
    })
}

/// What to say of a world whose pauses wait for each other, if they do.
pub(super) fn deadlock(simulation: &Simulation<World>, cluster: &ClusterParams, now: Time) -> Option<SimulationError> {
    let cycles = simulation.worlds().filter_map(|world| match world {
        World::Server(_) => None,
        World::Fabric(fabric) => Some(fabric.deadlock()),
    });
    let cycle: Vec<String> = cycles.flatten().map(|port| name_of(port, cluster)).collect();
    (!cycle.is_empty()).then(|| SimulationError::Deadlock { cycle, at_us: now.ps() / 1_000_000 })
}

/// A paused port by the names that the user gave.
fn name_of(paused: PausedPort, cluster: &ClusterParams) -> String {
    let PausedPort { switch, port, priority } = paused;
    let here = End::Switch(switch);
    let ends = cluster.cables.iter().flat_map(|cable| [cable.ends, [cable.ends[1], cable.ends[0]]]);
    let peer = ends.filter(|ends| ends[0] == here).nth(usize::from(port)).map_or("nothing", |ends| match ends[1] {
        End::Host(host) => &cluster.hosts[usize::from(host)].name,
        End::Switch(switch) => &cluster.switches[usize::from(switch)].name,
    });
    format!("{} port {port} to {peer}, priority {priority}", cluster.switches[usize::from(switch)].name)
}

/// What to say of a world that is stuck: the fullest domain of its servers.
pub(super) fn stuck(simulation: &Simulation<World>, now: Time, idle_ps: u64) -> SimulationError {
    let servers = simulation.worlds().filter_map(|world| match world {
        World::Server(machine) => Some(&**machine),
        World::Fabric(_) => None,
    });
    let all = servers.flat_map(|machine| Group::ALL.into_iter().map(move |group| (machine, group)));
    let all = all.flat_map(|(machine, group)| {
        sample::domains(machine, group).into_iter().map(move |(part, domain)| (group, part, domain))
    });
    let fullest = all.max_by_key(|(_, _, domain)| u64::from(domain.in_use()) * 10_000 / u64::from(domain.capacity()));
    let (domain, part, in_use, capacity) = fullest.map_or(("network", String::new(), 0, 0), |(group, part, domain)| {
        (group.name(), format!(" ({part})"), domain.in_use(), domain.capacity())
    });
    SimulationError::Stuck { domain, part, in_use, capacity, at_us: now.ps() / 1_000_000, idle_us: idle_ps / 1_000_000 }
}
