//! Test bench: a NIC, an IIO that only answers, cores that only return descriptors, and the peer at the cable.

pub(super) use super::wiring::flows;
use super::wiring::{wiring, IIOS};
use crate::cache::SocketCaches;
use crate::ether::WireParams;
use crate::line::{
    socket_of, Content, Decoder, Ecn, Homes, Packet, PacketId, Packets, Pages, Requests, Slicing, SocketHomes,
};
use crate::nic::{FlowCounters, Nic, NicFlow, RdmaEnd};
use crate::params::{LineSize, NicParams, PageParams, PcieParams};
use crate::part::{Context, Part, Payload, PowerEvent, TlpTag};
use crate::transport::roce::{RoceConnection, RoceOperation};
use crate::transport::tcp::Segment;
use hostnet_kernel::{ComponentId, Event, Partition, Rng, Scheduler, Simulation, Time};
use serde::{Deserialize, Serialize};

pub(super) const NIC: ComponentId = ComponentId(4);
pub(super) const PEER: ComponentId = ComponentId(5);
/// Bytes of the IP and TCP headers.
pub(super) const HEADERS: u32 = 52;

/// Behaviour of the host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Host {
    /// Delay from a write TLP to its credits, mean and half range, in ps. Credits return in order.
    pub(super) credit_ps: (u64, u64),
    /// Delay from a read request to its data, mean and half range, in ps.
    pub(super) data_ps: (u64, u64),
    /// Delay from a packet at its core to the return of its descriptor, mean and half range, in ps. `None` if never
    /// returned.
    pub(super) replenish_ps: Option<(u64, u64)>,
    /// True if a core arms the interrupt whenever it returns a descriptor.
    pub(super) arm: bool,
}

/// Remote end of an RDMA flow: a transport and a port at the rate of the cable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Remote {
    pub(super) connection: RoceConnection,
    pub(super) placed_bytes: u64,
    paused: bool,
    busy: bool,
}

