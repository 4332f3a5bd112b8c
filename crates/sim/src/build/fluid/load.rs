//! Measures the rates of a server under a given load.

use super::fill::{has_ddio, FilledCaches};
use super::server_load::ServerLoad;
use crate::build::sockets::throttled;
use crate::build::{loaded_server, Builder, SocketBuilder};
use hostnet_kernel::{ComponentId, Scheduler, Time};
use hostnet_model::control::{Throttled, LEVEL_MAX};
use hostnet_model::core::Core;
use hostnet_model::ether::WireParams;
use hostnet_model::fluid::{lines_of, Copier, Feeder, Probe};
use hostnet_model::iio::Iio;
use hostnet_model::memory::Channel;
use hostnet_model::nic::{FunctionWiring, Nic, NicFlow, NicWiring, QueueMemory, QueueWiring};
use hostnet_model::os::{CopySource, NetFootprint, PacketCopier, PacketMemory};
use hostnet_model::params::{NicParams, ServerParams, NET_CORE_BYTES};
use hostnet_model::{Component, Machine, PartKind, Payload};
use std::collections::VecDeque;

/// Size of an Ethernet header, in bytes.
const ETHERNET_BYTES: u32 = 14;

/// Measured rates and latencies of a loaded server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MeasuredRates {
    /// Lines that devices wrote, in bytes per second.
    pub(super) drain_bytes_per_s: u64,
    /// Mean residence of a line in the IIO write buffer, in ps.
    pub(super) write_ps: u64,
    /// Mean latency of a read of a copying core, in ps; 0 if no core copies.
    pub(super) read_ps: u64,
    /// Time per line of a copy, in 2^-10 ps.
    pub(super) copy_ps: u64,
    /// Bytes per second read and written, per workload.
    pub(super) workloads: Vec<[u64; 2]>,
    /// Lines that the network reads from memory per line copied, and writes to memory per line that devices write, in
    /// 2^-16.
    pub(super) missed: [u64; 2],
}

/// Returns the mean of rates that were measured with different seeds.
pub(super) fn mean(all: &[&MeasuredRates]) -> MeasuredRates {
    let mean = |pick: &dyn Fn(&MeasuredRates) -> u64| {
        all.iter().map(|measured| pick(measured)).sum::<u64>() / (all.len() as u64).max(1)
    };
    let classes = all.first().map_or(0, |measured| measured.workloads.len());
    MeasuredRates {
        drain_bytes_per_s: mean(&|measured| measured.drain_bytes_per_s),
        write_ps: mean(&|measured| measured.write_ps),
        read_ps: mean(&|measured| measured.read_ps),
        copy_ps: mean(&|measured| measured.copy_ps),
        workloads: (0..classes)
            .map(|class| [0, 1].map(|way: usize| mean(&|measured| measured.workloads[class][way])))
            .collect(),
        missed: [0, 1].map(|way: usize| mean(&|measured| measured.missed[way])),
    }
}

