//! Test rig: a network core between a memory with a fixed latency per line and a NIC with the other ends of its flows.

use crate::cache::{Caches, SocketCaches};
use crate::cha::Cha;
use crate::flow::Application;
use crate::lfb::Lfb;
use crate::line::{
    one_bank, Content, Ecn, Homes, LineRing, Packet, PacketId, Packets, QueueRings, RequestKind, Requests, Slicing,
    SocketHomes,
};
use crate::os::{NetCoreWiring, NetFootprint, NetSocketParams, NetStack};
use crate::params::{CongestionControl, CoreParams, LineSize, PageParams, StackParams, TcpParams, Traffic};
use crate::part::{Context, Notice, Payload};
use crate::transport::tcp::{Segment, TcpConnection};
use crate::Pages;
use hostnet_kernel::{ComponentId, Event, Partition, Rng, Scheduler, Simulation, Time};
use serde::{Deserialize, Serialize};

const CORE: ComponentId = ComponentId(0);
const CHA: ComponentId = ComponentId(1);
const NIC: ComponentId = ComponentId(2);
const CHANNEL: ComponentId = ComponentId(3);

pub(super) const MSS: u32 = 4044;
pub(super) const US: u64 = 1_000_000;

pub(super) fn core_params() -> CoreParams {
    CoreParams {
        count: 1,
        lfb_entries: 12,
        refill_ps: 1,
        refill_spread_ps: 0,
        issue_ps: 1,
        to_cha_ps: 1000,
        from_cha_ps: 1000,
        write_ack_ps: 1000,
        dirty_pool_lines: 16,
        rob: 224,
        write_until: Default::default(),
        stream_prefetches: 0,
    }
}

pub(super) fn stack() -> StackParams {
    StackParams {
        cores: vec![0],
        packet_ps: 150_000,
        segment_ps: 500_000,
        ack_ps: 200_000,
        send_ps: 400_000,
        allocate_ps: 0,
        generate_ps: 240_000,
        copy_line_ps: 5_000,
        wake_ps: 2_000_000,
        call_ps: 500_000,
        call_bytes: 65_536,
        budget: 64,
        gro_bytes: 65_536,
        zero_copy: false,
        poll: false,
        extra_lines: 0,
        page_lines: 0,
        prefetched: true,
        prefetch_ahead: 0,
        prefetch_pairs: false,
        copy_ahead: 8,
        cached_user: true,
        receive_queues: None,
        line_size: LineSize::LINE,
    }
}

pub(super) fn tcp() -> TcpParams {
    TcpParams {
        control: CongestionControl::Dctcp { gain: 4096, alpha: 0 },
        mss_bytes: MSS,
        tso_bytes: 16 * MSS,
        initial_window: 10,
        receive_buffer_bytes: 1 << 20,
        send_buffer_bytes: 1 << 20,
        rto_min_ps: 200_000 * US,
        rto_initial_ps: 1_000_000 * US,
        ack_segments: 2,
        ack_delay_ps: 40_000 * US,
        sack: true,
        tail_loss_probe: true,
        ecn: true,
    }
}

pub(super) fn socket(flow: u32, traffic: Traffic, initiator: bool) -> NetSocketParams {
    NetSocketParams {
        flow,
        class: 0,
        host: 1,
        peer: 0,
        priority: 0,
        tcp: tcp(),
        traffic,
        initiator,
        file: None,
        start_ps: 0,
        deaf_ps: None,
        here: true,
        migrations: Vec::new(),
    }
}

pub(super) fn pages() -> Pages {
    Pages::new(&PageParams { run_bytes: 1 << 21, memory_bytes: 1 << 30 }, 3)
}

/// Creates rings above the memory of packets.
fn rings() -> QueueRings {
    let ring = |number: u64| LineRing::new(1 << 29 | number << 16, 1 << 16);
    QueueRings { received: ring(0), segments: ring(1), sent: ring(2), free: None, events: None }
}

pub(super) fn net_core(stack: StackParams, sockets: Vec<NetSocketParams>) -> NetStack {
    let wiring = NetCoreWiring {
        cha: CHA,
        nic: NIC,
        queue: Some(0),
        rings: rings(),
        away_ps: 0,
        registers: None,
        elsewhere: Vec::new(),
    };
    NetStack::new(0, wiring, core_params(), stack, pages(), Rng::new(1, 2), sockets, NetFootprint::at(0), 1)
}