impl Remote {
    pub(super) fn new(connection: RoceConnection) -> Self {
        Self { connection, placed_bytes: 0, paused: false, busy: false }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct World {
    pub(super) nic: Nic,
    pub(super) packets: Packets,
    pub(super) host: Host,
    /// Remote end of flow 0, if flow 0 is RDMA.
    pub(super) remote: Option<Remote>,
    homes: Homes,
    requests: Requests,
    rng: Rng,
    credits_at: [Time; 2],
    seen_at: [Time; 2],
    data_at: [Time; 2],
    /// Packets delivered: time, core, packet.
    pub(super) received: Vec<(Time, u32, Packet)>,
    pub(super) interrupts: Vec<(Time, u16)>,
    /// Events of power management sent to cores: announced bursts and driver timers.
    pub(super) announced: Vec<(Time, PowerEvent)>,
    /// Bytes reported to cores as sent: time, flow, bytes.
    pub(super) told: Vec<(Time, u32, u32)>,
    /// Packets that arrived at the peer.
    pub(super) sent: Vec<(Time, Packet)>,
    pub(super) pauses: Vec<(Time, u8, bool)>,
    /// Writes of the NIC: time, first line, lines.
    pub(super) writes: Vec<(Time, u64, u8)>,
    pub(super) reads: Vec<(Time, u64, u8)>,
    /// Lines read, by function and socket of the memory.
    pub(super) read_from: [[u64; 2]; 2],
}

pub(super) fn pcie() -> PcieParams {
    PcieParams {
        bytes_per_s: 15_753_846_153,
        mps_bytes: 256,
        mrrs_bytes: 512,
        write_overhead_bytes: 24,
        read_overhead_bytes: 24,
        completion_overhead_bytes: 20,
        dllp_share: 0,
        latency_ps: 150_000,
        posted_lines: 256,
        nonposted_lines: 512,
    }
}

pub(super) fn params() -> NicParams {
    NicParams {
        functions: Vec::new(),
        serves: Vec::new(),
        octo: false,
        pcie: pcie(),
        attach: None,
        buffer_bytes: 1 << 20,
        frame_bytes: 0,
        queues: 2,
        ring_entries: 256,
        descriptor_bytes: 8192,
        stride_bytes: 0,
        pool_bytes: 4 << 20,
        completion_bytes: 64,
        event_bytes: 0,
        receive_ps: 300_000,
        transmit_ps: 200_000,
        interrupt_ps: 1_000_000,
        coalesce_ps: 0,
        coalesce_packets: 1,
        send_window_bytes: 65_536,
        ddio: false,
        relaxed_ordering: true,
        pfc: None,
        lro: false,
        rings_at_device: false,
        scatter: false,
        steer_ps: 20_000_000,
        steer_expiry_ps: 0,
        line_size: LineSize::LINE,
    }
}

pub(super) fn pages() -> Pages {
    let params = PageParams { run_bytes: 2 << 20, memory_bytes: 1 << 30 };
    Pages::new(&params, 7).and(&params)
}

pub(super) fn host() -> Host {
    Host { credit_ps: (600_000, 0), data_ps: (700_000, 0), replenish_ps: Some((500_000, 0)), arm: true }
}

fn wire() -> WireParams {
    WireParams {
        port: 0,
        peer: PEER,
        peer_port: 3,
        bytes_per_s: 12_500_000_000,
        framing_bytes: 38,
        frame_min_bytes: 84,
        latency_ps: 1_000_000,
        before_ps: 0,
        after_ps: 0,
        down_ps: Vec::new(),
        corrupt: 0,
        watched: false,
        random: (1, 1),
    }
}

pub(super) type Bench = Simulation<World>;

pub(super) fn bench(params: NicParams, host: Host) -> Bench {
    bench_with(params, host, flows(), 1)
}

pub(super) fn bench_with(params: NicParams, host: Host, flows: Vec<NicFlow>, seed: u64) -> Bench {
    bench_of(params, host, flows, Vec::new(), None, seed)
}

/// Creates a bench whose NIC has the RDMA ends `rdma`, with `remote` as the peer of flow 0.
pub(super) fn bench_of(
    params: NicParams,
    host: Host,
    flows: Vec<NicFlow>,
    rdma: Vec<RdmaEnd>,
    remote: Option<Remote>,
    seed: u64,
) -> Bench {
    let decoder = serde_json::from_str(r#"{"tables":[],"channels":1,"subchannels":1,"turn_bits":null}"#);
    let decoder: Decoder = decoder.expect("a decoder of no lines");
    let homes = SocketHomes { slices: Slicing::even(1), subchannels_at_slice: 0, decoder };
    let wiring = wiring(&params, flows, rdma, wire());
    let world = World {
        nic: Nic::new(params, wiring, pages(), Rng::new(seed, 4)),
        packets: Packets::default(),
        host,
        remote,
        homes: Homes::new(vec![homes]),
        requests: Requests::with_capacity(0),
        rng: Rng::new(seed, 9),
        credits_at: [Time::ZERO; 2],
        seen_at: [Time::ZERO; 2],
        data_at: [Time::ZERO; 2],
        received: Vec::new(),
        interrupts: Vec::new(),
        announced: Vec::new(),
        told: Vec::new(),
        sent: Vec::new(),
        pauses: Vec::new(),
        writes: Vec::new(),
        reads: Vec::new(),
        read_from: [[0; 2]; 2],
    };
    let mut scheduler = Scheduler::new(ComponentId(0), 7, 64);
    for (delay, payload) in world.nic.starts() {
        scheduler.send(NIC, NIC, delay, payload);
    }
    scheduler.send(PEER, PEER, 1, Payload::Begin { connection: 0 });
    Simulation::new(vec![(world, scheduler)], u64::MAX)
}

pub(super) fn data(flow: u32, ip_bytes: u32) -> Packet {
    let bytes = ip_bytes.saturating_sub(HEADERS);
    Packet {
        flow,
        from: 1,
        to: 0,
        ip_bytes,
        ecn: Ecn::Capable,
        priority: 0,
        corrupt: false,
        copy: false,
        queue: 9,
        order: 0,
        line: 0,
        content: Content::Tcp(Segment { bytes, ..Segment::default() }),
        next: PacketId::NONE,
    }
}

/// Schedules a packet to arrive from the cable after `delay_ps`.
pub(super) fn arrive(bench: &mut Bench, delay_ps: u64, packet: Packet) {
    let (world, scheduler) = &mut bench.parts_mut()[0];
    let id = world.packets.insert(packet);
    scheduler.send(PEER, NIC, delay_ps, Payload::Packet { id, port: 0 });
}

/// Schedules a core to post a segment after `delay_ps`.
pub(super) fn transmit(bench: &mut Bench, delay_ps: u64, packet: Packet) {
    let (world, scheduler) = &mut bench.parts_mut()[0];
    let id = world.packets.insert(packet);
    scheduler.send(ComponentId(packet.flow % 2), NIC, delay_ps, Payload::Transmit(id));
}

/// Sends an event to the NIC after `delay_ps`.
pub(super) fn tell(bench: &mut Bench, delay_ps: u64, payload: Payload) {
    bench.parts_mut()[0].1.send(PEER, NIC, delay_ps, payload);
}

pub(super) fn run(bench: &mut Bench, until_ps: u64) -> &World {
    bench.run_until(Time::from_ps(until_ps), |_| true);
    let (world, scheduler) = &mut bench.parts_mut()[0];
    world.nic.settle(scheduler.now());
    world
}

/// Runs until no event is pending.
pub(super) fn drain(bench: &mut Bench) -> &World {
    while bench.parts()[0].1.pending() > 0 {
        let until = bench.parts()[0].1.now().saturating_add(1_000_000_000);
        run(bench, until.ps());
    }
    &bench.parts()[0].0
}

impl World {
    pub(super) fn flow(&self, flow: u32) -> &FlowCounters {
        &self.nic.flows()[flow as usize]
    }

    fn on_iio(&mut self, iio: ComponentId, payload: Payload, scheduler: &mut Scheduler<Payload>) {
        let now = scheduler.now();
        let function = usize::from(iio != IIOS[0]);
        match payload {
            Payload::WriteTlp { line, lines, tag, .. } => {
                self.writes.push((now, line, lines));
                let (mean, spread) = self.host.credit_ps;
                self.credits_at[function] =
                    self.credits_at[function].max(now + self.rng.around(mean, spread).max(1)) + 1;
                scheduler.send(iio, NIC, self.credits_at[function].since(now), Payload::PostedCredit { lines });
                if tag != TlpTag::NONE {
                    let seen = (now + self.rng.around(mean, spread).max(1)).max(self.seen_at[function]) + 1;
                    self.seen_at[function] = seen;
                    scheduler.send(iio, NIC, seen.since(now), Payload::Seen { tag });
                }
            }
            Payload::ReadTlp { line, lines, class, .. } => {
                self.reads.push((now, line, lines));
                self.read_from[function][usize::from(socket_of(line))] += u64::from(lines);
                let (mean, spread) = self.host.data_ps;
                for part in (0..lines).step_by(4) {
                    self.data_at[function] = self.data_at[function].max(now + self.rng.around(mean, spread).max(1)) + 1;
                    let lines = (lines - part).min(4);
                    scheduler.send(iio, NIC, self.data_at[function].since(now), Payload::Completion { lines, class });
                }
            }
            other => unreachable!("{other:?}"),
        }
    }

    fn on_core(&mut self, core: ComponentId, payload: Payload, scheduler: &mut Scheduler<Payload>) {
        let now = scheduler.now();
        match payload {
            Payload::Received(id) => {
                let packet = self.packets.remove(id);
                self.received.push((now, core.0, packet));
                if let Some((mean, spread)) = self.host.replenish_ps {
                    let delay = self.rng.around(mean, spread).max(1);
                    let back = Payload::Replenished { queue: packet.queue, count: 1, armed: self.host.arm };
                    scheduler.send(core, NIC, delay, back);
                }
            }
            Payload::Interrupt { queue } => self.interrupts.push((now, queue)),
            Payload::Power(event) => self.announced.push((now, event)),
            Payload::Sent { flow, bytes } => self.told.push((now, flow, bytes)),
            other => unreachable!("{other:?}"),
        }
    }

    fn on_peer(&mut self, payload: Payload, scheduler: &mut Scheduler<Payload>) {
        let now = scheduler.now();
        match payload {
            Payload::Packet { id, port } => {
                assert_eq!(port, 3, "the port of the peer");
                let packet = self.packets.remove(id);
                self.sent.push((now, packet));
                if let (Some(remote), Content::Roce(roce)) = (&mut self.remote, packet.content) {
                    let placed = remote.connection.on_packet(now, &roce, packet.ecn == Ecn::Marked);
                    remote.placed_bytes += placed.map_or(0, |placed| u64::from(placed.bytes));
                }
            }
            Payload::Pause { priority, on, .. } => {
                self.pauses.push((now, priority, on));
                if let Some(remote) = &mut self.remote {
                    remote.paused = on;
                }
            }
            Payload::PortReady { .. } => {
                if let Some(remote) = &mut self.remote {
                    remote.busy = false;
                }
            }
            Payload::Timer { .. } => {
                if let Some(remote) = &mut self.remote {
                    remote.connection.on_timer(now);
                }
            }
            Payload::Begin { .. } => {}
            other => unreachable!("{other:?}"),
        }
        self.remote_sends(scheduler);
    }

    /// Puts the next packet of the remote end on the wire, if the wire is free.
    fn remote_sends(&mut self, scheduler: &mut Scheduler<Payload>) {
        let now = scheduler.now();
        let Some(remote) = self.remote.as_mut().filter(|remote| !remote.busy && !remote.paused) else { return };
        let next = remote.connection.next(now);
        if let Some(at) = remote.connection.timer(now) {
            scheduler.send(PEER, PEER, at.since(now).max(1), Payload::Timer { connection: 0, generation: 0 });
        }
        let Some(roce) = next else { return };
        remote.busy = true;
        let has_data = matches!(roce.operation, RoceOperation::Write | RoceOperation::ReadResponse);
        let ip_bytes = 44 + if has_data { roce.bytes } else { 16 };
        let id = self.packets.insert(Packet { content: Content::Roce(roce), ..data(0, ip_bytes) });
        let wire_ps = u64::from(ip_bytes + 38) * 80;
        scheduler.send(PEER, NIC, wire_ps + 1_000_000, Payload::Packet { id, port: 0 });
        scheduler.send(PEER, PEER, wire_ps, Payload::PortReady { port: 0 });
    }
}

impl Partition for World {
    type Payload = Payload;
    type Cargo = ();

    fn unload(&mut self, _: &Payload) {}

    fn load(&mut self, _: &mut Payload, (): ()) {}

    fn on_event(&mut self, event: Event<Payload>, scheduler: &mut Scheduler<Payload>) {
        match event.target {
            NIC => {
                let mut context = Context {
                    id: event.target,
                    homes: &self.homes,
                    requests: &mut self.requests,
                    packets: &mut self.packets,
                    caches: SocketCaches::none(),
                    fluid: None,
                    mesh: None,
                    notices: &mut Vec::new(),
                    scheduler,
                };
                self.nic.on_event(event.payload, event.source, &mut context);
            }
            PEER => self.on_peer(event.payload, scheduler),
            iio if IIOS.contains(&iio) => self.on_iio(iio, event.payload, scheduler),
            core => self.on_core(core, event.payload, scheduler),
        }
    }
}