/// Runs a server under a load and returns its rates, measured for `ps` after `before_ps`. The last workload of the
/// server is the network.
pub(super) fn moment(
    params: &ServerParams,
    load: ServerLoad,
    [before_ps, ps]: [u64; 2],
    filled: &FilledCaches,
) -> MeasuredRates {
    let copying = load.copying as u64;
    let mut simulation = loaded_server(params, load, filled);
    let [start, end] = [before_ps, before_ps + ps].map(Time::from_ps);
    simulation.run_until(start, |_| true);
    crate::read::sample::reset(&mut simulation.parts_mut()[0].0, start);
    let before = copied(&simulation.parts()[0].0);
    simulation.run_until(end, |_| true);
    crate::read::sample::settle(&mut simulation.parts_mut()[0].0, end);
    let machine = &simulation.parts()[0].0;
    let mut lines = traffic(machine, params.workloads.len(), end);
    // The network is the last class, so popping it leaves the workloads.
    let of_network = lines.pop().unwrap_or_default();
    // The network has no rate of its own, as its traffic follows from its packets.
    let workloads = lines.into_iter().chain([[0; 2]]).map(|lines| lines.map(|lines| per_s(lines, ps))).collect();
    let mut measured = MeasuredRates { workloads, ..MeasuredRates::default() };
    let lines = copied(machine) - before;
    measured.missed[0] = (of_network[0] << 16).checked_div(lines).unwrap_or(0);
    if let Some(iio) = machine.first::<Iio>() {
        let usage = &iio.write().classes()[params.workloads.len() - 1];
        measured.drain_bytes_per_s = per_s(usage.residence().count(), ps);
        measured.write_ps = usage.residence().mean().unwrap_or(0.0) as u64;
        measured.missed[1] = (of_network[1] << 16).checked_div(usage.residence().count()).unwrap_or(0);
    }
    for copier in machine_copiers(machine) {
        let reads = &copier.read().classes()[params.workloads.len() - 1];
        measured.read_ps += (reads.residence().mean().unwrap_or(0.0) as u64).checked_div(copying).unwrap_or(0);
    }
    // The time per line is counted while there is something to copy.
    let copying_ps: u64 = machine_copiers(machine).map(|copier| ps - copier.idle_ps()).sum();
    measured.copy_ps = (copying_ps << 10).checked_div(lines).unwrap_or(0);
    measured
}

/// Converts lines in `ps` to bytes per second.
fn per_s(lines: u64, ps: u64) -> u64 {
    (u128::from(lines) * 64 * 1_000_000_000_000 / u128::from(ps)) as u64
}

fn machine_copiers(machine: &Machine) -> impl Iterator<Item = &Copier> {
    machine.each::<Probe>().filter_map(|probe| match probe {
        Probe::Copier(copier) => Some(&**copier),
        Probe::Feeder(_) => None,
    })
}

fn copied(machine: &Machine) -> u64 {
    machine_copiers(machine).map(Copier::copied).sum()
}

/// Returns the lines that every class has read from memory and written to it.
fn traffic(machine: &Machine, classes: usize, end: Time) -> Vec<[u64; 2]> {
    let mut lines = vec![[0; 2]; classes];
    for channel in machine.each::<Channel>() {
        let counters = channel.controller().counters(end);
        for (class, [read, written]) in lines.iter_mut().enumerate() {
            *read += counters.reads[class];
            *written += counters.writes[class];
        }
    }
    lines
}

/// Replaces the cores that serve the NIC by copying cores.
pub(crate) fn copiers(socket: &SocketBuilder, cores: &mut [Component]) {
    let (Some(load), Some(stack)) = (&socket.server.load, &socket.server.params.stack) else { return };
    let ddio = has_ddio(socket.params);
    for (number, &core) in load.cores.iter().enumerate() {
        let Some(core) = socket.layout.own_core(core) else { continue };
        cores[core as usize] = Core::new(PartKind::Core, &socket.params.core, Vec::new(), socket.server.classes).into();
        if number >= load.copying {
            continue;
        }
        let footprint = NetFootprint::at(socket.take(core, NET_CORE_BYTES));
        // With DDIO the cores copy what the NIC has just written, so that they hit in the LLC.
        let source = if ddio { CopySource::Packets(VecDeque::new()) } else { packets(socket, load) };
        let rng = socket.server.component_rng(socket.layout.cores().get(core));
        let (params, pages) = (socket.params.core.clone(), socket.pages.clone());
        let lines = PacketCopier::new(
            core,
            socket.layout.home(),
            params,
            stack,
            pages,
            rng,
            footprint,
            source,
            socket.server.classes,
        );
        cores[core as usize] = Probe::Copier(Box::new(Copier::new(lines))).into();
    }
}

/// Returns a source of packets in memory that no cache holds.
fn packets(socket: &SocketBuilder, load: &ServerLoad) -> CopySource {
    let nic = socket.params.nic.as_ref();
    let step_bytes = nic.map_or(4096, |nic| u64::from(nic.step_bytes(load.ip_bytes + ETHERNET_BYTES)));
    let bytes = nic.map_or(step_bytes, |nic| nic.pool_bytes / step_bytes * step_bytes);
    let base = socket.allocate_near_nic(bytes);
    CopySource::Memory(PacketMemory { base, bytes, step_bytes, lines: lines_of(load.ip_bytes), begun: 0 })
}