/// Other end of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Peer {
    pub(super) connection: TcpConnection,
    pub(super) application: Application,
}

/// Memory, NIC, and the network behind the NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Far {
    /// Other ends of flows, by flow. Packets of a flow without one are only counted.
    pub(super) peers: Vec<Option<Peer>>,
    /// Latency from the CHA to the core, and latency of the wire, in ps.
    pub(super) line_ps: u64,
    pub(super) wire_ps: u64,
    /// Time of a packet on the wire, in ps.
    pub(super) packet_ps: u64,
    /// One data packet in this many is lost; 0 for none.
    pub(super) lose: u64,
    /// With caches: true if packets go to the LLC, false if to memory.
    pub(super) ddio: bool,
    completions: LineRing,
    wire_free: Time,
    armed: bool,
    next_line: u64,
    pub(super) data_packets: u64,
    pub(super) delivered: u64,
    pub(super) replenished: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// Segments that the core has sent.
    pub(super) sent: Vec<(Time, Segment)>,
    pub(super) keep_sent: bool,
    /// Events that other cores have received.
    pub(super) notices: Vec<(Time, ComponentId, Payload)>,
}

/// The core and everything around it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rig {
    pub(super) core: NetStack,
    pub(super) lfb: Lfb,
    pub(super) far: Far,
    pub(super) requests: Requests,
    pub(super) packets: Packets,
    homes: Homes,
    /// Caches, if any; then `cha` is a real CHA.
    pub(super) caches: Option<Caches>,
    pub(super) cha: Option<Cha>,
}

impl Far {
    fn poll_peer(&mut self, flow: u32, context: &mut Context) {
        let now = context.now();
        let Some(peer) = &mut self.peers[flow as usize] else { return };
        loop {
            let action = peer.application.poll(now, peer.connection.readable(), peer.connection.room());
            peer.connection.read(now, action.read);
            peer.connection.write(action.write);
            if let Some(at) = action.wake_at {
                context.send(NIC, at.since(now), Payload::Begin { connection: flow });
            }
            if action.read + action.write == 0 {
                break;
            }
        }
        let mut out = Vec::new();
        while let Some(segment) = peer.connection.next(now) {
            let ecn = if peer.connection.ecn_capable(&segment) { Ecn::Capable } else { Ecn::NotCapable };
            out.push((segment, ecn));
        }
        if let Some(at) = peer.connection.timer() {
            let delay = at.ps().saturating_sub(now.ps()).max(1);
            context.send(NIC, delay, Payload::Timer { connection: flow, generation: 0 });
        }
        for (segment, ecn) in out {
            self.cut(flow, segment, ecn, context);
        }
    }

    /// Cuts a segment into packets and puts them on the wire.
    fn cut(&mut self, flow: u32, segment: Segment, ecn: Ecn, context: &mut Context) {
        let mut left = segment.bytes;
        let mut sequence = segment.sequence;
        loop {
            let bytes = left.min(MSS);
            let part = Segment { sequence, bytes, ..segment };
            self.data_packets += u64::from(bytes > 0);
            if self.lose == 0 || bytes == 0 || self.data_packets % self.lose != 0 {
                self.deliver(flow, part, ecn, context);
            }
            left -= bytes;
            sequence += u64::from(bytes);
            if left == 0 {
                break;
            }
        }
    }

    fn deliver(&mut self, flow: u32, segment: Segment, ecn: Ecn, context: &mut Context) {
        let now = context.now();
        self.wire_free = self.wire_free.max(now) + self.packet_ps;
        self.next_line = (self.next_line + 64 + 64) % (1 << 20);
        // Some packets lie in two runs of pages.
        let first = (1 << 22 | self.next_line) + 100;
        let id = context.packets.insert(packet(flow, segment, ecn, first));
        if let Some(caches) = context.caches.own() {
            let pages = pages();
            let frame = (first..first + u64::from((segment.bytes + 66).div_ceil(64))).map(|line| line * 64);
            for address in frame.chain([self.completions.next_line()]) {
                let line = pages.physical(address) / 64;
                if self.ddio {
                    let _ = caches.io_write(line, 1);
                } else {
                    caches.io_invalidate(line);
                }
            }
        }
        let delay = self.wire_free.since(now) + self.wire_ps;
        context.send(NIC, delay, Payload::Packet { id, port: 0 });
    }

    fn arrive(&mut self, id: PacketId, context: &mut Context) {
        self.delivered += 1;
        context.send(CORE, 1, Payload::Received(id));
        self.interrupt(context);
    }

    fn interrupt(&mut self, context: &mut Context) {
        if self.armed && self.delivered > self.replenished {
            self.armed = false;
            context.send(CORE, 2, Payload::Interrupt { queue: 0 });
        }
    }

    fn transmit(&mut self, id: PacketId, context: &mut Context) {
        let packet = context.packets.remove(id);
        let Content::Tcp(mut segment) = packet.content else { return };
        segment.marked = packet.ecn == Ecn::Marked;
        if segment.bytes > 0 {
            context.send(CORE, US, Payload::Sent { flow: packet.flow, bytes: segment.bytes });
        }
        if self.keep_sent {
            self.sent.push((context.now(), segment));
        }
        let now = context.now();
        if let Some(Some(peer)) = self.peers.get_mut(packet.flow as usize) {
            peer.connection.on_segment(now, &segment);
            self.poll_peer(packet.flow, context);
        }
    }

    fn on_event(&mut self, payload: Payload, context: &mut Context) {
        match payload {
            Payload::Arrive(id) if context.id == CHANNEL => {
                let reads = context.requests.get(id).kind.is_read();
                self.reads += u64::from(reads);
                self.writes += u64::from(!reads);
                let answer = if reads { Payload::Read(id) } else { Payload::Accepted(id) };
                context.send(CHA, self.line_ps, answer);
            }
            Payload::Arrive(id) => {
                if context.requests.get(id).kind == RequestKind::CoreRead {
                    self.reads += 1;
                    context.send(CORE, self.line_ps, Payload::Data(id));
                } else {
                    self.writes += 1;
                    context.send(CORE, self.line_ps, Payload::Taken(id));
                }
            }
            Payload::Packet { id, .. } => self.arrive(id, context),
            Payload::Transmit(id) => self.transmit(id, context),
            Payload::Replenished { count, armed, .. } => {
                self.replenished += u64::from(count);
                self.armed |= armed;
                self.interrupt(context);
            }
            Payload::Begin { connection } => self.poll_peer(connection, context),
            Payload::Timer { connection, .. } => {
                if let Some(Some(peer)) = self.peers.get_mut(connection as usize) {
                    peer.connection.on_timer(context.now());
                    self.poll_peer(connection, context);
                }
            }
            Payload::Chore { .. } | Payload::Served(_) | Payload::Idle { .. } => {
                self.notices.push((context.now(), context.id, payload));
            }
            other => panic!("the rig was sent {other:?}"),
        }
    }
}

impl Partition for Rig {
    type Payload = Payload;
    type Cargo = ();

    fn on_event(&mut self, event: Event<Payload>, scheduler: &mut Scheduler<Payload>) {
        let mut notices = Vec::new();
        let mut context = Context {
            id: event.target,
            homes: &self.homes,
            requests: &mut self.requests,
            packets: &mut self.packets,
            caches: SocketCaches::new(std::slice::from_mut(&mut self.caches), 0),
            fluid: None,
            mesh: None,
            notices: &mut notices,
            scheduler,
        };
        if event.target == CORE {
            self.lfb.idle += u32::from(event.payload == Payload::Refill);
            self.core.on_event(event.payload, &mut self.lfb, &mut context);
        } else if let (CHA, Some(cha)) = (event.target, &mut self.cha) {
            match event.payload {
                Payload::Arrive(id) => cha.on_arrival(id, &mut context),
                Payload::Read(id) => cha.on_read(id, &mut context),
                Payload::Accepted(id) => cha.on_accepted(id, &mut context),
                other => panic!("the CHA was sent {other:?}"),
            }
        } else {
            self.far.on_event(event.payload, &mut context);
        }
        for Notice { target, at, payload } in notices {
            scheduler.send(event.target, target, at.since(event.time), payload);
        }
    }