/// Builds the NIC with one raw flow per queue, all of them served by the feeder.
pub(crate) fn loaded_nic(socket: &SocketBuilder, params: &NicParams) -> Option<Nic> {
    let load = socket.server.load.as_ref()?;
    let queues = load.cores.len().max(1) as u32;
    let params = NicParams { queues, lro: false, pfc: None, ..params.clone() };
    let feeder = ComponentId(socket.server.layout.feeder);
    let class = (socket.server.classes - 1) as u8;
    let mss_bytes = 1;
    let queue = |_| {
        let memory = QueueMemory::at(socket.allocate_near_nic(params.queue_layout().bytes), &params);
        QueueWiring { core: feeder, memory, function: 0, far: false, away_ps: 0 }
    };
    let flow = |queue| NicFlow { class, queue: Some(queue), core: feeder, mss_bytes };
    let wiring = NicWiring {
        functions: vec![FunctionWiring {
            iio: socket.layout.iio(),
            link: socket.server.nic_link(socket.layout.number)?,
            pcie: params.pcie.clone(),
        }],
        hints: Vec::new(),
        queues: (0..queues).map(queue).collect(),
        armed: false,
        steers: false,
        flows: (0..queues as u16).map(flow).collect(),
        rdma: Vec::new(),
        wire: WireParams {
            port: 0,
            peer: feeder,
            peer_port: 0,
            // The feeder hands packets to the NIC itself, so nothing uses the wire.
            bytes_per_s: 1,
            framing_bytes: 0,
            frame_min_bytes: 0,
            latency_ps: 1,
            before_ps: 0,
            after_ps: 0,
            down_ps: Vec::new(),
            corrupt: 0,
            watched: false,
            random: (socket.server.params.seed, 0),
        },
        classes: socket.server.classes,
    };
    let rng = socket.server.component_rng(socket.layout.of(PartKind::Nic).first());
    Some(Nic::new(params, wiring, socket.pages.clone(), rng))
}

/// Builds the feeder of the NIC.
pub(crate) fn feeder(server: &Builder) -> Probe {
    let (queues, ip_bytes, gap) =
        server.load.as_ref().map_or((1, 1, 0), |load| (load.cores.len().max(1) as u32, load.ip_bytes, load.gap));
    let frame = u64::from(ip_bytes + ETHERNET_BYTES);
    // Limits the packets in the NIC to half of its receive buffer, and to 64.
    let most = server.params.nic().map_or(1, |nic| (nic.buffer_bytes / 2 / frame).clamp(1, 64) as u32);
    let readers = server.load.iter().filter(|_| has_ddio(server.params.socket()));
    let readers = readers.flat_map(|load| &load.cores);
    let readers = readers.map(|&core| server.layout.core(core)).collect();
    let feeder = Feeder::new(server.layout.nic(), queues, ip_bytes, most, gap);
    Probe::Feeder(feeder.with_readers(readers))
}

/// Schedules the throttling of the load: throttles or stops the cores that control would throttle.
pub(crate) fn start_load(server: &Builder, scheduler: &mut Scheduler<Payload>) {
    let Some(load) = &server.load else { return };
    let mut tell = |cores: &[ComponentId], payload| {
        cores.iter().for_each(|&core| scheduler.send(core, core, 1, payload));
    };
    // The highest level is the stop, which is `halted` here.
    let levels = u64::from(LEVEL_MAX) - 1;
    match throttled(server) {
        Throttled::Sockets(sockets) => {
            for (socket, cores) in sockets.iter().enumerate() {
                let ps = if socket < load.hold { load.mba_ps as u32 } else { 0 };
                tell(cores, Payload::Throttle { ps });
                tell(cores, Payload::Halt { on: load.halted });
            }
        }
        Throttled::Local(cores) => {
            let ps = (load.mba_ps * (load.hold as u64).min(levels) / levels) as u32;
            tell(&cores, Payload::Throttle { ps });
            tell(&cores, Payload::Halt { on: load.halted });
        }
    }
}