    fn unload(&mut self, _payload: &Payload) {}

    fn load(&mut self, _payload: &mut Payload, _cargo: ()) {}
}

pub(super) fn packet(flow: u32, segment: Segment, ecn: Ecn, line: u64) -> Packet {
    Packet {
        flow,
        from: 0,
        to: 1,
        ip_bytes: segment.bytes + 52,
        ecn,
        priority: 0,
        corrupt: false,
        copy: false,
        queue: 0,
        order: 0,
        line,
        content: Content::Tcp(segment),
        next: PacketId::NONE,
    }
}

/// Returns a segment with data of a stream.
pub(super) fn data(sequence: u64, bytes: u32) -> Segment {
    Segment { sequence, bytes, window: 1 << 20, sent: Time::from_ps(1), ..Segment::default() }
}

/// Simulation of a rig.
pub(super) type Run = Simulation<Rig>;

/// Creates a rig with `core`. The flows of `peers` have their other ends behind the NIC.
pub(super) fn rig(core: NetStack, peers: Vec<Option<Peer>>) -> Run {
    let far = Far {
        peers,
        line_ps: 98_000,
        wire_ps: 5 * US,
        packet_ps: 330_000,
        lose: 0,
        ddio: false,
        completions: rings().received,
        wire_free: Time::ZERO,
        armed: true,
        next_line: 0,
        data_packets: 0,
        delivered: 0,
        replenished: 0,
        reads: 0,
        writes: 0,
        sent: Vec::new(),
        keep_sent: false,
        notices: Vec::new(),
    };
    let mut scheduler = Scheduler::new(CORE, 4, 1024);
    for (delay, payload) in core.starts() {
        scheduler.send(CORE, CORE, delay, payload);
    }
    for connection in 0..far.peers.len() as u32 {
        scheduler.send(NIC, NIC, 1, Payload::Begin { connection });
    }
    let rig = Rig {
        core,
        lfb: Lfb::new(&core_params(), core_params().lfb_entries, 2),
        far,
        requests: Requests::default(),
        packets: Packets::default(),
        homes: Homes::new(vec![SocketHomes {
            slices: Slicing::even(4),
            subchannels_at_slice: 0,
            decoder: one_bank(&[6]),
        }]),
        caches: None,
        cha: None,
    };
    Simulation::new(vec![(rig, scheduler)], 1)
}

/// Creates the other end of the flow of `socket`.
pub(super) fn peer(socket: &NetSocketParams) -> Option<Peer> {
    Some(Peer {
        connection: TcpConnection::new(&socket.tcp),
        application: Application::new(&socket.traffic, !socket.initiator, socket.deaf_ps),
    })
}

/// Creates flows with traffic from or to the core.
pub(super) fn flows(stack: StackParams, sockets: Vec<NetSocketParams>) -> Run {
    let peers = sockets.iter().map(peer).collect();
    rig(net_core(stack, sockets), peers)
}

pub(super) fn run_us(run: &mut Run, us: u64) {
    let _ = run.run_until(Time::from_ps(us * US), |_| true);
}

pub(super) fn world(run: &mut Run) -> &mut Rig {
    &mut run.parts_mut()[0].0
}

/// Schedules an event at the core at `at_ps`.
pub(super) fn inject(run: &mut Run, at_ps: u64, payload: Payload) {
    let scheduler = &mut run.parts_mut()[0].1;
    let delay = at_ps - scheduler.now().ps();
    scheduler.send(CHA, CORE, delay, payload);
}

/// Lets packets of flow 0 arrive at `at_ps`, with an interrupt.
pub(super) fn inject_packets(run: &mut Run, at_ps: u64, segments: &[(Segment, Ecn)]) {
    for (index, &(segment, ecn)) in segments.iter().enumerate() {
        let id = world(run).packets.insert(packet(0, segment, ecn, 4096 + 64 * index as u64));
        inject(run, at_ps, Payload::Received(id));
    }
    inject(run, at_ps, Payload::Interrupt { queue: 0 });
}
